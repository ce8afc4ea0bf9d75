//! Files: reading, listing, writing, editing. Everything goes through the handle of a place.

mod apply_patch;
mod blocks;
mod edit;
mod hunks;
mod ladder;
mod list_files;
mod patch;
mod read_file;
mod replace;
mod replace_in_file;
mod window;
mod write_to_file;

pub(crate) use apply_patch::ApplyPatch;
pub(crate) use list_files::ListFiles;
pub(crate) use read_file::ReadFile;
pub(crate) use replace::standing;
pub(crate) use replace_in_file::ReplaceInFile;
pub(crate) use write_to_file::WriteToFile;
