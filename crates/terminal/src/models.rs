//! The model of each mode: settings folded through all layers, the key from its variable, the wire
//! or script behind it. No branch here asks which mode it is.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use engine::{ChosenModel, ModelSource, Problem, ProblemKind};
use llm::recording::{self, Recorder};
use llm::{Effective, Layer, Model, ModelSettings, Secrets, SetupError, scripted};
use modes::Mode;

mod files;
mod named;
mod providers;

use crate::environment::Environment;
use crate::settings::{Endpoint, Locks, Settings};
use files::Recording;

pub(crate) use named::NamedModel;
pub(crate) use providers::ProviderView;

/// Makes the models.
pub(crate) struct Models {
    layers: Vec<Layer>,
    endpoints: BTreeMap<String, Endpoint>,
    environment: Arc<Environment>,
    person: String,
    /// The provider named on the command line, and whether its address was.
    named: Option<(String, bool)>,
    locks: Locks,
    /// What no recording may hold.
    secrets: Secrets,
    /// Where answers are kept, if anywhere.
    recording: Option<Recording>,
}

impl Models {
    /// `person` is the path of the person's settings file, for hints.
    pub(crate) fn new(
        settings: &Settings,
        named: Option<&NamedModel>,
        environment: Arc<Environment>,
        person: &Path,
    ) -> Models {
        let mut layers: Vec<Layer> = named.and_then(NamedModel::layer).into_iter().collect();
        layers.extend(settings.layers.iter().cloned());
        let mut endpoints = settings.providers.clone();
        let (answering, recording) = match named {
            Some(NamedModel::Answering { provider, base_url, .. }) => {
                if let Some(base_url) = base_url {
                    endpoints.entry(provider.clone()).or_default().base_url = Some(base_url.clone());
                }
                (Some((provider.clone(), base_url.is_some())), None)
            }
            Some(NamedModel::Recorded { file }) => (None, Some(Recording::new(file.clone()))),
            None => (None, None),
        };
        Models {
            secrets: providers::secrets(&endpoints, &environment),
            layers,
            endpoints,
            environment,
            person: person.display().to_string(),
            named: answering,
            locks: settings.locks.clone(),
            recording,
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
        let model = match settings.provider.as_str() {
            scripted::PROVIDER => self.script(&settings.model)?,
            recording::PROVIDER => self.replay(&settings.model)?,
            _ => self.remote(settings)?,
        };
        Ok(match &self.recording {
            Some(recording) => Arc::new(Recorder::new(model, self.secrets.clone(), recording.begun()?)),
            None => model,
        })
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
