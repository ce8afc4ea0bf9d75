//! How freely an agent acts is a value of its own beside the mode: stored, shown, and with an effect
//! that every word of the settings and every flag has.

use serde_json::json;

use super::ground::decided;
use super::keyboard::Keyboard;
use super::one_mode::space;
use crate::support::{Place, calls, one_step_plan};

#[test]
fn mode_and_autonomy_are_two_values_in_whatever_order_they_are_set() {
    let place = Place::new();
    let tries = json!({"turns": [
        calls(&[("execute_command", json!({"command": "touch asked.txt"})), ("write_to_file", json!({"path": "plain.txt", "content": "x\n"}))]),
        calls(&[("submit_plan", one_step_plan("Greet", "greet", &["HELLO.md"], &[])), ("attempt_completion", json!({"result": "done"}))]),
    ]});
    let model = place.script("matrix", &json!({"runs": vec![tries; 16]}));
    let level = |word: &str| {
        place.settings(&format!(
            "[autonomy]\ndefault = \"{word}\"\n[permissions]\nask = [\"effect(process_spawn)\"]\n"
        ));
    };
    let agent = [
        (
            "propose_only",
            [],
            "execute_command deny propose_only",
            "write_to_file deny propose_only",
        ),
        (
            "act_with_approval",
            [],
            "execute_command deny no_approver",
            "write_to_file allow built_in",
        ),
        (
            "act_freely",
            [],
            "execute_command allow act_freely",
            "write_to_file allow built_in",
        ),
    ]
    .map(|(word, flags, command, write)| (word, Vec::<&str>::from(flags), command, write))
    .into_iter()
    .chain([(
        "act_with_approval",
        vec!["--yolo"],
        "execute_command allow act_freely",
        "write_to_file allow built_in",
    )]);
    for (word, flags, command, write) in agent {
        for mode_first in [true, false] {
            for (mode, stored) in [("plan", "plan"), ("agent", "chat")] {
                if mode_first {
                    assert_eq!(place.stance(&["mode", mode]).code, 0);
                    level(word);
                } else {
                    level(word);
                    assert_eq!(place.stance(&["mode", mode]).code, 0);
                }
                let here = space(&place);
                assert_eq!(here["mode"], stored);
                let line = [&["--space", here["id"].as_str().unwrap(), "go"][..], &flags].concat();
                let (_, events, report) = place.stream(&model, &line);
                let expected = match mode {
                    "plan" => ["execute_command deny surface", "write_to_file deny surface"],
                    _ => [command, write],
                };
                assert_eq!(decided(&events)[..2], expected, "{mode} {word} {flags:?}: {report:#}");
                assert_eq!(report["mode"], stored);
            }
        }
    }
}

#[test]
fn the_thread_shows_the_level_that_is_stored_and_how_to_change_the_mode() {
    for (word, shown) in [
        ("propose_only", "refuses"),
        ("act_with_approval", "when it matters"),
        ("act_freely", "never"),
    ] {
        let place = Place::new();
        place.settings(&format!("[autonomy]\ndefault = \"{word}\"\n[plan]\ntry = false\n"));
        for _ in 0..2 {
            let mut keyboard = Keyboard::start(&place, &[]);
            keyboard
                .until(&format!("[Agent · asks: {shown} ·"))
                .types("/help")
                .until("/plan [text]")
                .types("/plan");
            keyboard
                .until(&format!("[Plan · asks: {shown} ·"))
                .types("/agent")
                .until("[Agent")
                .types("/quit");
            assert_eq!(keyboard.end().0, 0, "{word}");
        }
        assert!(
            std::fs::read_to_string(place.stance_home().join("settings.toml"))
                .unwrap()
                .contains(word)
        );
    }
}

#[test]
fn every_word_of_the_permissions_has_an_effect_and_others_are_errors() {
    let place = Place::new();
    let model = place.script(
        "words",
        &json!({"runs": vec![json!({"turns": [
            calls(&[("write_to_file", json!({"path": "a.txt", "content": "x\n"})), ("execute_command", json!({"command": "frobnicate now"}))]),
            calls(&[("attempt_completion", json!({"result": "done"}))]),
        ]}); 8]}),
    );
    let check = |permissions: &str, flags: &[&str], expected: [&str; 2]| {
        place.settings(&format!("[permissions]\n{permissions}\n"));
        let (_, events, report) = place.stream(&model, &[&["--mode", "agent", "go"], flags].concat());
        assert_eq!(decided(&events)[..2], expected, "{permissions} {flags:?}: {report:#}");
        let _ = std::fs::remove_file(place.repo().join("a.txt"));
    };
    let (write, command) = ("write_to_file allow built_in", "execute_command allow built_in");
    check("", &[], [write, command]);
    check(
        "deny = [\"edit(a.txt)\", \"frobnicate *\"]",
        &[],
        ["write_to_file deny deny_rule", "execute_command deny deny_rule"],
    );
    check(
        "ask = [\"edit(a.txt)\", \"frobnicate *\"]",
        &[],
        ["write_to_file deny no_approver", "execute_command deny no_approver"],
    );
    check("plan = [\"edit(a.txt)\"]", &[], ["write_to_file deny rule", command]);
    check(
        "ask = [\"effect(process_spawn)\"]\nallow = [\"edit(a.txt)\", \"frobnicate *\"]",
        &[],
        ["write_to_file allow rule", "execute_command allow rule"],
    );
    check(
        "",
        &["--deny", "edit(a.txt)", "--deny", "frobnicate *"],
        ["write_to_file deny deny_rule", "execute_command deny deny_rule"],
    );
    check(
        "ask = [\"edit(a.txt)\", \"effect(process_spawn)\"]",
        &["--allow", "edit(a.txt)", "--allow", "frobnicate now"],
        ["write_to_file allow rule", "execute_command allow rule"],
    );
    check(
        "ask = [\"edit(a.txt)\", \"effect(process_spawn)\"]",
        &["--yolo"],
        ["write_to_file allow act_freely", "execute_command allow act_freely"],
    );

    for (settings, near) in [
        ("[permissions]\nalow = []\n", "allow"),
        ("[mode]\ndefault = \"plan\"\n", "models"),
    ] {
        place.settings(settings);
        let said = place.stance(&["run", "--json", "--model", &model, "--mode", "agent", "go"]);
        assert_eq!(said.code, 1, "{}", said.out);
        assert!(
            said.err.contains("settings.toml:") && said.err.contains(near),
            "{}",
            said.err
        );
        assert_eq!(
            std::fs::read_to_string(place.stance_home().join("settings.toml")).unwrap(),
            settings
        );
    }
}
