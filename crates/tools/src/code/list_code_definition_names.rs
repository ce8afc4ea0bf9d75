//! `list_code_definition_names`: the outline of one source file, or of those in a folder. The texts are read here, as
//! any file, and parsed in a process apart; the lines shown are of the text that was read.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;

use modes::ProposedCall;
use modes::paths::secret_shaped;
use schemars::JsonSchema;
use serde::Deserialize;

use super::apart::{Text, outlines};
use super::language::Language;
use super::outline::{Definition, MOST};
use crate::place::{in_words, reopen};
use crate::scope::Scope;
use crate::source::Source;
use crate::tool::{BadArguments, ToolResult};
use crate::typed::{Around, TypedTool};
use crate::walk::{Kind, Walk};

/// Longest file that is parsed, and longest of all files of a call together, in bytes.
const LONGEST: usize = 4 << 20;
const LONGEST_TOGETHER: usize = 16 << 20;

/// Files and lines of one answer, and characters of a line.
const MOST_FILES: usize = 200;
const MOST_LINES: usize = 1000;
const WIDEST: usize = 160;

/// Deepest indentation shown.
const DEEPEST: usize = 8;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// A source file, or a folder whose files are meant; relative to the project.
    path: String,
}

pub(crate) struct ListCodeDefinitionNames;

impl TypedTool for ListCodeDefinitionNames {
    const NAME: &'static str = "list_code_definition_names";
    const DESCRIPTION: &'static str = "Outlines a source file, or those in a folder: the line of each function, type and module. Use it to see what code holds before you read it.";
    const EXAMPLE: &'static str = r#"{"path": "src"}"#;
    type Arguments = Arguments;
    type Ready = Source;

    fn prepare(
        arguments: Arguments,
        call: ProposedCall,
        scope: &Scope,
    ) -> Result<(ProposedCall, Source), BadArguments> {
        let (call, source) = Source::open(&arguments.path, call, scope)?;
        if let Source::File(held) = &source
            && Language::of(&held.path).is_none()
        {
            return Err(BadArguments(format!(
                "{} is in no language that is outlined: read it with read_file.",
                held.path
            )));
        }
        Ok((call, source))
    }

    async fn act(source: Source, around: Around<'_>) -> ToolResult {
        let Some(walls) = &around.scope.walls else {
            return ToolResult::error(
                "code is parsed only inside proven walls, and this machine has none; read the file with read_file.",
            );
        };
        let secrets = around.scope.secrets.clone();
        let read = tokio::task::spawn_blocking(move || Files::of(source, &secrets));
        let files = match read.await {
            Ok(Ok(files)) => files,
            Ok(Err(why)) => return ToolResult::error(why),
            Err(_) => return ToolResult::error("reading was interrupted."),
        };
        match outlines(walls, &around.scope.scratch, &files.texts).await {
            Ok(outlined) => files.told(&outlined),
            Err(error) => ToolResult::error(format!("the code could not be parsed: {error}.")),
        }
    }
}

/// The files of a call, read.
#[derive(Default)]
struct Files {
    /// Whether a single file was asked for.
    single: bool,
    paths: Vec<String>,
    texts: Vec<Text>,
    /// How many were left out, by why.
    left_out: BTreeMap<&'static str, usize>,
}

impl Files {
    fn of(source: Source, secrets: &sandbox::Secrets) -> Result<Files, String> {
        let mut files = Files::default();
        match source {
            Source::Nowhere => return Err("nothing was opened.".to_owned()),
            Source::File(held) => {
                files.single = true;
                let file = reopen(&held.node).map_err(|error| format!("{} {}.", held.path, in_words(error)))?;
                files.take(held.path, Some(file));
            }
            Source::Folder { start, secret } => {
                let mut walk = Walk::new(start, false);
                while let Some(entry) = walk.next() {
                    if entry.kind != Kind::File || Language::of(&entry.path).is_none() {
                        continue;
                    }
                    let beneath = entry.beneath.to_string_lossy();
                    if secret_shaped(if secret { &beneath } else { &entry.path }) {
                        files.leave_out("shaped like secrets; to outline one, give it as `path`");
                    } else if secrets.denies(&entry.path) {
                        files.leave_out("a rule denies to read them");
                    } else if files.texts.len() == MOST_FILES {
                        files.leave_out("more than one answer takes; give one as `path`");
                    } else {
                        let file = walk.open(&entry);
                        files.take(entry.path, file);
                    }
                }
            }
        }
        Ok(files)
    }

    fn leave_out(&mut self, why: &'static str) {
        *self.left_out.entry(why).or_default() += 1;
    }

    fn take(&mut self, path: String, file: Option<File>) {
        use std::io::Read as _;
        let together: usize = self.texts.iter().map(|text| text.bytes.len()).sum();
        let mut bytes = Vec::new();
        let read = file.and_then(|file| file.take(LONGEST as u64 + 1).read_to_end(&mut bytes).ok());
        match (Language::of(&path), read) {
            (Some(_), Some(_)) if bytes.len() > LONGEST || together + bytes.len() > LONGEST_TOGETHER => {
                self.leave_out("too long to be parsed; find the part you need with search_files");
            }
            (Some(language), Some(_)) => {
                self.paths.push(path);
                self.texts.push(Text { language, bytes });
            }
            _ => self.leave_out("could not be read"),
        }
    }

    fn told(&self, outlined: &[Option<Vec<Definition>>]) -> ToolResult {
        let mut told = String::new();
        let mut left = MOST_LINES;
        let mut cut = 0;
        for ((path, text), outline) in self.paths.iter().zip(&self.texts).zip(outlined) {
            let Some(definitions) = outline else {
                let _ = writeln!(told, "{path}: could not be parsed within the bounds");
                continue;
            };
            if definitions.is_empty() && !self.single {
                continue;
            }
            let _ = writeln!(told, "{path}");
            let lines: Vec<&[u8]> = text.bytes.split(|byte| *byte == b'\n').collect();
            for definition in definitions.iter().take(left) {
                let line = lines.get(definition.line).copied().unwrap_or_default();
                let line: String = String::from_utf8_lossy(line).trim().chars().take(WIDEST).collect();
                let indent = "  ".repeat(definition.depth.min(DEEPEST));
                let _ = writeln!(told, "{:>6}  {indent}{line}", definition.line + 1);
            }
            if definitions.is_empty() {
                told.push_str("[nothing is defined here]\n");
            } else if definitions.len() >= MOST {
                let _ = writeln!(told, "[the first {MOST} definitions; there may be more]");
            }
            cut += definitions.len().saturating_sub(left);
            left = left.saturating_sub(definitions.len());
        }
        if cut > 0 {
            let _ = writeln!(told, "[{cut} more definitions; give a single file as `path`]");
        }
        for (why, count) in &self.left_out {
            let files = if *count == 1 {
                "1 file".to_owned()
            } else {
                format!("{count} files")
            };
            let _ = writeln!(told, "[{files} left out: {why}]");
        }
        let told = told.trim_end();
        if self.single && (outlined == [None] || !self.left_out.is_empty()) {
            return ToolResult::error(format!("{told}; read it with read_file."));
        }
        ToolResult::text(if told.is_empty() {
            "[no file here defines anything]"
        } else {
            told
        })
    }
}
