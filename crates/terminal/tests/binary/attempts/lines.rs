//! Shell lines under rules: whatever writes a file is held to the rule about that file, whatever starts
//! a program to the rule about it, and each refusal names the rule.

use serde_json::{Value, json};

use super::leaks::shell;
use crate::attacks::evidence::told;
use crate::support::{Place, calls, says, turns};

/// Ways of a line to change kept.txt.
const WRITERS: [&str; 54] = [
    "echo x > kept.txt",
    "echo x >> kept.txt",
    "echo x >| kept.txt",
    "echo x &> kept.txt",
    "> kept.txt",
    "exec 3> kept.txt; echo x >&3",
    "cat <<E > kept.txt\nx\nE",
    "cat <<< x > kept.txt",
    "{ echo x; } > kept.txt",
    "if true; then echo x; fi > kept.txt",
    "echo x 1<> kept.txt",
    "echo x > 'kept'\".txt\"",
    "echo x > $'kept\\x2etxt'",
    "echo x > ./src/../kept.txt",
    "cd src && echo x > ../kept.txt",
    "f=kept.txt; echo x > $f",
    "echo x > kep?.txt",
    "echo x | tee kept.txt",
    "echo x | tee -a kept.txt",
    "echo x | tee >(cat > kept.txt)",
    "sed -i s/k/x/ kept.txt",
    "sed -n 'w kept.txt' README.md",
    "perl -pi -e s/k/x/ kept.txt",
    "awk 'BEGIN{print 1 > \"kept.txt\"}'",
    "python3 -c \"open('kept.txt','w').write('x')\"",
    "python3 writes.py",
    "sh writes.sh",
    "dd if=README.md of=kept.txt",
    "install -m 600 README.md kept.txt",
    "cp README.md kept.txt",
    "cp -t . other/kept.txt",
    "mv README.md kept.txt",
    "mv kept.txt moved.txt",
    "ln -f README.md kept.txt",
    "ln -sf README.md kept.txt",
    "touch kept.txt",
    "truncate -s 0 kept.txt",
    "chmod 600 kept.txt",
    "rm kept.txt",
    "unlink kept.txt",
    "printf '%s\\n' '--- kept.txt' '+++ kept.txt' '@@ -1 +1 @@' '-kept' '+x' | patch -p0",
    "git apply kept.patch",
    "git diff --output=kept.txt",
    "printf '1d\\nw\\nq\\n' | ed -s kept.txt",
    "echo kept.txt | xargs truncate -s 0",
    "find kept.txt -delete",
    "find . -name kept.txt -exec truncate -s 0 {} +",
    "sort README.md -o kept.txt",
    "uniq README.md kept.txt",
    "curl -so kept.txt file:///etc/hostname",
    "tar cf kept.txt README.md",
    "bash -c 'echo x > kept.txt'",
    "env -S 'touch kept.txt'",
    "eval 'echo x > kept.txt'",
];

/// What became of each line of a run with these flags.
fn refusals(place: &Place, lines: &[&str], flags: &[&str]) -> Vec<(bool, String)> {
    let made: Vec<_> = lines.iter().map(|line| shell(line)).collect();
    let model = place.script("lines", &turns(&[calls(&made), says("done")]));
    let (_, events, report) = place.stream(&model, &[&["--mode", "agent", "go"], flags].concat());
    let told = told(&events);
    assert_eq!(told.len(), lines.len(), "{report:#}");
    told.into_iter()
        .map(|told| (told.how == "refused", told.text))
        .collect()
}

fn place(rules: &str) -> Place {
    let place = Place::new();
    place.settings(&format!("[limits]\nmistakes = \"off\"\n[permissions]\n{rules}\n"));
    place.write("kept.txt", "kept\n");
    place.write("other/kept.txt", "x\n");
    place.write("writes.py", "open('kept.txt', 'w').write('x')\n");
    place.write("writes.sh", "echo x > kept.txt\n");
    place.write("kept.patch", "--- a/kept.txt\n+++ b/kept.txt\n@@ -1 +1 @@\n-kept\n+x\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "kept"]);
    place
}

#[test]
fn a_rule_about_a_file_holds_for_every_line_that_writes_it() {
    let place = place("deny = [\"edit(kept.txt)\"]");
    let before = place.world();
    let allowed = [
        "--allow",
        "edit(**)",
        "--allow",
        "effect(process_spawn)",
        "--allow",
        "effect(file_delete)",
    ];
    let faults: Vec<String> = refusals(&place, &WRITERS, &allowed)
        .into_iter()
        .zip(WRITERS)
        .filter(|((refused, why), _)| !refused || !why.contains("edit(kept.txt)"))
        .map(|((_, why), line)| format!("{line}: {why}"))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!(place.world(), before);
}

#[test]
fn a_line_that_writes_a_file_is_asked_about_as_that() {
    let place = place("ask = [\"edit(src/**)\"]");
    let model = place.script(
        "instead",
        &turns(&[
            calls(&[("replace_in_file", json!({"path": "README.md", "diff": "not one"}))]),
            calls(&[shell("cat > src/app.js <<'E'\nconst x = 9;\nE")]),
            says("done"),
        ]),
    );
    let (code, report) = place.run(&model, &["--mode", "agent", "--approvals", "wait", "change it"]);
    assert_eq!(code, 7, "{report:#}");
    let asked = &report["pending"][0];
    assert_eq!(asked["lines"][0], "it would write src/app.js");
    assert_eq!(asked["rules"], json!(["edit(src/app.js)"]));
    assert_eq!(place.read("src/app.js"), "const x = 1;\n");
}

#[test]
fn deleting_outside_is_asked_about_with_the_place_it_reaches() {
    let place = place("");
    for line in [
        "find / -name '*.log' -delete",
        "find /srv/logs -name '*.log' -delete",
        "find -L src /srv/logs -name '*.log' -exec rm {} +",
        "rm -rf /srv/logs",
        "cd /srv && rm kept.log",
    ] {
        let (refused, why) = refusals(&place, &[line], &[]).remove(0);
        assert!(refused && why.contains("outside the project"), "{line}: {why}");
    }
}

#[test]
fn every_part_of_a_line_needs_its_own_yes_and_all_that_lack_one_are_told() {
    let place = place(
        "ask = [\"effect(process_spawn)\"]\nallow = [\"cargo test *\", \"cargo test\"]\ndeny = [\"npm publish *\"]",
    );
    let joined = [
        "cargo test; make all",
        "cargo test && make all",
        "cargo test || make all",
        "cargo test | make all",
        "cargo test & make all",
        "cargo test\nmake all",
        "cargo test $(make all)",
        "cargo test `make all`",
        "cargo test <(make all)",
        "cargo test '' ; make all # cargo test",
        "LC_ALL=C make all | cargo test",
    ];
    for (line, (refused, why)) in joined.iter().zip(refusals(&place, &joined, &[])) {
        assert!(refused && why.contains("make all"), "{line}: {why}");
        let constant = !line.contains(['$', '`', '<']);
        assert!(!(constant && why.contains("start a program (cargo")), "{line}: {why}");
    }
    let all = refusals(&place, &["cargo test; make all; rm -rf src; npm publish now"], &[]);
    assert!(all[0].0 && all[0].1.contains("npm publish *"), "{all:?}");
    let all = refusals(&place, &["grep x README.md | rm -rf src; make all"], &[]);
    assert!(
        all[0].0 && all[0].1.contains("rm -rf src") && all[0].1.contains("make all"),
        "{all:?}"
    );
    // What only reads, alone or joined, is not asked about.
    let reads = [
        "git log --oneline",
        "grep const src/app.js | head",
        "cd src && ls",
        "NO_COLOR=1 ls -la",
    ];
    for (line, (refused, why)) in reads.iter().zip(refusals(&place, &reads, &[])) {
        assert!(!refused, "{line}: {why}");
    }
    assert!(place.repo().join("src/app.js").exists());
}

/// A word that stands in a file nobody may read, and nowhere else.
const WORD: &str = "the-hidden-word";

#[test]
fn what_may_not_be_read_reaches_the_model_by_no_tool_and_no_line() {
    let place = place("deny = [\"read(.env)\"]");
    place.write(".env", &format!("KEY={WORD}\n"));
    place.write("reads.py", "print(open('.env').read())\n");
    std::os::unix::fs::symlink(".env", place.repo().join("link")).unwrap();
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "secret"]);
    place.write(".env", &format!("KEY={WORD}\nMORE={WORD}\n"));
    let file = |path: &str| ("read_file", json!({"path": path}));
    let git = |arguments: Value| ("git_read", arguments);
    let mut made = vec![
        file(".env"),
        file("./src/../.env"),
        file("link"),
        ("search_files", json!({"path": ".", "regex": "KEY|MORE"})),
        ("search_files", json!({"path": ".env", "regex": "KEY|MORE"})),
        ("list_files", json!({"path": ".", "recursive": true})),
        git(json!({"op": "diff"})),
        git(json!({"op": "diff", "paths": [".env"]})),
        git(json!({"op": "show"})),
        git(json!({"op": "show", "revision": "HEAD", "path": ".env"})),
        git(json!({"op": "blame", "path": ".env"})),
    ];
    made.extend(
        [
            "cat .env",
            "cat ./*/../.env",
            "head -1 < .env",
            "cat link",
            "grep -r KEY .",
            "source .env; echo $KEY",
            "cp .env copy; cat copy",
            "ln .env other; cat other",
            "git show :.env",
            "git show HEAD:.env",
            "git diff",
            "git blame .env",
            "git cat-file -p HEAD:.env",
            "git show HEAD",
            "git show -S --name-only HEAD",
            "git log -p",
            "git log -5 -U1",
            "git diff HEAD~1",
            "git diff HEAD~1 HEAD",
            "git grep KEY HEAD",
            "git grep --cached KEY",
            "git archive HEAD | tar -xO",
            "git rev-parse HEAD:.env | git cat-file --batch",
            "git stash show -p",
            "git format-patch --stdout HEAD~1",
            "git bundle create /tmp/b HEAD; strings /tmp/b",
            "git fast-export HEAD",
            "git clone -q . /tmp/copy; grep -r KEY /tmp/copy",
            "git -c core.pager=cat show HEAD",
            "git --git-dir=.git show HEAD",
            "tar c . | strings",
            "python3 -c \"print(open('.env').read())\"",
            "python3 reads.py",
            "while read -r line; do echo \"$line\"; done < .env",
        ]
        .map(shell),
    );
    let model = place.script("reads", &turns(&[calls(&made), says("done")]));
    for flags in [
        &["--mode", "agent"][..],
        &[
            "--mode",
            "agent",
            "--allow",
            "effect(process_spawn)",
            "--allow",
            "read(**)",
        ],
        &["--mode", "plan"],
    ] {
        let (_, events, report) = place.stream(&model, &[flags, &["look"]].concat());
        let shown: Vec<_> = told(&events)
            .into_iter()
            .zip(&made)
            .filter(|(told, _)| told.text.contains(WORD))
            .map(|(_, (tool, arguments))| format!("{flags:?} {tool} {arguments}"))
            .collect();
        assert!(shown.is_empty(), "{}", shown.join("\n"));
        assert!(!report.to_string().contains(WORD));
    }
}
