//! What a person can do with a plan beside approving it: reject it, send it back, look again after
//! the checkout moved.

use serde_json::{Value, json};

use super::waiting;
use crate::support::{Place, calls, one_step_plan, plan_at_digest, says, turns};

/// A place whose person's settings name the script as the model of every mode.
fn scripted(script: &Value) -> Place {
    let place = Place::new();
    let model = place.script("model", script);
    let file = model.strip_prefix("scripted:").unwrap();
    place.settings(&format!(
        "[models.default]\nprovider = \"scripted\"\nmodel = \"{file}\"\n"
    ));
    place
}

fn submits(goal: &str, key: &str) -> Value {
    calls(&[("submit_plan", one_step_plan(goal, key, &["A.md"], &[]))])
}

fn plan(place: &Place, report: &Value) -> Value {
    place
        .stance(&["plan", "show", report["plan"]["id"].as_str().unwrap(), "--json"])
        .report()
}

fn mode(place: &Place, report: &Value) -> String {
    let spaces = place.stance(&["space", "list", "--json"]).report();
    let space = spaces
        .as_array()
        .unwrap()
        .iter()
        .find(|space| space["id"] == report["space_id"])
        .unwrap();
    space["mode"].as_str().unwrap().to_owned()
}

#[test]
fn a_rejected_plan_leaves_the_space_in_plan_mode_and_cannot_be_approved() {
    let place = scripted(&turns(&[submits("Bad", "a"), submits("Better", "a")]));
    let before = place.world();
    let (_, first) = place.run_configured(&["--mode", "plan", "plan it"]);
    let exact = plan_at_digest(&first);
    let rejected = place.stance(&["plan", "reject", &exact, "--because", "too bold"]);
    assert_eq!(rejected.code, 0, "{}", rejected.err);
    assert_eq!(
        (mode(&place, &first).as_str(), &plan(&place, &first)["status"]),
        ("plan", &json!("rejected"))
    );
    for line in [
        ["plan", "approve", &exact],
        ["plan", "reject", &exact],
        ["plan", "run", first["plan"]["id"].as_str().unwrap()],
    ] {
        let refused = place.stance(&line);
        assert_eq!(refused.code, 1, "{line:?}: {}", refused.err);
    }
    assert!(
        place
            .stance(&["inbox", "--json"])
            .report()
            .as_array()
            .unwrap()
            .is_empty()
    );
    // The thread goes on in plan mode, and its next plan is another one.
    let (code, second) = place.run_configured(&["--resume", first["thread_id"].as_str().unwrap(), "try again"]);
    assert_eq!(
        (code, &second["mode"], &second["plan"]["revision"]),
        (0, &json!("plan"), &json!(1)),
        "{second:#}"
    );
    assert_ne!(second["plan"]["id"], first["plan"]["id"]);
    assert_eq!(place.world(), before);
}

#[test]
fn comments_reach_the_model_and_the_next_revision_shows_what_changed() {
    let answer =
        |words: &str| json!({"expect": {"contains": words}, "tool_calls": submits("Second", "a")["tool_calls"]});
    let place = scripted(&turns(&[
        submits("First", "a"),
        answer("- step a on the words \"As the goal says.\": name the function"),
    ]));
    let (_, first) = place.run_configured(&["--mode", "plan", "plan it"]);
    let id = first["plan"]["id"].as_str().unwrap();
    let nothing = place.stance(&["plan", "reject", &plan_at_digest(&first), "--changes"]);
    assert_eq!(
        nothing.code, 2,
        "nothing was said about what should change: {}",
        nothing.err
    );
    for comment in [
        &["plan", "comment", id, "shorter, please"][..],
        &[
            "plan",
            "comment",
            id,
            "name the function",
            "--step",
            "a",
            "--quote",
            "As the goal says.",
        ],
    ] {
        let said = place.stance(comment);
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(
            said.out.contains(&format!(
                "stance plan reject {}",
                &plan_at_digest(&first)[..id.len() + 13]
            )),
            "{}",
            said.out
        );
        assert!(said.out.contains("--changes"), "{}", said.out);
    }
    let unknown = place.stance(&["plan", "comment", id, "what?", "--step", "b"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("its steps: a"), "{}", unknown.err);

    let sent = place.stance(&["plan", "reject", &plan_at_digest(&first), "--changes"]);
    assert_eq!(sent.code, 0, "{}{}", sent.out, sent.err);
    let view = plan(&place, &first);
    assert_eq!(
        (&view["id"], &view["revision"], &view["status"]),
        (&json!(id), &json!(2), &json!("proposed"))
    );
    assert!(view["changes"].as_str().unwrap().contains("Second"), "{view:#}");
    let shown = place.stance(&["plan", "show", id]);
    assert!(
        shown.out.contains("changes since the revision before:"),
        "{}",
        shown.out
    );
    // Every comment reached the model, in one message, as the person's.
    let entered = place
        .journal()
        .into_iter()
        .rfind(|event| event.kind == "entered")
        .unwrap()
        .details;
    let text = entered["text"].as_str().unwrap();
    assert!(text.contains("- the whole plan: shorter, please"), "{text}");
    assert_eq!(mode(&place, &first), "plan");
    // The old digest is no word for the new revision.
    let stale = place.stance(&["plan", "approve", &plan_at_digest(&first)]);
    assert_eq!(stale.code, 1);
    assert!(stale.err.contains("it changed, look again"), "{}", stale.err);
}

#[test]
fn a_plan_of_another_commit_is_looked_at_again_before_it_is_approved() {
    let place = scripted(&json!({"runs": [
        {"match": {"mode": "plan"}, "turns": [submits("Write A", "a")]},
        {"match": {"mode": "agent"}, "turns": [
            calls(&[("write_to_file", json!({"path": "A.md", "content": "a\n"}))]), says("done")]},
    ]}));
    let (_, report) = place.run_configured(&["--mode", "plan", "plan it"]);
    let (approval, _) = waiting(&report, "plan");
    place.write("other.md", "meanwhile\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "meanwhile"]);
    for line in [
        ["plan", "approve", &plan_at_digest(&report)],
        [
            "inbox",
            "approve",
            &format!("{approval}@{}", report["plan"]["digest"].as_str().unwrap()),
        ],
    ] {
        let stale = place.stance(&line);
        assert_eq!(stale.code, 1, "{}", stale.err);
        assert!(
            stale.err.contains("not checked out any more") && stale.err.contains("stance plan show"),
            "{}",
            stale.err
        );
    }
    assert_eq!(mode(&place, &report), "plan");

    let view = plan(&place, &report);
    assert_eq!(
        (&view["rebased"], &view["revision"], &view["status"]),
        (&json!(true), &json!(2), &json!("proposed"))
    );
    assert_ne!(view["digest"], report["plan"]["digest"]);
    let again = plan(&place, &report);
    assert_eq!(
        (&again["rebased"], &again["digest"]),
        (&json!(false), &view["digest"]),
        "looking twice re-bases once"
    );
    let old = place.stance(&["plan", "approve", &plan_at_digest(&report)]);
    assert_eq!(old.code, 1);
    assert!(old.err.contains("it changed, look again"), "{}", old.err);
    assert!(!place.repo().join("A.md").exists());
    let exact = format!("{}@{}", view["id"].as_str().unwrap(), view["digest"].as_str().unwrap());
    let done = place.stance(&["plan", "approve", &exact, "--json"]);
    assert_eq!((done.code, place.read("A.md").as_str()), (0, "a\n"), "{}", done.err);
}
