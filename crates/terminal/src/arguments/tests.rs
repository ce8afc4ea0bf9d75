//! Command lines that are taken, and those that are refused.

use insta::assert_snapshot;

use super::run::Budget;
use super::*;

fn read(line: &[&str]) -> Result<Arguments, String> {
    Arguments::read(line.iter().map(Into::into)).map_err(|error| error.to_string())
}

fn run(line: &[&str]) -> RunArguments {
    match read(line).unwrap().act {
        Some(Act::Run(arguments)) => *arguments,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_declaration_is_sound() {
    use clap::CommandFactory as _;
    Arguments::command().debug_assert();
}

#[test]
fn a_prompt_has_three_spellings() {
    assert_eq!(run(&["run", "fix it"]).prompt.as_deref(), Some("fix it"));
    assert_eq!(run(&["run", "-p", "fix it"]).prompt_flag.as_deref(), Some("fix it"));
    let bare = run(&["-p", "fix it", "--json"]);
    assert_eq!((bare.prompt_flag.as_deref(), bare.json), (Some("fix it"), true));
    assert_eq!(run(&["run", "-"]).prompt.as_deref(), Some("-"));
}

#[test]
fn a_typo_is_never_a_prompt() {
    let error = read(&["inbx"]).unwrap_err();
    assert!(error.contains("inbox"), "{error}");
    let error = read(&["run", "x", "--mode", "plam"]).unwrap_err();
    assert!(error.contains("did you mean `plan`?"), "{error}");
    let error = read(&["run", "x", "--mode", "review"]).unwrap_err();
    assert!(error.contains("review cannot be chosen"), "{error}");
}

#[test]
fn flags_that_contradict_each_other_are_refused() {
    for line in [
        &["run", "x", "--json", "--stream-json"][..],
        &["run", "x", "--mode", "plan", "--space", "s1"],
        &["run", "--resume", "last", "--mode", "plan"],
        &["run", "x", "--read-only", "--yolo"],
        &["run", "x", "--read-only", "--check", "true"],
        &["run", "x", "-p", "y"],
        &["run", "--resume", "last", "--dry-run"],
        &["run", "x", "--provider", "anthropic"],
        &["run", "x", "--base-url", "http://localhost"],
        &["inbox", "--json", "answer", "q", "yes"],
        &["inbox", "answer", "q", "yes", "--json"],
        &["explain", "read_file", "--mode", "plan", "--space", "s"],
    ] {
        assert!(read(line).is_err(), "{line:?}");
    }
}

#[test]
fn budgets_are_tokens_or_minutes() {
    let check = |word: &str| word.parse::<Budget>();
    assert_eq!(check("200k"), Ok(Budget::Tokens(200_000)));
    assert_eq!(check("200k tokens"), Ok(Budget::Tokens(200_000)));
    assert_eq!(check("2M"), Ok(Budget::Tokens(2_000_000)));
    assert_eq!(check("1500tokens"), Ok(Budget::Tokens(1500)));
    assert_eq!(check("30min"), Ok(Budget::Minutes(30)));
    assert_eq!(check("2h"), Ok(Budget::Minutes(120)));
    assert!(check("5usd").unwrap_err().contains("price"));
    for wrong in [
        "",
        "0",
        "k",
        "-3k",
        "12parsecs",
        "99999999999999999999",
        "18446744073709551615M",
    ] {
        assert!(check(wrong).unwrap_err().contains("is no budget"), "{wrong}");
    }
}

#[test]
fn a_thing_is_named_with_the_digest_it_was_shown_with() {
    let check = |word: &str| word.parse::<Named>().unwrap();
    assert_eq!(
        check("p1@abc"),
        Named {
            id: "p1".to_owned(),
            digest: Some("abc".to_owned())
        }
    );
    assert_eq!(
        check("p1"),
        Named {
            id: "p1".to_owned(),
            digest: None
        }
    );
}

/// The help of a command as a terminal of 100 columns shows it.
fn help(path: &[&str]) -> String {
    use clap::CommandFactory as _;
    let mut command = Arguments::command().term_width(100);
    command.build();
    let mut found = &mut command;
    for name in path {
        found = found.find_subcommand_mut(name).unwrap();
    }
    found.render_help().to_string()
}

#[test]
fn the_help_says_what_there_is_and_how() {
    assert_snapshot!("help", help(&[]));
    assert_snapshot!("help_run", help(&["run"]));
    assert_snapshot!("help_plan_approve", help(&["plan", "approve"]));
    assert_snapshot!("help_inbox", help(&["inbox"]));
    assert_snapshot!("help_trust", help(&["trust"]));
    assert_snapshot!("help_try", help(&["try"]));
}
