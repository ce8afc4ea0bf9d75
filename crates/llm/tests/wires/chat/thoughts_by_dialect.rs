//! Thinking is no part of the protocol: every server asks for it, writes it and wants it back in its
//! own way.

use serde_json::{Value, json};
use stance_llm::{Block, Effort, Message, Part};

use super::fixture::{Reply, Server, called, delta, events, finish, parts, request, sent_to, text};

/// What `preset` makes of these deltas: what was shown as thinking, and the blocks.
async fn thought(preset: &str, deltas: &[Value]) -> (String, Vec<Block>) {
    let mut chunks = deltas.to_vec();
    chunks.extend([text("Done."), finish("stop")]);
    let server = Server::start([Reply::stream(&events(&chunks))]).await;
    let mut shown = String::new();
    for part in parts(server.model(preset).as_ref(), request("m")).await {
        match part.unwrap() {
            Part::Thinking(more) => shown.push_str(&more),
            Part::Done(answer) => return (shown, answer.blocks),
            _ => {}
        }
    }
    panic!("no end");
}

/// The model's message as it goes back to `preset`.
async fn back(preset: &str, mut blocks: Vec<Block>) -> Value {
    blocks.push(called("a", "read", "{}"));
    let mut asked = request("m");
    asked.messages.push(Message::assistant(blocks));
    sent_to(preset, asked).await.body["messages"][2].take()
}

fn native(provider: &str, value: Value) -> Block {
    Block::Native {
        provider: provider.into(),
        value,
    }
}

#[tokio::test]
async fn deepseek_wants_its_thought_with_every_call() {
    let pieces = [
        delta(json!({"content": null, "reasoning_content": "Let me "})),
        delta(json!({"reasoning_content": "see."})),
    ];
    let (shown, blocks) = thought("deepseek", &pieces).await;
    assert_eq!(shown, "Let me see.");
    assert_eq!(
        blocks,
        [
            native("deepseek", json!({"reasoning_content": "Let me see."})),
            Block::Text("Done.".into())
        ]
    );
    assert_eq!(
        back("deepseek", blocks.clone()).await["reasoning_content"],
        "Let me see."
    );
    // A call another provider made has none, and an empty one counts as missing.
    assert_eq!(back("deepseek", vec![]).await["reasoning_content"], " ");
    assert_eq!(back("moonshot", blocks).await["reasoning_content"], " ");
}

#[tokio::test]
async fn details_go_back_whole_and_in_order() {
    let detail = |value: Value| delta(json!({"reasoning_details": [value]}));
    let (shown, blocks) = thought(
        "openrouter",
        &[
            delta(json!({"reasoning": "Let me ", "reasoning_details": [
                {"type": "reasoning.text", "text": "Let me ", "index": 0, "format": "anthropic-claude-v1"}]})),
            delta(json!({"reasoning": "see.", "reasoning_details": [
                {"type": "reasoning.text", "text": "see.", "index": 0}]})),
            detail(json!({"type": "reasoning.text", "signature": "c2ln", "index": 0})),
            detail(json!({"type": "reasoning.encrypted", "data": "QUJD", "index": 1, "id": "rs_1"})),
        ],
    )
    .await;
    assert_eq!(shown, "Let me see.");
    let details = json!([
        {"type": "reasoning.text", "text": "Let me see.", "index": 0, "format": "anthropic-claude-v1", "signature": "c2ln"},
        {"type": "reasoning.encrypted", "data": "QUJD", "index": 1, "id": "rs_1"},
    ]);
    let back = back("openrouter", blocks).await;
    assert_eq!(back["reasoning_details"], details);
    assert_eq!(back["reasoning"], "Let me see.");
}

#[tokio::test]
async fn thoughts_as_parts_of_the_content() {
    let thinking =
        |text: &str| delta(json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]}));
    let (shown, blocks) = thought(
        "mistral",
        &[
            thinking("Let me "),
            thinking("see."),
            delta(json!({"content": [{"type": "text", "text": "Well. "}]})),
        ],
    )
    .await;
    assert_eq!(shown, "Let me see.");
    assert_eq!(blocks[1], Block::Text("Well. Done.".into()));
    assert_eq!(
        back("mistral", blocks).await["content"],
        json!([
            {"type": "thinking", "thinking": [{"type": "text", "text": "Let me "}, {"type": "text", "text": "see."}]},
            {"type": "text", "text": "Well. Done."},
        ])
    );
}

#[tokio::test]
async fn one_thought_in_two_fields_is_shown_once() {
    let both = delta(json!({"reasoning": "Hm.", "reasoning_content": "Hm."}));
    assert_eq!(thought("vllm", &[both]).await.0, "Hm.");
}

#[tokio::test]
async fn where_thoughts_are_not_taken_back_they_are_dropped() {
    let (shown, blocks) = thought("groq", &[delta(json!({"reasoning": "Hm."}))]).await;
    assert_eq!(shown, "Hm.");
    assert_eq!(blocks.len(), 2);
    let back = back("groq", blocks).await;
    assert_eq!(back.get("reasoning"), None);
    assert_eq!(back["content"], "Done.");
}

#[tokio::test]
async fn a_model_that_does_not_think_is_told_nothing() {
    let server = Server::start([]).await;
    let model = server.model("openai-chat");
    for (effort, told) in [(Effort::None, 0), (Effort::High, 1)] {
        let mut asked = request("gpt-4.1-mini");
        asked.settings.effort = Some(effort);
        let fitted = model.fit(&asked.settings);
        assert_eq!((fitted.settings.effort, fitted.adjustments.len()), (None, told));
        assert_eq!(sent_to("openai-chat", asked).await.body.get("reasoning_effort"), None);
    }
}

#[tokio::test]
async fn how_hard_to_think_in_the_words_of_each() {
    let check = async |preset: &str, effort: Option<Effort>, budget: Option<u64>, expected: Value| {
        let mut asked = request("house-model");
        asked.settings.effort = effort;
        asked.settings.thinking_budget = budget;
        let body = sent_to(preset, asked).await.body;
        let found = [
            "reasoning_effort",
            "reasoning",
            "thinking",
            "enable_thinking",
            "thinking_budget",
            "chat_template_kwargs",
        ]
        .into_iter()
        .filter_map(|key| Some((key.to_owned(), body.get(key)?.clone())));
        assert_eq!(
            Value::Object(found.collect()),
            expected,
            "{preset} {effort:?} {budget:?}"
        );
    };
    let (low, most, none) = (Some(Effort::Low), Some(Effort::Max), Some(Effort::None));
    check("openai-chat", None, None, json!({})).await;
    check("openai-chat", low, None, json!({"reasoning_effort": "low"})).await;
    check("openai-chat", most, Some(4_000), json!({"reasoning_effort": "high"})).await;
    check("openai-chat", none, None, json!({"reasoning_effort": "low"})).await;
    check("openrouter", most, None, json!({"reasoning": {"effort": "high"}})).await;
    check(
        "openrouter",
        low,
        Some(4_000),
        json!({"reasoning": {"max_tokens": 4_000}}),
    )
    .await;
    check("openrouter", none, None, json!({"reasoning": {"enabled": false}})).await;
    check("zai", low, None, json!({"thinking": {"type": "enabled"}})).await;
    check("zai", none, None, json!({"thinking": {"type": "disabled"}})).await;
    check(
        "qwen",
        low,
        Some(2_000),
        json!({"enable_thinking": true, "thinking_budget": 2_000}),
    )
    .await;
    check("qwen", none, Some(2_000), json!({"enable_thinking": false})).await;
    check(
        "vllm",
        low,
        None,
        json!({"chat_template_kwargs": {"enable_thinking": true}}),
    )
    .await;
    check("mistral", low, Some(2_000), json!({})).await;
}
