//! An exchange as a line of a recording. What happens with it is not known here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ErrorKind, Message, ModelError, ModelSettings, Partial, Request, Response, SetupError};

/// The first line of every recording.
pub const BEGINNING: &str = r#"{"stance_recording":1}"#;

/// A request and what it was answered with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exchange {
    pub(crate) by: Asker,
    pub(crate) asked: Asked,
    pub(crate) answer: Answered,
}

/// Who was asked; for whoever reads the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asker {
    provider: String,
    model: String,
}

impl Asker {
    pub(crate) fn of(settings: &ModelSettings) -> Self {
        Self {
            provider: settings.provider.clone(),
            model: settings.model.clone(),
        }
    }
}

/// What of a request is compared. The settings of the model are no part of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    pub(crate) run: Run,
    system: String,
    tools: BTreeMap<String, Tool>,
    messages: Vec<Message>,
}

/// The labels of the run that asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    pub(crate) mode: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tool {
    description: String,
    schema: Value,
}

impl Asked {
    pub(crate) fn of(request: &Request) -> Self {
        let tools = request.tools.iter().map(|tool| {
            let shown = Tool {
                description: tool.description.clone(),
                schema: tool.schema.clone(),
            };
            (tool.name.clone(), shown)
        });
        Self {
            run: Run {
                mode: request.context.mode.clone(),
                agent: request.context.agent.clone(),
                step: request.context.step.clone(),
            },
            system: request.system.clone(),
            tools: tools.collect(),
            messages: request.messages.clone(),
        }
    }
}

/// What came back. How long a provider asked to wait is not kept: nobody waits for a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answered {
    Whole(Response),
    Failed(Failure),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Failure {
    pub(crate) kind: ErrorKind,
    pub(crate) message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u16>,
    #[serde(default)]
    pub(crate) partial: Partial,
}

impl Answered {
    pub(crate) fn whole(response: &Response) -> Self {
        Self::Whole(Response {
            cursor: None,
            ..response.clone()
        })
    }

    pub(crate) fn failed(error: &ModelError) -> Self {
        Self::Failed(Failure {
            kind: error.kind,
            message: error.message.clone(),
            status: error.status,
            partial: error.partial.as_ref().clone(),
        })
    }
}

/// The exchanges of a recording. `file` is what errors call it.
pub(crate) fn parse(file: &str, bytes: &[u8]) -> Result<Vec<Exchange>, SetupError> {
    let fault = |line: usize, problem: String| SetupError::Script {
        file: file.into(),
        path: format!("line {line}"),
        problem,
    };
    let text = std::str::from_utf8(bytes).map_err(|error| fault(1, error.to_string()))?;
    let mut lines = text.lines().zip(1..);
    if lines.next().is_none_or(|(first, _)| first.trim() != BEGINNING) {
        return Err(fault(1, format!("a recording begins with {BEGINNING}")));
    }
    lines
        .map(|(line, number)| {
            let mut reader = serde_json::Deserializer::from_str(line);
            serde_path_to_error::deserialize(&mut reader)
                .map_err(|error| fault(number, format!("at `{}`: {}", error.path(), error.inner())))
        })
        .collect()
}
