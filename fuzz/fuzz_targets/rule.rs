//! Any text as a rule: it is one, or the error says why not; and a rule that is one says what it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use modes::{Rule, RuleText, Scope, Verdict};

fuzz_target!(|text: &str| {
    let source = RuleText {
        scope: Scope::Person,
        verdict: Verdict::Deny,
        text: text.to_owned(),
        place: "settings.toml:1".to_owned(),
    };
    match Rule::parse(source.clone()) {
        Ok(rule) => assert_eq!(rule.source().text, source.text),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
