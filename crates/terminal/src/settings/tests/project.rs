//! What a project's file may say, what waits for trust, and which files are one at all.

use std::os::unix::fs::symlink;

use super::*;

#[test]
fn a_project_file_that_does_more_than_tighten_is_refused_with_its_line_and_the_right_place() {
    let person = "[models.default]\nprovider = \"anthropic\"\nmodel = \"claude-x\"\n[limits]\ntokens = 1000\n";
    for (project, what) in [
        (
            "\n[providers.anthropic]\nbase_url = \"http://127.0.0.1:1\"\n",
            "3: a project file does not say where `anthropic` answers",
        ),
        (
            "[providers.anthropic]\nkey_env = \"AWS_SECRET\"\n",
            "2: a project file does not name the key of `anthropic`",
        ),
        (
            "[models.plan]\nprovider = \"scripted\"\nmodel = \"s.json\"\n",
            "2: a project file does not put a script or a recording in the place of a model",
        ),
        (
            "[autonomy]\ndefault = \"act_freely\"\n",
            "2: a project file does not set how freely agents act",
        ),
        (
            "[landing]\ndefault = \"commits\"\n",
            "2: a project file does not choose how work lands",
        ),
        (
            "[plan]\ntry = true\n",
            "2: a project file does not let Plan try commands",
        ),
        ("[network]\n", "1: a project file does not open the network"),
        (
            "[sandbox]\nmode = \"off\"\n",
            "2: a project file does not say what programs need around them",
        ),
        (
            "[trust]\nfolders = [\"/\"]\n",
            "2: a project file vouches for no folder",
        ),
        (
            "[limits]\ntokens = 1001\n",
            "2: a project file only tightens, and this `tokens` is wider than what holds without it",
        ),
        (
            "[limits]\nmistakes = \"off\"\n",
            "2: a project file only tightens, and this `mistakes` is wider than what holds without it",
        ),
        (
            "[limits]\nminutes = 61\n",
            "2: a project file only tightens, and this `minutes` is wider than what holds without it",
        ),
        (
            "[limits]\nretries = 6\n",
            "2: a project file only tightens, and this `retries` is wider than what holds without it",
        ),
        (
            "[limits]\nretry_pause_ms = 501\n",
            "2: a project file only tightens, and this `retry_pause_ms` is wider than what holds without it",
        ),
        (
            "[mcp.servers.notes]\ncommand = \"notes\"\n",
            "2: a project file does not set `mcp.servers.notes.command`",
        ),
    ] {
        assert_eq!(
            faults("", person, project),
            [format!(
                "checkout/.stance/settings.toml:{what}; it belongs in person.toml"
            )],
            "{project}"
        );
    }
    // What no version lets a project file say is an unknown key like any other.
    for project in ["[inspection]\n", "[environment]\npass = [\"TOKEN\"]\n", "[[hooks]]\n"] {
        let all = faults("", person, project);
        assert!(
            all[0].starts_with("checkout/.stance/settings.toml:1: unknown key"),
            "{all:?}"
        );
    }
}

#[test]
fn a_provider_is_the_projects_to_use_only_when_the_person_named_it() {
    let project = "[models.plan]\nprovider = \"anthropic\"\nmodel = \"claude-y\"\n";
    let refused = faults("", "", project);
    assert_eq!(
        refused,
        [
            "checkout/.stance/settings.toml:2: you have not configured the provider `anthropic`; it belongs in person.toml"
        ]
    );
    for (managed, person) in [
        ("", "[providers.anthropic]\n"),
        ("[models.agent]\nprovider = \"anthropic\"\nmodel = \"x\"\n", ""),
    ] {
        let settings = sound(managed, person, project);
        assert_eq!(llm::fold("plan", &settings.layers).unwrap().settings.model, "claude-y");
    }
}

#[test]
fn rules_that_allow_wait_for_trust_in_their_very_content() {
    let part = |project: &str| {
        let settings = sound("", "", project);
        assert!(settings.rules.iter().all(|rule| rule.verdict > Verdict::Plan));
        settings.parts.into_iter().next()
    };
    assert_eq!(part("[permissions]\ndeny = [\"rm *\"]\n"), None);
    let first =
        part("[permissions]\nplan = [\"edit(**)\"]\nallow = [\"npm run *\", \"a \\\"b\\\"\"]\ndeny = [\"rm *\"]\n")
            .unwrap();
    assert_eq!(
        first.content,
        "allow \"a \\\"b\\\"\"\nallow \"npm run *\"\nplan \"edit(**)\""
    );
    assert!(first.rules[1].place.ends_with("settings.toml:3"), "{first:?}");
    // What does not allow, and the order, are no part of it.
    let same = part("[permissions]\nallow = [\"a \\\"b\\\"\", \"npm run *\"]\nplan = [\"edit(**)\"]\n").unwrap();
    assert_eq!(same.content, first.content);
    let other = part("[permissions]\nallow = [\"edit(**)\"]\n").unwrap();
    assert_ne!(other.digest(), first.digest());
}

#[test]
fn a_project_file_is_a_plain_file_of_the_project_and_nothing_is_waited_for() {
    let there = layout("", "", "");
    let project = there.places.project();
    let outside = there.root.path().join("outside.toml");
    fs::write(&outside, "[limits]\ntokens = 1\n").unwrap();
    let refused = |why: &str| {
        let message = load(&there.places).unwrap_err().message;
        assert!(message.contains(why) && message.contains("settings.toml"), "{message}");
        fs::remove_file(&project).or_else(|_| fs::remove_dir(&project)).unwrap();
    };
    for target in [outside.as_path(), Path::new("/nonexistent"), Path::new("/dev/zero")] {
        symlink(target, &project).unwrap();
        refused("this is a link");
    }
    fs::create_dir(&project).unwrap();
    refused("it is no plain file");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &project,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    refused("it is no plain file");
    fs::File::create(&project).unwrap().set_len(1 << 30).unwrap();
    refused("larger than 262144 bytes");
    fs::write(&project, b"[limits]\n# caf\xe9\n").unwrap();
    refused("it is no UTF-8 text");
    fs::write(&project, format!("limits = {}", "[".repeat(100_000))).unwrap();
    assert!(load(&there.places).unwrap().faults[0].what.contains("no TOML"));

    fs::remove_dir_all(project.parent().unwrap()).unwrap();
    symlink(there.root.path(), project.parent().unwrap()).unwrap();
    fs::rename(&outside, there.root.path().join("settings.toml")).unwrap();
    refused_folder(&there);
}

fn refused_folder(there: &Layout) {
    let message = load(&there.places).unwrap_err().message;
    assert!(message.contains("this is a link"), "{message}");
}

#[test]
fn a_folder_that_the_person_or_the_administrator_names_is_vouched_for() {
    let vouched = |managed: &str, person: &str| {
        let there = layout(managed, person, "[permissions]\nallow = [\"npm run *\"]\n");
        let folder = there.places.checkout.display().to_string();
        let parent = there.root.path().display().to_string();
        let filled = |text: &str| text.replace("CHECKOUT", &folder).replace("PARENT", &parent);
        fs::write(&there.places.managed, filled(managed)).unwrap();
        fs::write(&there.places.person, filled(person)).unwrap();
        let settings = load(&there.places).unwrap().sound().unwrap();
        let place = settings.parts[0].vouched.clone()?;
        Some(place.rsplit('/').next().unwrap().to_owned())
    };
    assert_eq!(vouched("", ""), None);
    assert_eq!(
        vouched("", "[trust]\nfolders = [\n\"/nowhere\",\n\"CHECKOUT/../checkout\"]\n").as_deref(),
        Some("person.toml:4")
    );
    assert_eq!(
        vouched("[trust]\nfolders = [\"CHECKOUT\"]\n", "").as_deref(),
        Some("managed.toml:2")
    );
    // Only the folder itself is meant, not whatever lies beneath or above it.
    assert_eq!(
        vouched("", "[trust]\nfolders = [\"PARENT\", \"CHECKOUT/.stance\"]\n"),
        None
    );
    assert_eq!(
        faults("", "[trust]\nfolders = [\"~/work\"]\n", ""),
        ["person.toml:2: a folder to trust is named from the root, with `/` in front"]
    );
}
