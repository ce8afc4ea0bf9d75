//! Providers by name: each speaks its protocol where it is told to, a thread goes from one to
//! another, and `stance models` says what there is, what is known and whether it answers.

use serde_json::{Value, json};

use super::server::{Answer, Server, call, text, thinking};
use crate::support::Place;

/// A place whose environment holds a key of each of these variables.
fn place(variables: &[&str]) -> Place {
    let mut place = Place::new();
    let keys = variables
        .iter()
        .map(|name| ((*name).to_owned(), format!("key-of-{name}")));
    place.variables.extend(keys);
    place
}

fn chat_call(id: &str, name: &str, arguments: &Value) -> Value {
    json!({"tool_calls": [{"index": 0, "id": id, "type": "function",
        "function": {"name": name, "arguments": arguments.to_string()}}]})
}

#[test]
fn a_run_at_a_server_that_speaks_like_openai() {
    let server = Server::start([
        Answer::chat(&[
            json!({"content": "Looking."}),
            chat_call("c1", "read_file", &json!({"path": "src/app.js"})),
        ]),
        Answer::chat(&[json!({"content": "Read."})]),
    ]);
    let place = place(&["OPENAI_API_KEY"]);
    let base = format!("{}/v1", server.url);
    let said = place.stance(&[
        "run",
        "--json",
        "--provider",
        "openai-chat",
        "--base-url",
        &base,
        "--model",
        "x",
        "read it",
    ]);
    let report = said.report();
    assert_eq!((said.code, report["text"].as_str()), (0, Some("Read.")), "{}", said.err);
    assert_eq!(report["model"]["configured"], "openai-chat:x");
    let requests = server.requests();
    assert_eq!(requests[0].path, "/v1/chat/completions");
    assert_eq!(requests[0].key, "Bearer key-of-OPENAI_API_KEY");
    let result = requests[1].body["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&result["role"], &result["tool_call_id"]),
        (&json!("tool"), &json!("c1"))
    );
    assert!(result["content"].as_str().unwrap().contains("const x = 1;"));
}

#[test]
fn a_thread_goes_from_one_provider_to_another_and_back() {
    let server = Server::start([
        Answer::of(&[
            thinking("Two files matter.", "c2lnbmVk"),
            call("toolu:1", "read_file", json!({"path": "src/app.js"})),
        ]),
        Answer::of(&[text("Read.")]),
        Answer::chat(&[
            json!({"reasoning_content": "Hm."}),
            chat_call("c 2", "read_file", &json!({"path": "src/util.py"})),
        ]),
        Answer::chat(&[json!({"content": "Read too."})]),
        Answer::of(&[text("Both.")]),
    ]);
    let place = place(&["ANTHROPIC_API_KEY", "DEEPSEEK_API_KEY"]);
    let run = |provider: &str, more: &[&str]| {
        let mut line = vec![
            "run",
            "--json",
            "--provider",
            provider,
            "--base-url",
            &server.url,
            "--model",
            "claude-sonnet-4-5",
        ];
        line.extend(more);
        let said = place.stance(&line);
        assert_eq!(said.code, 0, "{}", said.err);
        said.report()["thread_id"].as_str().unwrap().to_owned()
    };
    let thread = run("anthropic", &["read one"]);
    run("deepseek", &["--resume", &thread, "read the other"]);
    run("anthropic", &["--resume", &thread, "and?"]);
    let bodies = server.bodies();
    let there = bodies[2].to_string();
    assert!(
        !there.contains("Two files matter.") && !there.contains("c2lnbmVk"),
        "{there}"
    );
    let roles = |body: &Value| -> Vec<String> {
        let messages = body["messages"].as_array().unwrap().iter();
        messages
            .map(|message| message["role"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        roles(&bodies[2]),
        ["system", "user", "assistant", "tool", "assistant", "user"]
    );
    assert_eq!(
        bodies[2]["messages"][3]["tool_call_id"],
        bodies[2]["messages"][2]["tool_calls"][0]["id"]
    );
    let back = &bodies[4];
    assert!(!back.to_string().contains("reasoning_content"));
    assert_eq!(back["messages"][1]["content"][0]["signature"], "c2lnbmVk");
    let calls: Vec<&Value> = back["messages"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|message| message["content"].as_array().unwrap())
        .filter(|block| block["type"] == "tool_use" || block["type"] == "tool_result")
        .collect();
    assert_eq!(calls.len(), 4);
    assert_eq!(calls[0]["id"], calls[1]["tool_use_id"]);
    assert_eq!(
        (calls[2]["id"].as_str(), calls[3]["tool_use_id"].as_str()),
        (Some("c_2"), Some("c_2"))
    );
}

#[test]
fn the_list_says_which_provider_can_be_asked() {
    let place = place(&["GROQ_API_KEY"]);
    place.settings("[providers.deepseek]\nbase_url = \"http://127.0.0.1:9/x\"\nkey_env = \"MY_KEY\"\n");
    let said = place.stance(&["models", "list", "--json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let report = said.report();
    let of = |name: &str| {
        report
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["name"] == name)
            .unwrap()
            .clone()
    };
    assert_eq!(
        of("groq"),
        json!({"name": "groq", "protocol": "openai-chat", "address": "https://api.groq.com/openai/v1", "ready": true, "missing": []})
    );
    assert_eq!(of("ollama")["ready"], true, "it needs no key");
    assert_eq!(of("deepseek")["address"], "http://127.0.0.1:9/x");
    assert_eq!(of("deepseek")["missing"], json!(["MY_KEY"]));
    assert_eq!(of("azure")["missing"], json!(["AZURE_RESOURCE_NAME"]));
    assert_eq!(
        (of("dify")["ready"].clone(), of("dify")["address"].clone()),
        (json!(false), Value::Null)
    );
    let words = place.stance(&["models", "list"]);
    assert!(
        words
            .out
            .contains("mistral · openai-chat · https://api.mistral.ai/v1 · MISTRAL_API_KEY is not set"),
        "{}",
        words.out
    );
}

#[test]
fn what_is_known_of_a_model_and_what_is_not() {
    let place = place(&[]);
    let known = place.stance(&["models", "show", "openai/gpt-4.1", "--json"]).report();
    assert_eq!(
        (&known["known"], &known["price"]["cache_read"], &known["efforts"]),
        (&json!(true), &json!(0.5), &json!([]))
    );
    assert!(known["date"].as_str().unwrap().starts_with("20"));
    let unknown = place.stance(&["models", "show", "claude-opuss-4-5"]);
    assert_eq!(unknown.code, 0);
    for words in [
        "price unknown",
        "nothing is known of this model",
        "a name like it: claude-opus-4-5",
    ] {
        assert!(unknown.out.contains(words), "{words}: {}", unknown.out);
    }
    assert!(
        place
            .stance(&["models", "show"])
            .out
            .contains("gpt-4.1 · window 1047576 tokens · output 32768 tokens · $2 input")
    );
}

#[test]
fn a_mode_is_explained_with_what_is_sent_otherwise() {
    let place = place(&["OPENAI_API_KEY"]);
    place.settings("[models.default]\nprovider = \"openai\"\nmodel = \"gpt-5\"\n[models.plan]\neffort = \"max\"\ntemperature = 0.5\n");
    let report = place
        .stance(&["models", "explain", "--mode", "plan", "--json"])
        .report();
    let settings = report["settings"].to_string();
    assert!(
        settings.contains("effort max") && settings.contains("models.plan"),
        "{report:#}"
    );
    let changed: Vec<&str> = report["changed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line.as_str().unwrap())
        .collect();
    assert!(
        changed[0].starts_with("effort = max") && changed[0].contains("is sent as high"),
        "{changed:?}"
    );
    assert!(
        changed[1].starts_with("temperature = 0.5") && changed[1].contains("is sent as none"),
        "{changed:?}"
    );
    let agent = place.stance(&["models", "explain", "--json"]).report();
    assert_eq!(agent["changed"], json!([]));
}

#[test]
fn a_model_is_tried_with_one_word() {
    let server = Server::start([
        Answer::chat(&[json!({"content": "ready"})]),
        Answer::failing(401, "authentication_error", "no key-of-OPENAI_API_KEY here"),
    ]);
    let place = place(&["OPENAI_API_KEY"]);
    let line = [
        "models",
        "test",
        "--json",
        "--provider",
        "openai-chat",
        "--base-url",
        &server.url,
        "--model",
        "x",
    ];
    let said = place.stance(&line);
    let expected =
        json!({"provider": "openai-chat", "model": "x", "answered_as": "house-1", "tokens": 110, "text": "ready"});
    assert_eq!((said.code, said.report()), (0, expected), "{}", said.err);
    assert_eq!(server.bodies()[0].get("tools"), None);
    let refused = place.stance(&line);
    assert_eq!(refused.code, 1);
    assert!(
        refused.err.contains("no [key] here") && refused.err.contains("hint: stance models list"),
        "{}",
        refused.err
    );
    let missing = place.stance(&["models", "test", "--provider", "mistal", "--model", "x"]);
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("did you mean `mistral`"), "{}", missing.err);
}
