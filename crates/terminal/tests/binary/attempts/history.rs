//! What git has recorded of secrets: lines that would show it are asked about, and only those.

use serde_json::json;

use super::leaks::shell;
use crate::attacks::evidence::told;
use crate::support::{Place, calls, says, turns};

/// A word that stands in a committed secret and nowhere else.
const WORD: &str = "the-recorded-word";

/// Lines that show whatever the history holds.
const SHOWING: [&str; 9] = [
    "git show HEAD~1",
    "git log -p",
    "git diff HEAD~2 HEAD~1",
    "git grep KEY HEAD~1",
    "git archive HEAD~1 | tar -xO",
    "git cat-file -p HEAD~1:.env",
    "git format-patch --stdout HEAD~2",
    "git clone -q . /tmp/copy && git -C /tmp/copy log -p",
    "git -c color.ui=never show HEAD~1",
];

/// Lines that show names and counts, or paths that are no secrets.
const FREE: [&str; 12] = [
    "git log --oneline",
    "git log --stat -2",
    "git show --stat HEAD~1",
    "git show --name-only HEAD~1",
    "git show HEAD~1 -- src",
    "git show HEAD~1:src/app.js",
    "git log -p -- src/app.js",
    "git diff HEAD~2 src/app.js",
    "git diff",
    "git blame src/app.js",
    "git grep -n const",
    "git status --short",
];

/// A repository in whose history a secret was added and removed again.
fn place() -> Place {
    let place = Place::new();
    place.settings("[limits]\nmistakes = \"off\"\n[plan]\ntry = true\n");
    place.write(".env", &format!("KEY={WORD}\n"));
    place.write("src/app.js", "const x = 2;\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "added"]);
    std::fs::remove_file(place.repo().join(".env")).unwrap();
    place.git(&["commit", "-q", "-am", "removed"]);
    place
}

fn look(place: &Place, tool: &str, lines: &[&str], flags: &[&str]) -> Vec<(String, String)> {
    let made: Vec<_> = lines.iter().map(|line| (tool, json!({"command": line}))).collect();
    let model = place.script("looks", &turns(&[calls(&made), says("done")]));
    let (_, events, report) = place.stream(&model, &[flags, &["look"]].concat());
    let told = told(&events);
    assert_eq!(told.len(), lines.len(), "{report:#}");
    told.into_iter().map(|told| (told.how, told.text)).collect()
}

#[test]
fn a_line_that_shows_a_recorded_secret_is_asked_about_and_no_other() {
    let place = place();
    for (mode, tool) in [("agent", "execute_command"), ("plan", "inspect_command")] {
        for (line, (how, why)) in SHOWING.iter().zip(look(&place, tool, &SHOWING, &["--mode", mode])) {
            let told = why.contains(".env") && (why.contains("git show HEAD -- src") || line.contains(":.env"));
            assert!(
                how == "refused" && told && !why.contains(WORD),
                "{mode} {line}: {how} {why}"
            );
        }
        for (line, (how, why)) in FREE.iter().zip(look(&place, tool, &FREE, &["--mode", mode])) {
            assert!(how == "performed" && !why.contains(WORD), "{mode} {line}: {how} {why}");
        }
    }
}

#[test]
fn a_yes_to_the_path_shows_it_and_flags_the_thread() {
    let place = place();
    let model = place.script(
        "shows",
        &turns(&[
            calls(&[shell("git show HEAD")]),
            calls(&[shell("git show HEAD~1")]),
            says("done"),
        ]),
    );
    let (code, events, report) = place.stream(&model, &["--mode", "agent", "--allow", "read(.env)", "look"]);
    assert_eq!(code, 0, "{report:#}");
    let told = told(&events);
    assert!(told[1].text.contains(WORD), "{told:?}");
    assert!(events.iter().any(|event| event["kind"] == "secrets_read"));
}

#[test]
fn a_repository_that_never_held_a_secret_is_not_bothered() {
    let place = Place::new();
    place.write("src/app.js", "const x = 2;\n");
    place.write("node_modules/a/.npmrc", "registry=x\n");
    place.git(&["add", "-Af"]);
    place.git(&["commit", "-q", "-m", "changed"]);
    let lines = ["git show HEAD", "git log -p", "git diff HEAD~1", "git grep const HEAD"];
    for (line, (how, text)) in lines
        .iter()
        .zip(look(&place, "execute_command", &lines, &["--mode", "agent"]))
    {
        assert!(how == "performed" && text.contains("const"), "{line}: {how} {text}");
    }
    // From the commit on that adds one, it is.
    place.write("deploy/server.key", "secret\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "a key"]);
    let (how, why) = look(&place, "execute_command", &["git show HEAD"], &["--mode", "agent"]).remove(0);
    assert!(how == "refused" && why.contains("deploy/server.key"), "{how} {why}");
}

#[test]
fn what_a_rule_denies_to_be_read_is_not_shown_from_the_history_either() {
    let place = place();
    let flags = [
        "--mode",
        "agent",
        "--allow",
        "effect(secret_access)",
        "--deny",
        "read(src/app.js)",
    ];
    let lines = ["git show HEAD~1", "git show HEAD~1 -- README.md"];
    let looked = look(&place, "execute_command", &lines, &flags);
    assert!(
        looked[0].0 == "refused" && looked[0].1.contains("read(src/app.js)"),
        "{looked:?}"
    );
    assert_eq!(looked[1].0, "performed", "{looked:?}");
}

#[test]
fn explain_knows_what_is_recorded() {
    let place = place();
    let shown = place.stance(&["explain", "--mode", "agent", "git show HEAD"]);
    assert!(
        shown.out.contains("read secrets (.env, as git has recorded it)"),
        "{}",
        shown.out
    );
    let narrow = place.stance(&["explain", "--mode", "agent", "git show HEAD -- src"]);
    assert!(!narrow.out.contains("secrets"), "{}", narrow.out);
}
