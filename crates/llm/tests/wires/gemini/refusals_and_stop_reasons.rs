//! Why an answer ended: refusals of the answer and of the question, and calls the provider itself
//! could not read.

use serde_json::json;
use stance_llm::{Block, ErrorKind, StopReason};

use super::fixture::{answer, chunk, ended, failure, said};

#[tokio::test]
async fn every_reason_has_its_kind() {
    let check = async |word: &str, expected: StopReason| {
        let answer = answer(&[said("So"), ended(word)]).await;
        assert_eq!(answer.stop, expected, "{word}");
        assert_eq!(answer.blocks, [Block::Text("So".into())]);
    };
    check("STOP", StopReason::EndTurn).await;
    check("MAX_TOKENS", StopReason::MaxTokens).await;
    for refused in [
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "MODEL_ARMOR",
    ] {
        check(refused, StopReason::Refusal).await;
    }
    check("LANGUAGE", StopReason::Other("LANGUAGE".into())).await;
    check("A_WORD_OF_THE_FUTURE", StopReason::Other("A_WORD_OF_THE_FUTURE".into())).await;
}

#[tokio::test]
async fn a_cut_answer_with_a_call_was_still_cut() {
    let written = [
        chunk(json!([{"functionCall": {"name": "read_file", "args": {}}}])),
        ended("MAX_TOKENS"),
    ];
    assert_eq!(answer(&written).await.stop, StopReason::MaxTokens);
}

#[tokio::test]
async fn a_blocked_question_is_a_refusal_without_an_answer() {
    let answer = answer(&[json!({
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
        "usageMetadata": {"promptTokenCount": 9},
        "modelVersion": "gemini-2.5-flash-001",
    })])
    .await;
    assert_eq!(answer.stop, StopReason::Refusal);
    assert_eq!(answer.blocks, []);
    assert_eq!(answer.usage.input, 9);
}

#[tokio::test]
async fn a_call_the_provider_cannot_read_is_asked_for_again() {
    let broken = json!({"candidates": [{
        "content": {}, "finishReason": "MALFORMED_FUNCTION_CALL",
        "finishMessage": "Malformed function call: print(x)",
    }]});
    let error = failure(&[said("Let me see."), broken]).await;
    assert_eq!(error.kind, ErrorKind::Server);
    assert!(error.kind.retryable());
    assert_eq!(
        error.message,
        "MALFORMED_FUNCTION_CALL: Malformed function call: print(x)"
    );
    assert_eq!(error.partial.blocks, [Block::Text("Let me see.".into())]);

    let error = failure(&[ended("UNEXPECTED_TOOL_CALL")]).await;
    assert_eq!(
        error.message,
        "UNEXPECTED_TOOL_CALL: the model wrote a tool call that cannot be read"
    );
}
