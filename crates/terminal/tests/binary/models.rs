//! Which model is asked, how, and what it is shown: seen by a provider on loopback that keeps every
//! request.

mod per_mode;
mod project;
mod providers;
mod recordings;
pub(crate) mod server;
mod settings;
mod wire;

use serde_json::{Value, json};

/// Settings of two modes that have nothing in common.
const TWO_MODES: &str = r#"[models.plan]
provider = "anthropic"
model = "claude-opus-4-6"
effort = "high"
thinking_budget = 9000
max_output = 20000

[models.agent]
provider = "anthropic"
model = "claude-sonnet-4-6"
effort = "low"
thinking_budget = 2000
max_output = 8000
"#;

/// What a request asked for: model, effort, thinking budget, output limit.
fn asked(body: &Value) -> Value {
    json!([
        body["model"],
        body["output_config"]["effort"],
        body["thinking"]["budget_tokens"],
        body["max_tokens"]
    ])
}

/// The tools a request offered, by name.
fn tools(body: &Value) -> Vec<&str> {
    body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

/// The system prompt of a request.
fn system(body: &Value) -> &str {
    body["system"][0]["text"].as_str().unwrap()
}

/// How often a request says which mode it is in.
fn mode_statements(body: &Value) -> usize {
    body.to_string().matches("# Mode: ").count()
}
