//! Folding layers into the settings of one mode, and what may never leak between modes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::collections::BTreeMap;

use proptest::prelude::*;
use stance_llm::{DEFAULT_TABLE, Effective, Effort, Given, Layer, ModelSettings, Origin, SetupError, Table, fold};

const MODES: [&str; 4] = ["agent", "orchestrate", "plan", "review"];

fn given<T>(value: T, file: &str, line: u32) -> Given<T> {
    Given {
        value,
        file: Some(file.into()),
        line: Some(line),
    }
}

fn pair(name: &str, line: u32) -> Table {
    Table {
        provider: Some(given(format!("{name}-provider"), "a.toml", line)),
        model: Some(given(format!("{name}-model"), "a.toml", line + 1)),
        ..Table::default()
    }
}

fn layer(name: &str, tables: impl IntoIterator<Item = (&'static str, Table)>) -> Layer {
    Layer {
        name: name.into(),
        tables: tables.into_iter().map(|(mode, table)| (mode.into(), table)).collect(),
    }
}

#[test]
fn a_mode_speaks_before_the_default_through_all_layers() {
    let layers = [
        layer(
            "project",
            [(
                DEFAULT_TABLE,
                Table {
                    effort: Some(given(Effort::Max, "p.toml", 3)),
                    max_output: Some(given(9_000, "p.toml", 4)),
                    ..pair("project", 1)
                },
            )],
        ),
        layer(
            "person",
            [
                (
                    "plan",
                    Table {
                        effort: Some(given(Effort::Low, "u.toml", 8)),
                        ..Table::default()
                    },
                ),
                (
                    DEFAULT_TABLE,
                    Table {
                        max_output: Some(given(1_000, "u.toml", 2)),
                        temperature: Some(given(0.5, "u.toml", 3)),
                        ..pair("person", 20)
                    },
                ),
            ],
        ),
    ];
    let plan = fold("plan", &layers).unwrap();
    assert_eq!(
        plan.settings,
        ModelSettings {
            effort: Some(Effort::Low),
            max_output: Some(9_000),
            temperature: Some(0.5),
            ..ModelSettings::new("project-provider", "project-model")
        }
    );
    let from = |key: &str| plan.origins.get(key).map(ToString::to_string);
    assert_eq!(from("effort").as_deref(), Some("u.toml:8 [models.plan]"));
    assert_eq!(from("max_output").as_deref(), Some("p.toml:4 [models.default]"));
    assert_eq!(from("temperature").as_deref(), Some("u.toml:3 [models.default]"));
    assert_eq!(from("model").as_deref(), Some("a.toml:2 [models.default]"));
    assert_eq!(from("thinking_budget"), None);
    assert_eq!(plan.origins["effort"].layer, "person");

    let agent = fold("agent", &layers).unwrap();
    assert_eq!(agent.settings.effort, Some(Effort::Max));
}

#[test]
fn provider_and_model_travel_together() {
    let layers = [
        layer("agent", [("plan", pair("weak-but-of-the-mode", 1))]),
        layer("person", [(DEFAULT_TABLE, pair("default", 5))]),
    ];
    let plan = fold("plan", &layers).unwrap().settings;
    assert_eq!(plan.provider, "weak-but-of-the-mode-provider");
    assert_eq!(plan.model, "weak-but-of-the-mode-model");
    let review = fold("review", &layers).unwrap().settings;
    assert_eq!(review.model, "default-model");
}

#[test]
fn half_a_pair_is_an_error_where_it_stands() {
    let half = |table| {
        let layers = [
            layer("person", [(DEFAULT_TABLE, pair("whole", 1))]),
            layer("managed", [("plan", table)]),
        ];
        // Other modes do not suffer.
        assert!(fold("agent", &layers).is_ok());
        fold("plan", &layers).unwrap_err().to_string()
    };
    assert_eq!(
        half(Table {
            model: Some(given("m".into(), "m.toml", 7)),
            ..Table::default()
        }),
        "m.toml:7 [models.plan]: `model` is set without `provider`; the two travel together"
    );
    assert_eq!(
        half(Table {
            provider: Some(Given {
                value: "p".into(),
                file: None,
                line: None
            }),
            ..Table::default()
        }),
        "managed [models.plan]: `provider` is set without `model`; the two travel together"
    );
}

#[test]
fn no_model_at_all_is_an_error() {
    let layers = [layer("person", [("plan", pair("plan", 1))])];
    let error = fold("review", &layers).unwrap_err();
    assert_eq!(error, SetupError::NoModel { mode: "review".into() });
    assert_eq!(
        error.to_string(),
        "no layer sets `provider` and `model` in [models.review] or [models.default]"
    );
}

#[test]
fn effort_words_read_and_write() {
    for effort in Effort::ALL {
        assert_eq!(effort.word().parse(), Ok(effort));
        assert_eq!(
            serde_json::to_string(&effort).unwrap(),
            format!("\"{}\"", effort.word())
        );
    }
    assert!(Effort::ALL.is_sorted());
    assert_eq!(
        "hihg".parse::<Effort>().unwrap_err().to_string(),
        "`hihg` is no effort; one of: none, minimal, low, medium, high, xhigh, max"
    );
}

#[test]
fn arithmetic_no_model_could_accept_is_changed_and_told() {
    let asked = |budget, output| ModelSettings {
        thinking_budget: budget,
        max_output: output,
        ..ModelSettings::new("p", "m")
    };
    let fitted = asked(Some(5_000), Some(5_000)).fit(None);
    assert_eq!(fitted.settings, asked(Some(4_000), Some(5_000)));
    assert_eq!(fitted.adjustments.len(), 1);
    assert_eq!(fitted.adjustments[0].key, "thinking_budget");
    assert_eq!(fitted.adjustments[0].asked, "5000");
    assert_eq!(fitted.adjustments[0].used, "4000");

    let fitted = asked(Some(4_999), Some(5_000)).fit(None);
    assert_eq!(fitted.settings, asked(Some(4_999), Some(5_000)));
    assert_eq!(fitted.adjustments, []);

    // The model's own limit counts when nobody set one, and when somebody set a larger one.
    let fitted = asked(Some(8_000), None).fit(Some(5_000));
    assert_eq!(fitted.settings, asked(Some(4_000), None));
    let fitted = asked(Some(8_000), Some(9_000)).fit(Some(5_000));
    assert_eq!(fitted.settings, asked(Some(4_000), Some(5_000)));
    assert_eq!(fitted.adjustments.len(), 2);

    assert_eq!(asked(Some(3), Some(1)).fit(None).settings, asked(None, Some(1)));
}

fn optional<T: std::fmt::Debug + Clone + 'static>(
    values: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Option<Given<T>>> {
    prop::option::of((values, 1_u32..100).prop_map(|(value, line)| given(value, "f.toml", line)))
}

prop_compose! {
    fn tables()(
        names in prop::option::of(("[ab]", "[cd]", 1_u32..100)),
        effort in optional(prop::sample::select(Effort::ALL.to_vec())),
        thinking_budget in optional(0_u64..9),
        max_output in optional(0_u64..9),
        temperature in optional(0.0..1.0),
    ) -> Table {
        let (provider, model) = names
            .map(|(provider, model, line)| {
                (given(provider, "f.toml", line), given(model, "f.toml", line))
            })
            .unzip();
        Table { provider, model, effort, thinking_budget, max_output, temperature }
    }
}

fn layers() -> impl Strategy<Value = Vec<Layer>> {
    let names = prop::sample::select([&MODES[..], &[DEFAULT_TABLE]].concat());
    let layer = (
        "[a-z]{3}",
        prop::collection::btree_map(names.prop_map(String::from), tables(), 0..5),
    )
        .prop_map(|(name, tables)| Layer { name, tables });
    prop::collection::vec(layer, 1..5)
}

proptest! {
    /// Whatever happens to a mode's tables, no other mode sees it.
    #[test]
    fn modes_never_leak_into_each_other(
        before in layers(),
        changed in prop::sample::select(MODES.to_vec()),
        place in any::<prop::sample::Index>(),
        table in prop::option::of(tables()),
    ) {
        let mut after = before.clone();
        let tables = &mut after[place.index(before.len())].tables;
        match table {
            Some(table) => tables.insert(changed.into(), table),
            None => tables.remove(changed),
        };
        for mode in MODES.into_iter().filter(|mode| *mode != changed) {
            prop_assert_eq!(fold(mode, &before), fold(mode, &after));
        }
    }

    /// Every value is one that stands where its origin says, and what is set has an origin.
    #[test]
    fn origins_tell_the_truth(layers in layers(), mode in prop::sample::select(MODES.to_vec())) {
        let Ok(Effective { settings, origins }) = fold(mode, &layers) else {
            let says = |name: &str| layers.iter().any(|layer| {
                layer.tables.get(name).is_some_and(|table| table.model.is_some())
            });
            let any = says(mode) || says(DEFAULT_TABLE);
            prop_assert!(!any);
            return Ok(());
        };
        let written = |origin: &Origin, holds: &dyn Fn(&Table) -> bool| {
            let name = origin.table.strip_prefix("models.").unwrap();
            (name == mode || name == DEFAULT_TABLE)
                && layers.iter().any(|layer| {
                    layer.name == origin.layer && layer.tables.get(name).is_some_and(holds)
                })
        };
        let at = |origin: &Origin, given: Option<u32>| given == origin.line;
        let origin = &origins["model"];
        let model_stands = written(origin, &|table| {
            table.model.as_ref().is_some_and(|model| {
                model.value == settings.model && at(origin, model.line)
            }) && table.provider.as_ref().unwrap().value == settings.provider
        });
        prop_assert!(model_stands);
        prop_assert_eq!(settings.effort.is_some(), origins.contains_key("effort"));
        if let Some(origin) = origins.get("effort") {
            let effort_stands = written(origin, &|table| {
                table.effort.as_ref().is_some_and(|effort| {
                    Some(effort.value) == settings.effort && at(origin, effort.line)
                })
            });
            prop_assert!(effort_stands);
        }
        prop_assert!(origins.keys().all(|key| ModelSettings::KEYS.contains(key)));
    }

    /// A value of the mode is never passed over for one of the default.
    #[test]
    fn the_mode_is_stronger_than_any_default(
        layers in layers(),
        mode in prop::sample::select(MODES.to_vec()),
    ) {
        let first = |name: &str| layers.iter().find_map(|layer| {
            layer.tables.get(name)?.thinking_budget.as_ref().map(|given| given.value)
        });
        if let Ok(effective) = fold(mode, &layers) {
            prop_assert_eq!(
                effective.settings.thinking_budget,
                first(mode).or_else(|| first(DEFAULT_TABLE))
            );
        }
    }
}

#[test]
fn an_empty_table_says_nothing() {
    let empty = Layer {
        name: "empty".into(),
        tables: BTreeMap::from([("plan".into(), Table::default())]),
    };
    let layers = [empty, layer("person", [(DEFAULT_TABLE, pair("d", 1))])];
    assert_eq!(fold("plan", &layers).unwrap().settings.model, "d-model");
}
