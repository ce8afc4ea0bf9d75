//! How far a yes and a no reach: a yes given for another mode, for edits alone or for a few paths
//! opens nothing else; a no about paths or programs holds in every spelling.

use serde_json::{Value, json};

use super::ground::decided;
use super::leaks::{WRITERS, plan, shell, write};
use crate::support::{Place, calls, turns};

fn completion() -> Value {
    calls(&[("attempt_completion", json!({"result": "done"}))])
}

/// A fresh space in a mode.
fn space_in(place: &Place, mode: &str) -> String {
    let said = place.stance(&["space", "new", "--mode", mode]);
    assert_eq!(said.code, 0, "{}", said.err);
    said.out
        .split_whitespace()
        .find(|word| word.starts_with("s_"))
        .unwrap()
        .to_owned()
}

/// A run in a space: its decisions as `tool decision layer`.
fn run_in(place: &Place, model: &str, space: &str, flags: &[&str]) -> Vec<String> {
    let (_, events, report) = place.stream(model, &[&["--space", space, "do it"], flags].concat());
    assert_ne!(report["outcome"], "failed", "{report:#}");
    decided(&events)
}

#[test]
fn a_stored_yes_sleeps_in_plan_mode_and_wakes_in_agent_mode() {
    let place = Place::new();
    place.settings("[permissions]\nask = [\"effect(process_spawn)\"]\nallow = [\"touch *\"]\n");
    let again = json!({"turns": [calls(&[shell("touch f.txt")]), completion()]});
    let model = place.script(
        "stored",
        &json!({"runs": [again, {"match": {"mode": "plan"}, "turns": [calls(&[shell("touch g.txt")]), calls(&[plan()])]}, again]}),
    );
    let space = space_in(&place, "agent");
    assert_eq!(run_in(&place, &model, &space, &[])[0], "execute_command allow rule");
    assert!(place.repo().join("f.txt").exists());
    assert_eq!(place.stance(&["space", "mode", &space, "plan"]).code, 0);
    let before = place.world();
    assert_eq!(
        run_in(&place, &model, &space, &["--allow", "touch *"])[0],
        "execute_command deny surface"
    );
    assert_eq!(place.world(), before);
    assert_eq!(place.stance(&["space", "mode", &space, "agent"]).code, 0);
    assert_eq!(run_in(&place, &model, &space, &[])[0], "execute_command allow rule");
}

#[test]
fn one_bad_path_refuses_the_whole_call() {
    let place = Place::new();
    place.write("README.md", "# Changed\n");
    place.write(".env", "TOKEN=t\n");
    let bad = [".env", "../outside/x", ".git/config", "/etc/passwd"];
    let stage = |path: &str| ("git_write", json!({"op": "stage", "paths": ["README.md", path]}));
    let commit = |path: &str| {
        (
            "git_write",
            json!({"op": "commit", "message": "x", "paths": ["README.md", path]}),
        )
    };
    let all: Vec<_> = bad.iter().flat_map(|path| [stage(path), commit(path)]).collect();
    let model = place.script("paths", &turns(&[calls(&all), completion()]));
    let git = || {
        (
            place.git(&["rev-parse", "HEAD"]),
            place.git(&["diff", "--cached", "--name-only"]),
        )
    };
    let before = git();
    let (_, events, report) = place.stream(&model, &["--mode", "agent", "commit"]);
    let decisions = decided(&events);
    assert!(
        decisions[..8]
            .iter()
            .all(|decision| decision.starts_with("git_write deny")),
        "{decisions:?}"
    );
    assert!(decisions[0].ends_with("no_approver"), "{decisions:?} {report:#}");
    assert_eq!(git(), before);
}

#[test]
fn a_rule_about_paths_holds_in_every_spelling_of_a_path() {
    let place = Place::new();
    place.settings("[limits]\nmistakes = \"off\"\n[permissions]\nallow = [\"edit(**)\"]\ndeny = [\"edit(*.sh)\"]\n");
    place.write("tool.sh", "echo hi\n");
    place.write("notes.md", "notes\n");
    std::os::unix::fs::symlink("tool.sh", place.repo().join("link.md")).unwrap();
    std::os::unix::fs::symlink("src", place.repo().join("folder")).unwrap();
    let whole = place.repo().join("tool.sh").display().to_string();
    let named = |path: &str| ("write_to_file", json!({"path": path, "content": "changed\n"}));
    let twice = r#"{"path": "notes.md", "path": "tool.sh", "content": "changed\n"}"#;
    let mut tries: Vec<_> = [
        "tool.sh",
        "./tool.sh",
        "src/../tool.sh",
        &whole,
        "folder/new.sh",
        "link.md",
        "new.sh",
    ]
    .iter()
    .map(|path| named(path))
    .collect();
    tries.push(("write_to_file", json!(twice)));
    tries.push((
        "replace_in_file",
        json!({"path": "tool.sh", "diff": "------- SEARCH\necho hi\n=======\necho ho\n+++++++ REPLACE"}),
    ));
    let model = place.script(
        "spelled",
        &turns(&[
            calls(&[
                ("read_file", json!({"path": "tool.sh"})),
                ("read_file", json!({"path": "notes.md"})),
            ]),
            calls(&tries),
            calls(&[named("notes.md")]),
            completion(),
        ]),
    );
    let (_, events, report) = place.stream(
        &model,
        &["--mode", "agent", "--yolo", "--allow", "edit(**)", "change it"],
    );
    let decisions = decided(&events);
    let allowed: Vec<&String> = decisions[2..11]
        .iter()
        .filter(|decision| !decision.contains(" deny "))
        .collect();
    assert!(allowed.is_empty(), "{decisions:#?}");
    assert_eq!(decisions[2], "write_to_file deny deny_rule");
    assert_eq!(place.read("tool.sh"), "echo hi\n", "{report:#}");
    assert!(!place.repo().join("new.sh").exists() && !place.repo().join("src/new.sh").exists());
    assert_eq!(place.read("notes.md"), "changed\n");
}

#[test]
fn what_agent_mode_offered_is_gone_after_the_switch() {
    let place = Place::new();
    let model = place.script(
        "switch",
        &json!({"runs": [
            {"match": {"mode": "agent"}, "expect": {"tools_include": WRITERS}, "turns": [calls(&[write("a.txt")]), completion()]},
            {"match": {"mode": "plan"}, "expect": {"tools_exclude": WRITERS, "contains": "# Mode: Plan (read-only)"}, "turns": [calls(&[write("a.txt")]), calls(&[plan()])]},
        ]}),
    );
    let space = space_in(&place, "agent");
    assert_eq!(run_in(&place, &model, &space, &[])[0], "write_to_file allow built_in");
    assert_eq!(place.read("a.txt"), "written\n");
    assert_eq!(place.stance(&["space", "mode", &space, "plan"]).code, 0);
    let before = place.world();
    assert_eq!(
        run_in(&place, &model, &space, &[]),
        ["write_to_file deny surface", "submit_plan allow pinned"]
    );
    assert_eq!(place.world(), before);
}

#[test]
fn leave_to_edit_is_no_leave_to_start_a_shell() {
    let place = Place::new();
    place.settings("[permissions]\nallow = [\"edit(**)\"]\nask = [\"effect(process_spawn)\"]\n");
    let model = place.script(
        "instead",
        &turns(&[
            calls(&[(
                "replace_in_file",
                json!({"path": "src/app.js", "diff": "------- SEARCH\nnot there\n=======\nx\n+++++++ REPLACE"}),
            )]),
            calls(&[shell("perl -pi -e s/1/9/ src/app.js")]),
            completion(),
        ]),
    );
    let (_, events, report) = place.stream(&model, &["--mode", "agent", "change it"]);
    assert_eq!(decided(&events)[1], "execute_command deny no_approver", "{report:#}");
    assert_eq!(place.read("src/app.js"), "const x = 1;\n");
}

#[test]
fn read_only_this_once_holds_for_one_run_and_says_so() {
    let place = Place::new();
    let model = place.script(
        "once",
        &json!({"runs": [
            {"expect": {"mode": "agent", "tools_exclude": ["write_to_file", "execute_command", "git_write"], "contains": "# Mode: Agent, read-only this once"},
             "turns": [calls(&[write("a.txt"), shell("touch a.txt")]), completion()]},
            {"expect": {"tools_include": WRITERS}, "turns": [calls(&[write("a.txt")]), completion()]},
        ]}),
    );
    let before = place.world();
    let (_, events, first) = place.stream(&model, &["--mode", "agent", "--read-only", "just think, no edits"]);
    assert_eq!(
        decided(&events)[..2],
        ["write_to_file deny surface", "execute_command deny surface"],
        "{first:#}"
    );
    assert_eq!(first["label"], "Agent, read-only this once");
    assert_eq!(place.world(), before);
    let (code, second) = place.run(&model, &["--resume", first["thread_id"].as_str().unwrap(), "now do it"]);
    assert_eq!((code, second["label"].as_str()), (0, Some("Agent")), "{second:#}");
    assert_eq!(place.read("a.txt"), "written\n");
}

#[test]
fn a_denied_program_does_not_run_in_disguise() {
    let place = Place::new();
    place.settings(
        "[limits]\nmistakes = \"off\"\n[permissions]\nallow = [\"effect(process_spawn)\"]\ndeny = [\"sudo *\"]\n",
    );
    place.write("as-root.sh", "sudo id\n");
    let lines = [
        "sudo id",
        "echo sudo id | sh",
        "$(printf su)do id",
        "echo c3VkbyBpZAo= | base64 -d | sh",
        "alias s='sudo id'\nshopt -s expand_aliases\ns",
        "env sudo id",
        "bash as-root.sh",
        "true && sudo id",
        "\\sudo id",
        "/usr/bin/sudo id",
    ];
    let tries: Vec<_> = lines.iter().map(|line| shell(line)).collect();
    let model = place.script("disguise", &turns(&[calls(&tries), completion()]));
    let (_, events, report) = place.stream(
        &model,
        &["--mode", "agent", "--allow", "effect(process_spawn)", "become root"],
    );
    let decisions = decided(&events);
    assert_eq!(decisions[0], "execute_command deny never");
    assert!(
        decisions[1..lines.len()]
            .iter()
            .all(|decision| decision.contains(" deny ")),
        "{decisions:#?} {report:#}"
    );
    let ran = events.iter().filter(|event| event["kind"] == "tool_started").count();
    assert_eq!(ran, 1, "only the completion runs");
}

#[test]
fn what_a_rule_denies_to_be_read_no_search_and_no_program_shows() {
    let place = Place::new();
    place.settings("[permissions]\ndeny = [\"read(ledger.txt)\"]\nallow = [\"*\"]\n");
    place.write("books/ledger.txt", "GULDEN-77\n");
    place.write(
        "show.sh",
        "cat books/ledger.txt; grep -r GULDEN .; cp books/ledger.txt copy; cat copy\n",
    );
    let model = place.script(
        "denied",
        &turns(&[
            calls(&[("search_files", json!({"path": ".", "regex": "GULDEN"}))]),
            calls(&[("read_file", json!({"path": "books/ledger.txt"}))]),
            calls(&[shell("bash show.sh")]),
            calls(&[shell("git grep --no-index GULDEN")]),
            completion(),
        ]),
    );
    let (code, events, report) = place.stream(&model, &["--mode", "agent", "--yolo", "read it"]);
    assert_eq!((code, report["outcome"].as_str()), (0, Some("delivered")), "{report:#}");
    let results: Vec<&Value> = events.iter().filter(|event| event["kind"] == "tool_finished").collect();
    assert_eq!(results.len(), 5);
    for result in results {
        assert!(!result.to_string().contains("GULDEN-77"), "{result:#}");
    }
}
