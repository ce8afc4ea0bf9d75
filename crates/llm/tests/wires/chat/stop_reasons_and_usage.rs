//! Why an answer ended and what it cost, in the words of many servers.

use serde_json::{Value, json};
use stance_llm::{Block, ErrorKind, StopReason, Usage};

use super::fixture::{Reply, answer, answer_to, call, delta, events, failure, finish, text, usage};

#[tokio::test]
async fn reasons_by_their_words() {
    let check = async |word: &str, expected| {
        assert_eq!(answer(&[text("x"), finish(word)]).await.stop, expected, "{word}");
    };
    check("stop", StopReason::EndTurn).await;
    check("end_turn", StopReason::EndTurn).await;
    check("length", StopReason::MaxTokens).await;
    check("content_filter", StopReason::Refusal).await;
    check("sensitive", StopReason::Refusal).await;
    check("model_length", StopReason::ContextExceeded).await;
    // It says calls and has none.
    check("tool_calls", StopReason::EndTurn).await;
    check("a_word_of_the_future", StopReason::Other("a_word_of_the_future".into())).await;
}

#[tokio::test]
async fn a_call_counts_even_where_the_reason_is_another() {
    let calls = call(json!({"index": 0, "id": "c", "function": {"name": "read", "arguments": "{}"}}));
    assert_eq!(answer(&[calls.clone(), finish("stop")]).await.stop, StopReason::ToolUse);
    assert_eq!(answer(&[calls, finish("length")]).await.stop, StopReason::MaxTokens);
}

#[tokio::test]
async fn a_refusal_is_said_and_counts() {
    let answer = answer(&[
        delta(json!({"content": null, "refusal": "I will "})),
        delta(json!({"refusal": "not."})),
        finish("stop"),
    ])
    .await;
    assert_eq!(answer.stop, StopReason::Refusal);
    assert_eq!(answer.blocks, [Block::Text("I will not.".into())]);
}

#[tokio::test]
async fn a_provider_that_gives_up_is_a_failure_with_what_had_come() {
    for word in ["error", "insufficient_system_resource", "network_error", "abort"] {
        let error = failure(&[text("half"), finish(word)]).await;
        assert_eq!(error.kind, ErrorKind::Server, "{word}");
        assert!(error.kind.retryable());
        assert_eq!(error.partial.blocks, [Block::Text("half".into())]);
    }
}

#[tokio::test]
async fn an_empty_answer_is_one() {
    let answer = answer(&[finish("stop")]).await;
    assert_eq!((answer.blocks, answer.stop), (vec![], StopReason::EndTurn));
}

#[tokio::test]
async fn an_end_without_a_reason_is_no_end() {
    let error = failure(&[text("half")]).await;
    assert_eq!(error.kind, ErrorKind::Dropped);
    assert_eq!(error.partial.blocks, [Block::Text("half".into())]);
}

#[tokio::test]
async fn the_last_event_may_be_missing() {
    let written = events(&[text("x"), finish("stop"), usage()]).replace("data: [DONE]\n\n", "");
    let answer = answer_to(Reply::stream(&written)).await.unwrap();
    assert_eq!(answer.usage.output, 42);
}

async fn counted(count: Value) -> Usage {
    let chunk = json!({"choices": [], "usage": count});
    answer(&[text("x"), finish("stop"), chunk]).await.usage
}

#[tokio::test]
async fn caches_are_counted_apart_wherever_they_are_told() {
    let usage = |input, output, cache_read, cache_write| Usage {
        input,
        output,
        cache_read,
        cache_write,
    };
    let openai =
        json!({"prompt_tokens": 1000, "completion_tokens": 42, "prompt_tokens_details": {"cached_tokens": 896}});
    assert_eq!(counted(openai).await, usage(104, 42, 896, 0));
    let openrouter = json!({"prompt_tokens": 1000, "completion_tokens": 42,
        "prompt_tokens_details": {"cached_tokens": 500, "cache_write_tokens": 300}});
    assert_eq!(counted(openrouter).await, usage(200, 42, 500, 300));
    let deepseek = json!({"prompt_tokens": 100, "completion_tokens": 5,
        "prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36});
    assert_eq!(counted(deepseek).await, usage(36, 5, 64, 0));
    let moonshot = json!({"prompt_tokens": 100, "completion_tokens": 5, "cached_tokens": 70});
    assert_eq!(counted(moonshot).await, usage(30, 5, 70, 0));
    // Thinking stands in the total alone.
    let xai = json!({"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 165,
        "completion_tokens_details": {"reasoning_tokens": 60}});
    assert_eq!(counted(xai).await, usage(100, 65, 0, 0));
    // A cache larger than the prompt is no sum to subtract.
    let odd = json!({"prompt_tokens": 10, "completion_tokens": 1, "cached_tokens": 70});
    assert_eq!(counted(odd).await, usage(0, 1, 10, 0));
}

#[tokio::test]
async fn usage_stands_in_other_places_and_the_last_counts() {
    let groq = json!({"choices": [], "x_groq": {"usage": {"prompt_tokens": 7, "completion_tokens": 3}}});
    assert_eq!(answer(&[finish("stop"), groq]).await.usage.input, 7);
    let in_choice = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop",
        "usage": {"prompt_tokens": 8, "completion_tokens": 3}}]});
    assert_eq!(answer(&[text("x"), in_choice]).await.usage.input, 8);
    let mut early = text("x");
    early["usage"] = json!({"prompt_tokens": 8, "completion_tokens": 1});
    assert_eq!(
        answer(&[early.clone(), text("y"), finish("stop"), usage()])
            .await
            .usage
            .output,
        42
    );
    assert_eq!(answer(&[early, finish("stop")]).await.usage.output, 1);
}

#[tokio::test]
async fn the_model_that_answers_is_told_and_else_the_one_asked() {
    assert_eq!(
        answer(&[text("x"), finish("stop")]).await.actual_model,
        "gpt-5-2025-08-07"
    );
    let nameless = json!({"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]});
    assert_eq!(answer(&[nameless]).await.actual_model, "some-model");
}
