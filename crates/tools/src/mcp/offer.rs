//! What a server offers, read with distrust: bounded, without hidden characters, without references
//! that would be fetched. It must not know how the server is reached.

use rmcp::model;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use work::digest::canonical;

/// Most tools of one server.
pub(super) const MOST_TOOLS: usize = 128;
/// Longest name of a tool, in bytes.
const LONGEST_NAME: usize = 128;
/// Characters kept of a description.
const LONGEST_DESCRIPTION: usize = 4_000;
/// Longest schema, in bytes.
const LONGEST_SCHEMA: usize = 64 * 1024;
/// Deepest nesting of a schema.
const DEEPEST_SCHEMA: usize = 32;

/// A tool of a server, as the server describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Its name there.
    pub name: String,
    /// When to use it, as the server says; hidden characters are escaped.
    pub description: String,
    /// The schema of its arguments.
    pub schema: Value,
    /// What the server says of its effects.
    pub annotations: Value,
}

impl Offer {
    /// Reads one tool of a list; why it cannot be offered.
    pub(super) fn read(tool: &model::Tool) -> Result<Offer, String> {
        let name = tool.name.as_ref();
        if name.is_empty() || name.len() > LONGEST_NAME || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("its name is empty, too long, or has other characters than printable ASCII".to_owned());
        }
        let mut schema = Value::Object((*tool.input_schema).clone());
        if canonical(&schema).len() > LONGEST_SCHEMA {
            return Err(format!("its schema is longer than {LONGEST_SCHEMA} bytes"));
        }
        check(&schema, DEEPEST_SCHEMA)?;
        if let Some(fields) = schema.as_object_mut() {
            fields.entry("type").or_insert_with(|| json!("object"));
        }
        jsonschema::validator_for(&schema).map_err(|error| format!("its schema cannot be read: {error}"))?;
        let annotations = serde_json::to_value(&tool.annotations).unwrap_or_default();
        Ok(Offer {
            name: name.to_owned(),
            description: shown(tool.description.as_deref().unwrap_or_default(), LONGEST_DESCRIPTION),
            schema,
            annotations,
        })
    }

    /// Whether the server says that it only reads.
    pub fn says_it_reads(&self) -> bool {
        let says = |name: &str| self.annotations.get(name) == Some(&json!(true));
        says("readOnlyHint") && !says("destructiveHint")
    }

    /// One line that holds all of it.
    fn line(&self) -> String {
        let whole = json!({
            "name": self.name,
            "description": self.description,
            "schema": self.schema,
            "annotations": self.annotations,
        });
        format!("{TOOL}{}", canonical(&whole))
    }
}

/// References lead nowhere but into the schema itself, and it is not nested too deep.
fn check(schema: &Value, deeper: usize) -> Result<(), String> {
    let Some(deeper) = deeper.checked_sub(1) else {
        return Err(format!("its schema is nested more than {DEEPEST_SCHEMA} deep"));
    };
    match schema {
        Value::Object(fields) => fields.iter().try_for_each(|(key, value)| {
            let leads_away = |text: &str| !text.starts_with('#');
            match (key.as_str(), value.as_str()) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", Some(text)) if leads_away(text) => {
                    Err("its schema refers to something outside of itself".to_owned())
                }
                _ => check(value, deeper),
            }
        }),
        Value::Array(items) => items.iter().try_for_each(|item| check(item, deeper)),
        _ => Ok(()),
    }
}

/// A text of a server with everything escaped that is not seen, cut after so many characters.
pub(super) fn shown(text: &str, longest: usize) -> String {
    let mut shown = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == longest {
            shown.push('…');
            break;
        }
        if matches!(c, '\n' | '\t') || !hidden(c) {
            shown.push(c);
        } else {
            shown.extend(c.escape_unicode());
        }
    }
    shown
}

/// Characters that leave nothing to see or turn the text around.
fn hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// How the line of a tool begins.
const TOOL: &str = "tool ";

/// A server as it was when an operator allowed it: what is started or asked, and what it offered then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// See [`super::Server::launched`].
    pub launched: Vec<String>,
    /// Its tools, by name.
    pub offers: Vec<Offer>,
}

impl Pinned {
    /// All of it in lines.
    pub fn text(&self) -> String {
        let lines = self.launched.iter().cloned().chain(self.offers.iter().map(Offer::line));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Reads those lines again.
    pub fn parse(text: &str) -> Option<Pinned> {
        let (tools, launched): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with(TOOL));
        let offers = tools
            .into_iter()
            .map(|line| serde_json::from_str(line.trim_start_matches(TOOL)).ok())
            .collect::<Option<_>>()?;
        Some(Pinned {
            launched: launched.into_iter().map(str::to_owned).collect(),
            offers,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, schema: &Value) -> model::Tool {
        serde_json::from_value(json!({
            "name": name,
            "description": "Reads\u{200b} a note.",
            "inputSchema": schema,
            "annotations": {"readOnlyHint": true},
        }))
        .unwrap()
    }

    #[test]
    fn a_plain_tool_is_offered_and_pinned_as_it_is() {
        let offer = Offer::read(&tool("get", &json!({"properties": {"id": {"type": "string"}}}))).unwrap();
        assert_eq!(offer.description, "Reads\\u{200b} a note.");
        assert_eq!(offer.schema["type"], "object");
        assert!(offer.says_it_reads());
        let pinned = Pinned {
            launched: vec!["command \"a\"".to_owned()],
            offers: vec![offer],
        };
        assert_eq!(Pinned::parse(&pinned.text()), Some(pinned));
    }

    #[test]
    fn what_would_fetch_hide_or_exhaust_is_not_offered() {
        let deep = (0..40).fold(json!({}), |inner, _| json!({"not": inner}));
        for (name, schema, why) in [
            ("get", json!({"$ref": "http://169.254.169.254/x"}), "outside of itself"),
            (
                "get",
                json!({"properties": {"a": {"$ref": "file:///etc/passwd"}}}),
                "outside of itself",
            ),
            (
                "get",
                json!({"anyOf": [{"$dynamicRef": "other.json"}]}),
                "outside of itself",
            ),
            ("get", deep, "deep"),
            ("get", json!({"description": "x".repeat(70_000)}), "longer"),
            ("get", json!({"type": "no type"}), "cannot be read"),
            ("g\u{435}t", json!({}), "ASCII"),
            ("g t", json!({}), "ASCII"),
            ("", json!({}), "empty"),
        ] {
            let refused = Offer::read(&tool(name, &schema)).unwrap_err();
            assert!(refused.contains(why), "{refused} lacks {why}");
        }
        let inside = json!({"$defs": {"id": {"type": "string"}}, "properties": {"id": {"$ref": "#/$defs/id"}}});
        assert!(Offer::read(&tool("get", &inside)).is_ok());
    }

    #[test]
    fn a_tool_that_says_it_reads_and_destroys_does_not_read() {
        let mut offer = Offer::read(&tool("get", &json!({}))).unwrap();
        offer.annotations = json!({"readOnlyHint": true, "destructiveHint": true});
        assert!(!offer.says_it_reads());
        offer.annotations = Value::Null;
        assert!(!offer.says_it_reads());
    }
}
