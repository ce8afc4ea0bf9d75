//! Our request as the body of Gemini's. The only place that knows both shapes; it sends nothing.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::family::{Family, Thinking};
use crate::repair::object_of;
use crate::{Block, Effort, Message, ModelSettings, Request, ResultPart, Role, ToolCall, ToolSpec};

/// What a first call carries that another provider's model wrote: the protocol's own word for
/// having no signature.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// The body of a streamed request, which has been fitted and repaired.
pub(crate) fn body(request: &Request) -> Value {
    let mut body = Map::new();
    if !request.system.trim().is_empty() {
        body.insert("systemInstruction".into(), json!({"parts": [{"text": request.system}]}));
    }
    if !request.tools.is_empty() {
        body.insert("tools".into(), json!([{"functionDeclarations": tools(&request.tools)}]));
    }
    let family = Family::of(&request.settings.model);
    body.insert("contents".into(), contents(&request.messages, family));
    let configuration = configuration(&request.settings, family);
    if !configuration.is_empty() {
        body.insert("generationConfig".into(), configuration.into());
    }
    Value::Object(body)
}

/// Tools by name, so that the prefix a provider caches does not depend on the caller's order.
fn tools(tools: &[ToolSpec]) -> Value {
    let mut sorted = tools.iter().collect::<Vec<_>>();
    sorted.sort_by(|one, other| one.name.cmp(&other.name));
    sorted
        .into_iter()
        .map(|tool| {
            json!({
                "name": tool.name,
                "description": tool.description,
                "parametersJsonSchema": tool.schema,
            })
        })
        .collect()
}

fn configuration(settings: &ModelSettings, family: &Family) -> Map<String, Value> {
    let mut written = Map::new();
    if let Some(most) = settings.max_output {
        written.insert("maxOutputTokens".into(), most.into());
    }
    if let Some(temperature) = settings.temperature {
        written.insert("temperature".into(), temperature.into());
    }
    if let Some(thinking) = thinking(settings, family) {
        written.insert("thinkingConfig".into(), thinking);
    }
    written
}

fn thinking(settings: &ModelSettings, family: &Family) -> Option<Value> {
    let budget = match settings.effort {
        Some(Effort::None) => Some(0),
        _ => settings.thinking_budget,
    };
    Some(match (family.thinking, budget, settings.effort) {
        (Thinking::Never, ..) => return None,
        (Thinking::Budget { .. }, Some(0), _) => json!({"thinkingBudget": 0}),
        (Thinking::Budget { .. }, Some(budget), _) => json!({"thinkingBudget": budget, "includeThoughts": true}),
        (Thinking::Levels(_), _, Some(effort)) => json!({"thinkingLevel": effort.word(), "includeThoughts": true}),
        _ => json!({"includeThoughts": true}),
    })
}

/// A call that waits for its result.
struct Asked {
    name: String,
    /// The protocol tells results apart by their order; where a call came with an id, its result
    /// has it too.
    with_id: bool,
}

fn contents(messages: &[Message], family: &Family) -> Value {
    let mut asked = BTreeMap::new();
    messages
        .iter()
        .map(|message| match message.role {
            Role::User => json!({"role": "user", "parts": said(&message.blocks, &asked, family)}),
            Role::Assistant => json!({"role": "model", "parts": answered(&message.blocks, &mut asked, family)}),
        })
        .collect()
}

/// The parts of a person's message.
fn said(blocks: &[Block], asked: &BTreeMap<String, Asked>, family: &Family) -> Vec<Value> {
    let mut parts = Vec::new();
    // Every call has its result before anything else comes, pictures of results included.
    let mut pictures = Vec::new();
    let mut rest = Vec::new();
    for block in blocks {
        match block {
            Block::ToolResult {
                call_id,
                content,
                is_error,
            } => {
                let mut seen = content.iter().filter_map(picture_of).collect();
                let mut response = result(call_id, content, *is_error, asked.get(call_id));
                if family.signs {
                    nest(&mut response, std::mem::take(&mut seen));
                }
                parts.push(json!({"functionResponse": response}));
                pictures.append(&mut seen);
            }
            Block::Text(text) => rest.push(json!({"text": text})),
            Block::Image {
                media_type,
                data_base64,
            } => rest.push(picture(media_type, data_base64)),
            Block::ToolCall(_) | Block::Native { .. } => {}
        }
    }
    parts.append(&mut pictures);
    parts.append(&mut rest);
    parts
}

fn result(call_id: &str, content: &[ResultPart], is_error: bool, asked: Option<&Asked>) -> Map<String, Value> {
    let texts = content.iter().filter_map(|part| match part {
        ResultPart::Text(text) => Some(text.as_str()),
        ResultPart::Image { .. } => None,
    });
    let key = if is_error { "error" } else { "output" };
    let mut written = Map::new();
    if asked.is_some_and(|asked| asked.with_id) {
        written.insert("id".into(), call_id.into());
    }
    written.insert("name".into(), asked.map_or("", |asked| &asked.name).into());
    written.insert("response".into(), json!({key: texts.collect::<Vec<_>>().join("\n")}));
    written
}

fn nest(response: &mut Map<String, Value>, pictures: Vec<Value>) {
    if !pictures.is_empty() {
        response.insert("parts".into(), pictures.into());
    }
}

fn picture_of(part: &ResultPart) -> Option<Value> {
    match part {
        ResultPart::Text(_) => None,
        ResultPart::Image {
            media_type,
            data_base64,
        } => Some(picture(media_type, data_base64)),
    }
}

fn picture(media_type: &str, data_base64: &str) -> Value {
    json!({"inlineData": {"mimeType": media_type, "data": data_base64}})
}

/// The parts of a model's message as the model wrote them. See [`super::assembly`] for how a part
/// became blocks.
fn answered(blocks: &[Block], asked: &mut BTreeMap<String, Asked>, family: &Family) -> Vec<Value> {
    let mut parts = Vec::new();
    let mut before: Option<&Block> = None;
    for block in blocks {
        match (block, before) {
            (Block::Text(text), _) => parts.push(json!({"text": text})),
            (Block::ToolCall(call), _) => {
                asked.insert(
                    call.id.clone(),
                    Asked {
                        name: call.name.clone(),
                        with_id: false,
                    },
                );
                parts.push(json!({"functionCall": {"name": call.name, "args": object_of(&call.arguments_text)}}));
            }
            (Block::Native { value, .. }, Some(Block::ToolCall(call))) if value.get("functionCall").is_some() => {
                let (part, with_id) = whole_call(value, call);
                asked.insert(
                    call.id.clone(),
                    Asked {
                        name: call.name.clone(),
                        with_id,
                    },
                );
                parts.pop();
                parts.push(part);
            }
            (Block::Native { value, .. }, Some(Block::Text(text))) => {
                if let Some(rest) = text_before(value, text) {
                    parts.pop();
                    parts.extend((!rest.is_empty()).then(|| json!({"text": rest})));
                }
                parts.push(value.clone());
            }
            (Block::Native { value, .. }, _) => parts.push(value.clone()),
            (Block::Image { .. } | Block::ToolResult { .. }, _) => {}
        }
        before = Some(block);
    }
    if family.signs {
        sign_first_call(&mut parts);
    }
    parts
}

/// A call's part with the arguments back in their place, and whether it has an id.
fn whole_call(native: &Value, call: &ToolCall) -> (Value, bool) {
    let mut part = native.clone();
    let mut with_id = false;
    if let Some(Value::Object(written)) = part.get_mut("functionCall") {
        written.insert("args".into(), object_of(&call.arguments_text));
        if let Some(id) = written.get_mut("id") {
            *id = call.id.as_str().into();
            with_id = true;
        }
    }
    (part, with_id)
}

/// What of `text` came before the part `native`, whose text it ends with.
fn text_before<'a>(native: &Value, text: &'a str) -> Option<&'a str> {
    if native.get("thought").is_some() {
        return None;
    }
    let own = native.get("text")?.as_str().filter(|own| !own.is_empty())?;
    text.strip_suffix(own)
}

/// Models that sign refuse a first call without a signature, whoever wrote it.
fn sign_first_call(parts: &mut [Value]) {
    let first = parts.iter_mut().find(|part| part.get("functionCall").is_some());
    if let Some(Value::Object(part)) = first {
        part.entry("thoughtSignature").or_insert_with(|| NO_SIGNATURE.into());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::gemini::assembly::Pieces;
    use crate::wire::{Assembly as _, CallIds};
    use crate::{RequestContext, StopReason};

    fn any_part() -> impl Strategy<Value = Value> {
        let content = prop_oneof![
            "[ab]{0,3}".prop_map(|text| json!({"text": text})),
            "[ab]{1,3}".prop_map(|text| json!({"text": text, "thought": true})),
            (0_u8..3).prop_map(|number| json!({"functionCall": {"name": "tool", "args": {"number": number}}})),
            (0_u32..1000).prop_map(|id| json!({"functionCall": {"id": format!("f{id}"), "name": "tool", "args": {}}})),
            Just(json!({"executableCode": {"language": "PYTHON", "code": "1"}})),
        ];
        (content, prop::option::of("[a-z]{1,4}")).prop_map(|(mut part, signature)| {
            if let Some(signature) = signature {
                part["thoughtSignature"] = signature.into();
            }
            part
        })
    }

    /// The parts as they must go back: unsigned pieces of one text, or of one thought, are one.
    fn joined(parts: &[Value]) -> Vec<Value> {
        let mut joined: Vec<Value> = Vec::new();
        let unsigned = |part: &Value| part.get("text").is_some() && part.get("thoughtSignature").is_none();
        for part in parts {
            match joined.last_mut() {
                Some(last) if unsigned(last) && unsigned(part) && last.get("thought") == part.get("thought") => {
                    let text = format!("{}{}", last["text"].as_str().unwrap(), part["text"].as_str().unwrap());
                    last["text"] = text.into();
                }
                _ if *part == json!({"text": ""}) => {}
                _ => joined.push(part.clone()),
            }
        }
        joined
    }

    fn request(messages: Vec<Message>) -> Request {
        Request {
            system: String::new(),
            tools: Vec::new(),
            messages,
            settings: ModelSettings::new("gemini", "gemini-2.5-pro"),
            cursor: None,
            entering: None,
            context: RequestContext::default(),
        }
    }

    proptest! {
        /// Whatever a model writes goes back as it was written, every signature on its own part.
        #[test]
        fn what_was_written_goes_back(parts in prop::collection::vec(any_part(), 0..12)) {
            let mut pieces = Pieces::new("gemini".into(), "m".into(), CallIds::of(&request(Vec::new())));
            for part in &parts {
                pieces.accept(&json!({"candidates": [{"content": {"parts": [part]}}]}).to_string()).unwrap();
            }
            pieces.accept(&json!({"candidates": [{"finishReason": "MAX_TOKENS"}]}).to_string()).unwrap();
            let answer = pieces.end().unwrap();
            prop_assert_eq!(&answer.stop, &StopReason::MaxTokens);
            let body = body(&request(vec![Message::assistant(answer.blocks)]));
            let ids = body.to_string().matches("\"id\"").count();
            let mut sent = body["contents"][0]["parts"].clone();
            let mut expected = Value::from(joined(&parts));
            prop_assert_eq!(ids, expected.to_string().matches("\"id\"").count());
            // An id that was given twice is another.
            for parts in [&mut sent, &mut expected] {
                for part in parts.as_array_mut().unwrap() {
                    if let Some(id) = part.pointer_mut("/functionCall/id") {
                        *id = "any".into();
                    }
                }
            }
            prop_assert_eq!(sent, expected);
        }
    }
}
