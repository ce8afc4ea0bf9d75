//! Each family of models wants thinking asked for in its own way and refuses the others'. What is
//! changed to fit is told.

use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use serde_json::{Value, json};
use stance_llm::{Effort, Model, ModelSettings};

use super::fixture::{PRESET, model_at, request, sent};

fn settings(model: &str, effort: Option<Effort>, budget: Option<u64>, output: Option<u64>) -> ModelSettings {
    ModelSettings {
        effort,
        thinking_budget: budget,
        max_output: output,
        ..ModelSettings::new("anthropic", model)
    }
}

async fn body(settings: ModelSettings) -> Value {
    let mut request = request("");
    request.settings = settings;
    sent(request).await.body
}

static WIRE: LazyLock<Arc<dyn Model>> = LazyLock::new(|| model_at(PRESET, "http://localhost", "k").unwrap());

fn told(settings: &ModelSettings) -> Vec<String> {
    let fitted = WIRE.fit(settings);
    fitted
        .adjustments
        .iter()
        .map(|change| format!("{}: {} → {} ({})", change.key, change.asked, change.used, change.reason))
        .collect()
}

#[tokio::test]
async fn a_budget_model_gets_the_budget_and_may_think_between_calls() {
    let mut request = request("");
    request.settings = settings("claude-sonnet-4-5", None, Some(5_000), Some(8_000));
    let seen = sent(request).await;
    assert_eq!(
        seen.body["thinking"],
        json!({"type": "enabled", "budget_tokens": 5_000})
    );
    assert_eq!(seen.body["max_tokens"], 8_000);
    assert_eq!(seen.body.get("output_config"), None);
    assert_eq!(seen.headers["anthropic-beta"], "interleaved-thinking-2025-05-14");
}

#[tokio::test]
async fn a_budget_equal_to_the_output_is_too_much() {
    let asked = settings("claude-sonnet-4-5", None, Some(8_000), Some(8_000));
    assert_eq!(
        told(&asked),
        ["thinking_budget: 8000 → 6400 (thinking must leave room for the answer)"]
    );
    let body = body(asked).await;
    assert_eq!(body["thinking"]["budget_tokens"], 6_400);
    assert_eq!(body["max_tokens"], 8_000);
    assert!(told(&settings("claude-sonnet-4-5", None, Some(7_999), Some(8_000))).is_empty());
}

#[tokio::test]
async fn effort_words_become_budgets_where_only_budgets_are_known() {
    for (effort, budget) in [
        (Effort::Minimal, 1_024),
        (Effort::Low, 4_096),
        (Effort::Medium, 10_000),
        (Effort::High, 20_000),
        (Effort::XHigh, 32_000),
        (Effort::Max, 48_000),
    ] {
        let asked = settings("some-other-model", Some(effort), None, None);
        assert!(told(&asked).is_empty());
        let body = body(asked).await;
        assert_eq!(body["thinking"]["budget_tokens"], budget);
        assert_eq!(body["max_tokens"], budget + 16_000);
    }
    // A budget is stronger than a word.
    let body = body(settings("some-other-model", Some(Effort::Max), Some(2_000), None)).await;
    assert_eq!(body["thinking"]["budget_tokens"], 2_000);
}

#[tokio::test]
async fn none_means_none() {
    let asked = settings("claude-sonnet-4-5", Some(Effort::None), Some(5_000), None);
    assert_eq!(
        told(&asked),
        ["thinking_budget: 5000 → none (effort `none` means no thinking)"]
    );
    let sent = body(asked).await;
    assert_eq!(sent["thinking"], json!({"type": "disabled"}));
    assert_eq!(sent["max_tokens"], 16_000);
    let sent = body(settings("claude-opus-4-7", Some(Effort::None), None, None)).await;
    assert_eq!(sent["thinking"], json!({"type": "disabled"}));
    assert_eq!(sent.get("output_config"), None);
}

#[tokio::test]
async fn nothing_said_is_nothing_sent() {
    for model in ["claude-sonnet-4-5", "claude-opus-4-7", "some-other-model"] {
        let body = body(ModelSettings::new("anthropic", model)).await;
        assert_eq!(body.get("thinking"), None, "{model}");
        assert_eq!(body.get("output_config"), None, "{model}");
        assert_eq!(body["max_tokens"], 16_000, "{model}");
    }
}

#[tokio::test]
async fn a_model_that_decides_itself_gets_the_word() {
    let asked = ModelSettings {
        temperature: Some(0.2),
        ..settings("claude-opus-4-7", Some(Effort::XHigh), Some(9_000), None)
    };
    assert_eq!(
        told(&asked),
        [
            "thinking_budget: 9000 → none (the model takes no thinking budget)",
            "temperature: 0.2 → none (the model takes no temperature)",
        ]
    );
    let sent = body(asked).await;
    assert_eq!(sent["thinking"], json!({"type": "adaptive", "display": "summarized"}));
    assert_eq!(sent["output_config"], json!({"effort": "xhigh"}));
    assert_eq!(sent.get("temperature"), None);

    // Names not known yet are taken for newer models.
    let sent = body(settings("claude-next-9", Some(Effort::Max), None, None)).await;
    assert_eq!(sent["output_config"], json!({"effort": "max"}));
}

#[tokio::test]
async fn a_word_the_model_does_not_know_becomes_the_next_weaker() {
    let asked = settings("claude-sonnet-4-6", Some(Effort::Max), None, None);
    assert_eq!(told(&asked), ["effort: max → high (the model does not know the word)"]);
    assert_eq!(body(asked).await["output_config"], json!({"effort": "high"}));
    assert_eq!(
        told(&settings("claude-opus-4-6", Some(Effort::Minimal), None, None)),
        ["effort: minimal → low (the model does not know the word)"]
    );
}

#[tokio::test]
async fn a_model_that_takes_both_gets_the_budget_when_there_is_one() {
    let sent = body(settings("claude-opus-4-6", Some(Effort::High), Some(5_000), None)).await;
    assert_eq!(sent["thinking"], json!({"type": "enabled", "budget_tokens": 5_000}));
    assert_eq!(sent["output_config"], json!({"effort": "high"}));
}

#[test]
fn what_a_model_cannot_do_is_told() {
    assert_eq!(
        told(&settings(
            "claude-3-5-haiku-20241022",
            Some(Effort::High),
            Some(2_000),
            Some(9_000)
        )),
        [
            "max_output: 9000 → 8192 (the model writes no more)",
            "thinking_budget: 2000 → none (the model takes no thinking budget)",
            "effort: high → none (the model does not think)",
        ]
    );
    assert_eq!(
        told(&settings("claude-sonnet-4-5", None, Some(1_000), None)),
        ["thinking_budget: 1000 → none (a budget below 1024 tokens is not accepted)"]
    );
    assert_eq!(
        told(&ModelSettings {
            temperature: Some(0.7),
            ..settings("claude-sonnet-4-5", Some(Effort::Low), None, None)
        }),
        ["temperature: 0.7 → none (a thinking model takes no temperature)"]
    );
    assert_eq!(
        told(&settings("claude-mythos-preview", Some(Effort::None), None, None)),
        ["effort: none → low (the model cannot be told not to think)"]
    );
}

proptest! {
    /// Whatever is asked, what is sent obeys the protocol, and fitting it again changes nothing.
    #[test]
    fn fitted_settings_are_always_acceptable(
        model in prop::sample::select(vec![
            "claude-3-5-haiku-20241022", "claude-3-7-sonnet-latest", "claude-sonnet-4-5",
            "claude-opus-4-6", "claude-opus-4-7", "claude-mythos-preview", "claude-next", "other",
        ]),
        effort in prop::option::of(prop::sample::select(Effort::ALL.to_vec())),
        budget in prop::option::of(prop_oneof![0_u64..200_000, Just(u64::MAX)]),
        output in prop::option::of(prop_oneof![0_u64..200_000, Just(u64::MAX)]),
        temperature in prop::option::of(0.0..1.0),
    ) {
        let asked = ModelSettings { temperature, ..settings(model, effort, budget, output) };
        let fitted = WIRE.fit(&asked);
        let sent = &fitted.settings;
        if let Some(budget) = sent.thinking_budget {
            prop_assert!(budget < sent.max_output.unwrap());
            prop_assert!(budget >= 1_024);
            prop_assert_ne!(sent.effort, Some(Effort::None));
            prop_assert_eq!(sent.temperature, None);
        }
        if let (Some(asked), Some(sent)) = (output, sent.max_output) {
            prop_assert!(sent <= asked);
        }
        let again = WIRE.fit(sent);
        prop_assert_eq!(&again.settings, sent);
        prop_assert_eq!(again.adjustments, []);
    }
}
