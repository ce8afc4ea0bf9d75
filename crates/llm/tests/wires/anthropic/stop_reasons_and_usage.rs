//! Why an answer ended, in every word of the protocol, and what it cost.

use serde_json::json;
use stance_llm::{StopReason, Usage};

use super::fixture::{answer, begin, ending, hello, stop};

#[tokio::test]
async fn every_stop_reason() {
    for (word, expected) in [
        ("end_turn", StopReason::EndTurn),
        ("stop_sequence", StopReason::EndTurn),
        ("tool_use", StopReason::ToolUse),
        ("max_tokens", StopReason::MaxTokens),
        ("refusal", StopReason::Refusal),
        ("model_context_window_exceeded", StopReason::ContextExceeded),
        ("pause_turn", StopReason::Pause),
        ("a_new_reason", StopReason::Other("a_new_reason".into())),
    ] {
        let answer = answer(&[begin(), ending(word), stop()]).await;
        assert_eq!(answer.stop, expected);
        assert!(answer.blocks.is_empty());
    }
}

#[tokio::test]
async fn usage_counts_are_cumulative_and_a_missing_one_changes_nothing() {
    let answer = answer(&hello()).await;
    assert_eq!(
        answer.usage,
        Usage {
            input: 25,
            output: 42,
            cache_read: 4000,
            cache_write: 300,
        }
    );
    assert_eq!(answer.usage.total(), 4367);
}

#[tokio::test]
async fn a_later_count_of_input_replaces_the_first() {
    let mut last = ending("end_turn");
    last["usage"] = json!({"output_tokens": 9, "input_tokens": 30, "cache_read_input_tokens": null,
                           "server_tool_use": {"web_search_requests": 1}});
    let answer = answer(&[begin(), last, stop()]).await;
    assert_eq!(
        answer.usage,
        Usage {
            input: 30,
            output: 9,
            cache_read: 4000,
            cache_write: 300,
        }
    );
}

#[tokio::test]
async fn the_model_that_answered_is_the_one_the_answer_names() {
    let answer = answer(&hello()).await;
    assert_eq!(answer.actual_model, "claude-sonnet-4-5-20250929");
    assert_eq!(answer.cursor, None);
}
