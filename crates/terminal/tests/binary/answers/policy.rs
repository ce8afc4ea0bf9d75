//! Rules: each place they stand in holds, all are listed in the order they are asked, and only an
//! operator changes them.

use serde_json::{Value, json};

use crate::support::{Place, calls, says, turns};

fn writes(place: &Place, path: &str, arguments: &[&str]) -> (i32, Value) {
    let model = place.script(
        "writes",
        &turns(&[
            calls(&[("write_to_file", json!({"path": path, "content": "new\n"}))]),
            says("done"),
        ]),
    );
    let mut all = vec!["--mode", "agent"];
    all.extend(arguments);
    all.push("write it");
    place.run(&model, &all)
}

#[test]
fn a_deny_rule_of_any_place_holds_against_every_yes() {
    let mut place = Place::new();
    let managed = place.outside().join("managed.toml");
    std::fs::write(&managed, "[permissions]\ndeny = [\"edit(managed.txt)\"]\n").unwrap();
    place
        .variables
        .push(("STANCE_MANAGED".to_owned(), managed.display().to_string()));
    place.settings("[permissions]\ndeny = [\"edit(person.txt)\"]\n");
    place.write(
        ".stance/settings.toml",
        "[permissions]\ndeny = [\"edit(project.txt)\"]\n",
    );
    let said = place.stance(&["policy", "set", "edit(kept.txt)", "deny"]);
    assert_eq!(said.code, 0, "{}", said.err);
    for (path, flags) in [
        ("managed.txt", &["--allow", "edit(managed.txt)", "--yolo"][..]),
        ("person.txt", &["--allow", "edit(person.txt)"]),
        ("project.txt", &["--allow", "edit(**)", "--yolo"]),
        ("kept.txt", &["--allow", "edit(kept.txt)"]),
        ("run.txt", &["--allow", "edit(run.txt)", "--deny", "edit(run*)"]),
    ] {
        let (_, report) = writes(&place, path, flags);
        assert_eq!(report["denials"][0]["layer"], "deny_rule", "{path}: {report:#}");
        assert!(!place.repo().join(path).exists(), "{path}");
    }
    let (_, report) = writes(&place, "free.txt", &[]);
    assert_eq!(report["denials"], json!([]));
    let listed = place.stance(&["policy", "list", "--json"]).report();
    for (rule, file) in [
        ("edit(managed.txt)", "managed.toml:2"),
        ("edit(person.txt)", "stance-home/settings.toml:2"),
        ("edit(project.txt)", ".stance/settings.toml:2"),
    ] {
        let row = listed
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["rule"] == rule)
            .unwrap();
        assert!(row["place"].as_str().unwrap().ends_with(file), "{row:#}");
        assert_eq!(row["managed"], rule == "edit(managed.txt)", "{row:#}");
    }
}

#[test]
fn a_project_nobody_trusts_tightens_and_does_not_loosen() {
    let place = Place::new();
    place.settings("[permissions]\nask = [\"edit(a.txt)\"]\n");
    place.write(
        ".stance/settings.toml",
        "[permissions]\nallow = [\"edit(a.txt)\"]\ndeny = [\"edit(b.txt)\"]\n",
    );
    for (path, layer) in [("a.txt", "no_approver"), ("b.txt", "deny_rule")] {
        let (_, report) = writes(&place, path, &[]);
        assert_eq!(report["denials"][0]["layer"], layer, "{path}: {report:#}");
    }
    let listed = place.stance(&["policy", "list", "--json"]).report();
    let listed = listed.as_array().unwrap();
    assert!(listed.iter().any(|row| row["rule"] == "edit(b.txt)"), "{listed:#?}");
}

#[test]
fn files_of_an_agents_folder_are_committed_and_changed_by_rules_that_are_listed() {
    let place = Place::new();
    place.settings("[limits]\nmistakes = \"off\"\n");
    let tracked = [
        ".claude/settings.json",
        ".codex/config.toml",
        ".stance/notes.md",
        "AGENTS.md",
    ];
    for path in tracked {
        place.write(path, "as committed\n");
    }
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "agents"]);
    let listed = place.stance(&["policy", "list", "--json"]).report();
    let rule = listed
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["rule"] == "edit(NAME)")
        .unwrap();
    assert_eq!(rule["verdict"], "ask");
    for name in [".claude", ".codex", ".stance", "agents.md"] {
        assert!(rule["names"].as_array().unwrap().contains(&json!(name)), "{rule:#}");
    }

    // What git does with them passes: staging, committing, showing.
    for path in &tracked {
        place.write(path, "changed\n");
    }
    let line = |command: &str| ("execute_command", json!({"command": command}));
    let made = [
        ("git_write", json!({"op": "stage", "paths": tracked})),
        ("git_write", json!({"op": "commit", "message": "Tell the agents"})),
        (
            "git_read",
            json!({"op": "show", "revision": "HEAD", "path": ".claude/settings.json"}),
        ),
        line("git status --short && git show HEAD:.claude/settings.json"),
        line("git checkout HEAD~1 -- .claude/settings.json"),
        line("git stash"),
        line("git switch -c side"),
        ("write_to_file", json!({"path": ".claude/new.md", "content": "new\n"})),
        line("echo new > .claude/new.md"),
    ];
    let model = place.script("agents", &turns(&[calls(&made), says("done")]));
    let run = |flags: &[&str]| {
        let words = [&["--mode", "agent", "--allow", "effect(git_commit)", "go"], flags].concat();
        let (_, events, _) = place.stream(&model, &words);
        crate::attacks::evidence::told(&events)
    };
    let told = run(&[]);
    assert!(told[..4].iter().all(|told| !told.error), "{told:#?}");
    assert_eq!(place.git(&["log", "--format=%s", "-1"]), "Tell the agents\n");
    assert_eq!(place.git(&["status", "--porcelain"]), "");
    // What a command cannot do to the repository says by what it is done.
    assert!(
        told[4..7]
            .iter()
            .all(|told| told.error && told.text.contains("git_write")),
        "{told:#?}"
    );
    // Changing one is asked about, and a yes is enough for tools and commands.
    for told in &told[7..] {
        assert!(
            told.how == "refused" && told.text.contains("configures agents"),
            "{told:?}"
        );
        assert!(told.text.contains("--allow 'edit(.claude/new.md)'"), "{told:?}");
    }
    assert!(!place.repo().join(".claude/new.md").exists());
    let told = run(&["--allow", "edit(.claude/**)"]);
    assert!(told[7..].iter().all(|told| !told.error), "{told:#?}");
    assert_eq!(place.read(".claude/new.md"), "new\n");
}

#[test]
fn every_rule_is_listed_in_the_order_it_is_asked_and_with_its_place() {
    let place = Place::new();
    place.settings("[permissions]\nallow = [\"make\"]\ndeny = [\"net(example.org)\"]\n");
    place.write(".stance/settings.toml", "[permissions]\nask = [\"edit(docs/**)\"]\n");
    place.stance(&["policy", "set", "mcp(forge/*)", "ask"]);
    let rules = place.stance(&["policy", "list", "--json"]).report();
    let rules = rules.as_array().unwrap();
    let at = |rule: &str| {
        rules
            .iter()
            .position(|row| row["rule"] == rule)
            .unwrap_or_else(|| panic!("{rule}: {rules:#?}"))
    };
    let order = [
        at("the home of Stance"),
        at("net(example.org)"),
        at("edit(docs/**)"),
        at("make"),
        at("effect(git_push)"),
        at("edit(NAME)"),
    ];
    assert!(order.is_sorted(), "{order:?}");
    assert!(at("mcp(forge/*)") < at("make"));
    let place_of = |rule: &str| rules[at(rule)]["place"].as_str().unwrap();
    assert!(place_of("make").ends_with("settings.toml:2"), "{}", place_of("make"));
    assert!(place_of("edit(docs/**)").ends_with(".stance/settings.toml:2"));
    assert!(
        rules[at("edit(NAME)")]["names"]
            .as_array()
            .unwrap()
            .contains(&json!(".github"))
    );
    assert!(rules.iter().all(|row| row["managed"] == false));
}

#[test]
fn a_rule_of_the_persons_file_is_set_and_unset_where_it_stands() {
    let place = Place::new();
    place.settings("# mine\n[permissions]\nallow = [\"make\"] # builds\n");
    assert_eq!(
        place.stance(&["policy", "set", "edit(a.txt)", "deny", "--person"]).code,
        0
    );
    let text = std::fs::read_to_string(place.stance_home().join("settings.toml")).unwrap();
    assert!(
        text.contains("# mine") && text.contains("# builds") && text.contains("deny = [\"edit(a.txt)\"]"),
        "{text}"
    );
    let (_, report) = writes(&place, "a.txt", &[]);
    assert_eq!(report["denials"][0]["layer"], "deny_rule");
    assert_eq!(place.stance(&["policy", "unset", "edit(a.txt)", "--person"]).code, 0);
    let (_, report) = writes(&place, "a.txt", &[]);
    assert_eq!(report["denials"], json!([]));
    for (words, code) in [
        (&["policy", "set", "write(x)", "allow"][..], 2),
        (&["policy", "set", "write(x)", "allow", "--person"], 2),
        (&["policy", "set", "make", "permit"], 2),
        (&["policy", "unset", "nobody"], 2),
        (&["policy", "unset", "nobody", "--person"], 2),
    ] {
        let said = place.stance(words);
        assert_eq!(said.code, code, "{words:?}: {}", said.err);
    }
}

#[test]
fn a_rule_that_allows_everything_is_not_kept() {
    let place = Place::new();
    place.settings("# mine\n");
    for rule in ["*", "net(*)", "read(**)", "mcp(*)", "edit(/**)"] {
        for kept in [&[][..], &["--person"]] {
            let said = place.stance(&[&["policy", "set", rule, "allow"], kept].concat());
            assert_eq!(said.code, 1, "{rule}: {said:?}");
            assert!(said.err.contains("would allow everything of its kind"), "{}", said.err);
            assert!(
                said.err.contains("--yolo") && said.err.contains("act_freely"),
                "{}",
                said.err
            );
        }
        // To be asked about everything is no danger.
        assert_eq!(place.stance(&["policy", "set", rule, "ask"]).code, 0);
        assert_eq!(place.stance(&["policy", "unset", rule]).code, 0);
    }
    let text = std::fs::read_to_string(place.stance_home().join("settings.toml")).unwrap();
    assert_eq!(text, "# mine\n");
}

#[test]
fn leave_to_edit_everything_ends_with_the_project() {
    let place = Place::new();
    let file = place.outside().join("a.txt");
    let path = file.to_str().unwrap();
    let (_, report) = writes(&place, path, &["--allow", "edit(**)"]);
    assert_eq!(report["denials"][0]["layer"], "no_approver", "{report:#}");
    assert!(!file.exists());
    let (_, report) = writes(&place, path, &["--allow", &format!("edit({path})")]);
    assert_eq!(
        (report["denials"].as_array().unwrap().len(), file.exists()),
        (0, true),
        "{report:#}"
    );
}

#[test]
fn a_run_sets_no_rule() {
    let mut place = Place::new();
    place.settings("# mine\n");
    place.variables.push(("STANCE_RUN".to_owned(), "r_1".to_owned()));
    for words in [
        &["policy", "set", "make", "allow"][..],
        &["policy", "set", "make", "allow", "--person"],
        &["policy", "unset", "make"],
        &["policy", "unset", "make", "--person"],
    ] {
        let said = place.stance(words);
        assert_eq!(said.code, 1, "{words:?}");
        assert!(said.err.contains("A run is never an operator"), "{}", said.err);
    }
    assert_eq!(
        std::fs::read_to_string(place.stance_home().join("settings.toml")).unwrap(),
        "# mine\n"
    );
    assert_eq!(place.stance(&["policy", "list"]).code, 0);
}

#[test]
fn a_line_is_explained_by_what_two_shells_would_do_with_it() {
    let place = Place::new();
    place.settings("[permissions]\ndeny = [\"npm publish *\"]\n");
    let explained = |words: &[&str]| {
        let said = place.stance(&[words, &["--json"]].concat());
        assert_eq!(said.code, 0, "{words:?}: {}", said.err);
        said.report()
    };
    for mode in ["plan", "review"] {
        let line = explained(&["explain", "cargo metadata", "--mode", mode]);
        assert_eq!(line["decision"], "deny", "{line:#}");
        assert!(line["effects"].as_array().unwrap().contains(&json!("process_spawn")));
        assert_eq!(line["foreign_shell"]["layer"], "ceiling", "{line:#}");
        assert_eq!(line["built_in"]["layer"], "surface", "{line:#}");
    }
    place.settings("[permissions]\ndeny = [\"npm publish *\"]\n[plan]\ntry = true\n");
    let tried = explained(&["explain", "cargo metadata", "--mode", "plan"]);
    assert_eq!(
        (&tried["tool"], &tried["decision"], &tried["foreign_shell"]["decision"]),
        (&json!("inspect_command"), &json!("allow"), &json!("deny")),
        "{tried:#}"
    );
    let agent = explained(&["policy", "probe", "npm publish now", "--mode", "agent"]);
    assert_eq!(
        (&agent["decision"], &agent["layer"]),
        (&json!("deny"), &json!("deny_rule"))
    );
    assert!(
        agent["reason"].as_str().unwrap().contains("settings.toml:2"),
        "{agent:#}"
    );
    place.write(".env", "TOKEN=abc\n");
    let read = explained(&["policy", "probe", "read_file {\"path\": \".env\"}", "--mode", "plan"]);
    assert_eq!(
        (&read["tool"], &read["decision"]),
        (&json!("read_file"), &json!("ask")),
        "{read:#}"
    );
    let tool = explained(&["explain", "write_to_file", "--mode", "plan"]);
    assert_eq!((&tool["decision"], &tool["built_in"]), (&json!("deny"), &Value::Null));
}

#[test]
fn an_explained_line_is_answered_as_its_tool_answers_the_model() {
    let place = Place::new();
    let explained = |what: &str| place.stance(&["explain", what, "--mode", "agent", "--json"]).report();
    let refused = explained("git branch foo");
    for answer in [&refused, &refused["built_in"], &refused["foreign_shell"]] {
        assert_eq!(
            (&answer["decision"], &answer["layer"]),
            (&json!("deny"), &json!("arguments"))
        );
        assert!(
            answer["reason"].as_str().unwrap().contains("use git_write"),
            "{refused:#}"
        );
    }
    let mistaken = explained("read_file {\"pth\": 1}");
    assert_eq!(mistaken["layer"], "arguments", "{mistaken:#}");
    assert!(mistaken["reason"].as_str().unwrap().contains("`pth`"), "{mistaken:#}");
    for (what, things) in [
        ("ls -la", &["run ls -la, which only reads"][..]),
        ("make", &["start a program (make)"]),
        (
            "cat a | sort",
            &["run cat a, which only reads", "run sort, which only reads"],
        ),
    ] {
        let line = explained(what);
        let said: Vec<&str> = line["things"]
            .as_array()
            .unwrap()
            .iter()
            .map(|thing| thing["what"].as_str().unwrap())
            .collect();
        assert!(things.iter().all(|thing| said.contains(thing)), "{what}: {line:#}");
        assert_eq!(line["decision"], line["built_in"]["decision"], "{what}");
    }
}

#[test]
fn a_word_that_is_no_tool_is_read_as_a_line_and_said_to_be_or_is_near_to_one() {
    let place = Place::new();
    let said = place.stance(&["explain", "nosuchtool"]);
    assert!(
        said.code == 0
            && said
                .out
                .contains("no tool is called `nosuchtool`: this is read as a shell line"),
        "{said:?}"
    );
    let said = place.stance(&["explain", "ls -la"]);
    assert!(said.code == 0 && !said.out.contains("no tool"), "{said:?}");
    for what in ["read_fil", "read_fil {\"path\": \"a\"}"] {
        let said = place.stance(&["explain", what]);
        assert!(
            said.code == 2 && said.err.contains("no tool is called `read_fil`"),
            "{said:?}"
        );
        assert!(said.err.contains("hint: near: read_file"), "{said:?}");
    }
    let said = place.stance(&["explain", " "]);
    assert!(said.code == 2 && said.err.contains("nothing is named"), "{said:?}");
}
