//! Test builds only: the reading of lines can be turned off in this process, so that each counts as one that
//! does nothing and the walls hold it alone. Knows no walls.

use std::sync::atomic::{AtomicBool, Ordering};

static UNREAD: AtomicBool = AtomicBool::new(false);

/// Reads no line from now on.
pub fn read_no_lines() {
    UNREAD.store(true, Ordering::Relaxed);
}

pub(super) fn lines_are_unread() -> bool {
    UNREAD.load(Ordering::Relaxed)
}
