//! What a newcomer types wrongly: each error says what, why and what to do.

use crate::support::Place;

#[test]
fn a_wrong_word_is_answered_with_what_to_do() {
    let place = Place::new();
    let list = place.outside().join("none.json");
    for (words, expected) in [
        (
            &["explain", "ls", "--mode", "pln"][..],
            "name agent, plan, orchestrate or review; did you mean `plan`?",
        ),
        (&["profile", "revew"], "did you mean `review`?"),
        (
            &["conformance", "builtin", "--mode", "x"],
            "name agent, plan, orchestrate or review",
        ),
        (
            &["explain", "read_file {\"path\""],
            "hint: the whole is one word of the shell",
        ),
        (
            &["explain", "ls", "--space", "s_none"],
            "hint: `stance space list` shows",
        ),
        (
            &["policy", "set", "effect(git_psh)", "allow"],
            "hint: `stance policy list` names every effect",
        ),
        (
            &["policy", "set", "edt(x)", "deny", "--person"],
            "hint: a rule is `npm run *`, `edit(src/**)`",
        ),
        (
            &["policy", "set", "make", "maybe"],
            "a rule says allow, ask, plan or deny",
        ),
        (
            &["policy", "unset", "make"],
            "hint: `stance policy list` shows every rule",
        ),
        (&["inbox", "approve"], "<ID@DIGEST>"),
        (&["inbox", "approve", "n_none"], "hint: `stance inbox` lists what does"),
        (
            &["inbox", "answer", "q_none", "x"],
            "hint: `stance inbox` lists what does",
        ),
        (&["trust", "nowhere"], "hint: name a folder that is there"),
        (
            &["checkpoint", "diff", "c_none"],
            "hint: `stance checkpoint list` shows",
        ),
        (
            &["checkpoint", "restore", "last", "--yes"],
            "hint: `stance checkpoint list` shows",
        ),
        (&["mcp", "allow"], "<NAME@DIGEST>"),
        (&["mcp", "allow", "none@1"], "hint: `stance mcp list` shows"),
        (&["mcp", "trust", "none"], "hint: servers stand in `.mcp.json`"),
        (&["try", " "], "hint: stance try 'cargo test'"),
        (&["conformance", "other"], "[possible values: builtin]"),
        (
            &["conformance", "builtin", "--attempts", list.to_str().unwrap()],
            "hint: --attempts names a JSON file",
        ),
        (&["plan", "show", "p_none"], "hint: `stance plan list` shows"),
        (&["plan", "approve"], "<ID@DIGEST>"),
        (
            &["audit", "verify", "--head", "x"],
            "hint: `stance audit head` prints one",
        ),
        (&["polcy", "list"], "a similar subcommand exists: 'policy'"),
    ] {
        let said = place.stance(words);
        assert_eq!(said.code, 2, "{words:?}: {said:?}");
        assert!(said.err.contains(expected), "{words:?}: {}", said.err);
        assert!(said.err.starts_with("error: "), "{words:?}: {}", said.err);
    }
}

#[test]
fn broken_settings_are_named_by_file_and_line_whatever_was_asked() {
    let place = Place::new();
    place.settings("[permissions]\nalow = [\"make\"]\n");
    for words in [
        &["policy", "list"][..],
        &["policy", "set", "make", "allow", "--person"],
        &["explain", "ls"],
        &["inbox"],
        &["trust"],
        &["checkpoint", "list"],
        &["mcp", "list"],
        &["try", "ls"],
        &["conformance", "builtin"],
    ] {
        let said = place.stance(words);
        assert_eq!(said.code, 1, "{words:?}: {said:?}");
        assert!(
            said.err
                .contains("settings.toml:2: unknown key `alow` in [permissions]: did you mean `allow`?"),
            "{}",
            said.err
        );
        assert!(said.err.contains("hint: "), "{words:?}: {}", said.err);
    }
}
