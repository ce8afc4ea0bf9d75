//! Any text as a shell line: it has a reading, and what is not understood is no read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use modes::{LinePlace, LineReading};

fuzz_target!(|line: &str| {
    let place = LinePlace {
        cwd: "/repo/project",
        worktree: "/repo/project",
        home: "/home/person",
        hidden: &[],
        walled: true,
        git_starts_nothing: &|_| true,
    };
    let reading = LineReading::read(line, &place);
    assert_eq!(reading.line(), line);
    assert!(reading.opaque().is_none() || !reading.only_reads());
});
