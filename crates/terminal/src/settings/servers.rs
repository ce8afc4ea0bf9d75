//! MCP servers as files name them: `[mcp.servers.NAME]` of a settings file, and `.mcp.json` of the project in
//! its usual shape. Secrets stand in neither: variables are named. It must not know who allowed a server.

use std::collections::BTreeMap;

use engine::{Launch, Server, Template};
use modes::Mode;
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::file::File;
use super::page::Page;
use crate::environment::Environment;

/// Longest name of a server, in bytes.
const LONGEST_NAME: usize = 32;
const NAMES: &str = "a name has ASCII letters, digits, `-` and single `_` within, at most 32 of them";
const TABLES: &[&str] = &["servers"];
const KEYS: &[&str] = &["command", "args", "env", "url", "bearer_env", "client_id", "modes"];

/// A server as it stands in a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ServerText {
    /// Its name.
    pub(crate) name: String,
    /// File and line.
    pub(crate) place: String,
    /// The modes it is for; empty: all.
    pub(crate) modes: Vec<Mode>,
    /// How it is reached.
    pub(crate) launch: LaunchText,
}

/// How it is reached, variables by their names.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LaunchText {
    /// A program.
    Program {
        /// Its name or path.
        command: String,
        /// Its arguments.
        arguments: Vec<String>,
        /// Its variables.
        environment: BTreeMap<String, String>,
    },
    /// An address.
    Address {
        /// The URL.
        url: String,
        /// Its headers.
        headers: BTreeMap<String, String>,
        /// The client id for a login.
        client: Option<String>,
    },
    /// It cannot be used, and why.
    Unusable(String),
}

impl ServerText {
    /// The server, with the values of the variables it names.
    pub(crate) fn server(&self, environment: &Environment) -> Server {
        let filled = |texts: &BTreeMap<String, String>| {
            let template = |text: &String| Template::parse(text, &|name| environment.key(name));
            texts
                .iter()
                .map(|(name, text)| (name.clone(), template(text)))
                .collect()
        };
        Server {
            name: self.name.clone(),
            launch: match &self.launch {
                LaunchText::Program {
                    command,
                    arguments,
                    environment,
                } => Launch::Program {
                    command: command.clone(),
                    arguments: arguments.clone(),
                    environment: filled(environment),
                },
                LaunchText::Address { url, headers, client } => Launch::Address {
                    url: url.clone(),
                    headers: filled(headers),
                    client: client.clone(),
                },
                LaunchText::Unusable(why) => Launch::Unusable { why: why.clone() },
            },
            modes: self.modes.clone(),
            place: self.place.clone(),
        }
    }
}

/// Strongest first; of two of one name the stronger stands.
pub(crate) fn folded(layers: &[&[ServerText]]) -> Vec<ServerText> {
    let mut servers: BTreeMap<&str, &ServerText> = BTreeMap::new();
    for server in layers.iter().copied().flatten() {
        servers.entry(&server.name).or_insert(server);
    }
    servers.into_values().cloned().collect()
}

fn usable(name: &str) -> bool {
    name.len() <= LONGEST_NAME
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '-')
        && !name.contains("__")
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

fn speaks_http(url: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme))
}

/// Reads `[mcp]`.
pub(super) fn table<'t>(page: &mut Page<'t>, table: &DeTable<'t>, read: &mut File) {
    for (key, value) in table {
        if !TABLES.contains(&key.get_ref().as_ref()) {
            page.unknown_key(key.span().start, "mcp", key.get_ref(), TABLES);
            continue;
        }
        let Some(servers) = page.table("servers", value) else {
            continue;
        };
        for (name, value) in servers {
            let at = name.span().start;
            if !usable(name.get_ref()) {
                page.fault(
                    at,
                    format!("`{}` cannot be the name of an MCP server: {NAMES}", name.get_ref()),
                );
                continue;
            }
            if let Some(table) = page.table(name.get_ref(), value) {
                server(page, at, name.get_ref(), table, read);
            }
        }
    }
}

fn server<'t>(page: &mut Page<'t>, at: usize, name: &str, table: &DeTable<'t>, read: &mut File) {
    let title = format!("mcp.servers.{name}");
    let (mut command, mut url, mut bearer, mut client) = (None, None, None, None);
    let (mut arguments, mut environment, mut modes) = (Vec::new(), BTreeMap::new(), Vec::new());
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "command" => command = page.text("command", value),
            "args" => arguments = words(page, "args", value),
            "env" => environment = variables(page, value),
            "url" => url = page.text("url", value),
            "bearer_env" => bearer = super::file::variable(page, "bearer_env", value),
            "client_id" => client = page.text("client_id", value),
            "modes" => modes = mode_list(page, value),
            other => page.unknown_key(key.span().start, &title, other, KEYS),
        }
    }
    let launch = match (command, url) {
        (Some(command), None) if bearer.is_none() && client.is_none() => LaunchText::Program {
            command: command.value,
            arguments,
            environment,
        },
        (None, Some(url))
            if arguments.is_empty()
                && environment.is_empty()
                && !(bearer.is_some() && client.is_some())
                && speaks_http(&url.value) =>
        {
            LaunchText::Address {
                url: url.value,
                headers: bearer
                    .map(|given| ("Authorization".to_owned(), format!("Bearer ${{{}}}", given.value)))
                    .into_iter()
                    .collect(),
                client: client.map(|given| given.value),
            }
        }
        _ => {
            return page.fault(
                at,
                format!(
                    "[{title}] names either a `command`, with `args` and `env`, or a `url` of http or https, with \
                     `bearer_env` or `client_id`"
                ),
            );
        }
    };
    let place = page.given(at, ());
    read.servers.push(ServerText {
        name: name.to_owned(),
        place: format!("{}:{}", place.file.unwrap_or_default(), place.line.unwrap_or(1)),
        modes,
        launch,
    });
}

fn words(page: &mut Page<'_>, key: &str, value: &Spanned<DeValue<'_>>) -> Vec<String> {
    page.texts(key, value).into_iter().map(|given| given.value).collect()
}

/// Variables by name; the value of each is the person's own.
fn variables(page: &mut Page<'_>, value: &Spanned<DeValue<'_>>) -> BTreeMap<String, String> {
    let names = words(page, "env", value);
    let sound = |name: &String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !names.iter().all(sound) {
        page.fault(
            value.span().start,
            "`env` is a list of NAMES of environment variables; a value never stands in a settings file",
        );
    }
    names
        .into_iter()
        .filter(sound)
        .map(|name| (name.clone(), format!("${{{name}}}")))
        .collect()
}

fn mode_list(page: &mut Page<'_>, value: &Spanned<DeValue<'_>>) -> Vec<Mode> {
    const MODES: &[&str] = &["agent", "plan", "orchestrate", "review"];
    let named = words(page, "modes", value);
    let mut modes = Vec::new();
    for word in named {
        match Mode::named(&word) {
            Ok(mode) => modes.push(mode),
            Err(_) => page.unknown_word(value.span().start, "modes", &word, MODES),
        }
    }
    modes
}

/// Reads `.mcp.json`. What cannot be used is kept with the reason: a project's file stops nothing.
pub(crate) fn project(place: &str, text: &str) -> Vec<ServerText> {
    let unusable = |name: &str, why: String| ServerText {
        name: name.to_owned(),
        place: place.to_owned(),
        modes: Vec::new(),
        launch: LaunchText::Unusable(why),
    };
    let whole: Value = match serde_json::from_str(text) {
        Ok(whole) => whole,
        Err(error) => {
            return vec![unusable(
                ".mcp.json",
                format!("the file cannot be read as JSON: {error}"),
            )];
        }
    };
    let Some(servers) = whole.get("mcpServers").and_then(Value::as_object) else {
        return vec![unusable(".mcp.json", "the file has no object `mcpServers`".to_owned())];
    };
    servers
        .iter()
        .filter(|(_, server)| server.get("disabled") != Some(&Value::Bool(true)))
        .map(|(name, server)| {
            if !usable(name) {
                return unusable(name, NAMES.to_owned());
            }
            match described(server) {
                Ok(launch) => ServerText {
                    launch,
                    ..unusable(name, String::new())
                },
                Err(why) => unusable(name, why),
            }
        })
        .collect()
}

fn described(server: &Value) -> Result<LaunchText, String> {
    let text = |key: &str| match server.get(key) {
        None => Ok(None),
        Some(Value::String(text)) if !text.is_empty() => Ok(Some(text.clone())),
        Some(_) => Err(format!("`{key}` is no text")),
    };
    match (text("command")?, text("url")?) {
        (Some(command), None) => Ok(LaunchText::Program {
            command,
            arguments: match server.get("args") {
                None => Vec::new(),
                Some(Value::Array(items)) => {
                    let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
                    texts.collect::<Option<_>>().ok_or("`args` is no list of texts")?
                }
                Some(_) => return Err("`args` is no list of texts".to_owned()),
            },
            environment: texts(server, "env")?,
        }),
        (None, Some(url)) if server.get("type") != Some(&Value::from("sse")) && speaks_http(&url) => {
            Ok(LaunchText::Address {
                url,
                headers: texts(server, "headers")?,
                client: None,
            })
        }
        (None, Some(_)) => Err("its address speaks something else than streamable HTTP".to_owned()),
        _ => Err("it names either a `command` or a `url`".to_owned()),
    }
}

fn texts(server: &Value, key: &str) -> Result<BTreeMap<String, String>, String> {
    match server.get(key) {
        None => Ok(BTreeMap::new()),
        Some(Value::Object(fields)) => fields
            .iter()
            .map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
            .collect::<Option<_>>()
            .ok_or_else(|| format!("`{key}` is no object of texts")),
        Some(_) => Err(format!("`{key}` is no object of texts")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn how(server: &ServerText) -> String {
        match &server.launch {
            LaunchText::Program {
                command,
                arguments,
                environment,
            } => format!("{command} {arguments:?} {environment:?}"),
            LaunchText::Address { url, headers, client } => {
                format!("{url} {headers:?} {}", client.as_deref().unwrap_or_default())
                    .trim()
                    .to_owned()
            }
            LaunchText::Unusable(why) => why.clone(),
        }
    }

    #[test]
    fn the_usual_file_is_read_and_what_cannot_be_used_says_why() {
        let servers = project(
            ".mcp.json",
            r#"{"mcpServers": {
                "notes": {"command": "python3", "args": ["server.py"], "env": {"TOKEN": "${TOKEN}"}},
                "forge": {"type": "http", "url": "https://forge.example/mcp", "headers": {"X-Team": "a"}},
                "old": {"type": "sse", "url": "https://old.example/sse"},
                "my server": {"command": "x"},
                "a__b": {"command": "x"},
                "both": {"command": "x", "url": "https://x"},
                "list": {"command": "x", "args": [1]},
                "off": {"command": "x", "disabled": true}
            }}"#,
        );
        let said: Vec<(&str, String)> = servers
            .iter()
            .map(|server| (server.name.as_str(), how(server)))
            .collect();
        assert_eq!(
            said,
            [
                ("notes", r#"python3 ["server.py"] {"TOKEN": "${TOKEN}"}"#.to_owned()),
                ("forge", r#"https://forge.example/mcp {"X-Team": "a"}"#.to_owned()),
                (
                    "old",
                    "its address speaks something else than streamable HTTP".to_owned()
                ),
                ("my server", NAMES.to_owned()),
                ("a__b", NAMES.to_owned()),
                ("both", "it names either a `command` or a `url`".to_owned()),
                ("list", "`args` is no list of texts".to_owned()),
            ]
        );
    }

    #[test]
    fn a_file_that_cannot_be_read_is_one_server_that_cannot_be_used() {
        for text in ["", "{", "[]", "{\"servers\": {}}"] {
            let servers = project(".mcp.json", text);
            assert!(
                matches!(
                    servers.as_slice(),
                    [ServerText {
                        launch: LaunchText::Unusable(_),
                        ..
                    }]
                ),
                "{text}"
            );
        }
    }

    fn settings(text: &str) -> (Vec<String>, Vec<String>) {
        let (file, faults) = super::super::file::read("settings.toml", std::path::Path::new("/"), text);
        (
            file.servers.iter().map(how).collect(),
            faults.iter().map(ToString::to_string).collect(),
        )
    }

    #[test]
    fn settings_name_variables_and_never_values() {
        let (servers, faults) = settings(
            "[mcp.servers.notes]\ncommand = \"notes\"\nargs = [\"-v\"]\nenv = [\"TOKEN\"]\nmodes = [\"plan\"]\n\
             [mcp.servers.forge]\nurl = \"https://forge.example/mcp\"\nbearer_env = \"FORGE\"\n",
        );
        assert_eq!(faults, Vec::<String>::new());
        assert_eq!(
            servers,
            [
                r#"https://forge.example/mcp {"Authorization": "Bearer ${FORGE}"}"#,
                r#"notes ["-v"] {"TOKEN": "${TOKEN}"}"#,
            ]
        );
        for (text, fault) in [
            (
                "[mcp.servers.a]\ncommand = \"x\"\nenv = [\"A=b\"]\n",
                "settings.toml:3: `env` is a list of NAMES",
            ),
            (
                "[mcp.servers.a]\nurl = \"https://x\"\nbearer_env = \"s3cret!\"\n",
                "settings.toml:3: `bearer_env` is the NAME",
            ),
            (
                "[mcp.servers.a]\ncommand = \"x\"\nurl = \"https://x\"\n",
                "settings.toml:1: [mcp.servers.a] names either",
            ),
            (
                "[mcp.servers.a]\nurl = \"ftp://x\"\n",
                "settings.toml:1: [mcp.servers.a] names either",
            ),
            (
                "[mcp.servers.a]\ncomand = \"x\"\n",
                "settings.toml:2: unknown key `comand`",
            ),
            (
                "[mcp.servers.a]\ncommand = \"x\"\nmodes = [\"plans\"]\n",
                "settings.toml:3: `plans` cannot be",
            ),
            (
                "[mcp.servers.\"a b\"]\ncommand = \"x\"\n",
                "settings.toml:1: `a b` cannot be the name",
            ),
            ("[mcp.server]\n", "settings.toml:1: unknown key `server`"),
        ] {
            let (_, faults) = settings(text);
            assert!(faults.iter().any(|said| said.starts_with(fault)), "{text}: {faults:?}");
        }
    }
}
