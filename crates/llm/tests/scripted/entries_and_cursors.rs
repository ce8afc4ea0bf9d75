//! Which entry of a script answers, and what survives between requests.

use serde_json::{Value, json};
use stance_llm::{Block, Request, RequestContext};

use crate::{Conversation, ask, entering, request, scripted};

#[tokio::test]
async fn each_entering_message_takes_the_first_unused_entry_that_fits() {
    let script = json!({"runs": [
        {"match": {"mode": "plan"}, "turns": [{"text": "plan 1"}, {"text": "plan 2"}]},
        {"match": {"mode": "agent", "step": "s2"}, "turns": [{"text": "step 2"}]},
        {"match": {"mode": "agent", "step": "s1"}, "turns": [{"text": "step 1"}]},
        {"match": {"mode": "agent", "agent": "ada"}, "turns": [{"text": "ada"}]},
        {"match": {"mode": "agent"}, "turns": [{"text": "any agent"}, {"text": "and on"}]},
        {"turns": [{"text": "anyone"}]},
    ]});
    let mut conversation = Conversation::new(&script);
    let mut check = async |request: Request, text: &str| {
        assert_eq!(conversation.ask(request).await, text);
    };
    let plan = RequestContext {
        mode: "plan".into(),
        ..RequestContext::default()
    };
    check(entering("1", "plan", None, None), "plan 1").await;
    let going_on = Request {
        context: plan,
        ..request()
    };
    check(going_on.clone(), "plan 2").await;
    check(entering("2", "agent", Some("bob"), Some("s1")), "step 1").await;
    check(entering("3", "agent", Some("ada"), Some("s2")), "step 2").await;
    check(entering("4", "agent", Some("ada"), Some("s2")), "ada").await;
    check(entering("5", "agent", None, None), "any agent").await;
    // Nothing fits a review but the entry for anyone; then nothing is left and it goes on.
    check(entering("6", "review", None, None), "anyone").await;
    check(entering("7", "review", None, None), "").await;
}

#[tokio::test]
async fn when_nothing_fits_the_current_entry_goes_on() {
    let script = json!({"runs": [
        {"match": {"mode": "plan"}, "turns": [{"text": "one"}, {"text": "two"}]},
    ]});
    let mut conversation = Conversation::new(&script);
    assert_eq!(conversation.ask(entering("1", "plan", None, None)).await, "one");
    assert_eq!(conversation.ask(entering("2", "agent", None, None)).await, "two");

    let mut conversation = Conversation::new(&script);
    assert_eq!(
        conversation.ask(entering("1", "agent", Some("ada"), None)).await,
        "!no entry matches: expected one of [mode `plan`], found mode `agent` agent `ada`"
    );
}

#[tokio::test]
async fn a_file_of_turns_is_one_entry() {
    let script = json!({"turns": [{"text": "one"}, {"text": "two"}, {"text": "three"}]});
    let mut conversation = Conversation::new(&script);
    assert_eq!(conversation.ask(entering("1", "plan", None, None)).await, "one");
    assert_eq!(conversation.ask(entering("2", "agent", None, None)).await, "two");
    assert_eq!(conversation.ask(request()).await, "three");
}

#[tokio::test]
async fn an_error_consumes_its_turn_and_its_retry_takes_no_other_entry() {
    let script = json!({"runs": [
        {"turns": [{"error": {"status": 529}}, {"text": "after all"}]},
        {"turns": [{"text": "another run"}]},
    ]});
    let mut conversation = Conversation::new(&script);
    let first = entering("1", "agent", None, None);
    assert_eq!(
        conversation.ask(first.clone()).await,
        "!the script answers with status 529"
    );
    assert_eq!(conversation.ask(first).await, "after all");
    assert_eq!(
        conversation.ask(entering("2", "agent", None, None)).await,
        "another run"
    );
}

#[tokio::test]
async fn a_cursor_of_another_file_or_of_nothing_starts_fresh() {
    let script = json!({"turns": [{"text": "one"}, {"text": "two"}]});
    let other = json!({"turns": [{"text": "uno"}, {"text": "due"}]});
    let cursor = ask(&scripted(&script), request()).await.unwrap().cursor;
    let after = async |script: &Value, cursor: Option<String>| {
        let request = Request { cursor, ..request() };
        ask(&scripted(script), request).await.unwrap().blocks
    };
    assert_eq!(after(&script, cursor.clone()).await, [Block::Text("two".into())]);
    assert_eq!(after(&other, cursor).await, [Block::Text("uno".into())]);
    let nonsense = Some("{\"not\": \"ours\"".into());
    assert_eq!(after(&script, nonsense).await, [Block::Text("one".into())]);
}
