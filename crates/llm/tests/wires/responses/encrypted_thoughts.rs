//! Nothing is kept at the provider: thoughts come encrypted and go back in their places, and those
//! that cannot go back are forgotten.

use serde_json::{Value, json};
use stance_llm::{Block, Message, Part};

use super::fixture::{
    PRESET, Reply, Server, added, answer, called, completed, created, done, events, function_call, message, native,
    parts, request, sent, thought, whole, whole_blocks,
};

async fn input(blocks: Vec<Block>) -> Vec<Value> {
    let mut asked = request("gpt-5");
    asked.messages.push(Message::assistant(blocks));
    let mut body = sent(asked).await.body;
    let items = body["input"].as_array_mut().unwrap();
    items.remove(0);
    std::mem::take(items)
}

#[tokio::test]
async fn thoughts_go_back_in_their_places() {
    let mut first = answer(&whole()).await.blocks;
    first.extend(whole_blocks());
    let sent = input(first).await;
    let kinds: Vec<&str> = sent.iter().map(|item| item["type"].as_str().unwrap()).collect();
    let turn = ["reasoning", "message", "function_call"];
    assert_eq!(kinds, [&turn[..], &turn[..], &["function_call_output"; 2][..]].concat());
    assert_eq!(sent[0], thought());
    assert_eq!(
        sent[2],
        json!({"type": "function_call", "call_id": "call_1", "name": "read_file", "arguments": "{\"path\":\"a\"}"})
    );
}

#[tokio::test]
async fn summaries_are_shown_part_by_part() {
    let summary = |delta: &str| json!({"type": "response.reasoning_summary_text.delta", "delta": delta});
    let ended = json!({"type": "response.reasoning_summary_part.done"});
    let written = [
        created(),
        summary("One."),
        ended.clone(),
        summary("Two."),
        ended,
        done(0, thought()),
        completed(),
    ];
    let server = Server::start([Reply::stream(&events(&written))]).await;
    let shown = parts(server.model(PRESET).as_ref(), request("m"))
        .await
        .into_iter()
        .filter_map(|part| match part {
            Ok(Part::Thinking(text)) => Some(text),
            _ => None,
        });
    assert_eq!(shown.collect::<String>(), "One.\n\nTwo.\n\n");
}

#[tokio::test]
async fn fields_the_protocol_does_not_take_back_are_left_out() {
    let mut item = thought();
    item["status"] = Value::Null;
    item["content"] = Value::Null;
    let answer = answer(&[created(), added(0, item.clone()), done(0, item), completed()]).await;
    assert_eq!(answer.blocks, [native(thought())]);
}

#[tokio::test]
async fn a_thought_that_would_be_looked_up_is_forgotten() {
    let item = json!({"type": "reasoning", "id": "rs_1", "summary": []});
    let answer = answer(&[created(), done(0, item), done(1, message("x")), completed()]).await;
    assert_eq!(answer.blocks, [Block::Text("x".into())]);
}

#[tokio::test]
async fn an_open_thought_goes_back_as_it_was() {
    let item = json!({"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]});
    let answer = answer(&[created(), done(0, item.clone()), done(1, message("x")), completed()]).await;
    assert_eq!(answer.blocks[0], native(item));
}

#[tokio::test]
async fn a_thought_without_what_followed_it_is_not_sent() {
    assert_eq!(
        input(vec![native(thought()), native(thought())]).await,
        Vec::<Value>::new()
    );
    let sent = input(vec![Block::Text("x".into()), native(thought())]).await;
    assert_eq!(sent.len(), 1);
}

#[tokio::test]
async fn items_of_the_future_are_kept_and_go_back() {
    let item = json!({"type": "a_tool_of_theirs", "id": "t_1", "result": [1, 2]});
    let answer = answer(&[
        created(),
        added(0, item.clone()),
        done(0, item.clone()),
        done(1, function_call("c", "read", "{}")),
        completed(),
    ])
    .await;
    assert_eq!(answer.blocks, [native(item.clone()), called("c", "read", "{}")]);
    assert_eq!(input(answer.blocks).await[0], item);
}
