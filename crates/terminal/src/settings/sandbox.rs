//! What programs need around them: `[sandbox]` of the person's and the administrator's file, and the
//! word of a command line. It must not know how walls are made.

use clap::ValueEnum;
use llm::Given;
use toml::de::DeTable;

use super::page::Page;

/// The words by which an operator accepts programs without proven walls.
pub(crate) const ACCEPTANCE: &str = "approvals are not protected from programs";
const KEYS: &[&str] = &["mode", "accept"];

/// What programs need around them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum SandboxMode {
    /// Proven walls, or nothing is started.
    #[default]
    Required,
    /// The best that this machine has.
    Preferred,
    /// Nothing.
    Off,
    /// The container around Stance is the wall; Stance does not prove it.
    Outer,
}

impl SandboxMode {
    /// The word of settings and command lines.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            SandboxMode::Required => "required",
            SandboxMode::Preferred => "preferred",
            SandboxMode::Off => "off",
            SandboxMode::Outer => "outer",
        }
    }
}

/// The table of one file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SandboxTable {
    pub(crate) mode: Option<Given<SandboxMode>>,
    pub(crate) accept: Option<Given<()>>,
}

/// What holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sandbox {
    /// What programs need.
    pub(crate) mode: SandboxMode,
    /// Whether an operator accepted programs without proven walls.
    pub(crate) accepted: bool,
}

impl Sandbox {
    /// What trusted files make together, strongest first.
    pub(super) fn of(files: [&SandboxTable; 2]) -> Sandbox {
        Sandbox {
            mode: super::first(files.map(|file| &file.mode)).unwrap_or_default(),
            accepted: files.iter().any(|file| file.accept.is_some()),
        }
    }
}

pub(super) fn read(page: &mut Page<'_>, table: &DeTable<'_>) -> SandboxTable {
    let mut read = SandboxTable::default();
    for (key, value) in table {
        let at = value.span().start;
        match key.get_ref().as_ref() {
            "mode" => {
                let Some(given) = page.text("mode", value) else {
                    continue;
                };
                let words = SandboxMode::value_variants();
                if let Some(mode) = words.iter().find(|mode| mode.word() == given.value) {
                    read.mode = Some(page.given(at, *mode));
                } else {
                    let words: Vec<&str> = words.iter().map(|mode| mode.word()).collect();
                    page.unknown_word(at, "mode", &given.value, &words);
                }
            }
            "accept" => match page.text("accept", value) {
                Some(given) if given.value == ACCEPTANCE => read.accept = Some(page.given(at, ())),
                Some(_) => page.fault(at, format!("`accept` takes these words alone: \"{ACCEPTANCE}\"")),
                None => (),
            },
            other => page.unknown_key(key.span().start, "sandbox", other, KEYS),
        }
    }
    read
}
