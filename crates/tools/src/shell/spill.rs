//! Output that is too long to show: the end is shown, all of it lies in a file of the run's scratch
//! folder, out of reach of its processes.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Bytes shown.
const SHOWN: usize = 24 * 1024;

/// Names tried.
const FILES: usize = 100_000;

/// The end of an output, and where the rest is.
pub(super) struct Tail {
    pub(super) text: String,
    /// A sentence about what is not shown.
    pub(super) remark: Option<String>,
}

/// Keeps the end of an output; `dropped` bytes before it are lost already.
pub(super) fn tail(output: &[u8], dropped: u64, scratch: &Path) -> Tail {
    if output.len() <= SHOWN && dropped == 0 {
        return Tail {
            text: String::from_utf8_lossy(output).into_owned(),
            remark: None,
        };
    }
    let end = output.get(output.len().saturating_sub(SHOWN)..).unwrap_or_default();
    // Begin with a whole line, where there is one.
    let begin = end
        .iter()
        .position(|byte| *byte == b'\n')
        .filter(|at| *at < SHOWN / 2)
        .map_or(0, |at| at + 1);
    let shown = end.get(begin..).unwrap_or_default();
    let lost = if dropped > 0 {
        format!(" (its first {dropped} bytes are lost)")
    } else {
        String::new()
    };
    let remark = match spill(output, scratch) {
        Ok(path) => format!(
            "the last {} of {} bytes are shown; read_file shows all{lost}: {}",
            shown.len(),
            output.len() as u64 + dropped,
            path.display()
        ),
        Err(error) => format!(
            "the last {} bytes are shown; the rest could not be kept: {error}",
            shown.len()
        ),
    };
    Tail {
        text: String::from_utf8_lossy(shown).into_owned(),
        remark: Some(remark),
    }
}

fn spill(output: &[u8], scratch: &Path) -> std::io::Result<PathBuf> {
    let folder = scratch.join("output");
    fs::create_dir_all(&folder)?;
    for number in 1..=FILES {
        let path = folder.join(format!("command-{number}.txt"));
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(mut file) => return file.write_all(output).map(|()| path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(std::io::Error::from(ErrorKind::AlreadyExists))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_output_is_shown_whole_and_nothing_is_written() {
        let scratch = tempfile::tempdir().unwrap();
        let tail = tail(b"one\ntwo\n", 0, scratch.path());
        assert_eq!((tail.text.as_str(), tail.remark), ("one\ntwo\n", None));
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    }

    #[test]
    fn long_output_keeps_its_end_and_lies_whole_in_a_file() {
        let scratch = tempfile::tempdir().unwrap();
        let output: String = (0..10_000).map(|n| n.to_string()).collect::<Vec<_>>().join("\n") + "\n";
        let first = tail(output.as_bytes(), 7, scratch.path());
        assert!(first.text.len() <= SHOWN && first.text.ends_with("\n9999\n"));
        let remark = first.remark.unwrap();
        let path = scratch.path().join("output/command-1.txt");
        assert!(
            remark.contains("first 7 bytes are lost") && remark.ends_with(path.to_str().unwrap()),
            "{remark}"
        );
        assert_eq!(fs::read_to_string(path).unwrap(), output);
        tail(output.as_bytes(), 0, scratch.path());
        assert!(scratch.path().join("output/command-2.txt").is_file());
    }
}
