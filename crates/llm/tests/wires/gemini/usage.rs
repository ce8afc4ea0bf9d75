//! Tokens by kind: the protocol counts what came from a cache as part of the prompt, and thoughts
//! apart from the answer.

use serde_json::json;
use stance_llm::Usage;

use super::fixture::{answer, ended, said};

#[tokio::test]
async fn kinds_do_not_overlap_and_the_last_count_holds() {
    let mut last = ended("STOP");
    last["usageMetadata"] = json!({
        "promptTokenCount": 1_000, "cachedContentTokenCount": 700, "toolUsePromptTokenCount": 20,
        "candidatesTokenCount": 50, "thoughtsTokenCount": 400, "totalTokenCount": 1_470,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 1_000}],
    });
    let answer = answer(&[said("x"), last]).await;
    assert_eq!(
        answer.usage,
        Usage {
            input: 320,
            output: 450,
            cache_read: 700,
            cache_write: 0,
        }
    );
    assert_eq!(answer.usage.total(), 1_470);
    assert_eq!(answer.actual_model, "gemini-2.5-flash-001");
}

#[tokio::test]
async fn a_missing_count_keeps_the_one_before_and_a_missing_name_the_one_asked() {
    let answer = answer(&[
        json!({"usageMetadata": {"promptTokenCount": 8}}),
        json!({"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}]}),
    ])
    .await;
    assert_eq!(answer.usage.input, 8);
    assert_eq!(answer.actual_model, "some-model");
}
