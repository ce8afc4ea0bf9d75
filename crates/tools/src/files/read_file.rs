//! `read_file`: text in windows, images as images, anything else told.

use std::fs::File;
use std::io::Read;
use std::num::NonZeroUsize;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use modes::ProposedCall;
use schemars::JsonSchema;
use serde::Deserialize;

use super::window::window;
use crate::place::{Held, Roots, in_words, not_a_file, reopen};
use crate::scope::Scope;
use crate::tool::{BadArguments, Content, ToolResult};
use crate::typed::{Around, TypedTool};

/// Longest file that is read, in bytes.
pub(crate) const LONGEST: u64 = 10 * 1024 * 1024;

/// Longest image that is handed on, in bytes: what fits into 5 MiB of base64.
const LONGEST_IMAGE: usize = 15 * 1024 * 1024 / 4;

/// Where a NUL byte tells a binary file.
const TELLING: usize = 8 * 1024;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Relative to the project.
    path: String,
    /// First line, from 1.
    #[serde(default)]
    start_line: Option<NonZeroUsize>,
    /// Last line.
    #[serde(default)]
    end_line: Option<NonZeroUsize>,
}

pub(crate) struct Ready {
    held: Option<Held>,
    from: usize,
    to: Option<usize>,
}

pub(crate) struct ReadFile;

impl TypedTool for ReadFile {
    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = "Reads a file with line numbers, up to 1000 lines at a time, or shows an image. Use it before you judge or change a file.";
    const EXAMPLE: &'static str = r#"{"path": "src/main.rs", "start_line": 1, "end_line": 80}"#;
    type Arguments = Arguments;
    type Ready = Ready;

    fn prepare(arguments: Arguments, call: ProposedCall, scope: &Scope) -> Result<(ProposedCall, Ready), BadArguments> {
        let from = arguments.start_line.map_or(1, NonZeroUsize::get);
        let to = arguments.end_line.map(NonZeroUsize::get);
        if to.is_some_and(|to| to < from) {
            return Err(BadArguments(format!(
                "`end_line` lies before `start_line` {from}. Example: {}",
                Self::EXAMPLE
            )));
        }
        let (call, held) = Roots::of(scope)?.find(&arguments.path)?.for_reading(call)?;
        let Some(held) = held else {
            return Ok((call, Ready { held, from, to }));
        };
        if let Some(kind) = not_a_file(&held.stat) {
            let instead = if kind == "a folder" { " Use list_files." } else { "" };
            return Err(BadArguments(format!("{} is {kind}, not a file.{instead}", held.path)));
        }
        Ok((
            held.guarding(call),
            Ready {
                held: Some(held),
                from,
                to,
            },
        ))
    }

    async fn act(ready: Ready, _: Around<'_>) -> ToolResult {
        let Some(held) = ready.held else {
            return ToolResult::error("nothing was opened.");
        };
        let read = tokio::task::spawn_blocking(move || match read_held(&held) {
            Ok(bytes) => show(&held.path, &bytes, ready.from, ready.to),
            Err(why) => ToolResult::error(why),
        });
        read.await
            .unwrap_or_else(|_| ToolResult::error("reading was interrupted."))
    }
}

/// Reads a held regular file whole, up to the limit.
pub(crate) fn read_held(held: &Held) -> Result<Vec<u8>, String> {
    let file = reopen(&held.node).map_err(|error| format!("{} {}.", held.path, in_words(error)))?;
    read_whole(&held.path, file)
}

/// Reads a file whole, up to the limit.
pub(crate) fn read_whole(path: &str, file: File) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    match file.take(LONGEST + 1).read_to_end(&mut bytes) {
        Err(error) => Err(format!("{path} cannot be read: {error}.")),
        Ok(_) if bytes.len() as u64 > LONGEST => Err(format!(
            "{path} is longer than 10 MiB; find the part you need with search_files."
        )),
        Ok(_) => Ok(bytes),
    }
}

fn show(path: &str, bytes: &[u8], from: usize, to: Option<usize>) -> ToolResult {
    let shown = if let Some(media_type) = image(bytes) {
        show_image(path, bytes, media_type)
    } else if bytes.iter().take(TELLING).any(|byte| *byte == 0) {
        ToolResult::text(format!(
            "{path} is a binary file of {} bytes; it is not shown.",
            bytes.len()
        ))
    } else {
        ToolResult::text(text(bytes, from, to))
    };
    shown.showing(path, hash(bytes))
}

/// The content hash the model's sight of a file is remembered by.
pub(crate) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// A window of bytes that should be text.
pub(crate) fn text(bytes: &[u8], from: usize, to: Option<usize>) -> String {
    let text = String::from_utf8_lossy(bytes);
    let shown = window(text.strip_prefix('\u{feff}').unwrap_or(&text), from, to);
    match std::str::from_utf8(bytes) {
        Ok(_) => shown,
        Err(error) => format!(
            "{shown}\n[not valid UTF-8 from byte {}: such places are shown as \u{fffd}]",
            error.valid_up_to()
        ),
    }
}

fn show_image(path: &str, bytes: &[u8], media_type: &str) -> ToolResult {
    if bytes.len() > LONGEST_IMAGE {
        return ToolResult::text(format!(
            "{path} is an image ({media_type}) of {} bytes; images longer than {LONGEST_IMAGE} bytes are not shown.",
            bytes.len()
        ));
    }
    let mut result = ToolResult::text(format!("{path} ({media_type}, {} bytes):", bytes.len()));
    result.content.push(Content::Image {
        media_type: media_type.to_owned(),
        data: STANDARD.encode(bytes),
    });
    result
}

/// The media type of an image, by its first bytes.
fn image(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}
