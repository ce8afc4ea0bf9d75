//! The model of each mode: settings folded through all layers, the key from its variable, the wire
//! or script behind it. No branch here asks which mode it is.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use engine::{ChosenModel, ModelSource, Problem, ProblemKind};
use llm::{Effective, Given, Layer, Model, ModelSettings, SetupError, Table, scripted};
use modes::Mode;

mod providers;

use crate::environment::Environment;
use crate::near::suggestion;
use crate::settings::{Endpoint, Locks, MODELS, Settings, providers_known};

pub(crate) use providers::ProviderView;

/// No script is larger, in bytes.
const LARGEST_SCRIPT: u64 = 16 * 1024 * 1024;

/// A model named on the command line. It holds for every mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedModel {
    /// Who answers.
    pub(crate) provider: String,
    /// The model, or the path of a script.
    pub(crate) model: String,
    /// Where it answers, when not at the provider's own address.
    pub(crate) base_url: Option<String>,
}

impl NamedModel {
    /// Reads `--model`, `--provider` and `--base-url`; a script's path is taken from `start`.
    pub(crate) fn read(
        model: Option<&str>,
        provider: Option<&str>,
        base_url: Option<&str>,
        start: &Path,
    ) -> Result<Option<NamedModel>, Problem> {
        let script = model.and_then(|model| model.strip_prefix("scripted:"));
        match (script, model, provider) {
            (Some(_), _, Some(_)) => {
                Err(Problem::usage("`--model scripted:FILE` names its provider already.")
                    .hint("Leave `--provider` out."))
            }
            (Some(_), _, None) if base_url.is_some() => {
                Err(Problem::usage("A scripted model has no address.").hint("Leave `--base-url` out."))
            }
            (Some(file), _, None) => Ok(Some(NamedModel {
                provider: scripted::PROVIDER.to_owned(),
                model: start.join(file).display().to_string(),
                base_url: None,
            })),
            (None, Some(model), Some(provider)) => NamedModel::remote(model, provider, base_url).map(Some),
            (None, Some(model), None) => Err(Problem::usage("`--model` needs `--provider`: the two travel together.")
                .hint(format!("stance run --provider anthropic --model {model} …"))
                .hint("A scripted model needs none: `--model scripted:FILE`.")),
            (None, None, Some(_)) => {
                Err(Problem::usage("`--provider` needs `--model`: the two travel together.")
                    .hint("Add `--model NAME`."))
            }
            (None, None, None) if base_url.is_some() => {
                Err(Problem::usage("`--base-url` needs `--provider` and `--model`.").hint("Add both."))
            }
            (None, None, None) => Ok(None),
        }
    }

    fn remote(model: &str, provider: &str, base_url: Option<&str>) -> Result<NamedModel, Problem> {
        if provider == scripted::PROVIDER {
            return Err(Problem::usage("A scripted model is named in one word.").hint("--model scripted:FILE"));
        }
        let known = providers_known();
        if !known.contains(&provider) {
            let offered = suggestion(provider, known);
            return Err(Problem::usage(format!("`{provider}` is no provider: {offered}")));
        }
        Ok(NamedModel {
            provider: provider.to_owned(),
            model: model.to_owned(),
            base_url: base_url.map(str::to_owned),
        })
    }

    /// Above every file, for every mode.
    fn layer(&self) -> Layer {
        let given = |value: &str| {
            Some(Given {
                value: value.to_owned(),
                file: None,
                line: None,
            })
        };
        let table = Table {
            provider: given(&self.provider),
            model: given(&self.model),
            ..Table::default()
        };
        Layer {
            name: "command line".to_owned(),
            tables: MODELS.iter().map(|name| ((*name).to_owned(), table.clone())).collect(),
        }
    }
}

/// Makes the models.
pub(crate) struct Models {
    layers: Vec<Layer>,
    endpoints: BTreeMap<String, Endpoint>,
    environment: Arc<Environment>,
    person: String,
    /// The provider named on the command line, and whether its address was.
    named: Option<(String, bool)>,
    locks: Locks,
}

impl Models {
    /// `person` is the path of the person's settings file, for hints.
    pub(crate) fn new(
        settings: &Settings,
        named: Option<&NamedModel>,
        environment: Arc<Environment>,
        person: &Path,
    ) -> Models {
        let mut layers: Vec<Layer> = named.map(NamedModel::layer).into_iter().collect();
        layers.extend(settings.layers.iter().cloned());
        let mut endpoints = settings.providers.clone();
        if let Some(named) = named
            && let Some(base_url) = &named.base_url
        {
            endpoints.entry(named.provider.clone()).or_default().base_url = Some(base_url.clone());
        }
        Models {
            layers,
            endpoints,
            environment,
            person: person.display().to_string(),
            named: named.map(|named| (named.provider.clone(), named.base_url.is_some())),
            locks: settings.locks.clone(),
        }
    }

    /// Refuses a model of the command line where the administrator locked that of the mode.
    fn refuse_locked(&self, mode: Mode) -> Result<(), Problem> {
        let Some((provider, address)) = &self.named else {
            return Ok(());
        };
        for table in [mode.settings_key(), "default"] {
            for key in ["model", "provider"] {
                self.locks.refuse("--model", &format!("models.{table}.{key}"))?;
            }
        }
        if *address {
            self.locks
                .refuse("--base-url", &format!("providers.{provider}.base_url"))?;
        }
        Ok(())
    }

    /// The settings of a mode, each with its origin.
    pub(crate) fn settings_of(&self, mode: Mode) -> Result<Effective, Problem> {
        llm::fold(mode.settings_key(), &self.layers).map_err(|error| self.problem(error))
    }

    /// The settings of a mode in words, each with the place it was said. Nothing is asked of a
    /// provider.
    pub(crate) fn described(&self, mode: Mode) -> Result<Vec<String>, Problem> {
        let Effective { settings, origins } = self.settings_of(mode)?;
        let number = |value: Option<u64>| value.map(|value| value.to_string());
        let values = [
            ("provider", Some(settings.provider)),
            ("model", Some(settings.model)),
            ("effort", settings.effort.map(|effort| effort.word().to_owned())),
            ("thinking_budget", number(settings.thinking_budget)),
            ("max_output", number(settings.max_output)),
            ("temperature", settings.temperature.map(|value| value.to_string())),
        ];
        let said = |key: &str| {
            origins
                .get(key)
                .map(|origin| format!(" ({origin})"))
                .unwrap_or_default()
        };
        Ok(values
            .into_iter()
            .filter_map(|(key, value)| Some(format!("{key} {}{}", value?, said(key))))
            .collect())
    }

    fn make(&self, settings: &ModelSettings) -> Result<Arc<dyn Model>, Problem> {
        if settings.provider == scripted::PROVIDER {
            return self.script(&settings.model);
        }
        self.remote(settings)
    }

    fn script(&self, file: &str) -> Result<Arc<dyn Model>, Problem> {
        let unreadable = |why: String| {
            broken(format!("The script {file} cannot be read: {why}."))
                .hint("`--model scripted:FILE` names a JSON file with `turns` or `runs`.")
        };
        let facts = fs::metadata(file).map_err(|error| unreadable(error.to_string()))?;
        if !facts.is_file() || facts.len() > LARGEST_SCRIPT {
            return Err(unreadable(format!(
                "it is no plain file of at most {LARGEST_SCRIPT} bytes"
            )));
        }
        let bytes = fs::read(file).map_err(|error| unreadable(error.to_string()))?;
        let model = scripted::Scripted::new(file, &bytes).map_err(|error| self.problem(error))?;
        Ok(Arc::new(model))
    }

    fn problem(&self, error: SetupError) -> Problem {
        let SetupError::NoModel { mode } = error else {
            return broken(error.to_string());
        };
        broken(format!("No model is configured for [models.{mode}]."))
            .hint(format!("Write into {}:", self.person))
            .hint("    [models.default]")
            .hint("    provider = \"anthropic\"")
            .hint("    model = \"NAME\"")
            .hint("and set ANTHROPIC_API_KEY. Or name one for this command: `--provider anthropic --model NAME`.")
            .hint("A script answers without any provider: `--model scripted:FILE`.")
    }
}

fn broken(message: String) -> Problem {
    Problem::new(ProblemKind::Model, message)
}

impl ModelSource for Models {
    fn choose(&self, mode: Mode) -> Result<ChosenModel, Problem> {
        self.refuse_locked(mode)?;
        let effective = self.settings_of(mode)?;
        let model = self.make(&effective.settings)?;
        let fitted = model.fit(&effective.settings);
        let notices = fitted
            .adjustments
            .iter()
            .map(|change| {
                let origin = effective
                    .origins
                    .get(change.key.as_str())
                    .map(|origin| format!(" ({origin})"))
                    .unwrap_or_default();
                format!(
                    "{} = {}{origin} is sent as {}: {}",
                    change.key, change.asked, change.used, change.reason
                )
            })
            .collect();
        Ok(ChosenModel {
            model,
            settings: fitted.settings,
            notices,
        })
    }
}

#[cfg(test)]
mod tests;
