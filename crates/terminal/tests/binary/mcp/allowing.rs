//! Nothing starts before an operator allowed exactly it, and any change asks again.

use serde_json::json;

use super::ground::Notes;
use crate::attempts::keyboard::Keyboard;

fn get() -> (&'static str, serde_json::Value) {
    ("mcp__notes__get", json!({}))
}

#[test]
fn a_server_nobody_allowed_is_not_started_and_waits() {
    let notes = Notes::new(&[]);
    let results = notes.results("agent", &[get()], &[]);
    assert!(results[0].contains("unknown tool"), "{results:?}");
    assert_eq!(notes.log(), Vec::<String>::new());
    let waiting = notes.place.stance(&["inbox", "--json"]).report();
    assert_eq!(waiting[0]["kind"], "mcp_server");
    assert_eq!(waiting[0]["id"], "notes");
    let lines = waiting[0]["lines"].to_string();
    assert!(lines.contains("server.py") && lines.contains("NOTES_TOKEN"), "{lines}");
    // It belongs to no space, and nobody knows since when it is there.
    for key in ["space_id", "thread_id", "since_ms"] {
        assert!(waiting[0].get(key).is_none(), "{waiting:#}");
    }
    let title = waiting[0]["title"].as_str().unwrap();
    assert!(
        title.starts_with("not allowed, named in ") && title.ends_with("/.mcp.json"),
        "{title}"
    );
    let shown = notes.place.stance(&["inbox"]).out;
    assert!(
        shown.contains("runs in this workspace go without it until then"),
        "{shown}"
    );
}

#[test]
fn a_person_who_goes_through_the_inbox_allows_a_server_or_leaves_it() {
    let notes = Notes::new(&[]);
    for (typed, allowed) in [("n", false), ("y", true)] {
        let mut keyboard = Keyboard::start(&notes.place, &["inbox"]);
        keyboard
            .until("server.py")
            .until("let runs have its tools?")
            .types(typed);
        let (code, shown) = keyboard.end();
        assert_eq!((code, notes.listed()["allowed"] == true), (0, allowed), "{shown}");
        assert_eq!(notes.log().is_empty(), !allowed);
    }
}

#[test]
fn a_bare_name_shows_what_would_start_and_starts_nothing() {
    let notes = Notes::new(&[]);
    let said = notes.place.stance(&["mcp", "allow", "notes"]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.out.contains("argument \"server.py\""), "{}", said.out);
    assert!(said.err.contains("hint: stance mcp allow notes@"), "{}", said.err);
    assert_eq!(notes.log(), Vec::<String>::new());
}

#[test]
fn an_allowed_server_is_started_with_its_tools_and_a_wrong_digest_allows_nothing() {
    let notes = Notes::new(&[]);
    let said = notes.place.stance(&["mcp", "allow", "notes@00000000000000000000"]);
    assert!(said.err.contains("not what was shown"), "{}", said.err);
    assert_eq!(notes.log(), Vec::<String>::new());
    let said = notes.allow();
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("get · says it only reads"), "{}", said.out);
    assert!(said.out.contains("update · may do anything"), "{}", said.out);
    assert!(
        said.out
            .contains("left out: fetches: its schema refers to something outside of itself"),
        "{}",
        said.out
    );
    assert_eq!(notes.log(), ["started"]);
    let results = notes.results("agent", &[get()], &["--yolo"]);
    assert!(results[0].contains("the note"), "{results:?}");
    assert_eq!(notes.called(), ["get"]);
}

#[test]
fn another_argument_in_the_projects_file_starts_nothing_and_shows_the_difference() {
    let notes = Notes::trusted(&[]);
    let before = notes.log();
    notes.configure(&["evil"]);
    let results = notes.results("agent", &[get()], &["--yolo"]);
    assert!(results[0].contains("unknown tool"), "{results:?}");
    assert_eq!(notes.log(), before);
    let waiting = notes.place.stance(&["inbox", "--json"]).report();
    assert_eq!(waiting[0]["lines"], json!(["+ argument \"evil\""]));
    notes.configure(&[]);
    assert_eq!(notes.listed()["allowed"], true);
}

#[test]
fn another_content_of_the_program_starts_nothing() {
    let notes = Notes::trusted(&[]);
    let before = notes.log();
    let text = notes.place.read("server.py");
    notes.place.write("server.py", &format!("{text}\n# changed\n"));
    let results = notes.results("plan", &[get()], &[]);
    assert!(results[0].contains("unknown tool"), "{results:?}");
    assert_eq!(notes.log(), before);
}

#[test]
fn a_tool_that_calls_itself_harmless_at_the_second_look_makes_its_server_a_stranger() {
    let notes = Notes::trusted(&["turns"]);
    let results = notes.results("plan", &[get(), get()], &[]);
    assert!(results[0].contains("the note"), "{results:?}");
    assert!(results[1].contains("its tools changed"), "{results:?}");
    assert_eq!(notes.called(), ["get"]);
    assert_eq!(notes.listed()["allowed"], false);
    let results = notes.results("plan", &[get()], &[]);
    assert!(results[0].contains("unknown tool"), "{results:?}");
    let waiting = notes.place.stance(&["inbox", "--json"]).report();
    assert_eq!(waiting[0]["kind"], "mcp_server");
}

#[test]
fn a_server_that_fails_is_not_allowed_and_its_own_words_are_shown() {
    let notes = Notes::new(&["complains"]);
    let said = notes.allow();
    assert_ne!(said.code, 0);
    assert!(said.err.contains("the notes are locked"), "{}", said.err);
    assert_eq!(notes.listed()["allowed"], false);
}

#[test]
fn what_was_forgotten_does_not_start() {
    let notes = Notes::trusted(&[]);
    assert_eq!(notes.place.stance(&["mcp", "forget", "notes"]).code, 0);
    let before = notes.log();
    let results = notes.results("agent", &[get()], &["--yolo"]);
    assert!(results[0].contains("unknown tool"), "{results:?}");
    assert_eq!(notes.log(), before);
}

#[test]
fn a_process_of_a_run_allows_nothing() {
    let mut notes = Notes::new(&[]);
    notes.place.variables.push(("STANCE_RUN".to_owned(), "r1".to_owned()));
    for act in [
        &["mcp", "allow", "notes@0"][..],
        &["mcp", "trust", "notes"],
        &["mcp", "forget", "notes"],
    ] {
        let said = notes.place.stance(act);
        assert_ne!(said.code, 0, "{act:?}");
        assert!(said.err.contains("run"), "{}", said.err);
    }
    assert_eq!(notes.log(), Vec::<String>::new());
}

#[test]
fn another_repository_with_the_same_file_is_another_workspace() {
    let notes = Notes::trusted(&[]);
    let other = notes.place.outside().join("fork");
    notes.place.git(&["add", "-A"]);
    notes.place.git(&["commit", "-q", "-m", "with a server"]);
    notes.place.git(&["clone", "-q", ".", other.to_str().unwrap()]);
    let output = notes
        .place
        .command(&["mcp", "list", "--json"])
        .current_dir(&other)
        .output()
        .unwrap();
    let listed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(listed[0]["allowed"], false);
}
