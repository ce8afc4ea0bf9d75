//! Tools that act through the desk alone.

use serde_json::{Value, json};
use stance_tools::{Said, Then, TodoStatus};

use crate::desk::FakeDesk;
use crate::ground::{Came, Ground};

/// One call of a run in plan mode.
async fn call(desk: FakeDesk, tool: &str, arguments: Value) -> (stance_tools::ToolResult, FakeDesk) {
    let mut ground = Ground::planning();
    ground.desk = desk;
    let came = ground.call(tool, arguments).await;
    (came.result(), std::mem::take(&mut ground.desk))
}

fn taken(said: Said) -> FakeDesk {
    FakeDesk {
        said: Some(said).into(),
        ..FakeDesk::default()
    }
}

#[tokio::test]
async fn a_question_waits_or_says_that_nobody_is_here() {
    let arguments = json!({"question": "Which?", "options": [{"label": "A"}, {"label": "B", "description": "b"}]});
    let (waits, desk) = call(taken(Said::Waits), "ask_user", arguments.clone()).await;
    assert_eq!((waits.then, waits.is_error), (Then::Waits, false));
    let asked = desk.questions.lock().unwrap().clone();
    assert!(asked[0].allow_freeform && !asked[0].multi_select);
    assert_eq!(asked[0].options[1].description, "b");
    let (nobody, _) = call(taken(Said::NobodyHere), "ask_user", arguments).await;
    assert_eq!((nobody.then, nobody.is_error), (Then::GoOn, false));
    assert!(nobody.words().contains("State the assumption"));
    let ground = Ground::planning();
    for (bad, named) in [
        (json!({"question": " "}), "question"),
        (json!({"question": "a", "allow_freeform": false}), "options"),
        (json!({"question": "a", "options": [{"label": ""}]}), "label"),
        (json!({"question": "a", "options": ["A"]}), "options[0]"),
    ] {
        let fault = ground.call("ask_user", bad).await.fault();
        assert!(fault.contains(named) && fault.contains("Example"), "{fault}");
    }
}

#[tokio::test]
async fn a_proposal_waits_or_says_that_nobody_is_here() {
    for tool in ["condense", "new_task"] {
        let arguments = json!({"context": "Goal: rounding. Next: the test."});
        let (waits, desk) = call(taken(Said::Waits), tool, arguments.clone()).await;
        assert_eq!((waits.then, waits.is_error), (Then::Waits, false));
        let heard = desk.heard.lock().unwrap().concat();
        assert!(heard.ends_with("Goal: rounding. Next: the test."), "{heard}");
        let (nobody, _) = call(taken(Said::NobodyHere), tool, arguments).await;
        assert_eq!((nobody.then, nobody.is_error), (Then::GoOn, false));
        assert!(nobody.words().starts_with("Nobody is here"));
        let fault = Ground::planning().call(tool, json!({"context": " "})).await.fault();
        assert!(fault.contains("context") && fault.contains("Example"), "{fault}");
    }
}

#[tokio::test]
async fn a_plan_reply_goes_on_waits_or_ends() {
    let arguments = json!({"response": "two ways", "task_progress": "- [x] look\n- [ ] think"});
    for (said, then, words) in [
        (Said::Shown, Then::GoOn, "Go on"),
        (Said::Waits, Then::Waits, "awaited"),
        (Said::NobodyHere, Then::GoOn, "Nobody will answer"),
        (Said::Ended, Then::Declined, "without a plan"),
    ] {
        let (result, desk) = call(taken(said), "plan_mode_respond", arguments.clone()).await;
        assert_eq!((result.then, result.is_error), (then, false), "{said:?}");
        assert!(result.words().contains(words), "{}", result.words());
        assert_eq!(*desk.heard.lock().unwrap(), ["call-1 todo", "call-1 reply two ways"]);
        assert_eq!(desk.todo.lock().unwrap()[1].status, TodoStatus::InProgress);
    }
    let both = json!({"response": "a", "needs_more_exploration": true, "no_plan_needed": true});
    assert!(
        Ground::planning()
            .call("plan_mode_respond", both)
            .await
            .fault()
            .contains("one of them")
    );
}

#[tokio::test]
async fn a_plan_is_delivered_with_its_receipt_or_refused_with_every_violation() {
    let plan = json!({"goal": "g", "nodes": [{"key": "a", "title": "t", "kind": "work"}], "checks": ["true"]});
    let (delivered, desk) = call(FakeDesk::default(), "submit_plan", plan.clone()).await;
    assert_eq!(delivered.then, Then::Delivered);
    let receipt: Value = serde_json::from_str(&delivered.words()).unwrap();
    assert_eq!(
        receipt,
        json!({"plan_id": "p1", "revision": 1, "digest": "d", "status": "proposed", "approval_id": "a1"})
    );
    assert_eq!(desk.drafts.lock().unwrap()[0].checks, ["true"]);
    let refusing = FakeDesk {
        refusal: Some("a: no title\nb: unknown".to_owned()).into(),
        ..FakeDesk::default()
    };
    let (refused, _) = call(refusing, "submit_plan", plan).await;
    assert!(refused.is_error && refused.then == Then::GoOn);
    assert_eq!(refused.words(), "a: no title\nb: unknown");
}

#[tokio::test]
async fn leaving_plan_mode_is_pending_until_it_is_granted() {
    let (pending, _) = call(FakeDesk::default(), "exit_plan_mode", json!({})).await;
    assert_eq!(pending.then, Then::NextResponse);
    assert_eq!(pending.words(), r#"{"status":"pending","approval_id":"a1"}"#);
    let granting = FakeDesk {
        granted: true.into(),
        ..FakeDesk::default()
    };
    let (granted, _) = call(granting, "exit_plan_mode", json!({"summary": "small"})).await;
    assert_eq!((granted.then, granted.is_error), (Then::Exited, false));
}

#[tokio::test]
async fn agent_verbs_note_complete_and_hand_back() {
    let ground = Ground::new();
    let note = ground
        .call(
            "act_mode_respond",
            json!({"response": "half way", "task_progress": "- [ ] a"}),
        )
        .await
        .result();
    assert_eq!((note.then, note.is_error), (Then::GoOn, false));
    let done = ground
        .call("attempt_completion", json!({"result": "all done"}))
        .await
        .result();
    assert_eq!((done.then, done.is_error), (Then::Delivered, false));
    let step = ground
        .call("submit_output", json!({"output": {"n": 1}, "evidence": "ran it"}))
        .await
        .result();
    assert_eq!((step.then, step.is_error), (Then::StepDone, false));
    assert_eq!(
        ground.desk.outputs.lock().unwrap()[0],
        (Some(json!({"n": 1})), Some("ran it".to_owned()))
    );
    assert_eq!(
        *ground.desk.heard.lock().unwrap(),
        [
            "call-1 progress half way",
            "call-1 todo",
            "call-1 complete all done",
            "call-1 output"
        ]
    );
    *ground.desk.refusal.lock().unwrap() = Some("two notes in a row".to_owned());
    let second = ground
        .call(
            "act_mode_respond",
            json!({"response": "again", "task_progress": "- [ ] a"}),
        )
        .await
        .result();
    assert!(second.is_error && second.words() == "two notes in a row");
    assert_eq!(
        ground.desk.heard.lock().unwrap().len(),
        5,
        "a refused note moves no todo list"
    );
}

#[tokio::test]
async fn a_todo_list_has_one_item_in_progress() {
    let ground = Ground::new();
    let items = |second: &str| json!({"items": [{"id": "1", "text": "a", "status": "in_progress"}, {"id": "2", "text": "b", "status": second}]});
    let good = ground.call("update_todo", items("done")).await.good();
    assert!(good.contains("1 of 2 done"), "{good}");
    assert!(
        ground
            .call("update_todo", items("in_progress"))
            .await
            .fault()
            .contains("1 and 2")
    );
    let unknown = ground.call("update_todo", items("later")).await.fault();
    assert!(unknown.contains("items[1].status"), "{unknown}");
    assert_eq!(ground.desk.todo.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_call_without_its_own_proposal_does_nothing() {
    let ground = Ground::new();
    let row = modes::descriptor("attempt_completion").unwrap();
    let forged = modes::ProposedCall::new(row, "call-9", json!({"result": "x"})).with_handle("another tool's");
    let Came::Done(result) = ground.settle(forged).await else {
        panic!("not performed")
    };
    assert!(
        result.is_error && result.words().contains("nothing was done"),
        "{result:?}"
    );
    assert!(ground.desk.heard.lock().unwrap().is_empty());
}
