//! Judging by example: the defaults, and what rules of each kind and scope make of them.

use insta::assert_snapshot;
use serde_json::json;
use stance_modes::paths::write_class;
use stance_modes::{
    Answer, Approver, Autonomy, Effect, Inspection, Judged, Mode, ProposedCall, Role, RuleText, RunRecipe, Scope,
    Target, Verdict, WallsStanding, after_approval, descriptor, judge,
};

use crate::drawn::{SCOPES, delete, reading, spec, write};

/// A run with a person at the door, and these rules of `scope verdict text`.
pub(crate) fn at(mode: Mode, rules: &[(Scope, Verdict, &str)]) -> RunRecipe {
    let rule = |(line, (scope, verdict, text)): (usize, &(Scope, Verdict, &str))| RuleText {
        scope: *scope,
        verdict: *verdict,
        text: (*text).to_owned(),
        place: format!("settings.toml:{}", line + 1),
    };
    RunRecipe {
        mode,
        chain: Vec::new(),
        role: Role::Main,
        read_only_once: false,
        autonomy: Autonomy::ActWithApproval,
        approver: Approver::Person,
        walls: WallsStanding::Proven,
        inspection: Inspection::On,
        rules: rules.iter().enumerate().map(rule).collect(),
        hosts: Vec::new(),
        answers: Vec::new(),
    }
}

pub(crate) fn agent(rules: &[(Scope, Verdict, &str)]) -> RunRecipe {
    at(after_approval(), rules)
}

pub(crate) fn step(files: &[&str], rules: &[(Scope, Verdict, &str)]) -> RunRecipe {
    let files = Some(files.iter().map(|file| (*file).to_owned()).collect());
    RunRecipe {
        role: Role::Step {
            files,
            read_only: false,
        },
        ..agent(rules)
    }
}

pub(crate) fn headless(recipe: RunRecipe) -> RunRecipe {
    RunRecipe {
        approver: Approver::Nobody,
        ..recipe
    }
}

fn call(tool: &str) -> ProposedCall {
    ProposedCall::new(descriptor(tool).unwrap(), "call", json!({}))
}

fn reads(path: &str) -> ProposedCall {
    let call = call("read_file").with_target(Target::Read { path: path.to_owned() });
    if stance_modes::paths::secret_shaped(path) {
        call.with_effect(Effect::SecretAccess)
    } else {
        call
    }
}

fn writes(path: &str) -> ProposedCall {
    call("write_to_file").with_target(write(path))
}

fn writes_outside(path: &str) -> ProposedCall {
    call("write_to_file").with_target(Target::Write {
        path: path.to_owned(),
        class: write_class(path),
        outside: true,
    })
}

fn deletes(path: &str, held: bool) -> ProposedCall {
    call("execute_command").with_target(delete(path, held))
}

pub(crate) fn runs(line: &str) -> ProposedCall {
    call("execute_command").with_line(reading(line))
}

/// The decision as one line: `allow|ask|deny layer: reason`.
pub(crate) fn decided(recipe: RunRecipe, call: ProposedCall) -> String {
    let tool = call.tool().name;
    let (digest, effects) = (call.digest(), call.effects());
    let record = judge(&spec(recipe), call, None).record(tool, digest, effects);
    let word = serde_json::to_value(record.decision).unwrap();
    let reason = if record.reason.is_empty() {
        String::new()
    } else {
        format!(": {}", record.reason)
    };
    format!("{} {}{reason}", word.as_str().unwrap(), record.layer.word())
}

#[test]
fn deleting_what_a_checkpoint_holds_is_a_write_inside_proven_walls() {
    let plan = || at(Mode::chosen("plan").unwrap(), &[]);
    let wall_less = || RunRecipe {
        walls: WallsStanding::Absent,
        ..agent(&[])
    };
    let rule = (Scope::Person, Verdict::Ask, "effect(file_delete)");
    let denied = (Scope::Person, Verdict::Deny, "edit(src/**)");
    let mut lines = Vec::new();
    for (recipe, path, held) in [
        (agent(&[]), "src/a.rs", true),
        (headless(agent(&[])), "src/a.rs", true),
        (agent(&[]), "src/a.rs", false),
        (headless(agent(&[])), "src/a.rs", false),
        (agent(&[]), ".mcp.json", true),
        (step(&["src/b.rs"], &[]), "src/a.rs", true),
        (agent(&[rule]), "src/a.rs", true),
        (agent(&[denied]), "src/a.rs", true),
        (agent(&[]), ".git/config", true),
        (plan(), "src/a.rs", true),
    ] {
        lines.push(decided(recipe, deletes(path, held)));
    }
    let elsewhere = call("write_to_file").with_target(delete("src/a.rs", true));
    lines.push(decided(wall_less(), elsewhere));
    assert_snapshot!(lines.join("\n"), @r#"
    allow built_in: a checkpoint holds what it deletes: src/a.rs
    allow built_in: a checkpoint holds what it deletes: src/a.rs
    ask built_in: it would delete files (src/a.rs)
    deny no_approver: it would delete files (src/a.rs), and nobody can be asked. A person allows it with --allow 'edit(src/a.rs)'.
    ask built_in: it would delete .mcp.json, which configures agents, editors, git or CI
    ask step: it would delete src/a.rs, which the approved step does not name
    ask rule: it would delete src/a.rs, which the rule "effect(file_delete)" (settings.toml:1) wants asked
    deny deny_rule: the rule "edit(src/**)" (settings.toml:1) denies to delete src/a.rs.
    deny never: .git/config belongs to the repository's own records: no mode, rule or answer lets a run touch that.
    deny surface: unknown tool execute_command: not in Plan (read-only): it reaches further than this mode may
    ask built_in: it would delete files (src/a.rs)
    "#);
}

#[test]
fn defaults() {
    assert_snapshot!(decided(agent(&[]), reads("src/lib.rs")), @"allow built_in");
    assert_snapshot!(decided(agent(&[]), writes("src/lib.rs")), @"allow built_in");
    assert_snapshot!(decided(agent(&[]), runs("cargo test")), @"allow built_in");
    assert_snapshot!(decided(agent(&[]), call("git_write").with_effect(Effect::GitCommit)), @"allow built_in");
    let commit = |branch: &str| {
        let target = Target::Branch {
            name: branch.to_owned(),
        };
        call("git_write").with_effect(Effect::GitCommit).with_target(target)
    };
    assert_snapshot!(decided(agent(&[]), commit("stance/p_1")), @"allow built_in");
    assert_snapshot!(decided(agent(&[]), commit("main")), @"ask built_in: it would commit on your branch main");
    assert_snapshot!(decided(headless(agent(&[])), commit("main")), @"deny no_approver: it would commit on your branch main, and nobody can be asked. A person allows it with --allow 'effect(git_commit)'.");
    assert_snapshot!(decided(agent(&[]), call("git_write").with_effect(Effect::GitPush)), @"ask built_in: it would push");
    assert_snapshot!(decided(agent(&[]), reads(".env")), @"ask built_in: it would read secrets (.env)");
    assert_snapshot!(decided(agent(&[]), writes_outside("/etc/hosts")), @"ask built_in: it would write outside the project (/etc/hosts)");
    assert_snapshot!(decided(agent(&[]), writes(".mcp.json")), @"ask built_in: it would write .mcp.json, which configures agents, editors, git or CI");
    assert_snapshot!(decided(agent(&[]), writes("sub/.git/hooks/pre-commit")), @"deny never: sub/.git/hooks/pre-commit belongs to the repository's own records: no mode, rule or answer lets a run touch that.");
    let asked: Vec<&str> = Effect::ALL
        .into_iter()
        .filter(|effect| decided(agent(&[]), call("read_file").with_effect(*effect)).starts_with("ask"))
        .map(Effect::name)
        .collect();
    let allowed = ["git_commit", "process_spawn"];
    let others: Vec<&str> = Effect::ALL
        .map(Effect::name)
        .into_iter()
        .filter(|name| !allowed.contains(name))
        .collect();
    assert_eq!(asked, others);
}

#[test]
fn nobody_there() {
    let decided = |call| decided(headless(agent(&[])), call);
    assert_snapshot!(decided(reads(".env")), @"deny no_approver: it would read secrets (.env), and nobody can be asked. A person allows it with --allow 'read(.env)'.");
    assert_snapshot!(decided(writes_outside("/srv/it's [here]")), @r"deny no_approver: it would write outside the project (/srv/it's [here]), and nobody can be asked. A person allows it with --allow 'edit(/srv/it'\''s \[here\])'.");
    assert_snapshot!(decided(writes(".mcp.json").with_effect(Effect::GitPush)), @"deny no_approver: it would push; write .mcp.json, which configures agents, editors, git or CI, and nobody can be asked. A person allows it with --allow 'effect(git_push)' --allow 'edit(.mcp.json)'.");
}

#[test]
fn no_allow_is_promised_that_would_not_help() {
    let managed = [(Scope::Managed, Verdict::Ask, "effect(git_push)")];
    let push = || call("git_write").with_effect(Effect::GitPush);
    assert_snapshot!(decided(headless(agent(&managed)), push()), @r#"deny no_approver: it would push, and nobody can be asked. No --allow lifts that: the rule "effect(git_push)" (settings.toml:1) wants it asked."#);
    let own = [(Scope::Person, Verdict::Ask, "effect(git_push)")];
    assert_snapshot!(decided(headless(agent(&own)), push()), @r#"deny no_approver: it would push, and nobody can be asked. The rule "effect(git_push)" (settings.toml:1) wants it asked. A person allows it with --allow 'effect(git_push)'."#);
}

#[test]
fn a_yes_to_one_is_no_yes_to_another() {
    let allow = [(Scope::Run, Verdict::Allow, "read(.env)")];
    let both = || {
        reads(".env").with_target(Target::Read {
            path: "id_rsa".to_owned(),
        })
    };
    assert_snapshot!(decided(agent(&allow), reads(".env")), @"allow rule");
    assert_snapshot!(decided(agent(&allow), both()), @"ask built_in: it would read secrets (id_rsa)");

    let hosts = call("web_fetch")
        .with_target(Target::Host {
            host: "docs.example.org".to_owned(),
        })
        .with_target(Target::Host {
            host: "elsewhere.example".to_owned(),
        });
    let allow = [(Scope::Person, Verdict::Allow, "net(*.example.org)")];
    assert_snapshot!(decided(agent(&allow), hosts), @"ask built_in: it would use the network (elsewhere.example)");

    let folders = writes_outside("/srv/a").with_target(Target::Write {
        path: "/etc/b".to_owned(),
        class: write_class("/etc/b"),
        outside: true,
    });
    let allow = [(Scope::Person, Verdict::Allow, "edit(/srv/**)")];
    assert_snapshot!(decided(agent(&allow), folders), @"ask built_in: it would write outside the project (/etc/b)");
}

#[test]
fn a_rule_speaks_only_for_what_it_names() {
    let edit = [(Scope::Run, Verdict::Allow, "edit(**)")];
    let delete = || writes("src/a.rs").with_effect(Effect::FileDelete);
    assert_snapshot!(decided(agent(&edit), delete()), @"ask built_in: it would delete files");
    let keep = [
        (Scope::Run, Verdict::Allow, "effect(file_delete)"),
        (Scope::Person, Verdict::Deny, "edit(src/**)"),
    ];
    assert_snapshot!(decided(agent(&keep), delete()), @r#"deny deny_rule: the rule "edit(src/**)" (settings.toml:2) denies to write src/a.rs."#);
    let read = [(Scope::Run, Verdict::Allow, "read(**)")];
    assert_snapshot!(decided(agent(&read), writes(".mcp.json")), @"ask built_in: it would write .mcp.json, which configures agents, editors, git or CI");
}

#[test]
fn a_secret_found_under_another_name_is_asked_by_that_name() {
    let alias = call("read_file").with_target(Target::Read {
        path: "settings".to_owned(),
    });
    let alias = alias.with_effect(Effect::SecretAccess);
    assert_snapshot!(decided(headless(agent(&[])), alias), @"deny no_approver: it would read secrets (settings), and nobody can be asked. A person allows it with --allow 'read(settings)'.");
}

#[test]
fn the_first_scope_with_a_match_decides() {
    let push = || call("git_write").with_effect(Effect::GitPush);
    for (position, first) in SCOPES.into_iter().enumerate() {
        for later in &SCOPES[position + 1..] {
            let rules = [
                (*later, Verdict::Allow, "effect(git_push)"),
                (first, Verdict::Ask, "effect(git_push)"),
            ];
            let line = decided(agent(&rules), push());
            assert_eq!(
                line,
                "ask rule: it would push, which the rule \"effect(git_push)\" (settings.toml:2) wants asked"
            );
            let rules = [
                (*later, Verdict::Ask, "effect(git_push)"),
                (first, Verdict::Allow, "effect(git_push)"),
            ];
            assert_eq!(
                decided(agent(&rules), push()),
                "allow rule",
                "{first:?} before {later:?}"
            );
            let rules = [
                (*later, Verdict::Deny, "effect(git_push)"),
                (first, Verdict::Allow, "effect(git_push)"),
            ];
            assert!(
                decided(agent(&rules), push()).starts_with("deny deny_rule"),
                "{later:?} over {first:?}"
            );
        }
    }
}

#[test]
fn inside_a_scope_the_closest_rule_decides_then_the_strictest() {
    let (ask, allow) = (Verdict::Ask, Verdict::Allow);
    let scope = Scope::Workspace;
    let closest = [(scope, ask, "edit(src/**)"), (scope, allow, "edit(src/generated/**)")];
    assert_snapshot!(decided(agent(&closest), writes("src/generated/a.rs")), @"allow rule");
    assert_snapshot!(decided(agent(&closest), writes("src/a.rs")), @r#"ask rule: it would write src/a.rs, which the rule "edit(src/**)" (settings.toml:1) wants asked"#);
    for equal in [
        [(scope, ask, "edit(src/a.rs)"), (scope, allow, "edit(src/a.rs)")],
        [(scope, allow, "edit(src/a.rs)"), (scope, ask, "edit(src/a.rs)")],
    ] {
        assert!(decided(agent(&equal), writes("src/a.rs")).starts_with("ask rule"));
    }
    let effect = [(scope, ask, "effect(secret_access)"), (scope, allow, "read(.env)")];
    assert_snapshot!(decided(agent(&effect), reads(".env")), @"allow rule");
}

#[test]
fn effects_combine_and_one_question_lists_them_all() {
    let rules = [(Scope::Person, Verdict::Allow, "effect(pr_create)")];
    assert_snapshot!(decided(agent(&rules), call("create_pull_request")), @"ask built_in: it would push");
    let Judged::Question(question) = judge(&spec(agent(&[])), call("create_pull_request"), None) else {
        panic!()
    };
    let asks: Vec<(&str, Option<&str>, &str)> = question
        .asks
        .iter()
        .map(|ask| (ask.what.as_str(), ask.rule.as_deref(), ask.allowed_by.as_str()))
        .collect();
    assert_eq!(
        asks,
        [
            ("push", None, "effect(git_push)"),
            ("open a pull request", None, "effect(pr_create)")
        ]
    );
}

#[test]
fn a_plan_rule_lets_through_inside_a_step_that_names_the_path() {
    let plan = [(Scope::Workspace, Verdict::Plan, "edit(migrations/**)")];
    assert_snapshot!(decided(step(&["migrations"], &plan), writes("migrations/1.sql")), @"allow rule");
    assert_snapshot!(decided(step(&["src/**"], &plan), writes("migrations/1.sql")), @r#"deny rule: it would write migrations/1.sql, which the approved step does not name; the rule "edit(migrations/**)" (settings.toml:1) lets that happen only inside a step of an approved plan that names it."#);
    assert_snapshot!(decided(agent(&plan), writes("migrations/1.sql")), @r#"deny rule: it would write migrations/1.sql; the rule "edit(migrations/**)" (settings.toml:1) lets that happen only inside a step of an approved plan that names it."#);
    // A line is no path, whatever a step names.
    let lines = [(Scope::Workspace, Verdict::Plan, "effect(process_spawn)")];
    assert!(decided(step(&["run.sh"], &lines), runs("run.sh")).starts_with("deny rule"));
}

#[test]
fn a_step_names_files_folders_and_globs() {
    let decided = |path: &str| {
        decided(
            step(&["src/", "*.md", "app/[id]/page.tsx", ".mcp.json"], &[]),
            writes(path),
        )
    };
    for named in ["src/lib.rs", "src", "README.md", "app/[id]/page.tsx", ".mcp.json"] {
        assert_eq!(decided(named), "allow built_in", "{named}");
    }
    for other in ["srcs/lib.rs", "docs/a.md", "app/[id]/page.ts", "lib.rs"] {
        assert_eq!(
            decided(other),
            format!("ask step: it would write {other}, which the approved step does not name")
        );
    }
    // A pattern or folder was not written for a file that configures agents, editors, git or CI.
    for configures in ["src/AGENTS.md", "src/.vscode/tasks.json", "CLAUDE.md"] {
        assert_eq!(
            decided(configures),
            format!("ask built_in: it would write {configures}, which configures agents, editors, git or CI")
        );
    }
}

#[test]
fn a_read_only_mode_refuses_above_every_rule_dial_and_answer() {
    let everything = Effect::ALL.map(|effect| format!("effect({effect})"));
    let mut rules: Vec<(Scope, Verdict, &str)> = everything
        .iter()
        .map(|rule| (Scope::Managed, Verdict::Allow, rule.as_str()))
        .collect();
    rules.extend([
        (Scope::Run, Verdict::Allow, "edit(**)"),
        (Scope::Run, Verdict::Allow, "git *"),
    ]);
    for mode in Mode::all().into_iter().filter(|mode| *mode != after_approval()) {
        let recipe = RunRecipe {
            autonomy: Autonomy::ActFreely,
            ..at(mode, &rules)
        };
        for effect in Effect::ALL {
            let call = || call("git_read").with_effect(effect);
            let answer = Answer {
                digest: call().digest(),
                allow: true,
                message: None,
            };
            let judged = judge(&spec(recipe.clone()), call(), Some(&answer));
            match effect {
                Effect::NetworkEgress | Effect::SecretAccess => assert!(matches!(judged, Judged::Permit(_)), "{mode}"),
                _ => {
                    let Judged::Refusal(refusal) = judged else {
                        panic!("{mode}: {effect}")
                    };
                    let expected = format!(
                        "not in {mode}: it would {}. Describe it in words instead.",
                        effect.phrase()
                    );
                    assert_eq!(refusal.reason, expected);
                }
            }
        }
    }
}

#[test]
fn refusals_name_what_narrowed_the_run() {
    let once = RunRecipe {
        read_only_once: true,
        ..agent(&[])
    };
    let commit = || call("git_read").with_effect(Effect::GitCommit);
    assert_snapshot!(decided(once, commit()), @"deny ceiling: not in Agent, read-only this once: it would change the repository. Describe it in words instead.");
}

#[test]
fn a_line_that_is_tried_needs_no_yes_and_a_rule_about_commands_still_speaks_of_it() {
    let tried = |rules: &[(Scope, Verdict, &str)]| {
        let planning = at(Mode::chosen("plan").unwrap(), rules);
        let line = reading("npm run build");
        judge(&spec(headless(planning)), call("inspect_command").with_line(line), None)
    };
    assert!(matches!(tried(&[]), Judged::Permit(_)));
    assert!(matches!(
        tried(&[(Scope::Person, Verdict::Deny, "npm run *")]),
        Judged::Refusal(_)
    ));
    assert!(matches!(
        tried(&[(Scope::Person, Verdict::Ask, "npm run *")]),
        Judged::Refusal(_)
    ));
    // Starting a program is no effect where nothing of it stays.
    let permitted = tried(&[(Scope::Person, Verdict::Ask, "effect(process_spawn)")]);
    assert!(matches!(permitted, Judged::Permit(_)));
}
