//! A provider on loopback that keeps every request and answers each as it is told: what a model
//! really reads is looked at here, not what somebody meant to send.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::support::Place;

/// A provider at work.
pub(super) struct Provider {
    address: String,
    seen: Arc<Mutex<Vec<Value>>>,
}

impl Provider {
    /// Answers every request with a turn, written as in a script, that `answer` finds for it.
    pub(super) fn start(mut answer: impl FnMut(&Value) -> Value + Send + 'static) -> Provider {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&seen);
        // It serves as long as the test's process lives.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let request = request(&stream);
                kept.lock().unwrap().push(request.clone());
                let number = kept.lock().unwrap().len();
                reply(&mut stream, &answer(&request), number);
            }
        });
        Provider { address, seen }
    }

    /// Makes it the model of every mode, with these settings beside it.
    pub(super) fn settle(&self, place: &mut Place, settings: &str) {
        place.variables.push(("TRIED_KEY".to_owned(), "no-secret".to_owned()));
        place.settings(&format!(
            "{settings}\n[models.default]\nprovider = \"anthropic\"\nmodel = \"claude-sonnet-4-5\"\n\
             [providers.anthropic]\nbase_url = \"{}\"\nkey_env = \"TRIED_KEY\"\n",
            self.address
        ));
    }

    /// Every request so far.
    pub(super) fn seen(&self) -> Vec<Value> {
        self.seen.lock().unwrap().clone()
    }
}

/// The names of the tools a request offers.
pub(super) fn tools_of(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// Every mode that the whole request states, in order of its text.
pub(super) fn modes_stated(request: &Value) -> Vec<String> {
    let text = request.to_string();
    let statements = text.split("# Mode: ").skip(1);
    statements.map(|rest| rest.split("\\n").next().unwrap().to_owned()).collect()
}

fn request(stream: &TcpStream) -> Value {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim().to_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    serde_json::from_slice(&body).unwrap()
}

fn reply(stream: &mut TcpStream, turn: &Value, number: usize) {
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let mut events = vec![json!({"type": "message_start", "message": {
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "content": [],
        "model": "claude-sonnet-4-5", "stop_reason": null, "stop_sequence": null, "usage": usage,
    }})];
    let text = turn["text"].as_str().map(|text| {
        (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text}))
    });
    let calls = turn["tool_calls"].as_array().into_iter().flatten().enumerate().map(|(place, call)| {
        let start = json!({"type": "tool_use", "id": format!("toolu_{number}_{place}"), "name": call["name"], "input": {}});
        (start, json!({"type": "input_json_delta", "partial_json": call["arguments"].to_string()}))
    });
    let blocks: Vec<(Value, Value)> = text.into_iter().chain(calls).collect();
    let stop = if turn["tool_calls"].is_array() { "tool_use" } else { "end_turn" };
    for (index, (start, delta)) in blocks.into_iter().enumerate() {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": usage}));
    events.push(json!({"type": "message_stop"}));
    let body: String = events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
    // Who asked may be gone by now; that is for the test to notice.
    let _ = stream.write_all(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes());
}
