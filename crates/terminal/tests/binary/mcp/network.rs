//! A server at an address: no walls stand around it, so that only named tools exist where runs only read.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::json;

use super::ground::Notes;

struct Listening {
    process: Child,
    port: String,
}

impl Listening {
    fn start(notes: &Notes) -> Listening {
        let mut process = Command::new("python3")
            .arg(notes.place.repo().join("server.py"))
            .arg("http")
            .env("EXPECTED", "t0p-s3cret")
            .env("HOME", notes.place.outside())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut port)
            .unwrap();
        Listening {
            process,
            port: port.trim().to_owned(),
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

fn called(notes: &Notes) -> String {
    std::fs::read_to_string(notes.place.outside().join("calls")).unwrap_or_default()
}

#[test]
fn a_server_at_an_address_is_asked_with_its_token_and_trusted_tool_by_tool() {
    let mut notes = Notes::new(&[]);
    notes.place.variables.clear();
    std::fs::remove_file(notes.place.repo().join(".mcp.json")).unwrap();
    let listening = Listening::start(&notes);
    notes.place.settings(&format!(
        "[mcp.servers.notes]\nurl = \"http://127.0.0.1:{}/mcp\"\nbearer_env = \"NOTES_TOKEN\"\n",
        listening.port
    ));
    let said = notes.allow();
    assert!(said.err.contains("the variable NOTES_TOKEN is not set"), "{}", said.err);

    notes
        .place
        .variables
        .push(("NOTES_TOKEN".to_owned(), "wrong".to_owned()));
    let said = notes.allow();
    assert!(said.err.contains("does not take the token"), "{}", said.err);

    notes
        .place
        .variables
        .push(("NOTES_TOKEN".to_owned(), "t0p-s3cret".to_owned()));
    let said = notes.allow();
    assert_eq!(said.code, 0, "{}", said.err);

    let said = notes.place.stance(&["mcp", "trust", "notes"]);
    assert_ne!(said.code, 0);
    assert!(said.err.contains("hint: stance mcp trust notes"), "{}", said.err);
    let said = notes.place.stance(&["mcp", "trust", "notes", "update"]);
    assert!(said.err.contains("no tool update of which it says"), "{}", said.err);
    assert_eq!(notes.place.stance(&["mcp", "trust", "notes", "get"]).code, 0);

    let results = notes.results(
        "plan",
        &[("mcp__notes__get", json!({})), ("mcp__notes__look", json!({}))],
        &[],
    );
    assert!(results[0].contains("the note"), "{results:?}");
    assert!(results[1].contains("unknown tool"), "{results:?}");
    assert_eq!(called(&notes), "get\n");
}

#[test]
fn a_program_reaches_what_the_runs_commands_reach_and_nothing_where_they_reach_nothing() {
    let mut notes = Notes::new(&["reaches"]);
    let port = crate::egress::world();
    let names = format!("docs.rs=127.0.0.2:{port},named.example=127.0.0.2:{port}");
    notes.place.variables.push(("STANCE_NAMES".to_owned(), names));
    assert_eq!(notes.allow().code, 0);
    assert_eq!(notes.place.stance(&["mcp", "trust", "notes"]).code, 0);
    let reach = |host: &str| ("mcp__notes__reach", json!({ "host": host }));
    let made = [reach("docs.rs"), reach("named.example")];
    let reached = |mode: &str, flags: &[&str]| -> Vec<bool> {
        let results = notes.results(mode, &made, flags);
        results.iter().map(|text| text.contains("welcome")).collect()
    };
    assert_eq!(reached("agent", &["--yolo"]), [true, false]);
    assert_eq!(reached("agent", &["--allow", "net(named.example)"]), [true, true]);
    assert_eq!(reached("plan", &["--allow", "net(named.example)"]), [false, false]);
}
