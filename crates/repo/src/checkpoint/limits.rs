//! How much a checkpoint takes, and how long it is kept.

/// Largest file that is held, in bytes; a larger one is named.
pub(super) const LARGEST_FILE: u64 = 64 * 1024 * 1024;

/// Longest ignore file that is read, in bytes.
pub(super) const LARGEST_IGNORE_FILE: u64 = 1024 * 1024;
