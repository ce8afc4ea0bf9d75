//! Lines by example and by law: what is a proven read, what never is one, and what is seen of the rest.

use proptest::prelude::*;
use proptest::sample::select;

use super::{LinePlace, LineReading};
use crate::call::Target;
use crate::effect::Effect;

/// Lines that are proven reads.
const READS: &str = include_str!("corpus/reads.txt");

/// Lines that are none, each for a reason of its own.
const TRICKS: &str = include_str!("corpus/tricks.txt");

pub(super) fn at(line: &str) -> LineReading {
    read(line, true)
}

fn read(line: &str, walled: bool) -> LineReading {
    let place = LinePlace {
        cwd: "/repo/project",
        worktree: "/repo/project",
        home: "/home/person",
        hidden: &["/home/person/.stance".to_owned()],
        walled,
        git_starts_nothing: &|folder| folder == "/repo/project",
    };
    LineReading::read(line, &place)
}

fn proven(reading: &LineReading) -> bool {
    reading.only_reads() && reading.effects().is_empty()
}

#[test]
fn lines_people_read_with_every_day_are_proven_reads() {
    let lost: Vec<String> = READS
        .lines()
        .map(at)
        .filter(|reading| !proven(reading))
        .map(|reading| {
            format!(
                "{}: {:?} {:?} {:?}",
                reading.line(),
                reading.opaque(),
                reading.effects(),
                reading.commands()
            )
        })
        .collect();
    assert!(READS.lines().count() > 40 && lost.is_empty(), "{}", lost.join("\n"));
}

#[test]
fn no_trick_is_a_proven_read() {
    let passed: Vec<&str> = TRICKS.lines().filter(|line| proven(&at(line))).collect();
    assert!(
        TRICKS.lines().count() > 80 && passed.is_empty(),
        "{}",
        passed.join("\n")
    );
}

#[test]
fn no_trick_is_one_within_or_beside_a_read() {
    for trick in TRICKS.lines() {
        for line in [
            format!("ls; {trick}"),
            format!("{trick}\nls"),
            format!("ls && {{ {trick}\n}}"),
            format!("if true; then {trick}\nfi"),
            format!("echo \"$({trick}\n)\""),
            format!("( {trick}\n)"),
        ] {
            assert!(!proven(&at(&line)), "{line}");
        }
    }
}

#[test]
fn what_looks_like_something_else_is_no_read() {
    let long = format!("echo {}", "a".repeat(64 * 1024));
    let deep = format!("{}ls{}", "(".repeat(5000), ")".repeat(5000));
    let deep_substitutions = format!("{}ls{}", "echo $(".repeat(150), ")".repeat(150));
    let cases = "case x in x) ".repeat(40);
    for line in [
        "ls\r",
        "ls\u{a0}src",
        "ls \u{202e}src",
        "ls\u{200b}",
        "l\u{ad}s",
        "ls \u{3000}src",
        "cat \u{1b}[2J",
        "ls \0",
        "ls \u{feff}",
        "ls \u{e0041}",
        "echo 'open",
        "echo \"open",
        "echo $(ls",
        "echo `ls",
        "ls |",
        "ls &&",
        "if ls",
        "cat <<",
        "99999999999>f ls",
        "<<$(( (a)",
        "cat <<$(( (${",
        "|&$(||<<<<< ||elif ",
        "! & ls",
        "time & ls",
        "(>(>@<<-;||<<<",
        "bash -c 'cat <<$(( (a)'",
        "ls )",
        &long,
        &deep,
        &deep_substitutions,
        &cases,
    ] {
        let reading = at(line);
        assert!(reading.opaque().is_some(), "{line:?}");
        assert!(reading.effects().contains(Effect::ProcessSpawn), "{line:?}");
    }
}

/// The commands found, joined by ` | `.
fn commands(line: &str) -> String {
    let found: Vec<String> = at(line).commands().iter().map(|found| found.words.join(" ")).collect();
    found.join(" | ")
}

#[test]
fn what_wraps_a_command_is_seen_through() {
    for wrapped in [
        "rm x",
        r"\rm x",
        "'rm' x",
        "/bin/rm x",
        "env rm x",
        "env -u A B=c rm x",
        "command rm x",
        "nice -n 5 rm x",
        "nice -5 rm x",
        "nohup rm x",
        "timeout -s KILL 5 rm x",
        "timeout 5 nice rm x",
        "busybox rm x",
        "time rm x",
        "! rm x",
        "sh -c 'rm x'",
        "bash -ec 'rm x'",
        "(rm x)",
        "{ rm x; }",
        "ls && rm x",
        "ls; rm x",
        "ls | rm x",
        "echo $(rm x)",
        "echo \"`rm x`\"",
        "cat <(rm x)",
        "if ls; then rm x; fi",
        "for a in b; do rm x; done",
        "while rm x; do :; done",
        "case a in b) rm x;; esac",
        "f() { rm x; }",
        "cat <<END\n$(rm x)\nEND\n",
        "stdbuf -oL rm x",
        "xargs -n1 env rm x",
    ] {
        let found = commands(wrapped);
        assert!(
            found
                .split(" | ")
                .any(|command| command == "rm x" || command == "rm x …"),
            "{wrapped}: {found}"
        );
        assert!(at(wrapped).effects().contains(Effect::FileDelete), "{wrapped}");
    }
    assert_eq!(commands("git -C x -c y=z push origin main"), "git push origin main");
    assert_eq!(
        commands(r"find . -name '*.o' -exec rm {} \;"),
        "rm {} | find . -name *.o -exec rm {} ;"
    );
}

#[test]
fn effects_follow_from_the_command() {
    let check = |line: &str, effects: &[Effect]| {
        let effects = effects
            .iter()
            .copied()
            .collect::<crate::EffectSet>()
            .with(Effect::ProcessSpawn);
        assert_eq!(at(line).effects(), effects, "{line}");
    };
    check("npm ci", &[Effect::PackageInstall]);
    check("cd web && npm install left-pad", &[Effect::PackageInstall]);
    check("pip install -r requirements.txt", &[Effect::PackageInstall]);
    check("cargo add serde", &[Effect::PackageInstall]);
    check("cargo test", &[]);
    check("npm run build", &[]);
    check("git push", &[Effect::GitPush]);
    check("git -C . -c a=b push --force origin main", &[Effect::GitPush]);
    check("gh pr create --fill", &[Effect::PrCreate]);
    check("gh pr review 3 --approve", &[Effect::PrPublish]);
    check("gh issue create -t x", &[Effect::VendorSyncWrite]);
    check("curl https://docs.example.org/a", &[Effect::NetworkEgress]);
    check(
        "curl -d @a https://example.org",
        &[Effect::NetworkEgress, Effect::VendorSyncWrite],
    );
    check(
        "curl -X DELETE https://example.org",
        &[Effect::NetworkEgress, Effect::VendorSyncWrite],
    );
    check(
        "curl -T a https://example.org",
        &[Effect::NetworkEgress, Effect::VendorSyncWrite],
    );
    check("curl \"$url\"", &[Effect::NetworkEgress]);
    check("rm -rf build", &[Effect::FileDelete]);
    check("rm a", &[Effect::FileDelete]);
    check("rm *.o", &[Effect::FileDelete]);
    check("rm /srv/a", &[Effect::FileDelete, Effect::FileWriteOutsideWorktree]);
    check("rm -f /tmp/a", &[]);
    check("find . -name '*.o' -delete", &[Effect::FileDelete]);
    check("touch a", &[]);
    check("touch /srv/a", &[Effect::FileWriteOutsideWorktree]);
    check("cp a ../b", &[Effect::FileWriteOutsideWorktree]);
    check("touch /tmp/a", &[]);
    check("python x.py .env", &[Effect::SecretAccess]);
    check("./x.sh", &[]);
    assert_eq!(
        at("cat .env").effects().iter().collect::<Vec<_>>(),
        [Effect::SecretAccess]
    );
    assert_eq!(
        at("git show HEAD:.env").effects().iter().collect::<Vec<_>>(),
        [Effect::SecretAccess]
    );
    assert_eq!(
        at("grep -r x deploy/id_rsa").effects().iter().collect::<Vec<_>>(),
        [Effect::SecretAccess]
    );
    assert_eq!(
        at("wc -l < .env").effects().iter().collect::<Vec<_>>(),
        [Effect::SecretAccess]
    );
    assert_eq!(
        at("cat *.pem").effects().iter().collect::<Vec<_>>(),
        [Effect::SecretAccess]
    );
    assert_eq!(
        at("cat .en[v]").effects().iter().collect::<Vec<_>>(),
        [Effect::SecretAccess]
    );
    assert!(
        at("ls -la .env && test -f .env").effects().is_empty(),
        "names are no content"
    );
    assert!(at("cat src/*.rs .env.example").effects().is_empty());
}

/// What a line acts on, but for its commands: `write PATH`, `outside PATH`, `delete PATH`, `read PATH`,
/// `host NAME`, `never`.
fn acts(line: &str) -> Vec<String> {
    let act = |target: &Target| match target {
        Target::Write {
            path, outside: false, ..
        } => Some(format!("write {path}")),
        Target::Write { path, .. } => Some(format!("outside {path}")),
        Target::Read { path } => Some(format!("read {path}")),
        Target::Host { host } => Some(format!("host {host}")),
        Target::Never { .. } => Some("never".to_owned()),
        Target::Line { .. }
        | Target::Command { .. }
        | Target::Branch { .. }
        | Target::Page { .. }
        | Target::Mcp { .. }
        | Target::History(_)
        | Target::Recorded { .. } => None,
        Target::Delete { path, .. } => Some(format!("delete {path}")),
    };
    at(line).targets().iter().filter_map(act).collect()
}

#[test]
fn paths_and_hosts_are_those_the_line_names() {
    let check = |line: &str, expected: &[&str]| assert_eq!(acts(line), expected, "{line}");
    check("cat > src/a.rs <<'END'\nx\nEND\n", &["write src/a.rs"]);
    check("echo x >> ./src/../b", &["write b"]);
    check("cd src && echo x > a.rs", &["write src/a.rs"]);
    check("cd src; echo x > a", &["write src/a", "write a"]);
    check("(cd src && ls); echo x > a", &["write a"]);
    check("cd /srv && echo x > a", &["outside /srv/a"]);
    check("echo x | tee a b", &["write a", "write b"]);
    check("sed -i s/a/b/ src/lib.rs", &["write src/lib.rs"]);
    check("rm -fv a src/b", &["delete a", "delete src/b"]);
    check("cd src && rm ../a -- -f", &["delete a", "delete src/-f"]);
    check("unlink .env; rmdir src", &["delete .env", "delete src"]);
    check("rm -rf build", &["write build"]);
    check("rmdir -p a/b", &["write a/b"]);
    check("rm a /srv/b /tmp/c", &["delete a", "outside /srv/b"]);
    check("rm .git/index", &["delete .git/index"]);
    check("cp a.rs src", &["read a.rs", "write src/a.rs", "write src"]);
    check("mv a b", &["write a", "write b/a", "write b"]);
    check("sort -o out in", &["write out"]);
    check("echo x > /dev/null 2>&1", &[]);
    check("echo x > .git/hooks/pre-commit", &["write .git/hooks/pre-commit"]);
    check("cat /etc/hosts", &["read /etc/hosts"]);
    check(
        "curl https://Docs.Example.org:443/a http://b.example",
        &["host docs.example.org", "host b.example"],
    );
    check("git clone git@example.org:a/b.git ../c", &["host example.org"]);
    check("cat ~/.ssh/id_rsa", &["never"]);
    check("ls /home/person/.aws", &["never"]);
    check("python x.py --key=/home/person/.ssh/id_rsa", &["never"]);
    check("cat < ~/.stance/db", &["never"]);
    check("echo x >> ~/.bashrc", &["never"]);
    check("cat ../../home/person/.netrc", &["never"]);
    check("sudo id", &["never"]);
    check("env sudo id", &["never"]);
    check("xargs sudo", &["never"]);
    check("/usr/bin/sudo id", &["never"]);
    check("unshare -r sh", &["never"]);
    check("stance inbox", &["never"]);
    check("./target/debug/stance plan approve p_1", &["never"]);
}

#[test]
fn what_writes_the_repository_is_told_before_it_is_judged() {
    for (line, command) in [
        ("git commit -am wip", "git commit"),
        ("cd src && git add .", "git add"),
        ("git -C src stash", "git stash"),
        ("git branch new", "git branch"),
        ("git tag v1", "git tag"),
        ("git config a.b c", "git config"),
        ("git fetch", "git fetch"),
        ("ls; git checkout main", "git checkout"),
    ] {
        assert_eq!(at(line).writes_repository(), Some(command), "{line}");
    }
    for line in [
        "git log",
        "git branch --contains HEAD",
        "git config user.name",
        "git push",
        "cd /tmp/x && git commit -m a",
        "git clone https://example.org/a",
        "git apply fix.patch",
    ] {
        assert_eq!(at(line).writes_repository(), None, "{line}");
    }
}

#[test]
fn files_that_decide_are_named() {
    for (line, files) in [
        ("npm test", vec!["package.json"]),
        ("cd web && pnpm build", vec!["web/package.json"]),
        ("./x.sh", vec!["x.sh"]),
        ("bash scripts/x.sh", vec!["scripts/x.sh"]),
        ("python3 -u tools/x.py a.txt", vec!["tools/x.py"]),
        (". ./env.sh", vec!["env.sh"]),
        ("ls", vec![]),
    ] {
        assert_eq!(at(line).decided_by(), files, "{line}");
    }
    assert!(at("make").decided_by().contains(&"Makefile".to_owned()));
}

#[test]
fn a_reading_is_shown_as_data() {
    let reading = serde_json::to_value(at("ls && rm x")).unwrap();
    insta::assert_snapshot!(reading, @r#"{"line":"ls && rm x","cwd":"/repo/project","commands":[{"words":["ls"],"reads":true,"effects":[],"rememberable":true,"unseen":"nothing"},{"words":["rm","x"],"reads":false,"effects":[],"rememberable":true,"unseen":"nothing"}],"effects":["file_delete","process_spawn"],"opaque":null}"#);
}

/// Whether bash can read a line; it runs nothing of it.
fn bash_reads(line: &str) -> bool {
    let read = std::process::Command::new("bash")
        .args(["--norc", "--noprofile", "-n", "-c", line])
        .output();
    read.unwrap().status.success()
}

#[test]
fn bash_reads_every_line_that_is_a_read() {
    assert!(!bash_reads("if"));
    for line in READS.lines() {
        assert!(bash_reads(line), "{line}");
    }
}

#[test]
fn a_redirection_is_no_name_of_a_file() {
    for line in [
        "cat README.md< 2>&1",
        "cat < 2<README.md",
        "cat < {a}>x",
        "cat <3<README.md",
    ] {
        assert!(!bash_reads(line), "{line}");
        assert!(!proven(&at(line)), "{line}");
    }
    for line in ["cat < README.md 2>&1", "ls 2>&1 2>/dev/null", "cat < 2"] {
        assert!(bash_reads(line) && proven(&at(line)), "{line}");
    }
}

proptest! {
    #[test]
    fn what_bash_cannot_read_is_no_read(
        read in select(READS.lines().collect::<Vec<_>>()),
        words in prop::collection::vec(select(PIECES), 1..4),
        place in any::<prop::sample::Index>(),
    ) {
        let at_character = place.index(read.chars().count() + 1);
        let start: String = read.chars().take(at_character).collect();
        let end: String = read.chars().skip(at_character).collect();
        let line = format!("{start}{}{end}", words.concat());
        if proven(&at(&line)) {
            prop_assert!(bash_reads(&line), "{}", line);
        }
    }

    #[test]
    fn any_text_has_a_reading(line in any::<String>()) {
        at(&line);
    }

    #[test]
    fn any_words_of_a_shell_have_a_reading(words in prop::collection::vec(select(PIECES), 0..40)) {
        at(&words.concat());
    }

    #[test]
    fn any_bytes_put_into_a_known_line_leave_a_reading(
        line in select(READS.lines().chain(TRICKS.lines()).collect::<Vec<_>>()),
        bytes in prop::collection::vec(any::<u8>(), 0..4),
        place in any::<prop::sample::Index>(),
        cut in 0..3_usize,
    ) {
        let mut text = line.as_bytes().to_vec();
        let start = place.index(text.len() + 1);
        let end = (start + cut).min(text.len());
        text.splice(start..end, bytes);
        at(&String::from_utf8_lossy(&text));
    }

    #[test]
    fn a_read_before_or_after_makes_no_read_of_what_is_none(
        read in select(READS.lines().collect::<Vec<_>>()),
        trick in select(TRICKS.lines().collect::<Vec<_>>()),
        between in select(vec![" ; ", " && ", " || ", " | ", " & ", "\n"]),
    ) {
        let trick = format!("{{ {trick}\n}}");
        for line in [format!("{read}{between}{trick}"), format!("{trick}{between}{read}")] {
            prop_assert!(!proven(&at(&line)), "{}", line);
        }
    }
}

/// Everything a grammar turns on.
const PIECES: &[&str] = &[
    "ls",
    "f",
    "x=",
    " ",
    " ",
    "\n",
    ";",
    "&",
    "&&",
    "|",
    "||",
    "|&",
    "(",
    ")",
    "((",
    "))",
    "{",
    "}",
    "{ ",
    "; }",
    "[[",
    "]]",
    "[",
    "]",
    "'",
    "\"",
    "`",
    "$",
    "$(",
    "${",
    "$((",
    "$'",
    "$\"",
    "\\",
    "#",
    "!",
    "! ",
    "<",
    ">",
    ">>",
    "<<",
    "<<-",
    "<<<",
    "<(",
    ">(",
    "<&",
    ">&",
    "&>",
    ">|",
    "<>",
    "2>",
    "if ",
    "then ",
    "else ",
    "elif ",
    "fi",
    "for ",
    "in ",
    "do ",
    "done",
    "while ",
    "until ",
    "case ",
    "esac",
    ";;",
    ";&",
    "select ",
    "function ",
    "time ",
    "coproc ",
    "*",
    "?",
    "~",
    "{a,b}",
    "{1..3}",
    "EOF",
    "-eq",
    "=~",
    "@",
    "%",
    "+=",
    "é",
    "\t",
    "1",
    "a[",
    "]=",
];

#[test]
fn a_secret_read_through_an_option_is_a_secret_read() {
    for line in [
        "date -f .env",
        "date --file=.env",
        "file -f .env",
        "xargs -a .env echo",
        "xargs --arg-file=.env",
        "du --files0-from=.env",
        "du -X .env",
        "wc --files0-from .env",
        "sort --files0-from=.env",
        "find -files0-from .env",
        "grep -f .env README.md",
        "diff --from-file=.env README.md",
    ] {
        let reading = at(line);
        assert!(reading.effects().contains(Effect::SecretAccess), "{line}: {reading:?}");
    }
}

#[test]
fn where_no_walls_hold_it_only_the_project_and_the_system_are_read() {
    for line in [
        "ls",
        "ls -la /home",
        "cat README.md",
        "cat src/*.rs",
        "cat 'src/a b'",
        "cat /usr/share/dict/words",
        "wc -l < README.md",
        "grep -n x README.md src/lib.rs",
        "git log -p -- src",
        "git diff | head -20",
        "find . -name '*.rs'",
        "sort /dev/null",
        "cat /repo/project/README.md > /dev/null",
    ] {
        assert!(proven(&read(line, false)), "{line}: {:?}", read(line, false));
    }
    for line in [
        "grep -r x .",
        "grep -rn x src",
        "grep -R x /home/person",
        "grep --recursive x",
        "grep -d recurse x .",
        "diff -r . /home/person",
        "grep -a x /proc/*/environ",
        "cat /proc/1/environ",
        "cat /proc/self/environ",
        "cat /home/*/.ssh/id_rsa",
        "cat */../../other/notes.txt",
        "cat ../other/notes.txt",
        "cat ~/notes.txt",
        "cat < /home/person/notes.txt",
        "cd .. && cat notes.txt",
        "cat /tmp/notes.txt",
        "ps auxe",
        "git grep --no-index x",
        "git diff --no-index a b",
        "git diff ../a ../b",
        "git diff . /home/person",
        "git blame --contents=/home/person/notes.txt README.md",
        "git blame --contents /home/person/notes.txt README.md",
    ] {
        assert!(!proven(&read(line, false)), "{line}");
    }
    // Inside the walls the same is there to be read.
    for line in ["grep -rn x src", "cat /tmp/notes.txt", "ps aux"] {
        assert!(proven(&read(line, true)), "{line}");
    }
}

#[test]
fn where_no_walls_hold_it_no_folder_is_the_runs_own() {
    for line in [
        "echo x > /tmp/a",
        "echo x >> /home/stance/.bashrc",
        "touch /run/user/1000/a",
        "rm -f /tmp/a",
        "cp README.md /tmp/a",
    ] {
        let (open, walled) = (read(line, false), read(line, true));
        assert!(
            open.effects().contains(Effect::FileWriteOutsideWorktree),
            "{line}: {open:?}"
        );
        assert!(!walled.effects().contains(Effect::FileWriteOutsideWorktree), "{line}");
    }
}

#[test]
fn words_in_braces_before_something_else_stay_words() {
    for line in ["echo ${x}>&2", "echo {a,b} < README.md", "echo '{print}' < README.md"] {
        assert!(
            at(line).only_reads() && at(line).opaque().is_none(),
            "{line}: {:?}",
            at(line)
        );
    }
}
