//! An MCP server as it is configured, and in one canonical spelling what using it would start or ask.
//! It must not know who allowed it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use modes::Mode;
use sandbox::Walls;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;

/// A server as a file of settings names it.
#[derive(Debug, Clone)]
pub struct Server {
    /// Its name: see [`modes::ForeignTool::server`].
    pub name: String,
    /// How it is reached.
    pub launch: Launch,
    /// The modes whose runs may have its tools; empty: every mode.
    pub modes: Vec<Mode>,
    /// Where it stands, for people.
    pub place: String,
}

/// How a server is reached.
#[derive(Debug, Clone)]
pub enum Launch {
    /// A program that speaks over its standard input and output.
    Program {
        /// A name in the inner PATH, or a path; a relative one begins at the worktree.
        command: String,
        /// The arguments after the name.
        arguments: Vec<String>,
        /// Variables beside the fixed ones.
        environment: BTreeMap<String, Template>,
    },
    /// An address that speaks HTTP.
    Address {
        /// Its URL.
        url: String,
        /// Headers of each request.
        headers: BTreeMap<String, Template>,
        /// The client id for a login, where one was given out; else Stance registers itself.
        client: Option<String>,
    },
    /// What stands there cannot be used.
    Unusable {
        /// Why.
        why: String,
    },
}

/// A text that may name variables of the person's environment, as `Bearer ${TOKEN}`. Their values are
/// never shown.
#[derive(Debug, Clone)]
pub struct Template {
    source: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
enum Part {
    Text(String),
    Variable(String, Option<SecretString>),
}

impl Template {
    /// Reads a text, asking for the value of each variable it names.
    pub fn parse(source: &str, read: &dyn Fn(&str) -> Option<SecretString>) -> Template {
        let mut parts = Vec::new();
        let mut rest = source;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, behind)) = after.split_once('}') else {
                break;
            };
            parts.push(Part::Text(before.to_owned()));
            parts.push(Part::Variable(name.to_owned(), read(name)));
            rest = behind;
        }
        parts.push(Part::Text(rest.to_owned()));
        Template {
            source: source.to_owned(),
            parts,
        }
    }

    /// The text with the values in it; the name of a variable that is not set.
    pub(super) fn value(&self) -> Result<String, String> {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => Ok(text.as_str()),
                Part::Variable(_, Some(value)) => Ok(value.expose_secret()),
                Part::Variable(name, None) => Err(name.clone()),
            })
            .collect()
    }
}

impl Server {
    /// What using it would start or ask, in lines: words, the program found, files of the worktree by
    /// content. A difference in any is another server.
    pub fn launched(&self, worktree: &Path, walls: Option<&Walls>) -> Vec<String> {
        match &self.launch {
            Launch::Program {
                command,
                arguments,
                environment,
            } => {
                let program = program(command, worktree, walls);
                let real = program.as_ref().and_then(|path| path.canonicalize().ok());
                let found = real.map_or_else(String::new, |path| path.display().to_string());
                let mut lines = vec![line("command", &[command]), line("program", &[&found])];
                lines.extend(arguments.iter().map(|argument| line("argument", &[argument])));
                let files = program.iter().map(|path| path.display().to_string());
                lines.extend(files.chain(arguments.iter().cloned()).filter_map(|path| {
                    let digest = content(&path, worktree)?;
                    Some(line("file", &[&path, &digest]))
                }));
                lines.extend(
                    environment
                        .iter()
                        .map(|(name, text)| line("environment", &[name, &text.source])),
                );
                lines
            }
            Launch::Address { url, headers, client } => {
                let mut lines = vec![line("url", &[url])];
                lines.extend(client.iter().map(|id| line("client", &[id])));
                lines.extend(headers.iter().map(|(name, text)| line("header", &[name, &text.source])));
                lines
            }
            Launch::Unusable { .. } => Vec::new(),
        }
    }

    /// The host of an address.
    pub(super) fn host(&self) -> Option<String> {
        match &self.launch {
            Launch::Address { url, .. } => reqwest::Url::parse(url).ok()?.host_str().map(str::to_owned),
            _ => None,
        }
    }

    /// Whether its own settings say what it is asked with.
    pub(super) fn names_token(&self) -> bool {
        match &self.launch {
            Launch::Address { headers, .. } => headers.keys().any(|name| name.eq_ignore_ascii_case("authorization")),
            _ => false,
        }
    }

    /// Whether no walls can stand around it.
    pub fn is_elsewhere(&self) -> bool {
        matches!(self.launch, Launch::Address { .. })
    }
}

/// One line: what it is, and JSON texts, so that nothing in them can pass for another line.
fn line(what: &str, texts: &[&str]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| json!(text).to_string()).collect();
    format!("{what} {}", texts.join(" "))
}

/// The program a command names.
pub(super) fn program(command: &str, worktree: &Path, walls: Option<&Walls>) -> Option<PathBuf> {
    if command.contains('/') {
        return Some(worktree.join(command)).filter(|path| path.is_file());
    }
    walls?.program(command)
}

/// The digest of a file of the worktree: what stands there a run can change.
fn content(path: &str, worktree: &Path) -> Option<String> {
    let real = worktree.join(path).canonicalize().ok()?;
    if !real.starts_with(worktree) || !real.is_file() {
        return None;
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(fs::File::open(real).ok()?).ok()?;
    Some(hasher.finalize().to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing(_: &str) -> Option<SecretString> {
        None
    }

    fn script(arguments: &[&str], environment: &[(&str, &str)]) -> Server {
        Server {
            name: "notes".to_owned(),
            launch: Launch::Program {
                command: "python3".to_owned(),
                arguments: arguments.iter().map(|&text| text.to_owned()).collect(),
                environment: environment
                    .iter()
                    .map(|(name, text)| ((*name).to_owned(), Template::parse(text, &nothing)))
                    .collect(),
            },
            modes: Vec::new(),
            place: ".mcp.json".to_owned(),
        }
    }

    #[test]
    fn a_template_takes_values_and_names_what_is_not_set() {
        let read = |name: &str| (name == "TOKEN").then(|| SecretString::from("t0p"));
        let check = |text: &str| Template::parse(text, &read).value();
        assert_eq!(check("Bearer ${TOKEN}!"), Ok("Bearer t0p!".to_owned()));
        assert_eq!(check("plain $TOKEN ${"), Ok("plain $TOKEN ${".to_owned()));
        assert_eq!(check("${OTHER}"), Err("OTHER".to_owned()));
        assert!(!format!("{:?}", Template::parse("${TOKEN}", &read)).contains("t0p"));
    }

    #[test]
    fn whatever_changes_what_is_started_changes_the_spelling() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().canonicalize().unwrap();
        fs::write(tree.join("server.py"), "one").unwrap();
        let spelled = |server: &Server| server.launched(&tree, None);
        let plain = spelled(&script(&["server.py"], &[]));
        assert!(
            plain.iter().any(|line| line.starts_with("file \"server.py\"")),
            "{plain:?}"
        );
        for other in [
            script(&["server.py", "--evil"], &[]),
            script(&["server.py\" \"--evil"], &[]),
            script(&["server.py"], &[("TOKEN", "${TOKEN}")]),
        ] {
            assert_ne!(spelled(&other), plain);
        }
        fs::write(tree.join("server.py"), "two").unwrap();
        assert_ne!(spelled(&script(&["server.py"], &[])), plain);
    }
}
