//! Once, for the run, always: and never further than the person said.

use serde_json::{Value, json};

use super::{ASKS, listed, noted, pending, program};
use crate::support::{Place, calls, says, turns};

fn runs(line: &str) -> Value {
    calls(&[("execute_command", json!({"command": line}))])
}

fn place() -> Place {
    let place = Place::new();
    place.settings(ASKS);
    program(&place);
    place
}

#[test]
fn a_yes_for_the_run_holds_for_what_its_words_name_and_for_this_run_alone() {
    let place = place();
    let model = place.script(
        "notes",
        &turns(&[
            runs("./note.sh one"),
            runs("./note.sh two --loud"),
            runs("./note.sh three && rm -f README.md"),
            says("done"),
        ]),
    );
    let (code, report) = place.run(&model, &["--approvals", "wait", "note it"]);
    assert_eq!(code, 7, "{report:#}");
    assert_eq!(listed(&place)[0]["rules"], json!(["./note.sh one"]));
    let first = &pending(&place)[0];
    // Words that do not name what was asked keep nothing and answer nothing.
    for words in ["git *", "*", "edit(**)", "./note.sh two"] {
        let said = place.stance(&["inbox", "approve", first, "--run", "--as", words]);
        assert_eq!(said.code, 2, "{words}: {}", said.err);
    }
    let said = place.stance(&["inbox", "approve", first, "--as", "./note.sh *"]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert_eq!(noted(&place), "");
    let said = place.stance(&[
        "inbox",
        "approve",
        first,
        "--run",
        "--as",
        "./note.sh *",
        "--resume",
        "--json",
        "--model",
        &model,
    ]);
    // The second went through unasked, the third waits.
    assert_eq!(said.code, 7, "{}{}", said.out, said.err);
    assert_eq!(noted(&place), "one\ntwo --loud\n");
    let waits = listed(&place);
    assert_eq!(waits.len(), 1, "{waits:#?}");
    assert!(waits[0]["lines"].to_string().contains("rm -f README.md"), "{waits:#?}");
    assert!(place.repo().join("README.md").exists());
    let second = place.script("again", &turns(&[runs("./note.sh four"), says("done")]));
    let (code, _) = place.run(&second, &["--approvals", "wait", "--mode", "agent", "note it"]);
    assert_eq!((code, listed(&place).len()), (7, 2));
    assert_eq!(noted(&place), "one\ntwo --loud\n");
}

#[test]
fn always_holds_in_agent_lifts_nothing_of_plan_and_is_listed_and_forgotten() {
    let place = place();
    let once = place.script("once", &turns(&[runs("./note.sh x"), says("done")]));
    let (code, _) = place.run(&once, &["--approvals", "wait", "note it"]);
    assert_eq!(code, 7);
    let said = place.stance(&[
        "inbox",
        "approve",
        &pending(&place)[0],
        "--always",
        "--resume",
        "--model",
        &once,
    ]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let (code, report) = place.run(&once, &["--mode", "agent", "again"]);
    assert_eq!((code, noted(&place).as_str()), (0, "x\nx\n"), "{report:#}");

    let plans = place.script(
        "plans",
        &turns(&[runs("./note.sh x"), says("no plan"), says("no plan")]),
    );
    let (_, report) = place.run(&plans, &["--mode", "plan", "again"]);
    assert_eq!(report["denials"].as_array().unwrap().len(), 1, "{report:#}");
    assert_eq!(noted(&place), "x\nx\n");
    let (code, _) = place.run(&once, &["--mode", "agent", "once more"]);
    assert_eq!((code, noted(&place).as_str()), (0, "x\nx\nx\n"));

    let rules = place.stance(&["policy", "list", "--json"]).report();
    let kept = rules
        .as_array()
        .unwrap()
        .iter()
        .find(|rule| rule["rule"] == "./note.sh x")
        .unwrap();
    assert_eq!(
        (&kept["verdict"], &kept["layer"]),
        (&json!("allow"), &json!("workspace"))
    );
    assert!(
        kept["kept"]["permission"].is_string() && kept["kept"]["who"].is_string(),
        "{kept:#}"
    );
    // Exact words name nothing else.
    let other = place.script("other", &turns(&[runs("./note.sh x y"), says("done")]));
    let (code, _) = place.run(&other, &["--mode", "agent", "again"]);
    assert_eq!((code, noted(&place).as_str()), (4, "x\nx\nx\n"));
    assert_eq!(place.stance(&["policy", "unset", "./note.sh x"]).code, 0);
    let (code, _) = place.run(&once, &["--mode", "agent", "again"]);
    assert_eq!((code, noted(&place).as_str()), (4, "x\nx\nx\n"));
}

#[test]
fn what_may_not_be_remembered_is_not_offered_and_not_kept() {
    let place = place();
    for line in [
        "python3 -c 'print(1)'",
        "x=1 ./note.sh a",
        "./note.sh \"$(cat README.md)\"",
    ] {
        let model = place.script("odd", &turns(&[runs(line), says("done")]));
        let (code, report) = place.run(&model, &["--approvals", "wait", "--mode", "agent", "do it"]);
        assert_eq!(code, 7, "{report:#}");
        let waits = listed(&place);
        assert_eq!(waits[0]["rules"], json!([]), "{line}");
        let first = &pending(&place)[0];
        for flag in ["--run", "--always"] {
            let said = place.stance(&["inbox", "approve", first, flag]);
            assert_eq!(said.code, 1, "{line}: {}", said.err);
            assert!(said.err.contains("for this once"), "{}", said.err);
        }
        assert_eq!(place.stance(&["inbox", "deny", first]).code, 0);
    }
}

#[test]
fn twenty_digits_name_what_was_shown_and_fewer_do_not() {
    let place = place();
    let model = place.script("once", &turns(&[runs("./note.sh x"), says("done")]));
    place.run(&model, &["--approvals", "wait", "note it"]);
    let exact = pending(&place).remove(0);
    let at = exact.find('@').unwrap();
    for digits in [0, 1, 12, 19] {
        let said = place.stance(&["inbox", "approve", &exact[..=at + digits]]);
        assert_eq!(said.code, 1, "{digits}: {}", said.err);
        assert!(said.err.contains("it changed, look again"), "{}", said.err);
    }
    assert_eq!(noted(&place), "");
    let said = place.stance(&["inbox", "approve", &exact[..=at + 20]]);
    assert_eq!(said.code, 0, "{}", said.err);
}
