//! Models that are files: scripts and recordings that are read, and the recording that is written.
//! It must not know what stands in them.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use engine::Problem;
use llm::Model;
use llm::recording::{BEGINNING, Keep, Replay};
use llm::scripted::Scripted;

use super::{Models, broken};

/// No script is larger, in bytes.
const LARGEST_SCRIPT: u64 = 16 * 1024 * 1024;
/// No recording is larger, in bytes.
const LARGEST_RECORDING: u64 = 256 * 1024 * 1024;

impl Models {
    pub(super) fn script(&self, file: &str) -> Result<Arc<dyn Model>, Problem> {
        let bytes = content("script", file, LARGEST_SCRIPT)
            .map_err(|problem| problem.hint("`--model scripted:FILE` names a JSON file with `turns` or `runs`."))?;
        let model = Scripted::new(file, &bytes).map_err(|error| self.problem(error))?;
        Ok(Arc::new(model))
    }

    pub(super) fn replay(&self, file: &str) -> Result<Arc<dyn Model>, Problem> {
        let bytes = content("recording", file, LARGEST_RECORDING)
            .map_err(|problem| problem.hint("`--model record:FILE` makes one."))?;
        let model = Replay::new(file, &bytes, self.secrets.clone()).map_err(|error| self.problem(error))?;
        Ok(Arc::new(model))
    }
}

fn content(what: &str, file: &str, largest: u64) -> Result<Vec<u8>, Problem> {
    let unreadable = |why: String| broken(format!("The {what} {file} cannot be read: {why}."));
    let facts = fs::metadata(file).map_err(|error| unreadable(error.to_string()))?;
    if !facts.is_file() || facts.len() > largest {
        return Err(unreadable(format!("it is no plain file of at most {largest} bytes")));
    }
    fs::read(file).map_err(|error| unreadable(error.to_string()))
}

/// A recording that this process makes.
pub(super) struct Recording {
    path: PathBuf,
    /// None before the first model is asked for.
    open: Mutex<Option<Arc<File>>>,
}

impl Recording {
    pub(super) fn new(path: PathBuf) -> Recording {
        Recording {
            path,
            open: Mutex::new(None),
        }
    }

    /// Where lines go. The file is made for this process, for nobody else's eyes.
    pub(super) fn begun(&self) -> Result<Keep, Problem> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match open.as_ref() {
            Some(file) => Arc::clone(file),
            None => Arc::clone(open.insert(Arc::new(begin(&self.path)?))),
        };
        Ok(Arc::new(move |line| {
            (&*file)
                .write_all(format!("{line}\n").as_bytes())
                .map_err(|error| error.to_string())
        }))
    }
}

fn begin(path: &Path) -> Result<File, Problem> {
    let mut file = OpenOptions::new()
        .append(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(|error| {
            let problem = broken(format!("The recording {} cannot be made: {error}.", path.display()));
            if error.kind() == std::io::ErrorKind::AlreadyExists {
                return problem.hint("A recording is never written over: name another file, or remove this one.");
            }
            problem.hint("Name a file in a folder that is there and that you can write in.")
        })?;
    file.write_all(format!("{BEGINNING}\n").as_bytes())
        .map_err(|error| broken(format!("The recording {} cannot be written: {error}.", path.display())))?;
    Ok(file)
}
