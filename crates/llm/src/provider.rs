//! Which protocol is spoken where: providers, and the presets that are known by name. Keys and
//! variables are handed in.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::SecretString;
use serde::Deserialize;

use crate::discreet::Discreet;
use crate::{Credentials, Dialect, Model, Secrets, SetupError, anthropic, bedrock, gemini, openai};

/// A protocol models are spoken to in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Anthropic's Messages.
    Anthropic,
    /// Gemini's `generateContent`.
    Gemini,
    /// The same at a project's place in Vertex.
    Vertex,
    /// Amazon Bedrock's `Converse`.
    Bedrock,
    /// `OpenAI`'s Responses.
    #[serde(rename = "openai")]
    OpenAi,
    /// `OpenAI`'s Chat Completions, which most other servers speak.
    #[serde(rename = "openai-chat")]
    OpenAiChat,
}

impl Protocol {
    /// The word in presets.
    pub fn word(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Vertex => "vertex",
            Self::Bedrock => "bedrock",
            Self::OpenAi => "openai",
            Self::OpenAiChat => "openai-chat",
        }
    }
}

/// A provider that is known by name: a table of `data/presets.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// What it speaks.
    pub protocol: Protocol,
    /// Where it answers. `{NAME}` stands for the value of a variable; without any address, the
    /// person must give one.
    pub base_url: Option<String>,
    /// The variables a key may be in; the first that is set counts.
    #[serde(default)]
    pub keys: Vec<String>,
    /// True where it answers without a key too, such as a server on this machine.
    #[serde(default)]
    pub keyless: bool,
    /// The variables of what signs requests instead, where the protocol has signatures.
    pub signed: Option<SignedWith>,
    /// True where models cost what those who publish them ask.
    #[serde(default)]
    pub publishers_prices: bool,
    /// Headers every request carries.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// How it differs from others that speak a protocol of `OpenAI`.
    #[serde(default)]
    pub dialect: Dialect,
}

/// The variables that hold what requests are signed with.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedWith {
    /// See [`Credentials::access_key`].
    pub access_key: String,
    /// See [`Credentials::secret_key`].
    pub secret_key: String,
    /// See [`Credentials::session_token`].
    pub session_token: String,
    /// See [`Credentials::region`].
    pub region: String,
}

static PRESETS: LazyLock<BTreeMap<String, Preset>> =
    LazyLock::new(|| toml::from_str(include_str!("../data/presets.toml")).unwrap_or_default());

impl Preset {
    /// The preset called `name`.
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.get(name)
    }

    /// The names of all presets, sorted.
    pub fn names() -> Vec<&'static str> {
        PRESETS.keys().map(String::as_str).collect()
    }

    /// The headers every request carries.
    pub(crate) fn headers(&self) -> Result<HeaderMap, SetupError> {
        let fault = |problem: &dyn std::fmt::Display| SetupError::Https(problem.to_string());
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let name = HeaderName::try_from(name).map_err(|error| fault(&error))?;
            headers.insert(name, HeaderValue::try_from(value).map_err(|error| fault(&error))?);
        }
        Ok(headers)
    }

    /// [`Self::base_url`] with the values of its variables, which `variable` knows; `None` when the
    /// preset has no address of its own.
    pub fn address(&self, variable: impl Fn(&str) -> Option<String>) -> Result<Option<String>, SetupError> {
        let Some(mut rest) = self.base_url.as_deref() else {
            return Ok(None);
        };
        let mut address = String::new();
        while let Some((before, name, after)) = placeholder(rest) {
            let value = variable(name).ok_or_else(|| SetupError::Variable { name: name.into() })?;
            address.push_str(before);
            address.push_str(&value);
            rest = after;
        }
        address.push_str(rest);
        Ok(Some(address))
    }
}

/// The text before the first `{NAME}`, the name, and the text behind it.
fn placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

/// A provider as it was configured: everything a wire needs.
#[derive(Debug, Clone)]
pub struct Provider {
    /// Its name in settings, identities and native blocks, such as `openrouter`.
    pub name: String,
    /// How it speaks.
    pub preset: Preset,
    /// Where it answers.
    pub base_url: String,
    /// The key, where there is one.
    pub key: Option<SecretString>,
    /// What signs requests where a protocol has signatures and there is no key.
    pub credentials: Option<Credentials>,
}

impl Provider {
    /// Prepares to talk to it. Nothing is sent yet.
    pub fn connect(&self) -> Result<Arc<dyn Model>, SetupError> {
        let model = match self.preset.protocol {
            Protocol::Anthropic => anthropic::connect(self),
            Protocol::Gemini => gemini::connect(self),
            Protocol::Vertex => gemini::connect_vertex(self),
            Protocol::Bedrock => bedrock::connect(self),
            Protocol::OpenAi => openai::responses::connect(self),
            Protocol::OpenAiChat => openai::chat::connect(self),
        }?;
        let signed = self.credentials.as_ref();
        let secrets = [
            self.key.as_ref(),
            signed.map(|credentials| &credentials.secret_key),
            signed.and_then(|credentials| credentials.session_token.as_ref()),
        ];
        Ok(Arc::new(Discreet {
            model,
            secrets: Secrets::of(secrets.into_iter().flatten()),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_presets_can_be_read() {
        let presets: BTreeMap<String, Preset> = toml::from_str(include_str!("../data/presets.toml")).unwrap();
        assert_eq!(presets.keys().collect::<Vec<_>>(), Preset::names());
        for (name, preset) in presets {
            let value = |variable: &str| {
                if variable.ends_with("_URL") {
                    "https://x.example"
                } else {
                    "x"
                }
            };
            let address = preset.address(|variable| Some(value(variable).into())).unwrap();
            assert!(
                address.is_none_or(|address| crate::http::base(&address).is_ok()),
                "{name}"
            );
            assert!(preset.keyless || !preset.keys.is_empty(), "{name}");
            assert!(preset.headers().is_ok(), "{name}");
        }
    }

    #[test]
    fn variables_stand_in_addresses() {
        let preset = Preset {
            base_url: Some("https://{REGION}.example/{PROJECT}/v1".into()),
            ..Preset::named("anthropic").unwrap().clone()
        };
        let known = |name: &str| (name == "REGION").then(|| "north".to_owned());
        assert_eq!(
            preset.address(known),
            Err(SetupError::Variable { name: "PROJECT".into() })
        );
        let all = preset.address(|name| Some(name.to_lowercase())).unwrap();
        assert_eq!(all.as_deref(), Some("https://region.example/project/v1"));
    }
}
