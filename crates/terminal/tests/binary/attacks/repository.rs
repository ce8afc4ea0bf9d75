//! A repository that wants its programs run and other people's files read, asked everything that
//! `git_read` can ask, in a mode that reads and in one that writes.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use super::evidence::{Canaries, person, records, shows_nothing_of, told};
use super::plants::{a_person_would_run_them, plant_programs};
use crate::support::{Place, calls, says, turns};

const SECRET: &str = "bytes-of-somebody-else";

/// Every question, of a repository with two commits; the older one's content may be missing.
fn questions() -> Vec<(&'static str, Value)> {
    [
        json!({"op": "status"}),
        json!({"op": "log"}),
        json!({"op": "log", "revision": "HEAD", "paths": ["src"]}),
        json!({"op": "log", "from": "HEAD~1"}),
        json!({"op": "diff"}),
        json!({"op": "diff", "staged": true}),
        json!({"op": "diff", "from": "HEAD"}),
        json!({"op": "show"}),
        json!({"op": "show", "revision": "HEAD", "path": "src/util.py"}),
        json!({"op": "blame", "path": "src/util.py"}),
        json!({"op": "blame", "path": "src/util.py", "revision": "HEAD", "start_line": 1, "end_line": 2}),
        json!({"op": "branches"}),
        json!({"op": "merge_base", "revision": "HEAD", "other": "main"}),
    ]
    .into_iter()
    .map(|arguments| ("git_read", arguments))
    .collect()
}

fn nobody_passes_on_what_git_says(words: &str) {
    for raw in ["fatal:", "error:", "warning:", "hint:"] {
        assert!(!words.contains(raw), "{words}");
    }
}

#[test]
fn reading_a_hostile_repository_runs_nothing_and_changes_nothing() {
    let place = Place::new();
    let mut canaries = Canaries::new(&place);
    plant_programs(&place, &mut canaries);
    place.settings("[limits]\nmistakes = \"off\"\n");
    let mut asked = questions();
    asked.push((
        "git_read",
        json!({"op": "show", "revision": "HEAD~1", "path": "src/util.py"}),
    ));
    asked.push(("list_files", json!({"path": ".", "recursive": true})));
    asked.push(("search_files", json!({"path": ".", "regex": "return"})));
    let model = place.script("reads", &turns(&[calls(&asked), says("seen")]));
    let before = place.world();
    canaries.opened();
    let (_, events, _) = place.stream(&model, &["--mode", "plan", "look round"]);
    assert_eq!(canaries.opened(), BTreeSet::new());
    assert_eq!(place.world(), before);

    let told = told(&events);
    assert_eq!(told.len(), asked.len());
    for (told, (_, arguments)) in told.iter().zip(&asked) {
        assert_eq!(told.how, "performed", "{arguments}: {told:?}");
        nobody_passes_on_what_git_says(&told.text);
    }
    let find = |op: &str| &told[asked.iter().position(|(_, asked)| asked["op"] == op).unwrap()];
    assert_eq!(
        find("status").text,
        "## main\n M src/app.js\n?? .gitattributes\n?? stray/\n",
        "{:?}",
        find("status")
    );
    assert!(find("log").text.contains("turn round"), "{:?}", find("log"));
    assert!(find("diff").text.contains("+const x = 2;"), "{:?}", find("diff"));
    let shown = told.iter().find(|told| told.text.contains("return b + a")).unwrap();
    assert!(!shown.error, "{shown:?}");
    // What needs the content that is only elsewhere, and what does not exist, are told apart.
    for (told, (_, arguments)) in told.iter().zip(&asked) {
        if arguments["revision"] == "HEAD~1" || arguments["op"] == "blame" {
            assert!(told.error, "{told:?}");
            assert_eq!(
                told.text,
                "git_read: an object is missing from this repository; nothing was fetched."
            );
        }
    }
    a_person_would_run_them(&place, &canaries);
}

#[test]
fn writing_a_hostile_repository_runs_nothing() {
    let place = Place::new();
    let mut canaries = Canaries::new(&place);
    plant_programs(&place, &mut canaries);
    place.settings("[limits]\nmistakes = \"off\"\n");
    let model = place.script(
        "writes",
        &turns(&[
            calls(&questions()),
            calls(&[("git_write", json!({"op": "stage", "paths": ["src/app.js"]}))]),
            calls(&[("git_write", json!({"op": "commit", "message": "Count to two"}))]),
            calls(&[
                ("read_file", json!({"path": "src/app.js"})),
                ("read_file", json!({"path": "src/util.py"})),
            ]),
            calls(&[(
                "write_to_file",
                json!({"path": "src/app.js", "content": "const x = 3;\n"}),
            )]),
            calls(&[(
                "git_write",
                json!({"op": "commit", "message": "Count to three", "paths": ["src/app.js"]}),
            )]),
            calls(&[("write_to_file", json!({"path": "src/util.py", "content": "pass\n"}))]),
            calls(&[("git_write", json!({"op": "stage", "paths": ["src/util.py"]}))]),
            calls(&[(
                "git_write",
                json!({"op": "commit", "message": "Forge\n\nStance-Plan: p_1"}),
            )]),
            calls(&questions()),
            says("done"),
        ]),
    );
    let settled = |place: &Place| -> Vec<String> {
        let about = |line: &String| {
            [".git/config ", ".git/hooks", ".git/info"]
                .iter()
                .any(|part| line.contains(part))
        };
        records(place).into_iter().filter(about).collect()
    };
    let before = settled(&place);
    canaries.opened();
    let (_, events, report) = place.stream(&model, &["--mode", "agent", "--yolo", "commit it"]);
    assert_eq!(canaries.opened(), BTreeSet::new());
    assert_eq!(settled(&place), before);
    let told = told(&events);
    let commits: Vec<_> = told.iter().filter(|told| told.text.starts_with("Committed ")).collect();
    assert_eq!(commits.len(), 2, "{told:#?}\n{report:#}");
    let raw = |arguments: &[&str]| person(&place, &[&["-c", "core.fsmonitor=false"], arguments].concat());
    let head = raw(&["cat-file", "commit", "HEAD"]);
    let head = String::from_utf8(head.stdout).unwrap();
    assert!(
        head.contains("\n\nCount to three") && !head.contains("gpgsig"),
        "{head}"
    );
    let blob = raw(&["cat-file", "blob", "HEAD:src/app.js"]);
    assert_eq!(String::from_utf8(blob.stdout).unwrap(), "const x = 3;\n");
    let filtered = told.iter().find(|told| told.text.contains("which is not run")).unwrap();
    assert!(filtered.error && filtered.text.contains("src/util.py"), "{filtered:?}");
    let forged = told
        .iter()
        .find(|told| told.text.contains("is set by Stance alone"))
        .unwrap();
    assert!(forged.error, "{forged:?}");
    for told in &told {
        nobody_passes_on_what_git_says(&told.text);
    }
}

#[test]
fn keys_and_files_that_lead_outside_show_no_byte_of_it() {
    let place = Place::new();
    place.settings("[limits]\nmistakes = \"off\"\n");
    let secret = place.outside().join("secret");
    fs::write(&secret, format!("{SECRET}\n")).unwrap();
    let secret = secret.display();
    place.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
    place.git(&["config", "blame.ignoreRevsFile", &secret.to_string()]);
    let blame = person(&place, &["blame", "README.md"]);
    assert!(
        String::from_utf8_lossy(&blame.stderr).contains(SECRET),
        "a person's git shows it: {blame:?}"
    );

    let file = place.repo().join(".git/config");
    let mut config = fs::read_to_string(&file).unwrap();
    for (section, key) in [
        ("mailmap", "file"),
        ("core", "attributesFile"),
        ("core", "excludesFile"),
        ("diff", "orderFile"),
        ("commit", "template"),
        ("include", "path"),
        ("includeIf \"gitdir:/\"", "path"),
    ] {
        let _ = writeln!(config, "[{section}]\n\t{key} = {secret}");
    }
    let _ = writeln!(config, "[core]\n\tworktree = {}", place.outside().display());
    fs::write(&file, config).unwrap();
    for name in [".mailmap", ".gitignore", "src/leak.txt"] {
        std::os::unix::fs::symlink(place.outside().join("secret"), place.repo().join(name)).unwrap();
    }
    for reference in ["leak", "main~"] {
        std::os::unix::fs::symlink(
            place.outside().join("secret"),
            place.repo().join(".git/refs/heads").join(reference),
        )
        .unwrap();
    }
    place.write("src/util.py", "changed\n");
    let mut asked = questions();
    asked.retain(|(_, arguments)| arguments["from"] != "HEAD~1");
    for (key, value) in [
        ("revision", "--output=f"),
        ("revision", "--contents=/etc/passwd"),
        ("from", "-O/etc/passwd"),
    ] {
        asked.push(("git_read", json!({"op": "log", key: value})));
    }
    asked.push((
        "git_read",
        json!({"op": "diff", "from": "--no-index", "to": "/etc/passwd"}),
    ));
    asked.push(("git_read", json!({"op": "diff", "from": "--output=f"})));
    asked.push((
        "git_read",
        json!({"op": "merge_base", "revision": "--output=f", "other": "--all"}),
    ));
    asked.push(("git_read", json!({"op": "show", "revision": "leak"})));
    asked.push(("git_read", json!({"op": "show", "revision": "--output=f"})));
    asked.push((
        "git_read",
        json!({"op": "show", "revision": "HEAD", "path": "../outside/secret"}),
    ));
    asked.push(("git_read", json!({"op": "blame", "path": "--contents=/etc/passwd"})));
    asked.push(("git_read", json!({"op": "blame", "path": "src/leak.txt"})));
    asked.push(("git_read", json!({"op": "log", "paths": [":(attr:evil)src"]})));
    asked.push((
        "git_read",
        json!({"op": "diff", "paths": [place.outside().join("secret")]}),
    ));
    let model = place.script("leads-out", &turns(&[calls(&asked), says("seen")]));
    let before = place.world();
    let (_, events, _) = place.stream(&model, &["--mode", "plan", "look round"]);
    assert_eq!(place.world(), before);
    shows_nothing_of(&place, &events, SECRET);
    let told = told(&events);
    assert_eq!(told.len(), asked.len());
    assert!(
        told[0].text.contains(" M src/util.py"),
        "it is the worktree that was asked about: {:?}",
        told[0]
    );
    for (told, (_, arguments)) in told.iter().zip(&asked) {
        nobody_passes_on_what_git_says(&told.text);
        let words = arguments.to_string();
        if words.contains("\"-") || words.contains("leak") || words.contains("outside") {
            assert!(told.error, "{arguments}: {told:?}");
        }
    }
    assert!(!place.repo().join("f").exists() && !place.outside().join("f").exists());
}

#[test]
fn a_repository_that_borrows_objects_or_points_elsewhere_is_not_opened() {
    type Plant = fn(&Place);
    let cases: [(Plant, &str); 3] = [
        (
            |place| {
                let objects = place.outside().join("other/.git/objects");
                place.write(".git/objects/info/alternates", &format!("{}\n", objects.display()));
            },
            "it borrows objects from another place",
        ),
        (
            |place| {
                fs::rename(place.repo().join(".git"), place.outside().join("git")).unwrap();
                std::os::unix::fs::symlink(place.outside().join("git"), place.repo().join(".git")).unwrap();
            },
            "it leads out of the worktree",
        ),
        (
            |place| {
                fs::rename(place.repo().join(".git"), place.outside().join("git")).unwrap();
                place.write(".git", "gitdir: ../outside/git\n");
            },
            "does not point back",
        ),
    ];
    for (plant, why) in cases {
        let place = Place::new();
        let other = place.outside().join("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("file"), SECRET).unwrap();
        place.git(&["-C", other.to_str().unwrap(), "init", "-q"]);
        plant(&place);
        let model = place.script("opens", &turns(&[calls(&questions()), says("seen")]));
        let before = place.world();
        let said = place.stance(&["run", "--json", "--mode", "plan", "--model", &model, "look round"]);
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.err.contains(why), "{why}: {}", said.err);
        assert_eq!(place.world(), before);
    }
}
