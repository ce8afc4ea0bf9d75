//! Judging shell lines by example: which are asked about, by which words, and what rules make of them.

use insta::assert_snapshot;
use stance_modes::{Judged, Mode, RunRecipe, Scope, Verdict, WallsStanding, judge};

use crate::drawn::spec;
use crate::rules::{agent, at, decided, headless, runs, step};

const ALLOW: Verdict = Verdict::Allow;
const ASK: Verdict = Verdict::Ask;
const DENY: Verdict = Verdict::Deny;

fn person(verdict: Verdict, rules: &[&'static str]) -> Vec<(Scope, Verdict, &'static str)> {
    rules.iter().map(|rule| (Scope::Person, verdict, *rule)).collect()
}

/// What becomes of a line under these rules: `allow`, `ask` or `deny` and the layer.
fn outcome(rules: &[(Scope, Verdict, &str)], line: &str) -> String {
    let decided = decided(agent(rules), runs(line));
    decided.split(':').next().unwrap_or_default().to_owned()
}

#[test]
fn by_default_what_a_line_does_is_asked_and_not_that_it_runs() {
    assert_snapshot!(decided(agent(&[]), runs("cargo test && ls")), @"allow built_in");
    assert_snapshot!(decided(agent(&[]), runs("python3 -c 'print(1)'")), @"allow built_in");
    assert_snapshot!(decided(agent(&[]), runs("echo x > src/a.rs")), @"allow built_in");
    assert_snapshot!(decided(agent(&[]), runs("grep x f | rm -rf d")), @"ask built_in: it would delete files (rm -rf d)");
    assert_snapshot!(decided(agent(&[]), runs("npm ci && git push origin main")), @"ask built_in: it would push (git push origin main); install packages (npm ci)");
    assert_snapshot!(decided(agent(&[]), runs("cat .env")), @"ask built_in: it would read secrets (.env)");
    assert_snapshot!(decided(agent(&[]), runs("curl -d @x https://example.org/a")), @"ask built_in: it would change another service (curl -d @x https://example.org/a); use the network (example.org)");
    assert_snapshot!(decided(agent(&[]), runs("echo x > /srv/a")), @"ask built_in: it would write outside the project (/srv/a)");
    assert_snapshot!(decided(agent(&[]), runs("cp hook.yml .github/workflows/ci.yml")), @"ask built_in: it would write .github/workflows/ci.yml, which configures agents, editors, git or CI");
    assert_snapshot!(decided(agent(&[]), runs("echo x > .git/hooks/pre-commit")), @"deny never: .git/hooks/pre-commit belongs to the repository's own records: no mode, rule or answer lets a run touch that.");
    assert_snapshot!(decided(agent(&[]), runs("env sudo id")), @"deny never: `sudo` would give a command more than the run has, or lead it out of the walls: no mode, rule or answer lets a run touch that.");
    assert_snapshot!(decided(agent(&[]), runs("cat ~/.aws/credentials")), @"deny never: it holds credentials: no mode, rule or answer lets a run touch that.");
    assert_snapshot!(decided(agent(&[]), runs("stance plan approve p_1")), @"deny never: `stance` decides for a person, and a run is never one: no mode, rule or answer lets a run touch that.");
    assert_snapshot!(decided(headless(agent(&[])), runs("npm ci")), @"deny no_approver: it would install packages (npm ci), and nobody can be asked. A person allows it with --allow 'npm ci'.");
    assert_snapshot!(decided(headless(agent(&[])), runs("rm 'a b'")), @"deny no_approver: it would delete files (a b), and nobody can be asked. A person allows it with --allow 'edit(a b)'.");
}

#[test]
fn an_allow_must_cover_every_command_of_the_line() {
    let mut rules = person(ASK, &["effect(process_spawn)"]);
    rules.extend(person(ALLOW, &["npm run *", "make"]));
    for line in [
        "npm run test",
        "npm run a && make",
        "cd web && npm run a",
        "timeout 9 npm run a",
        "LC_ALL=C npm run a | cat",
    ] {
        assert_eq!(outcome(&rules, line), "allow rule", "{line}");
    }
    for line in [
        "npm run a; npm publish",
        "npm run a && cargo run",
        "npm run a || cargo run",
        "npm run a | cargo run",
        "npm run a & cargo run",
        "npm run a\ncargo run",
        "npm run $(cargo run)",
        "npm run `cargo run`",
        "npm run <(cargo run)",
        "npm run a > >(cargo run)",
        "npm run a '' ; cargo run # npm run a",
        "npm runs",
        "sh -c 'npm run a; cargo run'",
    ] {
        assert!(outcome(&rules, line).starts_with("ask"), "{line}");
    }
}

#[test]
fn reads_are_asked_of_nobody_and_a_rule_for_them_is_heard() {
    let asks_all = person(ASK, &["effect(process_spawn)"]);
    for line in [
        "git log --oneline",
        "git log -3 | head",
        "grep -rn x src | head",
        "cd src && ls",
        "NO_COLOR=1 ls",
    ] {
        assert_eq!(outcome(&asks_all, line), "allow built_in", "{line}");
    }
    assert_eq!(
        outcome(&person(DENY, &["git log *"]), "ls; git -C src log"),
        "deny deny_rule"
    );
    assert_eq!(outcome(&person(ASK, &["grep *"]), "ls | grep a"), "ask rule");
    assert_eq!(outcome(&person(ALLOW, &["rm *"]), "rm a b"), "allow rule");
    assert_eq!(outcome(&person(ALLOW, &["rm a"]), "rm a b"), "ask built_in");
}

#[test]
fn a_deny_holds_under_any_wrapping() {
    let rules = person(DENY, &["rm *"]);
    for line in [
        "rm x",
        "ls | xargs rm",
        "find . -exec rm {} +",
        "command rm x",
        "\\rm x",
        "/bin/rm x",
        "busybox rm x",
        "env rm x",
        "nice rm x",
        "sh -c 'rm x'",
        "ls; rm x",
        "echo $(rm x)",
        "r''m x",
    ] {
        assert_eq!(outcome(&rules, line), "deny deny_rule", "{line}");
    }
    for line in [
        "echo rm x | sh",
        "$(printf r)m x",
        "base64 -d < a | sh",
        "alias y=rm; y x",
        "./script.sh",
        "bash script.sh",
        "python3 -c 'import os'",
        "eval \"$x\"",
        "env -S 'rm x'",
        "x=rm; $x y",
        "git x",
    ] {
        assert_eq!(outcome(&rules, line), "ask rule", "{line}");
    }
    for line in ["ls", "git log", "touch a", "cp a b"] {
        assert_eq!(outcome(&rules, line), "allow built_in", "{line}");
    }
}

#[test]
fn inside_the_walls_no_deny_rule_stops_a_program_it_does_not_name() {
    for rule in [
        "rm *",
        "effect(file_delete)",
        "effect(git_push)",
        "edit(src/**)",
        "read(keys/**)",
        "net(example.org)",
    ] {
        let rules = person(DENY, &[rule]);
        for line in ["cargo test", "npm run build", "make", "some-program"] {
            assert_eq!(outcome(&rules, line), "allow built_in", "{rule}: {line}");
        }
    }
    for rule in ["cargo *", "effect(process_spawn)"] {
        assert_eq!(
            outcome(&person(DENY, &[rule]), "cargo test"),
            "deny deny_rule",
            "{rule}"
        );
    }
}

#[test]
fn without_walls_a_program_that_runs_code_may_do_whatever_is_denied() {
    for (walls, expected) in [
        (WallsStanding::Proven, "allow rule"),
        (WallsStanding::Partial, "allow rule"),
        (WallsStanding::Outer, "ask rule"),
        (WallsStanding::Off, "ask rule"),
    ] {
        let mut rules = person(DENY, &["edit(src/**)"]);
        rules.push((Scope::Person, ALLOW, "cargo test"));
        let recipe = RunRecipe { walls, ..agent(&rules) };
        let decided = decided(recipe, runs("cargo test"));
        assert_eq!(decided.split(':').next(), Some(expected), "{walls:?}");
    }
}

#[test]
fn no_allow_lifts_a_deny_from_what_cannot_be_seen() {
    let mut rules = person(DENY, &["rm *"]);
    rules.push((Scope::Run, ALLOW, "effect(process_spawn)"));
    assert_snapshot!(decided(headless(agent(&rules)), runs("x=rm; $x y")), @r#"deny no_approver: it would start a program (x=rm; $x y; the name of a command is not constant ($x)), and nobody can be asked. No --allow lifts that: the rule "rm *" (settings.toml:1), which this line may mean, wants it asked."#);
    for rule in ["edit(src/**)", "read(keys/**)", "effect(git_push)", "net(example.org)"] {
        assert_eq!(
            outcome(&person(DENY, &[rule]), "python3 -c 'print(1)'"),
            "ask rule",
            "{rule}"
        );
    }
}

#[test]
fn rules_about_paths_hold_for_lines() {
    let edits = [
        (Scope::Person, ASK, "edit(src/**)"),
        (Scope::Person, DENY, "edit(generated/**)"),
    ];
    let shell_asked = [
        (Scope::Person, ALLOW, "edit(**)"),
        (Scope::Person, ASK, "effect(process_spawn)"),
    ];
    assert_snapshot!(decided(agent(&shell_asked), runs("cat > src/a.rs <<< x")), @r#"ask rule: it would start a program (cat), writing src/a.rs, which the rule "effect(process_spawn)" (settings.toml:2) wants asked"#);
    assert_snapshot!(decided(agent(&edits), runs("cat > src/a.rs <<< x")), @r#"ask rule: it would write src/a.rs, which the rule "edit(src/**)" (settings.toml:1) wants asked"#);
    for line in [
        "sed -i s/a/b/ generated/a",
        "cd generated && echo x > a",
        "ls | tee generated/a",
        "cp a generated",
    ] {
        assert_eq!(outcome(&edits, line), "deny deny_rule", "{line}");
    }
    let reads = person(DENY, &["read(.env*)"]);
    for line in [
        "cat .env",
        "git show :.env",
        "cp .env x",
        "head -1 < .env",
        "grep x ./.env",
        "sort .env | head",
    ] {
        assert_eq!(outcome(&reads, line), "deny deny_rule", "{line}");
    }
    assert_eq!(outcome(&reads, "source .env"), "deny deny_rule");
    let bounded = |line: &str| decided(step(&["src/a.rs"], &[]), runs(line));
    assert_snapshot!(bounded("echo x > src/a.rs"), @"allow built_in");
    assert_snapshot!(bounded("echo x > src/b.rs"), @"ask step: it would write src/b.rs, which the approved step does not name");
}

#[test]
fn what_may_be_remembered() {
    let rememberable = |line: &str| {
        let rules = person(ASK, &["effect(process_spawn)"]);
        match judge(&spec(agent(&rules)), runs(line), None) {
            Judged::Question(question) => question.asks.iter().all(|ask| ask.rememberable),
            _ => panic!("{line} is not asked"),
        }
    };
    for line in [
        "npm run build",
        "./x.sh a",
        "bash x.sh",
        "LC_ALL=C make",
        "git push origin main",
        "cat .env",
        "npm ci",
        "curl https://example.org",
        "rm a",
    ] {
        assert!(rememberable(line), "{line}");
    }
    for line in [
        "python3 -c 'print(1)'",
        "x=1 ./x.sh",
        "bash -x x.sh",
        "$x y",
        "git push --force origin main",
        "git push origin +main",
        "git push origin :main",
        "cat .env deploy/id_rsa",
        "cat *.pem",
        "echo x > /srv/a",
    ] {
        assert!(!rememberable(line), "{line}");
    }
}

#[test]
fn read_only_modes_refuse_what_a_line_would_do() {
    for mode in Mode::all()
        .into_iter()
        .filter(|mode| *mode != stance_modes::after_approval())
    {
        let decided = decided(at(mode, &[]), runs("ls"));
        assert!(decided.starts_with("deny surface"), "{decided}");
    }
}
