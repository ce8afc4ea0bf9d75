//! Packages that one run unpacked and another carries out: what a run does to a cache reaches neither the
//! person nor another project.

use std::fs;

use serde_json::json;

use super::evidence::told;
use crate::support::{Place, calls, said, says, turns};

#[test]
fn a_poisoned_cache_reaches_neither_the_person_nor_another_project() {
    let place = Place::new();
    place.settings("[limits]\nmistakes = \"off\"\n");
    let kept = [
        ".cargo/registry/src/sample-1.0.0/lib.rs",
        ".npm/_cacache/content",
        ".cache/pip/wheel",
        "go/pkg/mod/sample/a.go",
    ];
    for file in kept {
        let path = place.home().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "as published\n").unwrap();
    }
    let home = place.home().display().to_string();
    let mut lines: Vec<String> = kept
        .iter()
        .map(|file| format!("f={home}/{file}; echo poison > $f && echo REACHED"))
        .collect();
    lines.push(
        "mkdir -p $CARGO_HOME/registry/src/sample-1.0.0 $npm_config_cache && echo poison > \
         $CARGO_HOME/registry/src/sample-1.0.0/lib.rs && echo poison > $npm_config_cache/x && cat $npm_config_cache/x"
            .to_owned(),
    );
    let runs = |lines: &[String]| {
        let made: Vec<_> = lines
            .iter()
            .map(|line| ("execute_command", json!({"command": line})))
            .collect();
        place.script("runs", &turns(&[calls(&made), says("done")]))
    };
    let before = place.world();
    let (_, events, _) = place.stream(&runs(&lines), &["--mode", "agent", "--yolo", "install"]);
    assert_eq!(place.world(), before);
    let first = told(&events);
    for told in &first[..kept.len()] {
        assert!(!told.text.contains("REACHED"), "{told:?}");
    }
    assert!(first[kept.len()].text.contains("poison"), "{first:?}");

    let other = place.outside().join("other");
    place.git(&["clone", "-q", ".", other.to_str().unwrap()]);
    let looks =
        ["cat $CARGO_HOME/registry/src/sample-1.0.0/lib.rs; cat $npm_config_cache/x; ls -R $CARGO_HOME".to_owned()];
    let model = runs(&looks);
    let words = [
        "run",
        "--stream-json",
        "--model",
        &model,
        "--mode",
        "agent",
        "--yolo",
        "look",
    ];
    let ended = said(place.command(&words).current_dir(&other).output().unwrap());
    assert!(
        ended.out.contains("tool_finished") && !ended.out.contains("poison"),
        "{}",
        ended.out
    );
}
