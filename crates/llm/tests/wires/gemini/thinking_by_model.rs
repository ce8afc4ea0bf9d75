//! How a model is told to think: a budget or a word by its family, within its bounds, and a word to
//! the person for every change.

use serde_json::{Value, json};
use stance_llm::{Effort, ModelSettings};

use super::fixture::{PRESET, model_at, request, sent};

/// What is sent under `thinkingConfig`, and the changes a person is told of.
async fn thinking(model: &str, effort: Option<Effort>, budget: Option<u64>) -> (Value, Vec<String>) {
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
    (
        sent(request).await.body["generationConfig"]["thinkingConfig"].take(),
        told,
    )
}

async fn check(model: &str, effort: Option<Effort>, budget: Option<u64>, expected: Value, told: &[&str]) {
    assert_eq!(
        thinking(model, effort, budget).await,
        (expected, told.iter().map(ToString::to_string).collect()),
        "{model} {effort:?} {budget:?}"
    );
}

#[tokio::test]
async fn budgets_of_the_models_that_take_one() {
    let budget = |budget: u64| json!({"thinkingBudget": budget, "includeThoughts": true});
    let flash = "gemini-2.5-flash";
    check(flash, None, None, json!({"includeThoughts": true}), &[]).await;
    check(flash, Some(Effort::Low), None, budget(4_096), &[]).await;
    check(flash, None, Some(9_000), budget(9_000), &[]).await;
    check(flash, Some(Effort::None), None, json!({"thinkingBudget": 0}), &[]).await;
    check(
        flash,
        Some(Effort::Max),
        None,
        budget(24_576),
        &["thinking_budget: 48000 → 24576: the model takes no other budget"],
    )
    .await;
    check(
        "gemini-2.5-flash-lite-preview",
        None,
        Some(100),
        budget(512),
        &["thinking_budget: 100 → 512: the model takes no other budget"],
    )
    .await;
    check(
        "models/gemini-2.5-pro",
        Some(Effort::None),
        None,
        budget(128),
        &["effort: none → minimal: the model cannot be told not to think"],
    )
    .await;
}

#[tokio::test]
async fn words_of_the_models_that_take_one() {
    let level = |word: &str| json!({"thinkingLevel": word, "includeThoughts": true});
    check("gemini-3-pro-preview", Some(Effort::High), None, level("high"), &[]).await;
    check(
        "gemini-3-pro-preview",
        Some(Effort::Medium),
        None,
        level("low"),
        &["effort: medium → low: the model does not know the word"],
    )
    .await;
    check(
        "gemini-3.1-pro-preview",
        Some(Effort::Medium),
        None,
        level("medium"),
        &[],
    )
    .await;
    check(
        "gemini-3-flash-preview",
        Some(Effort::Minimal),
        None,
        level("minimal"),
        &[],
    )
    .await;
    check(
        "gemini-3-flash-preview",
        Some(Effort::None),
        None,
        level("minimal"),
        &["effort: none → minimal: the model cannot be told not to think"],
    )
    .await;
    check(
        "gemini-9-of-the-future",
        None,
        Some(5_000),
        json!({"includeThoughts": true}),
        &["thinking_budget: 5000 → none: the model takes no thinking budget"],
    )
    .await;
}

#[tokio::test]
async fn models_that_do_not_think_are_told_nothing() {
    check(
        "gemini-2.0-flash",
        Some(Effort::High),
        Some(2_000),
        Value::Null,
        &[
            "thinking_budget: 2000 → none: the model does not think",
            "effort: high → none: the model does not think",
        ],
    )
    .await;
    check("gemma-3-27b-it", Some(Effort::None), None, Value::Null, &[]).await;
}

#[tokio::test]
async fn thinking_leaves_room_for_the_answer() {
    let settings = ModelSettings {
        thinking_budget: Some(8_000),
        max_output: Some(8_000),
        ..ModelSettings::new(PRESET, "gemini-2.5-pro")
    };
    let model = model_at(PRESET, "http://127.0.0.1:1", "k").unwrap();
    let fitted = model.fit(&settings);
    assert_eq!(fitted.settings.thinking_budget, Some(6_400));
    assert_eq!(model.fit(&fitted.settings).adjustments, []);
}
