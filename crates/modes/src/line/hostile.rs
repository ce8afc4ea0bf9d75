//! Lines that are made to wear a reader out: what opens and never ends, what nests and repeats, as long as
//! a line can be. Each has a reading, on a stack as small as a thread's.

use proptest::prelude::*;
use proptest::sample::select;

use super::bounds::openings;
use super::tests::at;

/// What opens something, or can stand in a row.
const REPEATED: &[&str] = &[
    "(",
    "( ",
    "((",
    "$(",
    "$((",
    "`",
    "{ ",
    "[[ ",
    "[",
    "${",
    "${x:-",
    "${a[",
    "${!a",
    "${a@",
    "${a//",
    "<(",
    ">(",
    "\"",
    "'",
    "$'",
    "\"$(",
    "\"`",
    "\\",
    "! ",
    "if ",
    "while ",
    "case x in ",
    "case x in a) ",
    "for a in b; do ",
    "function f { ",
    "f() { ",
    "coproc ",
    "time ",
    "{a,",
    "{1..",
    "<<E ",
    "<<-E\n",
    "<<'E'\n",
    "<<<",
    "a=(",
    "a[",
    "$[",
    "&& ",
    "| ",
    "|&",
    ";",
    "&",
    "\n",
    "<",
    ">",
    "&>",
    "2>",
    "99999999>",
    "#",
    "~",
    "*",
    "?(",
    "a b ",
    "a=b ",
    "$a",
    "é",
    "\u{202e}",
    "\0",
    "\r",
    "\t",
    ")",
    "))",
    "}",
    "]]",
    "fi ",
    "done ",
    "esac ",
    "| cat ",
    "; ls ",
    "&& ls ",
    "$(ls) ",
    "\"a\" ",
    "a\\\n",
    "cat <<E\nE\n",
    "{a,b}",
    "(ls) | ",
    "env ",
    "xargs ",
    "timeout 1 ",
    "nice ",
    "find . -exec ",
    "sh -c '",
    "eval ",
    "command ",
    "cd x && ",
    "cd x || ",
    "git -C x ",
    "../",
    "[a-",
    "awk '{",
];

/// What encloses something.
const PAIRS: &[(&str, &str)] = &[
    ("(", ")"),
    ("( ", "; ls )"),
    ("$(", ")"),
    ("\"$(", ")\""),
    ("{ ", "; }"),
    ("${x:-", "}"),
    ("\"${x:-\"", "\"}\""),
    ("${a[", "]}"),
    ("$((", "))"),
    ("<(", ")"),
    ("if ls; then ", "; fi"),
    ("if true; then :; elif ", "; then :; fi"),
    ("while ls; do ", "; done"),
    ("case x in a) ", ";; esac"),
    ("[[ ( ", " ) ]]"),
    ("f() { ", "; }"),
    ("sh -c \"", "\""),
    ("a=(", ")"),
    ("cd a && ", ""),
    ("time ", ""),
    ("nice ", ""),
    ("find . -exec ", " \\;"),
];

/// A thread of a server has no larger one.
const SMALL: usize = 2 * 1024 * 1024;

/// Reads lines where they are read in a run: on a thread.
fn read(lines: Vec<String>) {
    let reader = move || lines.iter().for_each(|line| drop(at(line)));
    let thread = std::thread::Builder::new().stack_size(SMALL).spawn(reader);
    thread.unwrap().join().unwrap();
}

#[test]
fn what_repeats_is_read() {
    for &piece in REPEATED {
        let times = [30, 199, 4000, 64 * 1024].map(|times| times.min(64 * 1024 / piece.len()));
        read(times.into_iter().map(|times| piece.repeat(times)).collect());
    }
}

#[test]
fn what_nests_is_read() {
    for &(open, close) in PAIRS {
        let nested = |depth: usize| format!("{}ls{}", open.repeat(depth), close.repeat(depth));
        read([5, 12, 24, 50, 99, 199, 3000].map(nested).into());
    }
}

#[test]
fn what_the_grammar_tries_without_end_is_not_given_to_it() {
    for line in [
        "(".repeat(11),
        "( \\\n".repeat(11),
        format!("x$({}", "( (".repeat(6)),
        "${a[".repeat(3),
    ] {
        assert_eq!(openings(&line), Err("it nests too deeply".to_owned()), "{line}");
    }
    for line in [
        "(ls) && (ls) || (ls)",
        "$(ls $(pwd)) $((1))",
        "( (ls); (ls) )",
        "${a[0]} ${a[1]}",
    ] {
        assert!(openings(line).is_ok(), "{line}");
    }
    let commands = "nice ".repeat(40) + "rm x";
    assert_eq!(at(&commands).opaque(), Some("it nests too deeply"));
}

proptest! {
    #[test]
    fn what_is_put_together_of_all_that_is_read(pieces in prop::collection::vec(select(REPEATED), 0..120)) {
        at(&pieces.concat());
    }
}
