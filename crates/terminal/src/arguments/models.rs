//! `models` as people type it.

use clap::Subcommand;
use modes::Mode;

use super::{ModelArguments, words};

/// What can be asked about models.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelsAct {
    /// Lists the providers that are known by name, where each answers, and whether its key is there.
    List {
        /// Prints JSON.
        #[arg(long)]
        json: bool,
    },
    /// Shows what is known of a model: window, limits, price. Without a name, of every model.
    Show {
        /// The model, as its provider calls it.
        model: Option<String>,
        /// Prints JSON.
        #[arg(long)]
        json: bool,
    },
    /// Says which model a mode has, where each of its settings was said, and what is sent of them.
    Explain {
        /// The mode.
        #[arg(long, value_name = "MODE", default_value = "agent", value_parser = words::chosen_mode)]
        mode: Mode,
        /// Prints JSON.
        #[arg(long)]
        json: bool,
        /// The model.
        #[command(flatten)]
        model: ModelArguments,
    },
    /// Asks the model of a mode for one word, to see that address, key and name are right. It costs a
    /// few tokens.
    #[command(after_help = "\
Examples:
  stance models test --mode plan
  stance models test --provider ollama --model qwen3
  stance models test --provider openai-chat --base-url http://127.0.0.1:8000/v1 --model NAME")]
    Test {
        /// The mode whose model is asked.
        #[arg(long, value_name = "MODE", default_value = "agent", value_parser = words::chosen_mode)]
        mode: Mode,
        /// Prints JSON.
        #[arg(long)]
        json: bool,
        /// The model.
        #[command(flatten)]
        model: ModelArguments,
    },
}
