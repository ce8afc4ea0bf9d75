//! A model named on the command line. It must not know what settings say.

use std::path::{Path, PathBuf};

use engine::Problem;
use llm::{Given, Layer, Table};

use crate::near::suggestion;
use crate::settings::{FILES, MODELS, providers_known};

/// The word before the file in which exchanges are kept.
const RECORD: &str = "record";

/// A model named on the command line. It holds for every mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NamedModel {
    /// One that answers in the place of what is configured.
    Answering {
        /// Who answers.
        provider: String,
        /// The model, or the path of a script or recording.
        model: String,
        /// Where it answers, when not at the provider's own address.
        base_url: Option<String>,
    },
    /// The configured ones, whose answers are kept.
    Recorded {
        /// Where.
        file: PathBuf,
    },
}

impl NamedModel {
    /// Reads `--model`, `--provider` and `--base-url`; the path of a file is taken from `start`.
    pub(crate) fn read(
        model: Option<&str>,
        provider: Option<&str>,
        base_url: Option<&str>,
        start: &Path,
    ) -> Result<Option<NamedModel>, Problem> {
        let of_file = model
            .and_then(|model| model.split_once(':'))
            .filter(|(word, _)| *word == RECORD || FILES.contains(word));
        match (of_file, model, provider) {
            (Some((word, _)), _, Some(_)) => Err(Problem::usage(format!(
                "`--model {word}:FILE` names its provider already."
            ))
            .hint("Leave `--provider` out.")),
            (Some((word, _)), _, None) if base_url.is_some() => {
                Err(Problem::usage(format!("`--model {word}:FILE` has no address.")).hint("Leave `--base-url` out."))
            }
            (Some((RECORD, file)), _, None) => Ok(Some(NamedModel::Recorded { file: start.join(file) })),
            (Some((word, file)), _, None) => Ok(Some(NamedModel::Answering {
                provider: word.to_owned(),
                model: start.join(file).display().to_string(),
                base_url: None,
            })),
            (None, Some(model), Some(provider)) => NamedModel::remote(model, provider, base_url).map(Some),
            (None, Some(model), None) => Err(Problem::usage("`--model` needs `--provider`: the two travel together.")
                .hint(format!("stance run --provider anthropic --model {model} …"))
                .hint("A file needs none: `--model scripted:FILE`, `--model replay:FILE`.")),
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
        if FILES.contains(&provider) {
            return Err(
                Problem::usage("A model that is a file is named in one word.").hint(format!("--model {provider}:FILE"))
            );
        }
        let known = providers_known();
        if !known.contains(&provider) {
            let offered = suggestion(provider, known);
            return Err(Problem::usage(format!("`{provider}` is no provider: {offered}")));
        }
        Ok(NamedModel::Answering {
            provider: provider.to_owned(),
            model: model.to_owned(),
            base_url: base_url.map(str::to_owned),
        })
    }

    /// Above every file, for every mode; none where what is configured stays.
    pub(super) fn layer(&self) -> Option<Layer> {
        let NamedModel::Answering { provider, model, .. } = self else {
            return None;
        };
        let given = |value: &str| {
            Some(Given {
                value: value.to_owned(),
                file: None,
                line: None,
            })
        };
        let table = Table {
            provider: given(provider),
            model: given(model),
            ..Table::default()
        };
        Some(Layer {
            name: "command line".to_owned(),
            tables: MODELS.iter().map(|name| ((*name).to_owned(), table.clone())).collect(),
        })
    }
}
