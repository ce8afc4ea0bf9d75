//! What a diff shows, and comments that outlive what they were about.

use proptest::prelude::*;
use stance_work::plan::{Comment, Place, PlanDraft, diff_revisions, revision_digest};

use crate::fixtures::{full_draft, key, node, plans, revision};

fn changed(edit: impl FnOnce(&mut PlanDraft)) -> String {
    let mut draft = full_draft();
    edit(&mut draft);
    diff_revisions(&revision(full_draft()), &revision(draft)).to_string()
}

#[test]
fn a_diff_names_steps_and_fields() {
    insta::assert_snapshot!(
        changed(|draft| {
            draft.goal.push_str(", always\nand fast");
            draft.nodes[0].depends_on.clear();
            draft.nodes[0].acceptance = None;
            draft.nodes[0].files = Some(vec!["src/parser.rs".into()]);
            draft.nodes.remove(1);
            draft.nodes.push(node("bench", &["fix"]));
        }),
        @r#"
    goal changed
      - │ The parser reads empty input
      + │ The parser reads empty input, always
      + │ and fast
    step look removed
      - │ Find out why it fails
    step bench added
      + │ Do bench
    step fix: depends_on changed
      - │ [
      - │   "look"
      - │ ]
      + │ []
    step fix: files changed
      - │ [
      - │   "src/parser.rs",
      - │   "tests/parser.rs"
      - │ ]
      + │ [
      + │   "src/parser.rs"
      + │ ]
    step fix: acceptance changed
      - │ The test `empty` passes
      + (none)
    "#
    );
    assert_eq!(
        changed(|draft| draft.nodes.reverse()),
        "the steps stand in another order\n"
    );
    assert_eq!(changed(|_| {}), "Nothing changed.\n");
}

#[test]
fn words_in_a_diff_cannot_leave_their_side() {
    let text = changed(|draft| draft.nodes[0].title = "x\nstep look removed\u{1b}[1A".into());
    assert_eq!(
        text,
        "step fix: title changed\n  - │ Return early on empty input\n  + │ x\n  + │ step look removed\\u{1b}[1A\n"
    );
}

#[test]
fn a_moved_base_is_a_difference_too() {
    let before = revision(full_draft());
    let mut after = before.clone();
    after.revision = 2;
    assert!(diff_revisions(&before, &after).is_empty());
    after.base.commit = Some("99".into());
    let diff = diff_revisions(&before, &after);
    assert_eq!(diff.plan[0].field, "base");
    assert_eq!(diff.plan.len(), 1);
}

#[test]
fn what_has_another_digest_is_a_difference() {
    let with = |schema: &str| {
        let mut draft = full_draft();
        draft.nodes[0].output_schema = Some(serde_json::from_str(schema).unwrap());
        revision(draft)
    };
    for (one, two, same) in [
        (r#"{"minimum":0.0}"#, r#"{"minimum":-0.0}"#, false),
        (r#"{"minimum":1}"#, r#"{"minimum":1.0}"#, false),
        (r#"{"minimum":1,"maximum":2}"#, r#"{"maximum":2,"minimum":1}"#, true),
    ] {
        let (before, after) = (with(one), with(two));
        assert_eq!(diff_revisions(&before, &after).is_empty(), same, "{one} {two}");
        assert_eq!(revision_digest(&before) == revision_digest(&after), same, "{one} {two}");
    }
}

#[test]
fn a_comment_knows_whether_its_words_are_still_there() {
    let comment = |node: Option<&str>, quote: Option<&str>| Comment {
        id: "c1".into(),
        node: node.map(key),
        quote: quote.map(str::to_owned),
        text: "why?".into(),
        author: "ada".into(),
    };
    let plan = revision(full_draft()).content;
    for (node, quote, expected) in [
        (None, None, Place::Found),
        (None, Some("reads empty"), Place::Found),
        (None, Some("cargo test"), Place::Found),
        (None, Some("signature"), Place::Found),
        (None, Some("sig nature"), Place::QuoteGone),
        (Some("fix"), None, Place::Found),
        (Some("fix"), Some("tests/parser.rs"), Place::Found),
        (Some("fix"), Some("reads empty"), Place::QuoteGone),
        (Some("gone"), Some("signature"), Place::NodeGone),
    ] {
        assert_eq!(comment(node, quote).place(&plan), expected, "{node:?} {quote:?}");
    }
}

proptest! {
    #[test]
    fn no_difference_means_the_same_digest_and_the_other_way_round(one in plans(), two in plans()) {
        let one = revision(PlanDraft::from(one.content()));
        let two = revision(PlanDraft::from(two.content()));
        prop_assert!(diff_revisions(&one, &one).is_empty());
        let diff = diff_revisions(&one, &two);
        prop_assert_eq!(diff.is_empty(), revision_digest(&one) == revision_digest(&two));
        let back = diff_revisions(&two, &one);
        prop_assert_eq!(&diff.added, &back.removed);
        prop_assert_eq!(&diff.removed, &back.added);
        prop_assert_eq!(diff.changed.len(), back.changed.len());
    }
}
