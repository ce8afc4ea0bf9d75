//! The words of `run`.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use modes::Mode;

use super::ModelArguments;
use super::words::chosen_mode;
use crate::settings::SandboxMode;

/// `run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stance run \"fix the failing test\" --check 'cargo test'
  stance run --mode plan \"split the parser\" --json
  git diff | stance run -                    the text of standard input, taken literally
  stance run --read-only \"where are sessions stored?\"
  stance run --resume last
  stance run \"tidy up\" --model scripted:answers.json --budget 200k --budget 10min")]
#[expect(clippy::struct_excessive_bools, reason = "each is one flag of the command line")]
pub(crate) struct RunArguments {
    /// What to do; `-`, or none with standard input not a terminal, reads it from there.
    #[arg(value_name = "PROMPT", conflicts_with = "prompt_flag")]
    pub(crate) prompt: Option<String>,
    /// The same as PROMPT.
    #[arg(short = 'p', long = "prompt", value_name = "PROMPT", id = "prompt_flag")]
    pub(crate) prompt_flag: Option<String>,

    /// Opens a fresh space in this mode: agent, plan or orchestrate.
    #[arg(long, value_name = "MODE", value_parser = chosen_mode, conflicts_with_all = ["space", "resume"])]
    pub(crate) mode: Option<Mode>,
    /// Starts a new thread in this space.
    #[arg(long, value_name = "ID", conflicts_with = "resume")]
    pub(crate) space: Option<String>,
    /// Goes on with what waits or was interrupted: the id of a run, thread or space, or `last`.
    #[arg(long, value_name = "ID")]
    pub(crate) resume: Option<String>,

    /// Changes nothing in this run, whatever the mode.
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Never asks, in this run only. It lifts no limit of a read-only mode.
    #[arg(long, conflicts_with = "read_only")]
    pub(crate) yolo: bool,
    /// Lets through what this rule names; may be repeated.
    #[arg(long, value_name = "RULE", conflicts_with = "read_only")]
    pub(crate) allow: Vec<String>,
    /// Refuses what this rule names; may be repeated.
    #[arg(long, value_name = "RULE")]
    pub(crate) deny: Vec<String>,
    /// Trusts, in this run only, what the project's files allow; it is printed first.
    #[arg(long)]
    pub(crate) trust_project: bool,
    /// What happens to a permission when nobody is here: it is denied, or the run waits.
    #[arg(long, value_name = "HOW")]
    pub(crate) approvals: Option<Approvals>,

    /// What programs need around them, over the settings: `outer` where the container is the wall.
    #[arg(long, value_name = "MODE")]
    pub(crate) sandbox: Option<SandboxMode>,

    /// A command that must succeed, inside the walls, when the run ends.
    #[arg(long, value_name = "COMMAND", conflicts_with = "read_only")]
    pub(crate) check: Option<String>,
    /// Fails when no file was changed.
    #[arg(long, conflicts_with = "read_only")]
    pub(crate) expect_changes: bool,
    /// The most it may use: `200k` tokens or `30min`; one of each.
    #[arg(long, value_name = "AMOUNT")]
    pub(crate) budget: Vec<Budget>,
    /// A label for the record; may be repeated.
    #[arg(long, value_name = "KEY=VALUE", value_parser = label)]
    pub(crate) label: Vec<(String, String)>,

    /// Prints one JSON object when the run ends.
    #[arg(long, conflicts_with = "stream_json")]
    pub(crate) json: bool,
    /// Prints events as JSON lines, then that object.
    #[arg(long)]
    pub(crate) stream_json: bool,
    /// Prints the size of the first request, and sends nothing.
    #[arg(long, conflicts_with_all = ["resume", "stream_json"])]
    pub(crate) dry_run: bool,

    /// The model.
    #[command(flatten)]
    pub(crate) model: ModelArguments,
}

/// What happens to a permission when nobody is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Approvals {
    /// It is denied.
    Deny,
    /// The run ends waiting, and `--resume` goes on.
    Wait,
}

/// A limit of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Budget {
    /// Tokens of all kinds.
    Tokens(u64),
    /// Minutes.
    Minutes(u64),
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(word: &str) -> Result<Budget, String> {
        let unreadable =
            || format!("`{word}` is no budget: write tokens as `200k` or `2M`, minutes as `30min`, hours as `2h`");
        let digits = word
            .find(|character: char| !character.is_ascii_digit())
            .unwrap_or(word.len());
        let (number, unit) = word.split_at(digits);
        let number: u64 = number.parse().map_err(|_| unreadable())?;
        let unit = unit.trim();
        if ["usd", "USD", "$", "eur", "EUR"].contains(&unit) || word.starts_with('$') {
            return Err(
                "a budget in money needs a price, and none is known yet: give tokens (`200k`) or minutes (`30min`)"
                    .to_owned(),
            );
        }
        let unit = unit.strip_suffix("tokens").map_or(unit, str::trim);
        let amount = |factor: u64| {
            number
                .checked_mul(factor)
                .filter(|amount| *amount > 0)
                .ok_or_else(unreadable)
        };
        match unit {
            "" => amount(1).map(Budget::Tokens),
            "k" | "K" => amount(1_000).map(Budget::Tokens),
            "m" | "M" => amount(1_000_000).map(Budget::Tokens),
            "min" => amount(1).map(Budget::Minutes),
            "h" => amount(60).map(Budget::Minutes),
            _ => Err(unreadable()),
        }
    }
}

fn label(word: &str) -> Result<(String, String), String> {
    match word.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(format!("`{word}` is no label: write KEY=VALUE")),
    }
}
