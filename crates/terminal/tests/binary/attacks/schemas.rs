//! A schema that a model writes never makes Stance open a connection or a file.

use std::io::ErrorKind;
use std::net::TcpListener;

use serde_json::{Value, json};

use super::evidence::{shows_nothing_of, told};
use crate::support::{Place, calls, says, turns};

const SECRET: &str = "\"secret-title-of-the-schema\"";

fn plan(schema: &Value) -> Value {
    json!({
        "goal": "Hand something back",
        "nodes": [{"key": "reads", "title": "Read", "kind": "work", "description": "Read.", "output_schema": schema}],
    })
}

#[test]
fn a_schema_of_another_document_is_refused_by_the_step_that_has_it() {
    let place = Place::new();
    place.settings("[limits]\nmistakes = \"off\"\n");
    let canary = TcpListener::bind("127.0.0.1:0").unwrap();
    canary.set_nonblocking(true).unwrap();
    let port = canary.local_addr().unwrap().port();
    let file = place.outside().join("schema.json");
    std::fs::write(&file, format!("{{\"title\": {SECRET}, \"type\": 7}}")).unwrap();
    let elsewhere = [
        format!("http://127.0.0.1:{port}/schema.json"),
        format!("http://127.0.0.1:{port}/schema.json#/$defs/x"),
        format!("//127.0.0.1:{port}/schema.json"),
        format!("file://{}", file.display()),
        file.display().to_string(),
        "../outside/schema.json".to_owned(),
    ];
    let mut schemas = Vec::new();
    for target in &elsewhere {
        schemas.push(json!({"$ref": target}));
        schemas.push(json!({"type": "object", "properties": {"deep": {"items": {"$ref": target}}}}));
        schemas.push(json!({"$schema": target, "type": "object"}));
        schemas.push(json!({"$id": target, "$ref": "other.json"}));
        schemas.push(json!({"$dynamicRef": target}));
        schemas.push(json!({"allOf": [{"$id": target, "$ref": "#/x"}]}));
    }
    let submitted: Vec<_> = schemas
        .iter()
        .map(|schema| calls(&[("submit_plan", plan(schema))]))
        .collect();
    let model = place.script("schemas", &turns(&[&submitted[..], &[says("no plan")]].concat()));
    let before = place.world();
    let (_, events, report) = place.stream(&model, &["--mode", "plan", "plan it"]);
    assert_eq!(place.world(), before);
    assert_eq!(
        canary.accept().map(drop).map_err(|error| error.kind()),
        Err(ErrorKind::WouldBlock)
    );
    shows_nothing_of(&place, &events, SECRET.trim_matches('"'));
    assert_eq!(report["plan"], Value::Null);
    let told = told(&events);
    assert_eq!(told.len(), schemas.len());
    for (told, schema) in told.iter().zip(&schemas) {
        assert!(told.error, "{schema}: {told:?}");
        assert!(
            told.text.contains("reads") && told.text.contains("output_schema"),
            "{schema}: {told:?}"
        );
    }
}

#[test]
fn a_schema_that_stays_within_itself_is_taken() {
    let place = Place::new();
    let schema =
        json!({"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "integer"}}});
    let model = place.script("closed", &turns(&[calls(&[("submit_plan", plan(&schema))])]));
    let (code, events, report) = place.stream(&model, &["--mode", "plan", "plan it"]);
    assert_eq!(
        (code, report["plan"]["status"].as_str()),
        (0, Some("proposed")),
        "{:?}",
        told(&events)
    );
}
