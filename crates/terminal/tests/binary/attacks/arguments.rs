//! One text of arguments has one meaning, or none: what is shown, judged, kept and done is the same.

use serde_json::{Value, json};

use super::evidence::told;
use crate::support::{Place, calls, says, turns};

#[test]
fn arguments_with_two_meanings_have_none() {
    let place = Place::new();
    place.settings("[limits]\nmistakes = \"off\"\n");
    let deep = format!("{{\"command\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let long = format!(
        "{{\"command\": \"touch ran\", \"cwd\": \"{}\"}}",
        "a".repeat(5 * 1024 * 1024)
    );
    let texts = [
        r#"{"command": "ls", "command": "touch ran"}"#,
        r#"{"command": "touch ran", "command": "ls"}"#,
        r#"{"command": "ls", "comm\u0061nd": "touch ran"}"#,
        r#"{"command": "touch ran", "Command": "ls"}"#,
        r#"{"command": "touch ran", "unknown": 1}"#,
        r#"{"command": "touch ran", "timeout_s": 1.5}"#,
        r#"{"command": "touch ran", "timeout_s": "100"}"#,
        r#"{"command": "touch ran", "timeout_s": 99999999999999999999999}"#,
        r#"{"command": "touch ran", "timeout_s": -1}"#,
        r#"{"command": "touch ran", "timeout_s": 1e400}"#,
        r#"{"command": "touch ran", "timeout_s": NaN}"#,
        r#"{"command": "touch ran \ud800"}"#,
        r#"{"command": "touch ran\u0000"}"#,
        r#"{"command": ["touch", "ran"]}"#,
        r#"{"command": null}"#,
        r#"{"command": "touch ran"} {"command": "ls"}"#,
        r#"{"command": "touch ran"},"#,
        r#"[{"command": "touch ran"}]"#,
        r#""touch ran""#,
        r"{'command': 'touch ran'}",
        r#"{"command": "touch ran",}"#,
        r#"{"command": "touch ran" /* , "x": 1 */}"#,
        r#"{"command": "touch ran", "cwd": {"a": 1, "a": 2}}"#,
        r#"{"command": "touch ran""#,
        &deep,
        &long,
    ];
    let made: Vec<(&str, Value)> = texts.iter().map(|text| ("execute_command", json!(text))).collect();
    let model = place.script("twofold", &turns(&[calls(&made), says("done")]));
    let before = place.world();
    let (_, events, _) = place.stream(&model, &["--mode", "agent", "--yolo", "run it"]);
    assert_eq!(place.world(), before);
    let told = told(&events);
    assert_eq!(told.len(), texts.len());
    for (told, text) in told.iter().zip(&texts) {
        let text: String = text.chars().take(80).collect();
        assert_eq!((told.how.as_str(), told.error), ("refused", true), "{text}: {told:?}");
    }
    let decided: Vec<_> = events.iter().filter(|event| event["kind"] == "decided").collect();
    assert_eq!(decided.len(), texts.len());
    for event in decided {
        assert_eq!(event["payload"]["record"]["layer"], "arguments", "{event:#}");
    }
    assert!(!events.iter().any(|event| event["kind"] == "tool_started"));
}

#[test]
fn equal_arguments_have_one_digest_and_names_that_only_look_equal_two() {
    let place = Place::new();
    place.settings("[limits]\nmistakes = \"off\"\n");
    place.write("caf\u{e9}.txt", "composed\n");
    place.write("cafe\u{301}.txt", "in two parts\n");
    let model = place.script(
        "equal",
        &turns(&[
            calls(&[
                ("read_file", json!("{\"path\": \"README.md\", \"start_line\": 1}")),
                ("read_file", json!("{\"start_line\":1,\"path\":\"READ\\u004dE.md\"}")),
                ("read_file", json!({"path": "caf\u{e9}.txt"})),
                ("read_file", json!({"path": "cafe\u{301}.txt"})),
            ]),
            says("done"),
        ]),
    );
    let (_, events, _) = place.stream(&model, &["--mode", "plan", "read"]);
    let digests: Vec<_> = events
        .iter()
        .filter(|event| event["kind"] == "decided")
        .map(|event| event["payload"]["record"]["digest"].as_str().unwrap())
        .collect();
    assert_eq!(digests.len(), 4);
    assert_eq!(digests[0], digests[1]);
    assert_ne!(digests[2], digests[3]);
    let told = told(&events);
    assert!(
        told[0].text.contains("# Sample") && told[0].text == told[1].text,
        "{told:?}"
    );
    assert!(
        told[2].text.contains("composed") && told[3].text.contains("in two parts"),
        "{told:?}"
    );
}
