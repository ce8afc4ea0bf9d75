//! What a line deletes: unasked where a checkpoint holds it, asked everywhere else, and back byte by byte.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::{files, line};
use crate::attacks::evidence::told;
use crate::support::{Place, calls, says, turns};

/// Names of everything there is to delete.
fn place(settings: &str) -> Place {
    let place = Place::new();
    place.settings(settings);
    place.write(".gitignore", "*.log\nbuilt/\n");
    place.write("kept.log", "ignored\n");
    place.write("built/one.o", "object\n");
    place.write("name with spaces.txt", "spaces\r\n");
    place.write("alone/only.txt", "only\n");
    place.write(".env", "KEY=fake\n");
    place.write(".mcp.json", "{}\n");
    fs::create_dir(place.repo().join("empty")).unwrap();
    fs::write(place.outside().join("far.txt"), "far\n").unwrap();
    symlink("README.md", place.repo().join("link")).unwrap();
    symlink("../outside", place.repo().join("way")).unwrap();
    symlink("src", place.repo().join("sources")).unwrap();
    place
}

/// What was decided about each call of a run, in the journal's words.
fn decisions(events: &[Value]) -> Vec<(String, String)> {
    let decided = events.iter().filter(|event| event["kind"] == "decided");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    decided
        .map(|event| {
            let record = &event["payload"]["record"];
            (text(&record["decision"]), text(&record["reason"]))
        })
        .collect()
}

#[test]
fn what_a_checkpoint_holds_goes_unasked_and_comes_back() {
    let place = place("");
    let before = files(&place);
    let lines = [
        ("rm README.md", "README.md"),
        ("cd src && rm -f app.js -- util.py", "src/app.js, src/util.py"),
        (
            "rm -v kept.log 'name with spaces.txt'",
            "kept.log, name with spaces.txt",
        ),
        (
            "sh -c 'unlink alone/only.txt'; rmdir alone empty",
            "alone/only.txt, alone, empty",
        ),
    ];
    let mut script: Vec<Value> = lines.iter().map(|(words, _)| line(words)).collect();
    script.push(says("done"));
    let model = place.script("deletes", &turns(&script));
    let (code, events, report) = place.stream(&model, &["tidy up"]);
    assert_eq!(code, 0, "{report:#}");
    let expected = lines.map(|(_, held)| {
        (
            "allow".to_owned(),
            format!("a checkpoint holds what it deletes: {held}"),
        )
    });
    assert_eq!(decisions(&events), expected);
    for gone in ["README.md", "src/app.js", "src/util.py", "kept.log", "alone", "empty"] {
        assert!(!place.repo().join(gone).exists(), "{gone}");
    }
    assert_eq!(place.stance(&["checkpoint", "restore", "last", "--yes"]).code, 0);
    assert_eq!(files(&place), before);
}

#[test]
fn what_no_checkpoint_holds_is_asked_about() {
    let place = place("[limits]\nmistakes = \"off\"\n");
    let (before, world) = (files(&place), place.world());
    let lines = [
        "rm .env",
        "rm built/one.o",
        "rmdir built",
        "rm link",
        "rm sources/app.js",
        "rm way/far.txt",
        "rm -f absent.txt",
        "rm -r src",
        "rm README.md .env",
        "rm *.md",
        "f=README.md; rm $f",
        "cd \"$there\" && rm README.md",
        "shred -u README.md",
        "find . -name '*.md' -delete",
        "find . -name '*.md' | xargs rm",
        "rm .mcp.json",
        "rm .git/config",
        "git rm README.md",
        "rm /srv/far.txt",
    ];
    let script: Vec<_> = lines
        .iter()
        .map(|line| ("execute_command", json!({"command": line})))
        .collect();
    let model = place.script("deletes", &turns(&[calls(&script), says("done")]));
    let (_, events, _) = place.stream(&model, &["tidy up"]);
    let faults: Vec<String> = told(&events)
        .into_iter()
        .zip(lines)
        .filter(|(told, _)| !told.error || told.how == "performed")
        .map(|(told, line)| format!("{line}: {} {}", told.how, told.text))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!((files(&place), place.world()), (before, world));
    // Where no walls hold programs, no checkpoint makes a deletion a write.
    place.settings(
        "[sandbox]\nmode = \"off\"\naccept = \"approvals are not protected from programs\"\n[permissions]\nallow = \
         [\"effect(process_spawn)\"]\n",
    );
    let model = place.script("bare", &turns(&[line("rm README.md"), says("done")]));
    let (_, events, _) = place.stream(&model, &["tidy up"]);
    let [told] = told(&events).try_into().ok().unwrap();
    assert!(told.text.contains("it would delete files (README.md)"), "{}", told.text);
    assert!(place.repo().join("README.md").exists());
}
