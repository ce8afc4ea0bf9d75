//! A server that asks for a login, with a real authority beside it and a test for a browser. What each of them was
//! asked is in their own record; the tokens are in one file and nowhere else.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use super::ground::Notes;
use crate::support::{Said, said};

/// The server `notes` at an address, an authority, and a stranger.
struct Forge {
    notes: Notes,
    process: Child,
    ports: Vec<String>,
}

impl Drop for Forge {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Forge {
    fn new(ways: &str) -> Forge {
        let notes = Notes::new(&[]);
        fs::remove_file(notes.place.repo().join(".mcp.json")).unwrap();
        let home = notes.place.outside();
        fs::write(home.join("server.py"), super::ground::SERVER).unwrap();
        fs::write(home.join("oauth.py"), include_str!("oauth.py")).unwrap();
        let mut process = Command::new("python3")
            .arg(home.join("oauth.py"))
            .env("HOME", &home)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ports = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut ports)
            .unwrap();
        let forge = Forge {
            ports: ports.split_whitespace().map(str::to_owned).collect(),
            notes,
            process,
        };
        forge.behave(ways);
        forge.configure("");
        forge
    }

    /// Logged in and allowed.
    fn ready(ways: &str) -> Forge {
        let forge = Forge::new(ways);
        let said = forge.log_in();
        assert_eq!(said.code, 0, "{}", said.err);
        let said = forge.notes.allow();
        assert_eq!(said.code, 0, "{}", said.err);
        let said = forge.stance(&["mcp", "trust", "notes", "get"]);
        assert_eq!(said.code, 0, "{}", said.err);
        forge
    }

    fn configure(&self, further: &str) {
        let text = format!(
            "[mcp.servers.notes]\nurl = \"http://127.0.0.1:{}/mcp\"\n{further}\n",
            self.ports[0]
        );
        self.notes.place.settings(&text);
    }

    fn behave(&self, ways: &str) {
        let ways = ways.replace("STRANGER", &self.ports[2]);
        fs::write(self.notes.place.outside().join("ways"), ways).unwrap();
    }

    fn stance(&self, arguments: &[&str]) -> Said {
        self.notes.place.stance(arguments)
    }

    /// Logs in as shown, with a browser that goes where it is led.
    fn log_in(&self) -> Said {
        let digest = self.notes.listed()["digest"].as_str().unwrap().to_owned();
        self.log_in_as(&format!("notes@{digest}"), |_| {})
    }

    fn log_in_as(&self, named: &str, before: impl FnOnce(&str)) -> Said {
        let mut command = self.notes.place.command(&["mcp", "login", named]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut shown = String::new();
        let address = loop {
            let mut line = String::new();
            if out.read_line(&mut line).unwrap() == 0 {
                break None;
            }
            shown.push_str(&line);
            if let Some(address) = line.strip_prefix("  http") {
                break Some(format!("http{}", address.trim()));
            }
        };
        if let Some(address) = address {
            before(&address);
            let back = header(&get(&address), "location");
            get(&back);
            if header_of(&back, "state") == "guess" {
                // Nobody came with the right one.
                let id = rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap();
                rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
            }
        }
        out.read_to_string(&mut shown).unwrap();
        let mut said = said(child.wait_with_output().unwrap());
        said.out = shown;
        said
    }

    fn requests(&self) -> Vec<String> {
        let text = fs::read_to_string(self.notes.place.outside().join("requests")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn asked_of(&self, who: &str) -> Vec<String> {
        let begins = format!("{who} ");
        self.requests()
            .into_iter()
            .filter(|line| line.starts_with(&begins))
            .collect()
    }

    /// A run in Plan that gets a note: its result, and what people read beside it.
    fn get_note(&self) -> String {
        self.notes
            .results("plan", &[("mcp__notes__get", json!({}))], &[])
            .remove(0)
    }

    fn login(&self) -> Option<String> {
        self.notes.listed()["login"].as_str().map(str::to_owned)
    }

    /// Every file of Stance's own, the repository and the outside in which a secret of the authority stands.
    fn files_with_secrets(&self) -> Vec<std::path::PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![
            self.notes.place.stance_home(),
            self.notes.place.repo(),
            self.notes.place.home(),
        ];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else if fs::read(entry.path())
                    .unwrap_or_default()
                    .windows(8)
                    .any(|window| window == b"-s3cret-")
                {
                    found.push(entry.path());
                }
            }
        }
        found
    }
}

fn get(address: &str) -> String {
    let rest = address.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /{path} HTTP/1.0\r\nhost: {host}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn header(answer: &str, name: &str) -> String {
    let begins = format!("{name}: ");
    let line = answer.lines().find_map(|line| line.strip_prefix(&begins));
    line.unwrap_or_else(|| panic!("no {name} in {answer}")).to_owned()
}

fn header_of(address: &str, name: &str) -> String {
    let query = address.split_once('?').unwrap().1;
    let begins = format!("{name}=");
    let value = query.split('&').find_map(|pair| pair.strip_prefix(&begins));
    value.unwrap_or_else(|| panic!("no {name} in {address}")).to_owned()
}

#[test]
fn a_person_logs_in_by_a_browser_and_runs_use_it_until_the_person_logs_out() {
    let forge = Forge::new("");
    let said = forge.stance(&["mcp", "login", "notes"]);
    assert_ne!(said.code, 0);
    assert!(
        said.err.contains("is not allowed, and nothing is sent to it"),
        "{}",
        said.err
    );
    assert_eq!(forge.requests(), Vec::<String>::new());

    let said = forge.notes.allow();
    assert_ne!(said.code, 0);
    assert!(said.err.contains("it asks for a login"), "{}", said.err);
    assert!(said.err.contains("hint: stance mcp login notes@"), "{}", said.err);
    assert_eq!(forge.login().as_deref(), Some("needs login"));

    let digest = forge.notes.listed()["digest"].as_str().unwrap().to_owned();
    let said = forge.log_in_as(&format!("notes@{digest}"), |address| {
        assert_eq!(header_of(address, "code_challenge_method"), "S256");
        assert_eq!(header_of(address, "scope"), "notes");
        let resource = format!("http%3A%2F%2F127.0.0.1%3A{}%2Fmcp", forge.ports[0]);
        assert_eq!(header_of(address, "resource"), resource);
    });
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(
        said.err.contains("logged in at notes") || said.out.contains("logged in at notes"),
        "{said:?}"
    );
    assert_eq!(forge.login().as_deref(), Some("logged in"));
    assert_eq!(forge.notes.allow().code, 0);
    assert_eq!(forge.stance(&["mcp", "trust", "notes", "get"]).code, 0);
    let listed = forge.stance(&["mcp", "list"]);
    assert!(
        listed.err.contains("· logged in ·") || listed.out.contains("· logged in ·"),
        "{listed:?}"
    );

    let note = forge.get_note();
    assert!(note.contains("the note"), "{note}");
    let registered = forge.asked_of("authority POST /register");
    assert_eq!(registered, ["authority POST /register Stance none"]);

    // Nobody but its owner reads the one file that holds them.
    let secret = forge.files_with_secrets();
    let [file] = secret.as_slice() else {
        panic!("{secret:?}");
    };
    assert!(
        file.starts_with(forge.notes.place.stance_home().join("logins")),
        "{file:?}"
    );
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(
        fs::metadata(file.parent().unwrap()).unwrap().permissions().mode() & 0o777,
        0o700
    );

    let said = forge.stance(&["mcp", "logout", "notes"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(forge.files_with_secrets(), Vec::<std::path::PathBuf>::new());
    assert_eq!(forge.login().as_deref(), Some("needs login"));
    let said = forge.stance(&["mcp", "logout", "notes"]);
    assert!(said.err.contains("nobody is logged in"), "{}", said.err);

    let model = forge.notes.place.script(
        "nothing",
        &json!({"turns": [{"tool_calls": [{"name": "plan_mode_respond",
            "arguments": {"response": "Nothing.", "no_plan_needed": true}}]}]}),
    );
    let said = forge.stance(&["run", "--mode", "plan", "--model", &model, "go"]);
    let all = said.out.clone() + &said.err;
    assert!(
        all.contains("the MCP server notes asks for a login, and the run goes on without it: `stance mcp login notes`"),
        "{all}"
    );
    assert_eq!(said.code, 0, "{all}");
    let note = forge.get_note();
    assert!(note.contains("unknown tool"), "{note}");
}

#[test]
fn a_login_that_ended_is_renewed_and_one_that_is_taken_back_is_needed_again() {
    let forge = Forge::ready("short");
    for _ in 0..2 {
        let note = forge.get_note();
        assert!(note.contains("the note"), "{note}");
    }
    let renewed = format!(
        "authority POST /token refresh_token http://127.0.0.1:{}/mcp c-1",
        forge.ports[0]
    );
    assert!(
        forge.requests().iter().filter(|line| **line == renewed).count() >= 2,
        "{:?}",
        forge.requests()
    );

    forge.behave("short broken");
    let note = forge.get_note();
    assert!(note.contains("could not be renewed"), "{note}");
    assert_eq!(
        forge.login().as_deref(),
        Some("logged in"),
        "a fault of the authority ends no login"
    );

    forge.behave("short revoked");
    let note = forge.get_note();
    assert!(
        note.contains("it asks for a login, with `stance mcp login notes`"),
        "{note}"
    );
    assert_eq!(forge.login().as_deref(), Some("needs login"));
    // What the authority says about it names the tokens; nothing of ours repeats it.
    assert_eq!(forge.files_with_secrets(), Vec::<std::path::PathBuf>::new());
    assert_eq!(forge.asked_of("stranger"), Vec::<String>::new());

    forge.behave("");
    assert_eq!(forge.log_in_as("notes", |_| {}).code, 0);
    let note = forge.get_note();
    assert!(note.contains("the note"), "{note}");
}

#[test]
fn a_login_without_a_way_to_renew_it_is_needed_again_when_it_ended() {
    let forge = Forge::new("short once");
    assert_eq!(forge.log_in().code, 0);
    assert_eq!(forge.login().as_deref(), Some("needs login"));
}

#[test]
fn a_login_is_not_finished_where_something_is_wrong_about_it() {
    for (ways, why) in [
        ("refuses", "refused the login: access_denied not today"),
        ("mix_up", "and not"),
        ("wrong_issuer", "and not"),
        ("wrong_resource", "is not about this server"),
        ("no_proof", "PKCE with S256"),
        ("silent", "does not publish where to log in"),
        ("unregistered", "`client_id` of the server"),
        ("plainly", "goes over https alone"),
        ("leads_on", "which is not followed"),
        ("revoked", "no token was given"),
        ("names=http://authority.example", "without encryption"),
        ("names=http://169.254.169.254", "nothing usable is published"),
        ("names=https://10.0.0.1", "nothing usable is published"),
    ] {
        let forge = Forge::new(ways);
        let said = forge.log_in();
        assert_ne!(said.code, 0, "{ways}");
        assert!(said.err.contains(why), "{ways}: {}", said.err);
        assert!(!said.err.contains("s3cret"), "{ways}: {}", said.err);
        assert_eq!(forge.files_with_secrets(), Vec::<std::path::PathBuf>::new(), "{ways}");
        assert_eq!(forge.asked_of("stranger"), Vec::<String>::new(), "{ways}");
        assert_ne!(forge.login().as_deref(), Some("logged in"), "{ways}");
    }
}

#[test]
fn an_answer_without_the_state_of_this_login_is_none() {
    let forge = Forge::new("wrong_state");
    let said = forge.log_in();
    assert_ne!(said.code, 0);
    assert_eq!(forge.asked_of("authority POST /token"), Vec::<String>::new());
    assert_ne!(forge.login().as_deref(), Some("logged in"));
}

#[test]
fn a_token_goes_nowhere_but_to_its_server_and_who_gave_it() {
    let forge = Forge::ready("short");
    // Whoever gave it names another place for its tokens now.
    forge.behave("short token_elsewhere");
    let note = forge.get_note();
    assert!(!note.contains("the note"), "{note}");
    assert_eq!(forge.asked_of("stranger"), Vec::<String>::new());

    // The server names another authority now.
    forge.behave("names=http://127.0.0.1:STRANGER");
    let note = forge.get_note();
    assert!(!note.contains("the note"), "{note}");
    assert!(forge.asked_of("stranger").iter().all(|line| !line.contains("s3cret")));

    // Another address under the same name has no login.
    forge.behave("");
    let elsewhere = format!(
        "[mcp.servers.notes]\nurl = \"http://127.0.0.1:{}/mcp\"\n",
        forge.ports[2]
    );
    forge.notes.place.settings(&elsewhere);
    assert_eq!(forge.login(), None);
    let note = forge.get_note();
    assert!(note.contains("unknown tool"), "{note}");
    assert!(forge.asked_of("stranger").iter().all(|line| !line.contains("s3cret")));
}

#[test]
fn a_client_that_was_given_out_is_named_and_none_is_registered() {
    let forge = Forge::new("unregistered");
    forge.configure("client_id = \"c-7\"");
    let said = forge.log_in();
    assert_eq!(said.code, 0, "{}", said.err);
    let asked = forge.asked_of("authority POST");
    let token = format!(
        "authority POST /token authorization_code http://127.0.0.1:{}/mcp c-7",
        forge.ports[0]
    );
    assert_eq!(asked, [token]);
}
