//! Trust: what a project's file allows counts once an operator trusts that very content, and never
//! because of a name, a copy or what a run wrote.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::attempts::keyboard::Keyboard;
use crate::support::{Place, Said, calls, said, says, turns};

const FILE: &str = ".stance/settings.toml";
const ALLOWS: &str = "[permissions]\nallow = [\n  \"edit(src/**)\",\n]\n";

/// A place where writing in `src` is asked about, and a project that would allow it.
fn place() -> Place {
    let place = Place::new();
    place.settings("[permissions]\nask = [\"edit(src/**)\"]\n");
    place.write(FILE, ALLOWS);
    place
}

/// Whether a run with nobody here may write a file in `src`; what else it said.
fn may_write(place: &Place, flags: &[&str]) -> (bool, Said) {
    let file = place.repo().join("src/new.js");
    drop(fs::remove_file(&file));
    let write = calls(&[("write_to_file", json!({"path": "src/new.js", "content": "x"}))]);
    let model = place.script("write", &turns(&[write, says("written")]));
    let said = place.stance(&[&["run", "--json", "--model", &model, "write it"], flags].concat());
    (file.exists(), said)
}

/// The digest that `stance trust` shows.
fn digest(place: &Place) -> String {
    let said = place.stance(&["trust", "--json"]);
    let parts: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {}", said.err));
    parts[0]["digest"].as_str().unwrap().to_owned()
}

#[test]
fn what_allows_waits_is_shown_and_counts_once_it_is_trusted() {
    let place = place();
    let (written, first) = may_write(&place, &[]);
    let waits = format!(
        "1 rule of {} waits for your trust: stance trust",
        place.repo().join(FILE).display()
    );
    assert!(!written && first.err.matches(&waits).count() == 1, "{}", first.err);
    assert_eq!(first.report()["denials"][0]["layer"], "no_approver");

    let shown = place.stance(&["trust"]);
    assert_eq!(shown.code, 7, "{}", shown.err);
    let short = &digest(&place)[..20];
    for words in [
        "not trusted",
        "settings.toml:3: \"edit(src/**)\" goes ahead unasked, where the mode lets it",
        &format!("trust it with: stance trust --yes {short}"),
    ] {
        assert!(shown.out.contains(words), "{words}: {}", shown.out);
    }
    let wrong = place.stance(&["trust", "--yes", "0123456789ab"]);
    assert_eq!(wrong.code, 1);
    assert!(wrong.err.contains("it changed since it was shown"), "{}", wrong.err);
    assert!(!may_write(&place, &[]).0);

    assert_eq!(place.stance(&["trust", "--yes", short]).code, 0);
    let (written, trusted) = may_write(&place, &[]);
    assert!(written && !trusted.err.contains("your trust"), "{}", trusted.err);
    assert_eq!(place.stance(&["trust"]).code, 0);
    let listed = place.stance(&["trust", "--list"]);
    assert!(
        listed.out.contains(short) && listed.out.contains("│ allow \"edit(src/**)\""),
        "{}",
        listed.out
    );

    assert_eq!(place.stance(&["trust", "--forget"]).code, 0);
    assert!(!may_write(&place, &[]).0);
    assert!(
        place
            .stance(&["trust", "--list"])
            .out
            .contains("nothing is trusted here")
    );
}

#[test]
fn at_a_terminal_each_part_is_asked_about() {
    let place = place();
    let mut no = Keyboard::start(&place, &["trust"]);
    no.until("trust exactly this? y / n > ")
        .types("sure")
        .until("type y or n")
        .until("trust exactly this? y / n > ")
        .types("n");
    assert_eq!(no.end().0, 7);
    let mut yes = Keyboard::start(&place, &["trust"]);
    yes.until("trust exactly this? y / n > ").types("y");
    assert_eq!(yes.end().0, 0);
    assert!(may_write(&place, &[]).0);
}

#[test]
fn a_change_asks_again_with_its_difference_and_an_older_content_is_no_way_back() {
    let place = place();
    let old = digest(&place);
    assert_eq!(place.stance(&["trust", "--yes", &old]).code, 0);
    place.write(FILE, "[permissions]\nallow = [\"edit(src/**)\", \"rm *\"]\n");
    assert!(!may_write(&place, &[]).0);
    let shown = place.stance(&["trust"]);
    assert!(
        shown.out.contains("│ + allow \"rm *\"") && !shown.out.contains("│ - "),
        "{}",
        shown.out
    );
    assert_eq!(place.stance(&["trust", "--yes", &old]).code, 1, "an old digest");
    assert_eq!(place.stance(&["trust", "--yes", &digest(&place)]).code, 0);
    assert!(may_write(&place, &[]).0);
    // What a run could put back is not trusted for having been trusted once.
    place.write(FILE, ALLOWS);
    assert!(!may_write(&place, &[]).0);
}

#[test]
fn a_clone_and_a_folder_in_the_place_of_another_have_no_trust() {
    let place = place();
    place.git(&["remote", "add", "origin", "https://example.org/team/project.git"]);
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "settings"]);
    assert_eq!(place.stance(&["trust", "--yes", &digest(&place)]).code, 0);
    assert!(may_write(&place, &[]).0);

    let clone = place.outside().join("clone");
    let clone_name = clone.display().to_string();
    place.git(&["clone", "-q", ".", &clone_name]);
    let remote = [
        "-C",
        &clone_name,
        "remote",
        "set-url",
        "origin",
        "https://example.org/team/project.git",
    ];
    place.git(&remote);
    let there = |arguments: &[&str]| said(place.command(arguments).current_dir(&clone).output().unwrap());
    assert_eq!(
        there(&["trust"]).code,
        7,
        "the same files, commits and remote elsewhere"
    );
    assert!(there(&["trust", "--list"]).out.contains("nothing is trusted here"));

    fs::rename(place.repo(), place.outside().join("moved")).unwrap();
    fs::rename(&clone, place.repo()).unwrap();
    let (written, said) = may_write(&place, &[]);
    assert!(!written && said.err.contains("waits for your trust"), "{}", said.err);
}

#[test]
fn a_run_trusts_nothing() {
    let place = place();
    let digest = digest(&place);
    for arguments in [&["trust", "--yes", &digest][..], &["trust", "--forget"], &["trust"]] {
        let said = said(place.command(arguments).env("STANCE_RUN", "r_1").output().unwrap());
        assert_eq!(said.code, 1, "{}", said.out);
        assert!(said.err.contains("A run is never an operator"), "{}", said.err);
    }
    let line = format!("{} trust --yes {digest}", env!("CARGO_BIN_EXE_stance"));
    let model = place.script(
        "trusting",
        &turns(&[calls(&[("execute_command", json!({"command": line}))]), says("done")]),
    );
    place.run(&model, &["--yolo", "trust it"]);
    assert!(
        place
            .stance(&["trust", "--list"])
            .out
            .contains("nothing is trusted here")
    );
    assert!(!may_write(&place, &[]).0);
}

#[test]
fn a_flag_trusts_for_its_run_alone_and_prints_what() {
    let place = place();
    let (written, said) = may_write(&place, &["--trust-project"]);
    assert!(written, "{}", said.err);
    let told = format!(
        "--trust-project: 1 rule of {} for this run",
        place.repo().join(FILE).display()
    );
    assert!(
        said.err.contains(&told) && said.err.contains("settings.toml:3: \"edit(src/**)\""),
        "{}",
        said.err
    );
    assert!(!may_write(&place, &[]).0);
}

#[test]
fn a_folder_the_person_names_is_trusted_but_not_with_what_a_run_left_there() {
    let place = place();
    let named = format!(
        "[trust]\nfolders = [\"{}\"]\n[permissions]\nask = [\"edit(src/**)\"]\n",
        place.repo().display()
    );
    place.settings(&named);
    assert!(may_write(&place, &[]).0);
    assert!(
        may_write(&place, &[]).0,
        "a run that left the file alone changes nothing"
    );

    let wider = "[permissions]\nallow = [\"edit(src/**)\", \"effect(git_push)\"]\n";
    let read = calls(&[("read_file", json!({"path": FILE}))]);
    let write = calls(&[("write_to_file", json!({"path": FILE, "content": wider}))]);
    let model = place.script("widen", &turns(&[read, write, says("widened")]));
    let (code, report) = place.run(&model, &["--yolo", "widen it"]);
    assert_eq!((code, place.read(FILE).as_str()), (0, wider), "{report:#}");
    for flags in [&[][..], &["--trust-project"]] {
        let (written, said) = may_write(&place, flags);
        assert!(!written && said.err.contains("wait for your trust"), "{}", said.err);
    }
    let shown = place.stance(&["trust"]);
    assert!(shown.out.contains(" was under way, so not trusted"), "{}", shown.out);
    assert_eq!(place.stance(&["trust", "--yes", &digest(&place)]).code, 0);
    assert!(may_write(&place, &[]).0, "an operator looked at it");
}

#[test]
fn what_the_administrator_locked_is_set_neither_below_nor_by_a_flag() {
    let mut place = Place::new();
    let managed = place.outside().join("managed.toml");
    place
        .variables
        .push(("STANCE_MANAGED".to_owned(), managed.display().to_string()));
    let model = place.script("talk", &turns(&[says("done")]));
    for (locked, flags) in [
        ("models.agent", &[][..]),
        ("autonomy", &["--yolo"]),
        ("sandbox", &["--sandbox", "outer"]),
        ("limits.tokens", &["--budget", "5k"]),
        ("trust", &["--trust-project"]),
    ] {
        fs::write(&managed, "").unwrap();
        let run = |place: &Place| place.stance(&[&["run", "--model", &model, "talk"], flags].concat());
        assert_eq!(run(&place).code, 0, "{locked}");
        fs::write(&managed, format!("\nlocked = [\"{locked}\"]\n")).unwrap();
        let refused = run(&place);
        let place_named = format!("is locked by {}:2", managed.display());
        assert!(
            refused.code == 1 && refused.err.contains(&place_named),
            "{locked}: {}",
            refused.err
        );
    }
    fs::write(&managed, "locked = [\"autonomy\"]\n").unwrap();
    place.settings("[autonomy]\ndefault = \"act_freely\"\n");
    let refused = place.stance(&["run", "--model", &model, "talk"]);
    assert!(
        refused.err.contains("settings.toml:2: `autonomy.default` is locked by"),
        "{}",
        refused.err
    );
}

#[test]
fn a_file_that_is_none_stops_before_anything_is_sent_and_never_hangs() {
    let place = Place::new();
    let model = place.script("talk", &turns(&[says("done")]));
    place.write(FILE, "");
    let file = place.repo().join(FILE);
    for (plant, why) in [
        (&["rm", "-f"][..], ""),
        (&["mkfifo"], "it is no plain file"),
        (&["mkdir"], "it is no plain file"),
        (&["ln", "-s", "/dev/zero"], "this is a link"),
        (&["truncate", "-s", "1G"], "larger than 262144 bytes"),
    ] {
        drop(fs::remove_file(&file).or_else(|_| fs::remove_dir(&file)));
        let (program, arguments) = plant.split_first().unwrap();
        assert!(
            Command::new(program)
                .args(arguments)
                .arg(&file)
                .status()
                .unwrap()
                .success()
        );
        let said = place.stance(&["run", "--json", "--model", &model, "talk"]);
        if why.is_empty() {
            assert_eq!(said.code, 0, "{}", said.err);
        } else {
            assert!(said.code == 1 && said.err.contains(why), "{why}: {}", said.err);
        }
    }
}
