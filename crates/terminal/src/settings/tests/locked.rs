//! Keys the administrator locked, and what stands against them.

use super::*;

#[test]
fn what_is_locked_is_set_by_the_managed_file_alone() {
    let managed = "locked = [\"models.plan\",\n\"limits.tokens\", \"landing\"]\n[models.plan]\nprovider = \"anthropic\"\nmodel = \"claude-x\"\n";
    for (person, project, expected) in [
        (
            "[models.plan]\neffort = \"high\"\n",
            "",
            "person.toml:2: `models.plan.effort` is locked by managed.toml:1",
        ),
        (
            "models.plan = {effort = \"high\"}\n",
            "",
            "person.toml:1: `models.plan.effort` is locked by managed.toml:1",
        ),
        (
            "[landing]\ndefault = \"commits\"\n",
            "",
            "person.toml:2: `landing.default` is locked by managed.toml:2",
        ),
        (
            "",
            "[limits]\nminutes = 1\ntokens = 5\n",
            "checkout/.stance/settings.toml:3: `limits.tokens` is locked by managed.toml:2",
        ),
    ] {
        assert_eq!(faults(managed, person, project), [expected]);
    }
    // A name that only begins alike is another key.
    let person = "[models.default]\nprovider = \"anthropic\"\nmodel = \"y\"\n[limits]\nminutes = 5\n";
    let settings = sound(managed, person, "");
    assert_eq!(llm::fold("plan", &settings.layers).unwrap().settings.model, "claude-x");
    assert_eq!(llm::fold("agent", &settings.layers).unwrap().settings.model, "y");
}

#[test]
fn a_flag_does_not_set_what_is_locked() {
    let settings = sound("locked = [\"limits.tokens\"]\n", "", "");
    let problem = settings.locks.refuse("--budget", "limits.tokens").unwrap_err();
    assert!(
        problem
            .message
            .starts_with("`--budget`: `limits.tokens` is locked by /")
            && problem.message.ends_with("managed.toml:1."),
        "{problem}"
    );
    assert_eq!(settings.locks.refuse("--budget", "limits.minutes"), Ok(()));
    assert_eq!(settings.locks.refuse("--landing", "landing.default"), Ok(()));
}

#[test]
fn a_lock_names_a_key_and_stands_in_the_managed_file() {
    for (managed, expected) in [
        (
            "locked = [\"models.pln\"]\n",
            "managed.toml:1: `models.pln` locks nothing: unknown key `pln` in [models]: did you mean `plan`?",
        ),
        (
            "locked = [\"models.plan.efort\"]\n",
            "managed.toml:1: `models.plan.efort` locks nothing: unknown key `efort` in [models.plan]: did you mean `effort`?",
        ),
        (
            "locked = [\"permissions.allow\"]\n",
            "managed.toml:1: permissions are not locked: a rule of this file decides before every other, and its deny rules always hold",
        ),
        (
            "locked = \"models\"\n",
            "managed.toml:1: `locked` must be a list of texts in quotes, and a string stands there",
        ),
    ] {
        assert_eq!(faults(managed, "", ""), [expected]);
    }
    let everything = "locked = [\"models\", \"providers.anthropic.base_url\", \"limits\", \"autonomy\", \"landing.default\", \"plan.try\", \"trust\"]\n";
    assert!(faults(everything, "", "").is_empty());
    assert_eq!(
        faults("", "locked = [\"models\"]\n", "locked = []\n"),
        ["person.toml:1: only the administrator's file locks settings"]
    );
}
