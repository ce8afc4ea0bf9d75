//! What two digests being equal means.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use stance_modes::{
    Approver, Autonomy, Built, Cause, Effect, Inspection, ProposedCall, Role, RuleText, RunRecipe, Scope, Target,
    Verdict, WallsStanding, after_approval, canonical, descriptor, digest, run_spec,
};

use crate::drawn::{call, recipe, spec};

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("\\PC{0,4}", inner, 0..4).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.iter()
                .rev()
                .map(|(key, value)| (key.clone(), reversed(value)))
                .collect::<Map<_, _>>(),
        ),
        Value::Array(items) => items.iter().map(reversed).collect(),
        plain => plain.clone(),
    }
}

proptest! {
    #[test]
    fn the_order_of_keys_says_nothing(value in value()) {
        prop_assert_eq!(canonical(&value), canonical(&reversed(&value)));
    }

    #[test]
    fn a_canonical_text_reads_back_as_the_value(value in value()) {
        let text = canonical(&value);
        let read: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(canonical(&read), text);
    }

    #[test]
    fn two_values_share_a_digest_only_when_they_are_one(a in value(), b in value()) {
        prop_assert_eq!(digest(&a) == digest(&b), canonical(&a) == canonical(&b));
        let digest = digest(&a);
        prop_assert!(digest.len() == 64 && digest.chars().all(|c| c.is_ascii_hexdigit()));
    }

    #[test]
    fn a_recipe_comes_back_from_the_journal_as_the_same_run(recipe in recipe()) {
        let stored = serde_json::to_string(&recipe).unwrap();
        let read: RunRecipe = serde_json::from_str(&stored).unwrap();
        prop_assert_eq!(&read, &recipe);
        let (again, before) = (spec(read), spec(recipe));
        prop_assert_eq!(again.digest(), before.digest());
    }

    #[test]
    fn a_call_digest_covers_every_part_of_the_call(call in call()) {
        let same = |other: ProposedCall| other.digest() == call.proposed().digest();
        prop_assert!(same(call.proposed()));
        prop_assert!(!same(call.proposed().with_evidence("object", "1")));
        prop_assert!(!same(call.proposed().with_standing("object", "1")));
        let target = Target::Host { host: "one.more".to_owned() };
        prop_assert!(!same(call.proposed().with_target(target)));
        for effect in Effect::ALL {
            let more = call.proposed().with_effect(effect);
            prop_assert_eq!(more.effects() == call.proposed().effects(), same(more));
        }
    }
}

#[test]
fn a_call_id_is_no_part_of_what_is_answered() {
    let tool = descriptor("read_file").unwrap();
    let digest = |id: &str| ProposedCall::new(tool, id, json!({"path": "a"})).digest();
    assert_eq!(digest("one"), digest("two"));
}

#[test]
fn the_digest_of_a_run_changes_with_whatever_decides() {
    let step = |files, read_only| Role::Step { files, read_only };
    let plain = RunRecipe {
        mode: after_approval(),
        chain: Vec::new(),
        role: Role::Main,
        read_only_once: false,
        autonomy: Autonomy::ActWithApproval,
        approver: Approver::Person,
        walls: WallsStanding::Proven,
        inspection: Inspection::On,
        rules: Vec::new(),
        hosts: Vec::new(),
        answers: Vec::new(),
    };
    let rule = |scope, verdict, text: &str| {
        vec![RuleText {
            scope,
            verdict,
            text: text.to_owned(),
            place: "settings.toml:1".to_owned(),
        }]
    };
    let of = |change: &dyn Fn(&mut RunRecipe)| {
        let mut recipe = plain.clone();
        change(&mut recipe);
        spec(recipe).digest().to_owned()
    };
    let planning = stance_modes::Mode::chosen("plan").unwrap();
    let mut digests = vec![
        of(&|_| {}),
        of(&|recipe| recipe.mode = planning),
        of(&|recipe| recipe.chain = vec![Cause::ReadOnlyRun]),
        of(&|recipe| recipe.role = step(None, false)),
        of(&|recipe| recipe.role = step(None, true)),
        of(&|recipe| recipe.role = step(Some(vec![]), false)),
        of(&|recipe| recipe.role = step(Some(vec!["src".to_owned()]), false)),
        of(&|recipe| recipe.read_only_once = true),
        of(&|recipe| recipe.autonomy = Autonomy::ActFreely),
        of(&|recipe| recipe.autonomy = Autonomy::ProposeOnly),
        of(&|recipe| recipe.approver = Approver::Later),
        of(&|recipe| recipe.approver = Approver::Nobody),
        of(&|recipe| recipe.walls = WallsStanding::Absent),
        of(&|recipe| recipe.inspection = Inspection::Off),
        of(&|recipe| recipe.inspection = Inspection::Unasked),
        of(&|recipe| recipe.inspection = Inspection::Unproven),
        of(&|recipe| recipe.rules = rule(Scope::Run, Verdict::Allow, "effect(git_push)")),
        of(&|recipe| recipe.rules = rule(Scope::Person, Verdict::Allow, "effect(git_push)")),
        of(&|recipe| recipe.rules = rule(Scope::Run, Verdict::Ask, "effect(git_push)")),
        of(&|recipe| recipe.rules = rule(Scope::Run, Verdict::Allow, "effect(git_commit)")),
        run_spec(plain.clone(), &Built::new(["read_file", "ask_user"]).unwrap())
            .unwrap()
            .digest()
            .to_owned(),
    ];
    let count = digests.len();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), count);
    // A cause that narrows nothing decides nothing.
    assert_eq!(
        of(&|recipe| recipe.chain = vec![Cause::Run(after_approval())]),
        of(&|_| {})
    );
}
