//! A thread that was begun at one provider goes on at another: every ordered pair of protocols.

use serde_json::{Value, json};
use stance_llm::{Block, Message, ResultPart, ToolCall};

use crate::server::{Reply, request, sent};

/// A provider for each protocol and for the dialects that differ most, with ids as it gives them.
const AUTHORS: [(&str, &str); 8] = [
    ("anthropic", "toolu_01A09q90qw90lq917835lq9"),
    ("openai", "call_zE3sZ1nT6cXo0bJ2"),
    ("openai-chat", "call_9pw1lfE7iRcQ4"),
    ("deepseek", "call_00_f8Wq"),
    ("mistral", "D681PevKs"),
    ("openrouter", "tool_0_read_file:odd/id"),
    ("gemini", "read_file-16"),
    ("bedrock", "tooluse_kZJMlvQmRJ6eAyJE5GIl7Q"),
];

/// A thought in the form its author has it.
fn thought(author: &str) -> Value {
    let words = format!("thought of {author}");
    match author {
        "anthropic" => json!({"type": "thinking", "thinking": words, "signature": "c2ln"}),
        "openai" => json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": words}),
        "mistral" => json!({"content_parts": [{"type": "thinking", "thinking": [{"type": "text", "text": words}]}]}),
        "openrouter" => json!({"reasoning_details": [{"type": "reasoning.text", "text": words, "index": 0}]}),
        "gemini" => json!({"text": words, "thought": true}),
        "bedrock" => json!({"reasoningContent": {"reasoningText": {"text": words, "signature": "c2ln"}}}),
        _ => json!({"reasoning_content": words}),
    }
}

/// A turn with a thought, a text, and a call that was answered.
fn turn(author: &str, id: &str) -> Vec<Message> {
    vec![
        Message::assistant(vec![
            Block::Native {
                provider: author.into(),
                value: thought(author),
            },
            Block::Text(format!("text of {author}")),
            Block::ToolCall(ToolCall {
                id: id.into(),
                name: "read_file".into(),
                arguments_text: r#"{"path":"a"}"#.into(),
            }),
        ]),
        Message::user(vec![Block::ToolResult {
            call_id: id.into(),
            content: vec![ResultPart::Text(format!("result for {author}"))],
            is_error: false,
        }]),
    ]
}

/// What `provider` is sent after these turns.
async fn body(provider: &str, model: &str, turns: &[Vec<Message>]) -> String {
    let mut asked = request(model);
    asked.messages.extend(turns.iter().flatten().cloned());
    let seen = sent(provider, Reply::failing(400, "{}"), asked).await;
    seen.body.to_string()
}

/// Every text that stands under `key` anywhere in a body.
fn all(value: &Value, key: &str) -> Vec<String> {
    match value {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, value)| match value {
                Value::String(text) if name == key => vec![text.clone()],
                value => all(value, key),
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(|item| all(item, key)).collect(),
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn from_every_provider_to_every_other() {
    for (from, id) in AUTHORS {
        for (to, _) in AUTHORS {
            // A family of models that thinks wherever it is asked.
            let model = if to == "bedrock" {
                "anthropic.claude-sonnet-4-5"
            } else {
                "some-model"
            };
            let written = body(to, model, &[turn(from, id)]).await;
            for kept in [
                format!("text of {from}"),
                format!("result for {from}"),
                "read_file".into(),
            ] {
                assert!(written.contains(&kept), "{from} to {to}: {kept} in {written}");
            }
            let remembers = from == to && from != "openai-chat";
            assert_eq!(
                written.contains(&format!("thought of {from}")),
                remembers,
                "{from} to {to}: {written}"
            );
        }
    }
}

#[tokio::test]
async fn a_thread_that_went_through_every_provider() {
    let turns = AUTHORS.map(|(author, id)| turn(author, id));
    for (to, _) in AUTHORS {
        let model = if to == "bedrock" {
            "anthropic.claude-sonnet-4-5"
        } else {
            "some-model"
        };
        let written: Value = serde_json::from_str(&body(to, model, &turns).await).unwrap();
        let (call, result) = match to {
            "anthropic" => ("id", "tool_use_id"),
            "openai" => ("call_id", "call_id"),
            "bedrock" => ("toolUseId", "toolUseId"),
            "gemini" => ("name", "name"),
            _ => ("id", "tool_call_id"),
        };
        let calls = all(&written, call);
        let results = all(&written, result);
        for id in &results {
            assert!(calls.contains(id), "{to}: {id} answers nothing");
        }
        let number = if call == result {
            2 * AUTHORS.len()
        } else {
            AUTHORS.len()
        };
        assert_eq!(results.len(), number, "{to}");
        for (author, _) in AUTHORS {
            let own = author == to && author != "openai-chat";
            assert_eq!(
                written.to_string().contains(&format!("thought of {author}")),
                own,
                "{author} in {to}"
            );
        }
    }
}

#[tokio::test]
async fn the_past_does_not_change_when_a_turn_is_added() {
    let turns = AUTHORS.map(|(author, id)| turn(author, id));
    for (to, _) in AUTHORS {
        let shorter = body(to, "some-model", &turns[..4]).await;
        let longer = body(to, "some-model", &turns[..6]).await;
        // Marks of where to cache move along, and so does what closes the list.
        let plain = |text: &str| {
            text.replace(r#","cache_control":{"type":"ephemeral"}"#, "")
                .replace(r#",{"cachePoint":{"type":"default"}}"#, "")
        };
        let (shorter, longer) = (plain(&shorter), plain(&longer));
        let shared = shorter
            .chars()
            .zip(longer.chars())
            .take_while(|(one, other)| one == other)
            .count();
        let written = shorter.find("result for deepseek").unwrap();
        assert!(shared > written, "{to}: {shared} of {written}");
    }
}
