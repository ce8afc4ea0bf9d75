//! How a model is told to think, in fields of its own, and a word to the person for every change.

use serde_json::{Value, json};
use stance_llm::{Effort, ModelSettings};

use super::fixture::{CLAUDE, PRESET, model_at, request, sent};

/// What is sent for the model alone, and the changes a person is told of.
async fn own(model: &str, effort: Option<Effort>, budget: Option<u64>) -> (Value, Vec<String>) {
    let mut request = request(model);
    request.settings = ModelSettings {
        effort,
        thinking_budget: budget,
        ..ModelSettings::new(PRESET, model)
    };
    let told = model_at(PRESET, "http://127.0.0.1:1", "k")
        .unwrap()
        .fit(&request.settings)
        .adjustments
        .into_iter()
        .map(|change| format!("{}: {} → {}: {}", change.key, change.asked, change.used, change.reason))
        .collect();
    (sent(request).await.body["additionalModelRequestFields"].take(), told)
}

async fn check(model: &str, effort: Option<Effort>, budget: Option<u64>, expected: Value, told: &[&str]) {
    assert_eq!(
        own(model, effort, budget).await,
        (expected, told.iter().map(ToString::to_string).collect()),
        "{model}"
    );
}

#[tokio::test]
async fn anthropics_models_take_what_they_take_at_anthropic() {
    let budget = json!({
        "thinking": {"type": "enabled", "budget_tokens": 4_000},
        "anthropic_beta": ["interleaved-thinking-2025-05-14"],
    });
    check(CLAUDE, None, Some(4_000), budget, &[]).await;
    let adaptive = json!({
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "high"},
    });
    check(
        "global.anthropic.claude-opus-4-6-v1",
        Some(Effort::High),
        None,
        adaptive,
        &[],
    )
    .await;
    check(CLAUDE, None, None, Value::Null, &[]).await;
}

#[tokio::test]
async fn other_families_have_words_of_their_own() {
    let nova = "us.amazon.nova-2-lite-v1:0";
    check(
        nova,
        Some(Effort::Medium),
        None,
        json!({"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "medium"}}),
        &[],
    )
    .await;
    check(nova, Some(Effort::None), None, Value::Null, &[]).await;
    check(
        "openai.gpt-oss-120b-1:0",
        Some(Effort::None),
        Some(5_000),
        json!({"reasoning_effort": "low"}),
        &[
            "thinking_budget: 5000 → none: effort `none` means no thinking",
            "effort: none → low: the model cannot be told not to think",
        ],
    )
    .await;
    check(
        "meta.llama3-3-70b-instruct-v1:0",
        Some(Effort::High),
        None,
        Value::Null,
        &["effort: high → none: the model cannot be told how much to think"],
    )
    .await;
}

#[tokio::test]
async fn a_budget_leaves_room_under_the_limit_of_the_model_behind() {
    let model = model_at(PRESET, "http://127.0.0.1:1", "k").unwrap();
    let settings = ModelSettings {
        thinking_budget: Some(100_000),
        max_output: Some(100_000),
        ..ModelSettings::new(PRESET, CLAUDE)
    };
    let fitted = model.fit(&settings).settings;
    assert_eq!(fitted.max_output, Some(64_000));
    assert!(fitted.thinking_budget < fitted.max_output);
    assert_eq!(fitted.model, CLAUDE);
}

#[tokio::test]
async fn limits_are_left_out_where_the_strongest_word_refuses_them() {
    let mut request = request("amazon.nova-2-lite-v1:0");
    request.settings.effort = Some(Effort::Max);
    request.settings.max_output = Some(4_000);
    request.settings.temperature = Some(0.2);
    let model = model_at(PRESET, "http://127.0.0.1:1", "k").unwrap();
    let told = model.fit(&request.settings).adjustments;
    let keys = told.iter().map(|change| change.key.as_str()).collect::<Vec<_>>();
    assert_eq!(keys, ["effort", "max_output", "temperature"]);
    assert_eq!(sent(request).await.body.get("inferenceConfig"), None);
}
