//! Why an answer ended, what it cost by kind, and who answered.

use serde_json::json;
use stance_llm::{ErrorKind, StopReason, Usage};

use super::fixture::{answer, begin, close, counted, ended, event, failure, text};

#[tokio::test]
async fn every_reason_has_its_kind() {
    let check = async |word: &str, expected: StopReason| {
        let answer = answer(&[begin(), text(0, "So"), close(0), ended(word), counted()]).await;
        assert_eq!(answer.stop, expected, "{word}");
    };
    check("end_turn", StopReason::EndTurn).await;
    check("stop_sequence", StopReason::EndTurn).await;
    check("tool_use", StopReason::ToolUse).await;
    check("max_tokens", StopReason::MaxTokens).await;
    check("guardrail_intervened", StopReason::Refusal).await;
    check("content_filtered", StopReason::Refusal).await;
    check("model_context_window_exceeded", StopReason::ContextExceeded).await;
    check("a_word_of_the_future", StopReason::Other("a_word_of_the_future".into())).await;
}

#[tokio::test]
async fn a_call_the_service_cannot_read_is_asked_for_again() {
    for word in ["malformed_tool_use", "malformed_model_output"] {
        let error = failure(&[begin(), text(0, "So"), close(0), ended(word), counted()]).await;
        assert_eq!(error.kind, ErrorKind::Server);
        assert_eq!(
            error.message,
            format!("{word}: the model wrote what the service cannot read")
        );
        assert_eq!(error.partial.blocks.len(), 1);
    }
}

#[tokio::test]
async fn reads_and_writes_of_the_cache_are_apart() {
    let answer = answer(&[begin(), text(0, "x"), close(0), ended("end_turn"), counted()]).await;
    assert_eq!(
        answer.usage,
        Usage {
            input: 25,
            output: 42,
            cache_read: 4_000,
            cache_write: 300,
        }
    );
    assert_eq!(answer.actual_model, "some-model");
}

#[tokio::test]
async fn a_router_says_which_model_it_chose() {
    let routed = event(
        "metadata",
        json!({
            "usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3},
            "trace": {"promptRouter": {"invokedModelId": "arn:aws:bedrock:x:y:inference-profile/z"}},
        }),
    );
    let answer = answer(&[begin(), ended("end_turn"), routed]).await;
    assert_eq!(answer.actual_model, "arn:aws:bedrock:x:y:inference-profile/z");
    assert_eq!(answer.usage.cache_read, 0);
}
