//! Searching text with ripgrep's own parts, in process, through the handle of a place.

mod report;
mod search_files;

pub(crate) use search_files::SearchFiles;
