//! Instruction files and skills: which are found, in which order, and what is never taken for one.

use std::fs;
use std::path::Path;

use modes::Target;
use serde_json::json;
use stance_tools::Instructions;

use crate::ground::Ground;

fn paths(instructions: &Instructions) -> Vec<&str> {
    instructions.texts.iter().map(|text| text.path.as_str()).collect()
}

fn own(ground: &Ground, path: &str, text: &str) {
    let path = ground.scope.own.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

const SKILL: &str = "---\nname: release\ndescription: Makes a release.\n---\n";

#[test]
fn files_are_told_from_the_persons_own_down_to_the_folder_worked_in() {
    let mut ground = Ground::new();
    assert!(Instructions::of(&ground.scope).is_empty());
    assert_eq!(Instructions::of(&ground.scope).prompt(), "");
    own(&ground, "AGENTS.md", "Mine.\n");
    ground.write("AGENTS.md", "Root.\n");
    ground.write("CLAUDE.md", "Not beside an AGENTS.md.\n");
    ground.write("a/CLAUDE.md", "Fallback.\n");
    ground.write("a/b/AGENTS.md", "Nearest.\n");
    ground.write("a/c/AGENTS.md", "Elsewhere.\n");
    let mine = ground.scope.own.join("AGENTS.md").display().to_string();
    assert_eq!(paths(&Instructions::of(&ground.scope)), [mine.as_str(), "AGENTS.md"]);
    ground.scope.folder = ground.tree.join("a/b");
    let found = Instructions::of(&ground.scope);
    assert_eq!(
        paths(&found),
        [mine.as_str(), "AGENTS.md", "a/CLAUDE.md", "a/b/AGENTS.md"]
    );
    let prompt = found.prompt();
    let told = ["Mine.", "Root.", "Fallback.", "Nearest."].map(|words| prompt.find(words).unwrap());
    assert!(told.is_sorted(), "{prompt}");
    assert!(!prompt.contains("Elsewhere.") && !prompt.contains("Not beside"));
    assert_eq!(prompt, Instructions::of(&ground.scope).prompt());
}

#[test]
fn a_long_file_is_cut_with_a_notice_and_leaves_the_others_their_part() {
    let ground = Ground::new();
    own(&ground, "AGENTS.md", &"ä".repeat(100_000));
    ground.write("AGENTS.md", "Root.\n");
    let found = Instructions::of(&ground.scope);
    assert_eq!(found.texts[0].text.len(), 32 * 1024);
    assert_eq!(found.texts[0].left_out, 200_000 - 32 * 1024);
    let prompt = found.prompt();
    assert!(prompt.len() < 70 * 1024 && prompt.contains("Root."));
    assert!(prompt.contains("[167232 more bytes of"), "no notice");
}

#[test]
fn what_is_secret_or_outside_or_no_file_is_no_instruction() {
    let ground = Ground::new();
    ground.write(".env", "KEY=1\n");
    ground.write("inside.md", "Linked.\n");
    for target in [
        ".env",
        "../outside/secret.txt",
        "/etc/passwd",
        ".git/config",
        "AGENTS.md",
        "missing",
    ] {
        ground.link("AGENTS.md", target);
        ground.link("CLAUDE.md", target);
        assert!(Instructions::of(&ground.scope).is_empty(), "{target}");
        fs::remove_file(ground.tree.join("AGENTS.md")).unwrap();
        fs::remove_file(ground.tree.join("CLAUDE.md")).unwrap();
    }
    ground.link("AGENTS.md", "inside.md");
    assert_eq!(Instructions::of(&ground.scope).texts[0].text, "Linked.\n");
    fs::remove_file(ground.tree.join("AGENTS.md")).unwrap();
    fs::create_dir(ground.tree.join("AGENTS.md")).unwrap();
    ground.write("CLAUDE.md", "Fallback.\n");
    assert_eq!(paths(&Instructions::of(&ground.scope)), ["CLAUDE.md"]);
    fs::write(ground.outside.join("SKILL.md"), SKILL).unwrap();
    fs::create_dir_all(ground.tree.join(".stance/skills")).unwrap();
    ground.link(".stance/skills/out", &ground.outside);
    ground.link(".agents", &ground.outside);
    assert_eq!(Instructions::of(&ground.scope).skills, []);
}

#[tokio::test]
async fn skills_of_the_project_come_before_the_persons_and_are_loaded_by_name() {
    let ground = Ground::planning();
    own(&ground, "skills/release/SKILL.md", &format!("{SKILL}Mine.\n"));
    own(
        &ground,
        "skills/own/SKILL.md",
        "---\nname: own\ndescription: The person's.\n---\nOwn text.\n",
    );
    ground.write(".claude/skills/other/SKILL.md", format!("{SKILL}Third.\n"));
    ground.write(".agents/skills/release/SKILL.md", format!("{SKILL}Second.\n"));
    ground.write(".agents/skills/broken/SKILL.md", "no head\n");
    let names = || -> Vec<String> {
        let skills = Instructions::of(&ground.scope).skills;
        skills
            .into_iter()
            .map(|skill| format!("{} {}", skill.name, skill.path))
            .collect()
    };
    let mine = ground.scope.own.join("skills/own/SKILL.md").display().to_string();
    assert_eq!(
        names(),
        [
            format!("own {mine}"),
            "release .agents/skills/release/SKILL.md".to_owned()
        ]
    );
    let prompt = Instructions::of(&ground.scope).prompt();
    assert!(
        prompt.contains("* release: Makes a release.\n") && !prompt.contains("Second."),
        "{prompt}"
    );
    ground.write(".stance/skills/release/SKILL.md", format!("{SKILL}First.\n"));
    let text = ground.call("use_skill", json!({"skill_name": "release"})).await.good();
    assert_eq!(text, format!(".stance/skills/release/SKILL.md\n\n{SKILL}First."));
    let (_, targets) = ground.judged("use_skill", json!({"skill_name": "release"}));
    let path = ".stance/skills/release/SKILL.md".to_owned();
    assert_eq!(targets, [Target::Read { path }]);
    assert!(
        ground
            .call("use_skill", json!({"skill_name": "own"}))
            .await
            .good()
            .contains("Own text.")
    );
    let missing = ground.call("use_skill", json!({"skill_name": "relase"})).await.fault();
    assert_eq!(missing, "there is no skill \"relase\"; there are: own, release.");
    assert!(Path::new(&mine).is_absolute());
}
