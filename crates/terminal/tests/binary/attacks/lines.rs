//! Lines that are made to wear a reader out, or to look like others: each is answered, none is run, and the
//! process lives.

use serde_json::{Value, json};

use super::evidence::told;
use crate::support::{Place, calls, says, turns};

/// As long as a line can be.
const LONGEST: usize = 64 * 1024;

fn shell(line: &str) -> (&'static str, Value) {
    ("execute_command", json!({"command": line}))
}

fn shapes() -> Vec<String> {
    let long = |piece: &str| piece.repeat(LONGEST / piece.len());
    let nested = |open: &str, depth: usize, close: &str| format!("{}rm x{}", open.repeat(depth), close.repeat(depth));
    let mut shapes = vec![
        "rm x; ".repeat(LONGEST),
        long("$x "),
        long("nice "),
        long("x=$("),
        long("(("),
        nested("(", 150, ")"),
        nested("( ", 60, "; ls )"),
        nested("$(", 150, ")"),
        nested("{ ", 150, "; }"),
        nested("sh -c \"", 150, "\""),
        nested("if ls; then ", 150, "; fi"),
        nested("${a[", 30, "]}"),
        format!("cat {}", "<<E ".repeat(500)),
        format!("{}x", "cat <<'E'\n".repeat(2000)),
    ];
    shapes.extend(
        [
            "rm 'x",
            "rm \"x",
            "rm `x",
            "rm $(x",
            "rm ${x",
            "cat <<END\nrm x",
            "rm x \\",
            "rm\u{a0}x",
            "r\u{200b}m x",
            "\u{202e}x mr",
            "rm x\r\ntouch y",
            "\u{1b}[2Jrm x",
            "ｒｍ x",
            "rм x",
            "./ls\u{301}",
            "rm x\u{0}y",
        ]
        .map(str::to_owned),
    );
    shapes
}

#[test]
fn every_hostile_line_is_answered_and_none_is_run() {
    let place = Place::new();
    place.settings(
        "[limits]\nmistakes = \"off\"\n[permissions]\nask = [\"effect(process_spawn)\", \"effect(file_delete)\"]\n",
    );
    let shapes = shapes();
    let made: Vec<_> = shapes.iter().map(|line| shell(line)).collect();
    let model = place.script("wears", &turns(&[calls(&made), says("done")]));
    let before = place.world();
    let (code, events, report) = place.stream(&model, &["go"]);
    assert_eq!(code, 4, "{report:#}");
    let told = told(&events);
    assert_eq!(told.len(), shapes.len());
    for (told, line) in told.iter().zip(&shapes) {
        let line: String = line.chars().take(40).collect();
        assert!(
            told.error && told.how != "performed",
            "{line:?}: {} {}",
            told.how,
            told.text
        );
    }
    assert_eq!(place.world(), before);
    assert_eq!(place.stance(&["audit", "verify"]).code, 0);
}
