//! The commands that name a mode or a space: what they take, and what a slip comes to.

use serde_json::json;

use super::{head, mode, text};
use crate::support::{Place, calls, one_step_plan, says, turns};

#[test]
fn the_current_space_is_agent_until_a_person_switches_it() {
    let place = Place::new();
    let first = place.stance(&["mode", "--json"]).report();
    assert_eq!(
        (text(&first, "mode"), text(&first, "shown"), &first["current"]),
        ("chat", "Agent", &json!(true))
    );
    for (word, stored, shown) in [
        ("plan", "plan", "Plan"),
        ("orchestrate", "orchestrate", "Orchestrate"),
        ("act", "chat", "Agent"),
        ("plan", "plan", "Plan"),
        ("chat", "chat", "Agent"),
    ] {
        let said = place.stance(&["mode", word]);
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.out.contains(&format!("is in {shown} now")), "{}", said.out);
        let now = place.stance(&["mode", "--json"]).report();
        assert_eq!((text(&now, "id"), text(&now, "mode")), (text(&first, "id"), stored));
    }
    for (word, wanted) in [
        ("review", "review cannot be chosen"),
        ("pln", "did you mean `plan`"),
        ("PLAN", "did you mean `plan`"),
        ("", "is not a mode"),
    ] {
        let said = place.stance(&["mode", word]);
        assert_eq!(said.code, 2, "{word}");
        assert!(said.err.contains(wanted), "{word}: {}", said.err);
    }
    assert_eq!(mode(&place, text(&first, "id")), "chat");
}

#[test]
fn a_run_without_a_mode_joins_a_current_space_that_is_not_agent_and_says_so() {
    let place = Place::new();
    let model = place.script("says", &turns(&[says("hi"), says("hi")]));
    let current = place.stance(&["mode", "--json"]).report();
    let current = text(&current, "id");
    let fresh = place.stance(&["run", "--json", "--model", &model, "hello"]);
    let report = fresh.report();
    assert_eq!((fresh.code, text(&report, "mode")), (0, "chat"));
    assert_ne!(text(&report, "space_id"), current);
    assert!(
        fresh
            .err
            .contains(&format!("In the fresh space {}, in Agent.", text(&report, "space_id"))),
        "{}",
        fresh.err
    );

    assert_eq!(place.stance(&["mode", "plan"]).code, 0);
    let joined = place.stance(&["run", "--json", "--model", &model, "hello"]);
    let report = joined.report();
    assert_eq!(
        (joined.code, text(&report, "mode"), text(&report, "space_id")),
        (3, "plan", current)
    );
    let why = format!("In space {current}, which is in Plan: it is the current one of this checkout.");
    assert!(joined.err.contains(&why), "{}", joined.err);
    // A mode that is named opens a room of its own, also the one the current space has.
    for (word, stored) in [("agent", "chat"), ("plan", "plan")] {
        let (_, report) = place.run(&model, &["--mode", word, "hello"]);
        assert_eq!(text(&report, "mode"), stored);
        assert_ne!(text(&report, "space_id"), current);
    }
}

#[test]
fn a_space_that_is_named_gets_a_new_thread_and_a_thread_goes_on() {
    let place = Place::new();
    let model = place.script("says", &turns(&[says("hi"), says("hi"), says("hi"), says("hi")]));
    let (_, first) = place.run(&model, &["--mode", "plan", "one"]);
    let (space, thread) = (text(&first, "space_id"), text(&first, "thread_id"));
    let (_, second) = place.run(&model, &["--space", space, "two"]);
    assert_eq!((text(&second, "space_id"), text(&second, "mode")), (space, "plan"));
    assert_ne!(text(&second, "thread_id"), thread);
    let (_, third) = place.run(&model, &["--resume", thread, "three"]);
    assert_eq!((text(&third, "thread_id"), text(&third, "mode")), (thread, "plan"));
}

#[test]
fn an_id_that_is_not_there_is_a_wrong_command_with_what_is_near() {
    let place = Place::new();
    let plan = one_step_plan("Plan", "a", &["A.md"], &[]);
    let ask = json!({"question": "Which?"});
    let plans = place.script("plans", &turns(&[calls(&[("submit_plan", plan)])]));
    let asks = place.script("asks", &turns(&[calls(&[("ask_user", ask)])]));
    let (_, report) = place.run(&plans, &["--mode", "plan", "plan"]);
    let (code, waits) = place.run(
        &asks,
        &["--space", text(&report, "space_id"), "--approvals", "wait", "ask"],
    );
    assert_eq!(code, 7, "{waits:#}");
    let question = waits["pending"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["kind"] == "question")
        .unwrap();
    let before = head(&place);
    let slip = |id: &str| format!("{}{}", &id[..id.len() - 1], if id.ends_with('0') { '1' } else { '0' });
    let (space, thread, run) = (
        text(&report, "space_id"),
        text(&report, "thread_id"),
        text(&report, "run_id"),
    );
    let (plan, question) = (text(&report["plan"], "id"), text(question, "id"));
    let digest = text(&report["plan"], "digest");
    let named = format!("{}@{digest}", slip(plan));
    for (line, near) in [
        (vec!["run", "--space", &slip(space), "go"], space),
        (vec!["run", "--resume", &slip(space), "go"], space),
        (vec!["run", "--resume", &slip(thread), "go"], thread),
        (vec!["run", "--resume", &slip(run), "go"], run),
        (vec!["space", "mode", &slip(space), "agent"], space),
        (vec!["explain", "read_file", "--space", &slip(space)], space),
        (vec!["plan", "show", &slip(plan)], plan),
        (vec!["plan", "run", &slip(plan)], plan),
        (vec!["plan", "comment", &slip(plan), "words"], plan),
        (vec!["plan", "approve", &named], plan),
        (vec!["plan", "reject", &named], plan),
        (vec!["inbox", "answer", &slip(question), "this"], question),
        (vec!["inbox", "deny", &slip(question)], question),
    ] {
        let said = place.stance(&line);
        assert_eq!(said.code, 2, "{line:?}: {}{}", said.out, said.err);
        assert!(
            said.err.contains("near: ") && said.err.contains(near),
            "{line:?}: {}",
            said.err
        );
    }
    for line in [
        &["run", "--space", "elsewhere", "go"][..],
        &["run", "--resume", "elsewhere", "go"],
        &["plan", "show", "elsewhere"],
    ] {
        let said = place.stance(line);
        assert_eq!(said.code, 2, "{line:?}: {}", said.err);
        assert!(said.err.contains("hint: "), "{line:?}: {}", said.err);
    }
    assert_eq!(head(&place), before, "a slip does nothing");
}
