//! Why a response ended and what it cost.

use serde_json::json;
use stance_llm::{Block, ErrorKind, StopReason, Usage};

use super::fixture::{added, answer, completed, created, done, failure, message, said, whole};

#[tokio::test]
async fn tokens_from_a_cache_are_counted_apart() {
    let answer = answer(&whole()).await;
    assert_eq!(
        answer.usage,
        Usage {
            input: 104,
            output: 42,
            cache_read: 896,
            cache_write: 0
        }
    );
    assert_eq!(answer.actual_model, "gpt-5-2025-08-07");
    assert_eq!(answer.stop, StopReason::ToolUse);
}

#[tokio::test]
async fn incomplete_answers_say_why() {
    let check = async |reason: &str, expected| {
        let mut end = completed();
        end["type"] = json!("response.incomplete");
        end["response"]["incomplete_details"] = json!({"reason": reason});
        let cut = answer(&[created(), added(0, message("")), said(0, "half"), end]).await;
        assert_eq!(cut.stop, expected);
        assert_eq!(cut.blocks, [Block::Text("half".into())]);
    };
    check("max_output_tokens", StopReason::MaxTokens).await;
    check("content_filter", StopReason::Refusal).await;
    check("a_word_of_the_future", StopReason::Other("a_word_of_the_future".into())).await;
}

#[tokio::test]
async fn a_refusal_is_said_and_counts() {
    let refusal = json!({"type": "message", "content": [{"type": "refusal", "refusal": "I will not."}]});
    let piece = json!({"type": "response.refusal.delta", "output_index": 0, "delta": "I will not."});
    for written in [
        vec![
            created(),
            added(0, message("")),
            piece,
            done(0, refusal.clone()),
            completed(),
        ],
        vec![created(), done(0, refusal), completed()],
    ] {
        let answer = answer(&written).await;
        assert_eq!(answer.stop, StopReason::Refusal);
        assert_eq!(answer.blocks, [Block::Text("I will not.".into())]);
    }
}

#[tokio::test]
async fn an_empty_answer_is_one() {
    let answer = answer(&[created(), completed()]).await;
    assert_eq!((answer.blocks, answer.stop), (vec![], StopReason::EndTurn));
}

#[tokio::test]
async fn only_the_last_event_ends_an_answer() {
    let mut cut = whole();
    cut.pop();
    let error = failure(&cut).await;
    assert_eq!(error.kind, ErrorKind::Dropped);
    assert_eq!(error.partial.blocks.len(), 3);
}
