//! What an allowed server may do in each mode: by its own log, and by what is in the repository after.

use serde_json::json;

use super::ground::Notes;
use crate::attempts::keyboard::Keyboard;
use crate::support::{calls, says, turns};

#[test]
fn in_plan_only_what_a_believed_server_calls_reading_exists() {
    let made = [
        ("mcp__notes__get", json!({})),
        ("mcp__notes__update", json!({})),
        ("mcp__notes__delete", json!({})),
    ];
    let notes = Notes::allowed(&[]);
    let results = notes.results("plan", &made, &[]);
    assert!(
        results.iter().all(|result| result.contains("unknown tool")),
        "{results:?}"
    );
    assert_eq!(notes.called(), Vec::<String>::new());

    let notes = Notes::trusted(&[]);
    let results = notes.results("plan", &made, &[]);
    assert!(results[0].contains("the note"), "{results:?}");
    assert!(results[1].contains("reaches further"), "{results:?}");
    assert!(results[2].contains("reaches further"), "{results:?}");
    assert_eq!(notes.called(), ["get"]);
}

#[test]
fn a_believed_liar_changes_nothing_in_plan() {
    let notes = Notes::trusted(&[]);
    let world = notes.place.world();
    let path = notes.place.repo().join("mcp.txt").display().to_string();
    let outside = notes.place.outside().join("mcp.txt").display().to_string();
    let results = notes.results(
        "plan",
        &[
            ("mcp__notes__lying_get", json!({"path": path})),
            ("mcp__notes__lying_get", json!({"path": outside})),
        ],
        &[],
    );
    assert!(results[0].contains("Read-only file system"), "{results:?}");
    assert!(
        !results[1].contains("written") || !notes.place.outside().join("mcp.txt").exists(),
        "{results:?}"
    );
    assert_eq!(notes.called(), ["lying_get", "lying_get"]);
    assert_eq!(notes.place.world(), world);
}

#[test]
fn a_server_of_agent_does_not_write_on_in_plan() {
    let notes = Notes::trusted(&[]);
    let lies = |name: &str| {
        let path = notes.place.repo().join(name).display().to_string();
        calls(&[("mcp__notes__lying_get", json!({"path": path}))])
    };
    let reply = json!({"response": "Nothing to plan.", "no_plan_needed": true});
    let replies = calls(&[("plan_mode_respond", reply)]);
    let script = turns(&[lies("agent.txt"), says("Written."), lies("plan.txt"), replies]);
    let model = notes.place.script("switch", &script);
    let mut keyboard = Keyboard::start(&notes.place, &["--model", &model]);
    keyboard
        .until("[Agent")
        .types("write it")
        .until("Written.")
        .until("[Agent")
        .types("/plan write it again")
        .until("Nothing to plan.")
        .until("[Plan")
        .types("/quit");
    let (code, shown) = keyboard.end();
    assert_eq!(code, 0, "{shown}");
    assert!(notes.place.repo().join("agent.txt").exists(), "{shown}");
    assert!(!notes.place.repo().join("plan.txt").exists(), "{shown}");
    // After the look at it when it was allowed.
    assert_eq!(notes.log()[1..], ["started", "lying_get", "started", "lying_get"]);
}

#[test]
fn in_agent_what_may_do_anything_asks_once_and_a_rule_speaks_for_it() {
    let notes = Notes::allowed(&[]);
    let update = [("mcp__notes__update", json!({}))];
    let results = notes.results("agent", &update, &[]);
    assert!(results[0].contains("mcp(notes/update)"), "{results:?}");
    assert_eq!(notes.called(), Vec::<String>::new());
    let results = notes.results("agent", &update, &["--allow", "mcp(notes/update)"]);
    assert!(results[0].contains("done"), "{results:?}");
    for denied in ["mcp(notes/*)", "effect(git_push)"] {
        let results = notes.results("agent", &update, &["--yolo", "--deny", denied]);
        assert!(results[0].contains("denies"), "{denied}: {results:?}");
    }
    assert_eq!(notes.called(), ["update"]);
}

#[test]
fn a_secret_file_does_not_reach_the_model_through_a_server() {
    let notes = Notes::trusted(&[]);
    notes.place.write(".env", "KEY=canary-4711\n");
    let path = notes.place.repo().join(".env").display().to_string();
    for mode in ["plan", "agent"] {
        let results = notes.results(
            mode,
            &[("mcp__notes__read", json!({"path": path}))],
            &["--allow", "mcp(notes/*)"],
        );
        assert!(!results[0].contains("canary"), "{mode}: {results:?}");
    }
    assert_eq!(notes.called(), ["read", "read"]);
}

#[test]
fn a_crash_takes_no_run_down_and_the_server_is_started_again() {
    let notes = Notes::trusted(&[]);
    let results = notes.results(
        "plan",
        &[("mcp__notes__crash", json!({})), ("mcp__notes__get", json!({}))],
        &[],
    );
    assert!(results[0].contains("went away during the call"), "{results:?}");
    assert!(results[1].contains("the note"), "{results:?}");
    let starts = notes.log().iter().filter(|line| *line == "started").count();
    assert_eq!(starts, 3, "once to be allowed, once for each call");
}

#[test]
fn arguments_are_held_to_the_schema_and_long_names_are_shortened() {
    let notes = Notes::trusted(&[]);
    let results = notes.results("plan", &[("mcp__notes__read", json!({"path": 3}))], &[]);
    assert!(results[0].contains("do not fit its schema"), "{results:?}");
    assert_eq!(notes.called(), Vec::<String>::new());
    let profile = notes.place.stance(&["profile", "plan", "--json"]).report();
    let tools = profile["tools"].as_array().unwrap();
    let long: Vec<&str> = tools
        .iter()
        .filter_map(|tool| tool.as_str())
        .filter(|name| name.contains("bbbb"))
        .collect();
    assert!(matches!(long.as_slice(), [name] if name.len() == 64), "{long:?}");
    assert!(!profile["tools"].to_string().contains("fetches"));
}

#[test]
fn resources_and_documentation_are_read_from_believed_servers_alone() {
    let read = ("read_mcp_resource", json!({"server": "notes", "uri": "notes://today"}));
    let about = ("load_mcp_documentation", json!({"server": "notes"}));
    let notes = Notes::allowed(&[]);
    let results = notes.results("plan", std::slice::from_ref(&read), &[]);
    assert!(results[0].contains("unknown tool"), "{results:?}");
    let notes = Notes::trusted(&[]);
    let results = notes.results(
        "plan",
        &[read, about, ("read_mcp_resource", json!({"server": "x", "uri": "y"}))],
        &[],
    );
    assert!(results[0].contains("read notes://today"), "{results:?}");
    assert!(
        results[1].contains("Ask for a note.") && results[1].contains("resource notes://today"),
        "{results:?}"
    );
    assert!(results[2].contains("none that is trusted here: notes"), "{results:?}");
}

#[test]
fn a_named_variable_reaches_the_server_and_nothing_that_is_shown() {
    let mut notes = Notes::new(&[]);
    notes
        .place
        .variables
        .push(("NOTES_TOKEN".to_owned(), "t0p-s3cret".to_owned()));
    let said = notes.allow();
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(notes.place.stance(&["mcp", "trust", "notes", "look"]).code, 0);
    let listed = notes.place.stance(&["mcp", "list"]);
    assert!(
        listed.out.contains("NOTES_TOKEN") && !listed.out.contains("t0p-s3cret"),
        "{}",
        listed.out
    );
    let results = notes.results("plan", &[("mcp__notes__look", json!({}))], &[]);
    assert!(results[0].contains("token t0p-s3cret"), "{results:?}");
}

#[test]
fn a_tool_is_explained_as_what_it_is() {
    let notes = Notes::trusted(&[]);
    let explained = |what: &str, mode: &str| {
        notes
            .place
            .stance(&["explain", what, "--mode", mode, "--json"])
            .report()
    };
    for (what, mode, decision, layer) in [
        ("mcp__notes__update", "agent", "ask", "built_in"),
        ("mcp__notes__update {}", "agent", "ask", "built_in"),
        ("mcp__notes__update", "plan", "deny", "surface"),
        ("mcp__notes__get {}", "plan", "allow", "built_in"),
        ("mcp__notes__read {}", "agent", "deny", "arguments"),
    ] {
        let said = explained(what, mode);
        assert_eq!(
            (&said["decision"], &said["layer"]),
            (&json!(decision), &json!(layer)),
            "{what}: {said:#}"
        );
    }
    assert_eq!(notes.called(), Vec::<String>::new());
    let unknown = notes.place.stance(&["explain", "mcp__notes__none"]);
    assert!(
        unknown.code == 2 && unknown.err.contains("no tool is called"),
        "{unknown:?}"
    );
}
