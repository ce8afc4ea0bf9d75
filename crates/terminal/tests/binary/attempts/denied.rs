//! What a deny rule is about stays as it is, also where no line names it: programs that run the project's
//! code, and acts on folders above it.

use serde_json::Value;

use super::leaks::shell;
use crate::attacks::evidence::told;
use crate::support::{Place, calls, says, turns};

fn place(rules: &str) -> Place {
    let place = Place::new();
    place.settings(&format!("[limits]\nmistakes = \"off\"\n[permissions]\n{rules}\n"));
    for (path, text) in [
        ("conf/kept.txt", "kept\n"),
        ("conf/deep/plain.txt", "plain\n"),
        ("AGENTS.md", "as it was\n"),
        (
            "Makefile",
            "all:\n\techo done > out.txt\n\t-echo x > conf/kept.txt\n\t-mv conf moved\n\t-echo x > AGENTS.md\n\t-mkdir -p .vscode && echo x > .vscode/tasks.json\n",
        ),
    ] {
        place.write(path, text);
    }
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "kept"]);
    place
}

fn run(place: &Place, lines: &[&str], flags: &[&str]) -> (Vec<(String, String)>, Vec<Value>) {
    let made: Vec<_> = lines.iter().map(|line| shell(line)).collect();
    let model = place.script("programs", &turns(&[calls(&made), says("done")]));
    let (_, events, report) = place.stream(&model, &[&["--mode", "agent"], flags, &["go"]].concat());
    let told = told(&events);
    assert_eq!(told.len(), lines.len(), "{report:#}");
    (told.into_iter().map(|told| (told.how, told.text)).collect(), events)
}

#[test]
fn a_program_of_the_project_changes_nothing_that_a_rule_denies_or_a_person_is_asked_about() {
    let place = place("deny = [\"edit(kept.txt)\"]");
    let (told, events) = run(&place, &["make"], &[]);
    assert_eq!(told[0].0, "performed", "{told:?}");
    assert_eq!(place.read("out.txt"), "done\n");
    assert_eq!(place.read("conf/kept.txt"), "kept\n");
    assert_eq!(place.read("AGENTS.md"), "as it was\n");
    assert!(!place.repo().join(".vscode/tasks.json").exists());
    let violated: Vec<&str> = events
        .iter()
        .filter(|event| event["kind"] == "violated")
        .filter_map(|event| event["payload"]["what"].as_str())
        .collect();
    assert!(
        matches!(violated.as_slice(), [what] if what.contains(".vscode/tasks.json")),
        "{violated:?}"
    );
    assert!(
        told[0].1.contains(".vscode/tasks.json was made and moved away"),
        "{told:?}"
    );
}

#[test]
fn what_is_allowed_is_written_by_programs_too() {
    let place = place("allow = [\"edit(AGENTS.md)\", \"edit(.vscode/**)\"]");
    let (told, events) = run(&place, &["make"], &[]);
    assert_eq!(told[0].0, "performed", "{told:?}");
    assert_eq!(place.read("AGENTS.md"), "x\n");
    assert_eq!(place.read(".vscode/tasks.json"), "x\n");
    assert!(events.iter().all(|event| event["kind"] != "violated"));
}

#[test]
fn an_act_on_a_folder_is_judged_by_what_lies_in_it() {
    let place = place("deny = [\"edit(kept.txt)\", \"edit(new/**)\"]");
    let lines = [
        "rm -rf conf",
        "mv conf moved",
        "chmod -R 700 conf",
        "cp -r src new",
        "mv src new",
        "chmod -R 700 .",
    ];
    let flags = [
        "--allow",
        "effect(process_spawn)",
        "--allow",
        "effect(file_delete)",
        "--allow",
        "edit(**)",
    ];
    for (line, (how, why)) in lines.iter().zip(run(&place, &lines, &flags).0) {
        assert!(
            how == "refused" && why.contains("the rule \"edit("),
            "{line}: {how} {why}"
        );
    }
    let free = ["mv conf/deep conf/other", "chmod -R 700 src", "cp -r src copied"];
    for (line, (how, why)) in free.iter().zip(run(&place, &free, &flags).0) {
        assert_eq!(how, "performed", "{line}: {why}");
    }
}

#[test]
fn a_rule_about_commands_stops_those_that_run_gives_and_no_program_it_does_not_name() {
    for (rule, named) in [
        ("effect(file_delete)", "rm -rf /srv/x"),
        ("npm publish *", "npm publish now"),
    ] {
        let place = place(&format!("deny = [\"{rule}\"]"));
        let lines = [named, "./script.sh", "make", "git log --oneline"];
        let (told, _) = run(&place, &lines, &[]);
        for (how, why) in &told[..2] {
            assert!(how == "refused" && why.contains(rule), "{told:?}");
        }
        assert!(told[2..].iter().all(|(how, _)| how == "performed"), "{told:?}");
    }
}
