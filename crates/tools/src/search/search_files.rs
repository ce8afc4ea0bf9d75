//! `search_files`: a regular expression in one file, or in all files beneath a folder.

use std::fs::File;

use globset::{GlobBuilder, GlobMatcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use modes::ProposedCall;
use modes::paths::secret_shaped;
use schemars::JsonSchema;
use serde::Deserialize;

use super::report::Report;
use crate::place::{in_words, reopen};
use crate::scope::Scope;
use crate::source::Source;
use crate::tool::{BadArguments, ToolResult};
use crate::typed::{Around, TypedTool};
use crate::walk::{Kind, MOST_ENTRIES, Walk};

/// Longest file that is searched, in bytes.
const LONGEST: u64 = 10 * 1024 * 1024;

/// Longest line that is searched, and largest compiled expression, in bytes.
const LARGEST: usize = 10 * 1024 * 1024;

const MOST_CONTEXT: usize = 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// A folder or file, relative to the project; `.` is the project.
    path: String,
    /// Rust syntax, line by line; `(?i)` ignores case.
    regex: String,
    /// Glob such as `*.rs` or `src/**/*.ts`.
    #[serde(default)]
    file_pattern: Option<String>,
    /// Lines shown around each match, up to 20.
    #[serde(default)]
    context: Option<usize>,
}

pub(crate) struct SearchFiles;

pub(crate) struct Ready {
    from: Source,
    matcher: RegexMatcher,
    pattern: Option<Pattern>,
    context: usize,
}

impl TypedTool for SearchFiles {
    const NAME: &'static str = "search_files";
    const DESCRIPTION: &'static str = "Searches files for a regular expression and shows matching lines with their numbers; ignored, binary and secret files are left out. Use it to find where something is defined or used.";
    const EXAMPLE: &'static str = r#"{"path": "src", "regex": "fn \\w+_price", "file_pattern": "*.rs", "context": 2}"#;
    type Arguments = Arguments;
    type Ready = Ready;

    fn prepare(arguments: Arguments, call: ProposedCall, scope: &Scope) -> Result<(ProposedCall, Ready), BadArguments> {
        let matcher = RegexMatcherBuilder::new()
            .line_terminator(Some(b'\n'))
            .size_limit(LARGEST)
            .dfa_size_limit(LARGEST)
            .build(&arguments.regex)
            .map_err(|error| BadArguments(format!("`regex` cannot be used: {error}. Example: {}", Self::EXAMPLE)))?;
        let pattern = arguments.file_pattern.as_deref().map(Pattern::new).transpose()?;
        let context = arguments.context.unwrap_or(0);
        if context > MOST_CONTEXT {
            return Err(BadArguments(format!(
                "`context` is {context} and at most {MOST_CONTEXT} lines are shown."
            )));
        }
        let (call, from) = Source::open(&arguments.path, call, scope)?;
        Ok((
            call,
            Ready {
                from,
                matcher,
                pattern,
                context,
            },
        ))
    }

    async fn act(ready: Ready, around: Around<'_>) -> ToolResult {
        let cancel = around.scope.cancel.clone();
        let secrets = around.scope.secrets.clone();
        let searched = tokio::task::spawn_blocking(move || search(ready, &secrets, &|| cancel.is_cancelled()));
        searched
            .await
            .unwrap_or_else(|_| ToolResult::error("searching was interrupted."))
    }
}

/// A glob on names, or on paths when it has a slash.
struct Pattern {
    glob: GlobMatcher,
    of_paths: bool,
}

impl Pattern {
    fn new(text: &str) -> Result<Pattern, BadArguments> {
        let glob = GlobBuilder::new(text.trim_start_matches("./"))
            .literal_separator(true)
            .build()
            .map_err(|error| BadArguments(format!("`file_pattern` cannot be used: {error}. Example: *.rs")))?;
        Ok(Pattern {
            glob: glob.compile_matcher(),
            of_paths: text.contains('/'),
        })
    }

    fn takes(&self, path: &str, beneath: &str) -> bool {
        if self.of_paths {
            self.glob.is_match(path) || self.glob.is_match(beneath)
        } else {
            self.glob.is_match(path.rsplit('/').next().unwrap_or(path))
        }
    }
}

fn search(ready: Ready, secrets: &sandbox::Secrets, stopped: &dyn Fn() -> bool) -> ToolResult {
    let Ready {
        from,
        matcher,
        pattern,
        context,
    } = ready;
    let mut searcher = SearcherBuilder::new()
        .line_number(true)
        .before_context(context)
        .after_context(context)
        .heap_limit(Some(LARGEST))
        .binary_detection(BinaryDetection::quit(0))
        .build();
    let mut report = Report::default();
    match from {
        Source::Nowhere => ToolResult::error("nothing was opened."),
        Source::File(held) => {
            let file = match reopen(&held.node) {
                Ok(file) => file,
                Err(error) => return ToolResult::error(format!("{} {}.", held.path, in_words(error))),
            };
            if !search_one(&mut searcher, &matcher, &mut report, &held.path, &file) {
                return ToolResult::error(format!("{} is too long to be searched.", held.path));
            }
            ToolResult::text(report.finish(&[]))
        }
        Source::Folder { start, secret } => {
            let mut skipped = Skipped::default();
            let mut walk = Walk::new(start, true);
            while let Some(entry) = walk.next() {
                let beneath = entry.beneath.to_string_lossy();
                let wanted = pattern
                    .as_ref()
                    .is_none_or(|pattern| pattern.takes(&entry.path, &beneath));
                if entry.kind != Kind::File || !wanted {
                    continue;
                }
                if secret_shaped(if secret { &beneath } else { &entry.path }) {
                    skipped.secret += 1;
                    continue;
                }
                if secrets.denies(&entry.path) {
                    skipped.denied += 1;
                    continue;
                }
                match walk.open(&entry) {
                    Some(file) if search_one(&mut searcher, &matcher, &mut report, &entry.path, &file) => {}
                    _ => skipped.unsearched += 1,
                }
                if report.is_full() || stopped() {
                    break;
                }
            }
            skipped.unsearched += walk.unreadable();
            skipped.cut = walk.cut();
            ToolResult::text(report.finish(&skipped.remarks()))
        }
    }
}

/// Searches one file; false when it could not be.
fn search_one(searcher: &mut Searcher, matcher: &RegexMatcher, report: &mut Report, path: &str, file: &File) -> bool {
    let short = file.metadata().is_ok_and(|metadata| metadata.len() <= LONGEST);
    short && searcher.search_file(matcher, file, report.of(path)).is_ok()
}

#[derive(Default)]
struct Skipped {
    secret: usize,
    denied: usize,
    unsearched: usize,
    cut: bool,
}

impl Skipped {
    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.secret > 0 {
            remarks.push(format!(
                "{} files that look like secrets were skipped; to search one, give it as `path`",
                self.secret
            ));
        }
        if self.denied > 0 {
            remarks.push(format!(
                "{} files were skipped: a rule denies to read them",
                self.denied
            ));
        }
        if self.unsearched > 0 {
            remarks.push(format!(
                "{} files or folders were too long or could not be read",
                self.unsearched
            ));
        }
        if self.cut {
            remarks.push(format!("the search ended after {MOST_ENTRIES} entries"));
        }
        remarks
    }
}
