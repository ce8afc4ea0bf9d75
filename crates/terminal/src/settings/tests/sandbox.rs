//! `[sandbox]`: whose word counts, and in which words something is accepted.

use super::*;

#[test]
fn the_persons_word_counts_before_the_administrators_default() {
    let settings = sound("[sandbox]\nmode = \"preferred\"\n", "", "");
    assert_eq!(
        settings.sandbox,
        Sandbox {
            mode: SandboxMode::Preferred,
            accepted: false
        }
    );
    let person = format!("[sandbox]\nmode = \"outer\"\naccept = \"{ACCEPTANCE}\"\n");
    let settings = sound("[sandbox]\nmode = \"preferred\"\n", &person, "");
    assert_eq!(
        settings.sandbox,
        Sandbox {
            mode: SandboxMode::Outer,
            accepted: true
        }
    );
    assert_eq!(sound("", "", "").sandbox, Sandbox::default());
    assert_eq!(SandboxMode::default(), SandboxMode::Required);
}

#[test]
fn other_words_and_other_files_are_faults() {
    for (managed, person, project, expected) in [
        (
            "",
            "[sandbox]\nmode = \"of\"\n",
            "",
            "person.toml:2: `of` cannot be the value of `mode`: did you mean `off`?",
        ),
        (
            "",
            "[sandbox]\naccept = \"yes\"\n",
            "",
            "person.toml:2: `accept` takes these words alone: \"approvals are not protected from programs\"",
        ),
        (
            "locked = [\"sandbox.mode\"]\n",
            "[sandbox]\nmode = \"off\"\n",
            "",
            "person.toml:2: `sandbox.mode` is locked by managed.toml:1",
        ),
    ] {
        assert_eq!(faults(managed, person, project), [expected]);
    }
    let project = faults("", "", "[sandbox]\nmode = \"off\"\n");
    assert!(
        project[0].contains("a project file does not say what programs need around them"),
        "{project:?}"
    );
}
