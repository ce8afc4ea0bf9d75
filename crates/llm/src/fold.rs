//! Folding layers of settings into the settings of one mode, remembering where each came from.
//! Pure: reading files and knowing which layers exist is the caller's job, and a mode's name is
//! only a label that selects a table.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Effort, ModelSettings, SetupError};

/// The table every mode falls back to.
pub const DEFAULT_TABLE: &str = "default";

/// One layer of settings, such as the person's file or the command line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layer {
    /// How the layer is called when a person is told where a value came from.
    pub name: String,
    /// The `[models.NAME]` tables by NAME: modes, and [`DEFAULT_TABLE`].
    pub tables: BTreeMap<String, Table>,
}

/// One `[models.NAME]` table. `provider` and `model` stand together or not at all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// See [`ModelSettings::provider`].
    pub provider: Option<Given<String>>,
    /// See [`ModelSettings::model`].
    pub model: Option<Given<String>>,
    /// See [`ModelSettings::effort`].
    pub effort: Option<Given<Effort>>,
    /// See [`ModelSettings::thinking_budget`].
    pub thinking_budget: Option<Given<u64>>,
    /// See [`ModelSettings::max_output`].
    pub max_output: Option<Given<u64>>,
    /// See [`ModelSettings::temperature`].
    pub temperature: Option<Given<f64>>,
}

/// A value and where it is written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Given<T> {
    /// The value.
    pub value: T,
    /// The file, where the layer is one.
    pub file: Option<String>,
    /// The line in that file, counted from 1.
    pub line: Option<u32>,
}

/// Where an effective value came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// [`Layer::name`].
    pub layer: String,
    /// The table's full name, such as `models.plan`.
    pub table: String,
    /// The file, where the layer is one.
    pub file: Option<String>,
    /// The line in that file, counted from 1.
    pub line: Option<u32>,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(formatter, "{file}:{line}")?,
            (Some(file), None) => formatter.write_str(file)?,
            (None, _) => formatter.write_str(&self.layer)?,
        }
        write!(formatter, " [{}]", self.table)
    }
}

/// The settings of one mode.
#[derive(Debug, Clone, PartialEq)]
pub struct Effective {
    /// What holds.
    pub settings: ModelSettings,
    /// Where each set value came from, by its name out of [`ModelSettings::KEYS`].
    pub origins: BTreeMap<&'static str, Origin>,
}

/// Folds `layers`, strongest first, into the settings of `mode`: every key from the first layer
/// whose `[models.MODE]` has it, and what is still unset from the first `[models.default]` that
/// has it. Provider and model are one value. No other mode's table is looked at.
pub fn fold(mode: &str, layers: &[Layer]) -> Result<Effective, SetupError> {
    let places = places(mode, layers);
    let mut origins = BTreeMap::new();
    let (provider, model) = pair(&places, &mut origins)?.ok_or_else(|| SetupError::NoModel { mode: mode.into() })?;
    let settings = ModelSettings {
        provider,
        model,
        effort: first(&places, &mut origins, "effort", |table| &table.effort),
        thinking_budget: first(&places, &mut origins, "thinking_budget", |table| &table.thinking_budget),
        max_output: first(&places, &mut origins, "max_output", |table| &table.max_output),
        temperature: first(&places, &mut origins, "temperature", |table| &table.temperature),
    };
    Ok(Effective { settings, origins })
}

struct Place<'a> {
    layer: &'a str,
    name: &'a str,
    table: &'a Table,
}

impl Place<'_> {
    fn origin<T>(&self, given: &Given<T>) -> Origin {
        Origin {
            layer: self.layer.into(),
            table: format!("models.{}", self.name),
            file: given.file.clone(),
            line: given.line,
        }
    }
}

/// The tables that may speak for `mode`, strongest first.
fn places<'a>(mode: &'a str, layers: &'a [Layer]) -> Vec<Place<'a>> {
    [mode, DEFAULT_TABLE]
        .into_iter()
        .flat_map(|name| {
            layers.iter().filter_map(move |layer| {
                layer.tables.get(name).map(|table| Place {
                    layer: &layer.name,
                    name,
                    table,
                })
            })
        })
        .collect()
}

fn pair(
    places: &[Place<'_>],
    origins: &mut BTreeMap<&'static str, Origin>,
) -> Result<Option<(String, String)>, SetupError> {
    let mut found = None;
    for place in places {
        match (&place.table.provider, &place.table.model) {
            (Some(provider), Some(model)) if found.is_none() => {
                origins.insert("provider", place.origin(provider));
                origins.insert("model", place.origin(model));
                found = Some((provider.value.clone(), model.value.clone()));
            }
            (Some(_), Some(_)) | (None, None) => {}
            (Some(provider), None) => {
                return Err(SetupError::HalfPair {
                    origin: place.origin(provider),
                    given: "provider",
                    missing: "model",
                });
            }
            (None, Some(model)) => {
                return Err(SetupError::HalfPair {
                    origin: place.origin(model),
                    given: "model",
                    missing: "provider",
                });
            }
        }
    }
    Ok(found)
}

fn first<T: Clone>(
    places: &[Place<'_>],
    origins: &mut BTreeMap<&'static str, Origin>,
    key: &'static str,
    given: impl Fn(&Table) -> &Option<Given<T>>,
) -> Option<T> {
    let (place, found) = places
        .iter()
        .find_map(|place| given(place.table).as_ref().map(|found| (place, found)))?;
    origins.insert(key, place.origin(found));
    Some(found.value.clone())
}
