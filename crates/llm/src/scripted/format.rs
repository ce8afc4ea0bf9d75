//! The script's file format, its schema and its errors. What a script does is not known here.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{SetupError, Usage};

/// A scripted model's file: either `turns`, or `runs` with an entry for each run or step.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(
    title = "Stance model script",
    extend("oneOf" = [{"required": ["turns"]}, {"required": ["runs"]}]),
    extend("dependentRequired" = {"expect": ["turns"]})
)]
struct Script {
    /// Answers to model requests, in order. When they run out the answer is an empty final
    /// message.
    turns: Option<Vec<Turn>>,
    /// With `turns`: what every request must hold.
    expect: Option<Expect>,
    /// Entries; a run's or step's first message takes the first unused one that matches.
    runs: Option<Vec<Entry>>,
}

/// The turns of one run or step.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// Which run or step takes this entry. Every key given must be equal; none fits all.
    #[serde(default, rename = "match")]
    pub(crate) matches: Match,
    /// What every request answered by this entry must hold.
    pub(crate) expect: Option<Expect>,
    /// Answers to model requests, in order. When they run out the answer is an empty final
    /// message.
    pub(crate) turns: Vec<Turn>,
}

/// Labels of a run or step.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Match {
    /// The run's mode.
    pub(crate) mode: Option<String>,
    /// The agent's name.
    pub(crate) agent: Option<String>,
    /// The plan step's id.
    pub(crate) step: Option<String>,
}

/// What a request must hold; a mismatch ends the run with an error that shows the difference.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expect {
    /// The run's mode.
    pub(crate) mode: Option<String>,
    /// Tools the request must offer.
    #[serde(default)]
    pub(crate) tools_include: Vec<String>,
    /// Tools the request must not offer.
    #[serde(default)]
    pub(crate) tools_exclude: Vec<String>,
    /// Text that must stand in the system prompt or in a message.
    pub(crate) contains: Option<String>,
}

/// One answer. With `error` the request fails, after any `text` and `tool_calls` have arrived.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Turn {
    /// What the model says.
    pub(crate) text: Option<String>,
    /// The tools it calls, in parallel.
    #[serde(default)]
    pub(crate) tool_calls: Vec<Call>,
    /// Tokens the answer counts as.
    pub(crate) usage: Option<Usage>,
    /// The failure to answer with.
    pub(crate) error: Option<Failure>,
    /// What this request must hold.
    pub(crate) expect: Option<Expect>,
}

/// A tool call.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    /// The tool's name; it may name no tool.
    pub(crate) name: String,
    /// An object, or a string that is the arguments' raw text: malformed JSON can be scripted so.
    #[serde(default)]
    pub(crate) arguments: Arguments,
}

/// A provider's failure.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Failure {
    /// The HTTP status; without one the connection drops.
    #[schemars(range(min = 100, max = 599))]
    pub(crate) status: Option<u16>,
    /// The provider's words.
    pub(crate) message: Option<String>,
    /// Seconds the provider asks to wait.
    pub(crate) retry_after: Option<u64>,
}

/// A call's arguments.
#[derive(Debug, Clone, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Arguments {
    /// Written out as compact JSON, keys in the order given.
    Object(Map<String, Value>),
    /// Taken as they are.
    Raw(String),
}

impl Default for Arguments {
    fn default() -> Self {
        Self::Object(Map::new())
    }
}

impl Arguments {
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Object(object) => Value::Object(object).to_string(),
            Self::Raw(text) => text,
        }
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Object(object) => Ok(Self::Object(object)),
            Value::String(text) => Ok(Self::Raw(text)),
            other => Err(serde::de::Error::custom(format!(
                "expected an object or a string, found `{other}`"
            ))),
        }
    }
}

/// The JSON Schema of a script.
pub fn schema() -> Value {
    schemars::schema_for!(Script).to_value()
}

/// The entries of a script. `file` is what errors call it.
pub(crate) fn parse(file: &str, bytes: &[u8]) -> Result<Vec<Entry>, SetupError> {
    let fault = |path: String, problem: String| SetupError::Script {
        file: file.into(),
        path,
        problem,
    };
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let script: Script = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| fault(error.path().to_string(), error.inner().to_string()))?;
    reader.end().map_err(|error| fault(".".into(), error.to_string()))?;
    match script {
        Script {
            turns: Some(turns),
            expect,
            runs: None,
        } => Ok(vec![Entry {
            matches: Match::default(),
            expect,
            turns,
        }]),
        Script {
            turns: None,
            expect: None,
            runs: Some(entries),
        } => Ok(entries),
        Script {
            turns: None,
            expect: Some(_),
            runs: Some(_),
        } => Err(fault(
            "expect".into(),
            "with `runs`, each entry states its own `expect`".into(),
        )),
        _ => Err(fault(".".into(), "a script has either `turns` or `runs`".into())),
    }
}
