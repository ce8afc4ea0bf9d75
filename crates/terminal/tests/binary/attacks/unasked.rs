//! What nobody was asked about in a fresh home with nobody there: nothing outside the project is written,
//! and no file of the project that a person's own tools would carry out.

use std::fs;

use serde_json::{Value, json};

use super::evidence::told;
use crate::support::{Place, calls, says, turns};

fn writes(path: &str) -> (&'static str, Value) {
    ("write_to_file", json!({"path": path, "content": "planted\n"}))
}

#[test]
fn nothing_outside_the_project_is_written_unasked() {
    let place = Place::new();
    fs::write(place.home().join(".bashrc"), "# mine\n").unwrap();
    let outside = place.outside().join("new.txt").display().to_string();
    let home = place.stance_home().display().to_string();
    let asked = ["~/notes.txt", &outside, "../outside/new.txt"];
    let never = [
        "~/.bashrc",
        "~/.profile",
        "~/.ssh/authorized_keys",
        "~/.config/autostart/evil.desktop",
        &format!("{home}/settings.toml"),
        &format!("{home}/keys/new"),
    ];
    let before = place.world();
    for path in asked.into_iter().chain(never) {
        let model = place.script("writes", &turns(&[calls(&[writes(path)]), says("done")]));
        let (code, events, report) = place.stream(&model, &["write it"]);
        assert_eq!(report["label"], "Agent", "{report:#}");
        let denied = &report["denials"][0];
        let layer = if asked.contains(&path) { "no_approver" } else { "never" };
        assert_eq!(denied["layer"], layer, "{path}: {report:#}");
        assert!(!asked.contains(&path) || code == 4, "{path}: {code}");
        assert!(told(&events)[0].error, "{path}");
    }
    assert_eq!(place.world(), before);
    assert!(!place.stance_home().join("settings.toml").exists());

    // With the dial that never asks, what is never touched stays so.
    let made: Vec<_> = never.into_iter().map(writes).collect();
    let model = place.script("freely", &turns(&[calls(&made), says("done")]));
    let (_, events, _) = place.stream(&model, &["--yolo", "write them"]);
    for (told, path) in told(&events).iter().zip(never) {
        assert_eq!(told.how, "refused", "{path}: {told:?}");
    }
    assert_eq!(place.world(), before);
}

#[test]
fn a_file_that_the_persons_tools_carry_out_is_not_written_unasked() {
    let place = Place::new();
    place.settings("[limits]\nmistakes = \"off\"\n");
    let names = [
        ".mcp.json",
        ".MCP.json",
        "src/../.mcp.json",
        "src/.mcp.json",
        ".vscode/tasks.json",
        ".vscode/settings.json",
        ".envrc",
        ".idea/workspace.xml",
        ".husky/pre-commit",
        ".githooks/pre-push",
        ".gitattributes",
        ".gitmodules",
        ".github/workflows/ci.yml",
        ".gitlab-ci.yml",
        ".devcontainer/devcontainer.json",
        "CLAUDE.md",
        "src/agents.md",
        ".claude/settings.json",
        ".stance/settings.toml",
        ".pre-commit-config.yaml",
        ".npmrc",
    ];
    let mut made: Vec<_> = names.into_iter().map(writes).collect();
    made.push(writes("src/ordinary.txt"));
    let model = place.script("configures", &turns(&[calls(&made), says("done")]));
    let (_, events, report) = place.stream(&model, &["--mode", "agent", "set it up"]);
    let denied = report["denials"].as_array().unwrap();
    assert_eq!(denied.len(), names.len(), "{report:#}");
    for (denied, name) in denied.iter().zip(names) {
        assert_eq!(denied["layer"], "no_approver", "{name}: {denied:#}");
    }
    assert!(!told(&events)[names.len()].error);
    assert_eq!(place.git(&["status", "--porcelain", "-uall"]), "?? src/ordinary.txt\n");

    // With a person there each is a question about that file.
    let model = place.script("asks", &turns(&[calls(&[writes(".mcp.json")]), says("done")]));
    let (code, _) = place.run(&model, &["--mode", "agent", "--approvals", "wait", "set it up"]);
    let waiting = place.stance(&["inbox", "--json"]).report();
    assert_eq!(code, 7);
    assert!(waiting[0].to_string().contains(".mcp.json"), "{waiting:#}");
    assert!(!place.repo().join(".mcp.json").exists());
}
