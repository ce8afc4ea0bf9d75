//! How much a checkpoint takes, and how long it is kept.

/// Largest file that is held, in bytes; a larger one is named.
pub(super) const LARGEST_FILE: u64 = 64 * 1024 * 1024;

/// Most files of one ignored folder. A folder of more is left out whole, and named.
pub(super) const IGNORED_FILES: u64 = 5_000;

/// Most bytes of one ignored folder. A folder of more is left out whole, and named.
pub(super) const IGNORED_BYTES: u64 = 64 * 1024 * 1024;

/// Longest ignore file that is read, in bytes.
pub(super) const LARGEST_IGNORE_FILE: u64 = 1024 * 1024;

/// Deepest folder that is entered; a deeper one is named.
pub(super) const DEEPEST: usize = 128;

/// Most files of one checkpoint. A tree of more has none, and that is said.
pub(super) const MOST_FILES: u64 = 1_000_000;
