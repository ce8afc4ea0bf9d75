//! A report calls nothing done that was not seen to be.

use std::collections::{BTreeMap, BTreeSet};

use stance_work::plan::{CheckOutcome, Report, StepRecord, StepStatus, Verdict, validate};

use crate::fixtures::{definition, full_draft, key};

fn done(files: &[&str], evidence: &[&str]) -> StepRecord {
    let words = |list: &[&str]| list.iter().map(|&word| word.to_owned()).collect();
    StepRecord {
        status: StepStatus::Done,
        run: Some("run-1".into()),
        files: words(files),
        commits: vec!["c0ffee".into()],
        evidence: words(evidence),
    }
}

fn report(fix: Option<StepRecord>, changed: &[&str], check: Option<CheckOutcome>) -> Report {
    let definition = definition(&validate(full_draft()).unwrap());
    let mut records = BTreeMap::from([(key("look"), done(&[], &[]))]);
    records.extend(fix.map(|record| (key("fix"), record)));
    let changed: BTreeSet<String> = changed.iter().map(|&file| file.to_owned()).collect();
    let outcomes = check
        .map(|outcome| ("cargo test".to_owned(), outcome))
        .into_iter()
        .collect();
    Report::assemble(&definition, &records, &changed, &outcomes)
}

fn exited(code: i32) -> CheckOutcome {
    CheckOutcome::Exited { code }
}

#[test]
fn everything_done_and_seen() {
    let report = report(
        Some(done(&["src/parser.rs"], &["test empty ... ok"])),
        &["src/parser.rs", "notes.txt"],
        Some(exited(0)),
    );
    assert_eq!(report.verdict(), Verdict::Done);
    assert!(report.not_done().is_empty());
    assert_eq!(report.untied_files, ["notes.txt"]);
    insta::assert_snapshot!(report, @r"
    Plan plan-7: done
      look (research): done, run run-1, commit c0ffee
          │ Find out why it fails
      fix (work): done, run run-1, commit c0ffee
          │ Return early on empty input
        files
          │ src/parser.rs
        in its own words
          │ test empty ... ok
      check: exit code 0
          │ cargo test
      files touched by no step
          │ notes.txt
    ");
    let stored = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&stored).unwrap(), report);
}

#[test]
fn a_claim_without_evidence_or_a_check_that_nobody_ran_is_not_success() {
    assert_eq!(
        report(Some(done(&[], &[])), &[], Some(exited(0))).verdict(),
        Verdict::Unverified
    );
    assert_eq!(
        report(Some(done(&[], &["  "])), &[], Some(exited(0))).verdict(),
        Verdict::Unverified
    );
    let unchecked = report(Some(done(&[], &["ok"])), &[], None);
    assert_eq!(unchecked.verdict(), Verdict::Unverified);
    assert!(
        unchecked.to_string().contains("check: not run, nobody ran it"),
        "{unchecked}"
    );
    let shown = report(Some(done(&[], &[])), &[], Some(exited(0))).to_string();
    assert!(shown.contains("fix (work): done, not verified"), "{shown}");
}

#[test]
fn a_failed_check_and_a_missing_step_weigh_more_than_claims() {
    assert_eq!(
        report(Some(done(&[], &["ok"])), &[], Some(exited(101))).verdict(),
        Verdict::ChecksFailed
    );
    let killed = Some(CheckOutcome::Killed {
        reason: "timeout".into(),
    });
    assert_eq!(
        report(Some(done(&[], &["ok"])), &[], killed).verdict(),
        Verdict::ChecksFailed
    );
    let missing = report(None, &[], Some(exited(101)));
    assert_eq!(missing.verdict(), Verdict::Incomplete);
    assert_eq!(
        missing.not_done(),
        [(key("fix"), "not run: it was never begun".to_owned())]
    );
    let failed = StepRecord {
        status: StepStatus::Failed {
            reason: "the model stopped\n\u{1b}[2K".into(),
        },
        ..done(&[], &["ok"])
    };
    let failed = report(Some(failed), &[], Some(exited(0)));
    assert_eq!(failed.verdict(), Verdict::Incomplete);
    let shown = failed.to_string();
    assert!(
        shown.ends_with("  not done\n      │ fix: failed: the model stopped\n      │ \\u{1b}[2K\n"),
        "{shown}"
    );
}

#[test]
fn what_was_not_approved_is_named_and_does_not_spoil_the_rest() {
    let mut report = report(Some(done(&[], &["ok"])), &[], Some(exited(0)));
    report.deferred.push(key("later"));
    assert_eq!(report.verdict(), Verdict::Done);
    assert_eq!(report.not_done(), [(key("later"), "not approved yet".to_owned())]);
}
