//! Where providers answer, and which key goes there: the person's settings over the presets. It must
//! not know which mode asks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::Problem;
use llm::{Credentials, Model, ModelSettings, Preset, Provider, Secrets, SetupError};
use secrecy::SecretString;
use serde::Serialize;

use super::{Models, broken};
use crate::environment::Environment;
use crate::near::suggestion;
use crate::settings::{Endpoint, providers_known};

/// A provider as it is listed.
#[derive(Debug, Serialize)]
pub(crate) struct ProviderView {
    pub(crate) name: String,
    pub(crate) protocol: &'static str,
    /// Where it answers, with the names of variables that are not set; none when it has none of its own.
    pub(crate) address: Option<String>,
    /// Whether it can be asked.
    pub(crate) ready: bool,
    /// Variables that are not set, of which one is needed.
    pub(crate) missing: Vec<String>,
}

impl Models {
    /// Every provider that is known by name.
    pub(crate) fn providers(&self) -> Vec<ProviderView> {
        let known = Preset::names()
            .into_iter()
            .filter_map(|name| Some((name, Preset::named(name)?)));
        known
            .map(|(name, preset)| {
                let endpoint = self.endpoints.get(name);
                let (address, variable) = match address(preset, endpoint, &self.environment) {
                    Ok(address) => (address, None),
                    Err(SetupError::Variable { name }) => (preset.base_url.clone(), Some(name)),
                    Err(_) => (None, None),
                };
                let missing = match (variable, self.key(name, preset)) {
                    (Some(variable), _) => vec![variable],
                    (None, Ok(_)) => Vec::new(),
                    (None, Err(missing)) => missing,
                };
                ProviderView {
                    name: name.to_owned(),
                    protocol: preset.protocol.word(),
                    ready: address.is_some() && missing.is_empty(),
                    address,
                    missing,
                }
            })
            .collect()
    }

    /// The hosts at which the providers answer that settings or command line speak of.
    pub(crate) fn hosts(&self) -> BTreeSet<String> {
        let tables = self.layers.iter().flat_map(|layer| layer.tables.values());
        let modelled = tables.filter_map(|table| Some(table.provider.as_ref()?.value.as_str()));
        modelled
            .chain(self.endpoints.keys().map(String::as_str))
            .filter_map(|name| {
                let endpoint = self.endpoints.get(name);
                let address = address(Preset::named(name)?, endpoint, &self.environment).ok()??;
                modes::host_of_page(&address)
            })
            .collect()
    }

    /// The model at a provider.
    pub(super) fn remote(&self, settings: &ModelSettings) -> Result<Arc<dyn Model>, Problem> {
        let Some(preset) = Preset::named(&settings.provider) else {
            let offered = suggestion(&settings.provider, providers_known());
            return Err(broken(format!("`{}` is no provider: {offered}", settings.provider)));
        };
        let mut preset = preset.clone();
        if let Some(dated) = self
            .endpoints
            .get(&settings.provider)
            .and_then(|endpoint| endpoint.api_version.as_ref())
        {
            preset.dialect.api_version = Some(dated.clone());
        }
        let provider = Provider {
            name: settings.provider.clone(),
            base_url: self.address(settings, &preset)?,
            key: self
                .key(&settings.provider, &preset)
                .map_err(|missing| self.keyless(settings, &preset, &missing))?,
            credentials: self.credentials(&preset),
            preset,
        };
        provider.connect().map_err(|error| self.problem(error))
    }

    /// Where a provider answers.
    fn address(&self, settings: &ModelSettings, preset: &Preset) -> Result<String, Problem> {
        let name = &settings.provider;
        let hinted = |problem: Problem| {
            problem.hint(format!("--provider {name} --base-url URL")).hint(format!(
                "Or write into {}: [providers.{name}] base_url = \"URL\"",
                self.person
            ))
        };
        match address(preset, self.endpoints.get(name), &self.environment) {
            Ok(Some(address)) => Ok(address),
            Ok(None) => Err(hinted(broken(format!(
                "`{name}` has an address of your own, which is not set."
            )))),
            Err(SetupError::Variable { name: variable }) => Err(hinted(
                broken(format!("The address of `{name}` is not known: {variable} is not set."))
                    .hint(format!("export {variable}=…")),
            )),
            Err(other) => Err(self.problem(other)),
        }
    }

    /// The key of a provider, where it needs one; else the variables it could be in.
    fn key(&self, provider: &str, preset: &Preset) -> Result<Option<SecretString>, Vec<String>> {
        let named = self
            .endpoints
            .get(provider)
            .and_then(|endpoint| endpoint.key_env.clone());
        let goes_without = named.is_none() && (preset.keyless || self.credentials(preset).is_some());
        let variables = named.map_or_else(|| preset.keys.clone(), |variable| vec![variable]);
        match variables.iter().find_map(|variable| self.environment.key(variable)) {
            None if !goes_without => Err(variables),
            key => Ok(key),
        }
    }

    fn keyless(&self, settings: &ModelSettings, preset: &Preset, variables: &[String]) -> Problem {
        let missing = variables.join(" or ");
        let first = variables.first().map_or("NAME", String::as_str);
        let mut problem = broken(format!(
            "The model `{}` of `{}` needs a key: {missing} is not set.",
            settings.model, settings.provider
        ))
        .hint(format!("export {first}=…"));
        if let Some(signed) = &preset.signed {
            problem = problem.hint(format!(
                "Or let requests be signed: export {}=… {}=… {}=…",
                signed.access_key, signed.secret_key, signed.region
            ));
        }
        problem
            .hint(format!(
                "Or name another variable in {}: [providers.{}] key_env = \"NAME\"",
                self.person, settings.provider
            ))
            .hint("Without a key, a script can answer: `--model scripted:FILE`.")
    }

    /// What signs requests to a provider, where its variables are set.
    fn credentials(&self, preset: &Preset) -> Option<Credentials> {
        let signed = preset.signed.as_ref()?;
        Some(Credentials {
            access_key: self.environment.word(&signed.access_key)?,
            secret_key: self.environment.key(&signed.secret_key)?,
            session_token: self.environment.key(&signed.session_token),
            region: self.environment.word(&signed.region)?,
            clock: Arc::new(engine::now_ms),
        })
    }
}

/// Every key of a provider that the environment holds, whoever is asked.
pub(super) fn secrets(endpoints: &BTreeMap<String, Endpoint>, environment: &Environment) -> Secrets {
    let presets = Preset::names().into_iter().filter_map(Preset::named);
    let variables = presets
        .flat_map(|preset| {
            let signed = preset.signed.iter();
            let signing = signed.flat_map(|signed| [&signed.secret_key, &signed.session_token]);
            preset.keys.iter().chain(signing)
        })
        .chain(endpoints.values().filter_map(|endpoint| endpoint.key_env.as_ref()));
    let keys: Vec<_> = variables.filter_map(|variable| environment.key(variable)).collect();
    Secrets::of(&keys)
}

/// The address of a provider: the person's, or the preset's own.
fn address(
    preset: &Preset,
    endpoint: Option<&Endpoint>,
    environment: &Environment,
) -> Result<Option<String>, SetupError> {
    match endpoint.and_then(|endpoint| endpoint.base_url.clone()) {
        Some(address) => Ok(Some(address)),
        None => preset.address(|variable| environment.word(variable)),
    }
}
