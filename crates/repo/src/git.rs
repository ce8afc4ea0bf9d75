//! The one builder of git processes. Each runs inside the walls on a git directory of our own: a
//! generated configuration, no hooks, no attributes; objects, references, HEAD and index are
//! borrowed from the real one, read-only unless the operation writes exactly that.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use modes::Containment;
use sandbox::{Access, Finished, Generated, Keep, Limits, Mount, Places, Program, Scratch, Secrets, Spawn, Walls};

use crate::{Checkout, RepoError};

/// Our own git directory, inside the walls. Beneath `/tmp`, so that git can put its locks there.
const FACADE: &str = "/tmp/repository.git";
/// An index of one operation, inside the walls.
pub(crate) const OWN_INDEX: &str = "/tmp/index";
/// A configuration file that is only listed, inside the walls.
const LISTED: &str = "/tmp/listed-configuration";

/// What git may be told by configuration. Each closes a way to a program, a network or a file.
const FIXED: &[&str] = &[
    "advice.graftFileDeprecated=false",
    "commit.gpgSign=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "credential.helper=",
    "diff.ignoreSubmodules=all",
    "gc.auto=0",
    "log.mailmap=false",
    "log.showSignature=false",
    "maintenance.auto=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
];

const VARIABLES: &[(&str, &str)] = &[
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_EDITOR", "false"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C.UTF-8"),
];

/// Takes back every attribute that changes or hides content, for all files. It stands where the
/// repository's own would, and wins over every `.gitattributes`, also where git is too old to be told
/// to read these from an empty tree.
const NO_ATTRIBUTES: &str = "* !text !eol !crlf !ident !filter !working-tree-encoding !diff !merge\n";

/// Bytes of one git process's output that are kept for parsing.
const OUTPUT: usize = 64 * 1024 * 1024;

/// So long a git process may take where nothing else is said.
const LONGEST: Duration = Duration::from_mins(2);

/// Git of the system, ready to run inside the walls.
#[derive(Debug, Clone)]
pub struct Git {
    walls: Arc<Walls>,
    scratch: PathBuf,
}

/// What of the real repository an operation writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Writes {
    /// Nothing.
    Nothing,
    /// The index, objects, references and their logs.
    Repository,
    /// Nothing; objects and an index of ours go to this folder.
    Store(PathBuf),
}

/// One git process to be run.
#[derive(Debug)]
pub(crate) struct Operation<'a> {
    pub(crate) checkout: &'a Checkout,
    pub(crate) writes: Writes,
    /// Whether files are taken byte by byte, whatever `.gitattributes` says.
    pub(crate) exact: bool,
    pub(crate) doing: &'static str,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) stdin: Vec<u8>,
    pub(crate) output: usize,
    pub(crate) time: Duration,
}

impl<'a> Operation<'a> {
    /// An operation that reads.
    pub(crate) fn read<A: Into<OsString>>(
        checkout: &'a Checkout,
        doing: &'static str,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        Self {
            checkout,
            writes: Writes::Nothing,
            exact: true,
            doing,
            arguments: arguments.into_iter().map(Into::into).collect(),
            environment: Vec::new(),
            stdin: Vec::new(),
            output: OUTPUT,
            time: LONGEST,
        }
    }

    /// An operation that writes the repository.
    pub(crate) fn write<A: Into<OsString>>(
        checkout: &'a Checkout,
        doing: &'static str,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        Self {
            writes: Writes::Repository,
            exact: false,
            ..Self::read(checkout, doing, arguments)
        }
    }

    pub(crate) fn with_stdin(mut self, stdin: impl Into<Vec<u8>>) -> Self {
        self.stdin = stdin.into();
        self
    }

    pub(crate) fn with_variable(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }
}

impl Git {
    /// `scratch` is a private folder of ours, outside of every worktree.
    pub fn new(walls: Arc<Walls>, scratch: impl Into<PathBuf>) -> Self {
        Self {
            walls,
            scratch: scratch.into(),
        }
    }

    /// A fresh folder for one operation, or several that share an index.
    pub(crate) fn scratch(&self) -> Result<Scratch, RepoError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = self.scratch.join(format!("git-{}-{number}", std::process::id()));
        Ok(Scratch::new(&path)?)
    }

    /// Runs git; anything but exit code 0 is an error in our words.
    pub(crate) async fn run(&self, operation: Operation<'_>) -> Result<Finished, RepoError> {
        self.run_in(&self.scratch()?, operation).await
    }

    /// Runs git in a scratch folder that outlives it.
    pub(crate) async fn run_in(&self, scratch: &Scratch, operation: Operation<'_>) -> Result<Finished, RepoError> {
        let doing = operation.doing;
        let finished = self.attempt_in(scratch, operation).await?;
        match finished.exit {
            Some(0) => Ok(finished),
            exit => Err(reworded(doing, exit, &finished.stderr.text())),
        }
    }

    /// Runs git and leaves the exit code to the caller.
    pub(crate) async fn attempt_in(&self, scratch: &Scratch, operation: Operation<'_>) -> Result<Finished, RepoError> {
        let checkout = operation.checkout;
        let mut places = Places::new(&checkout.worktree, scratch.path());
        places.secrets = Secrets::shown();
        let containment = match operation.writes {
            Writes::Nothing => Containment::read_only(),
            Writes::Repository | Writes::Store(_) => Containment::repository_write(),
        };
        // Also what may write the repository writes no file of the worktree.
        places.sealed.push(checkout.worktree.clone());
        places.files.push(Generated {
            target: facade("config"),
            content: checkout.settings.configuration(operation.exact),
        });
        if operation.exact {
            places.files.push(Generated {
                target: facade("info/attributes"),
                content: NO_ATTRIBUTES.into(),
            });
        }
        let mut environment = base();
        environment.extend(variables(&operation));
        places.mounts = mounts(checkout, &operation.writes);

        let mut spawn = Spawn::new(Program::Git(arguments(operation.arguments)), &checkout.worktree);
        spawn.environment = environment;
        spawn.environment.extend(operation.environment);
        spawn.stdin = operation.stdin;
        spawn.limits = Limits {
            wall_time: operation.time,
            ..limits(operation.output)
        };
        in_time(sandbox::spawn(&self.walls, containment, &places, spawn)?.wait().await?)
    }

    /// What a line of ours for bash prints in the worktree, which it only reads.
    pub(crate) async fn shell(&self, checkout: &Checkout, line: &str, stdin: Vec<u8>) -> Result<Vec<u8>, RepoError> {
        let scratch = self.scratch()?;
        let mut places = Places::new(&checkout.worktree, scratch.path());
        places.secrets = Secrets::shown();
        places.sealed.push(checkout.worktree.clone());
        let mut spawn = Spawn::new(Program::Shell(line.to_owned()), &checkout.worktree);
        spawn.environment = base();
        spawn.stdin = stdin;
        spawn.limits = limits(OUTPUT);
        let running = sandbox::spawn(&self.walls, Containment::read_only(), &places, spawn)?;
        Ok(in_time(running.wait().await?)?.stdout.bytes)
    }

    /// The keys, in lower case but for a middle part, and values of a configuration file. Includes
    /// are not followed.
    pub(crate) async fn list_config(&self, worktree: &Path, config: &Path) -> Result<Vec<(String, String)>, RepoError> {
        if !config.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Ok(Vec::new());
        }
        let scratch = self.scratch()?;
        let mut places = Places::new(worktree, scratch.path());
        places.secrets = Secrets::shown();
        places.mounts.push(Mount {
            source: config.to_owned(),
            target: LISTED.into(),
            access: Access::ReadOnly,
        });
        let list = ["config", "--file", LISTED, "--no-includes", "--null", "--list"];
        let list = list.map(OsString::from).to_vec();
        let mut spawn = Spawn::new(Program::Git(arguments(list)), "/tmp");
        spawn.environment = base();
        // Nowhere to find a repository from here.
        spawn.environment.push(("GIT_CEILING_DIRECTORIES".into(), "/".into()));
        spawn.limits = limits(OUTPUT);
        let finished = sandbox::spawn(&self.walls, Containment::read_only(), &places, spawn)?
            .wait()
            .await?;
        if finished.exit != Some(0) {
            return Err(RepoError::Layout {
                path: config.to_owned(),
                why: "git cannot read it",
                hint: Some("Look what `git config --list` says of it, and mend that line."),
            });
        }
        let text = finished.stdout.text();
        Ok(text
            .split_terminator('\0')
            .map(|entry| entry.split_once('\n').unwrap_or((entry, "true")))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect())
    }
}

/// How long a process may take, and how much of its output is kept.
fn limits(output_bytes: usize) -> Limits {
    Limits {
        wall_time: LONGEST,
        output_bytes,
        keep: Keep::Head,
        ..Limits::default()
    }
}

fn in_time(finished: Finished) -> Result<Finished, RepoError> {
    if finished.excess.is_some() {
        return Err(RepoError::TimedOut);
    }
    Ok(finished)
}

fn facade(name: &str) -> PathBuf {
    Path::new(FACADE).join(name)
}

fn base() -> Vec<(String, String)> {
    VARIABLES
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn variables(operation: &Operation<'_>) -> Vec<(String, String)> {
    let checkout = operation.checkout;
    let path = |path: PathBuf| path.to_string_lossy().into_owned();
    let mut variables = vec![
        ("GIT_DIR".to_owned(), FACADE.to_owned()),
        ("GIT_WORK_TREE".to_owned(), path(checkout.worktree.clone())),
    ];
    if operation.exact {
        let tree = checkout.settings.empty_tree();
        variables.push(("GIT_ATTR_SOURCE".to_owned(), tree.to_owned()));
    }
    match &operation.writes {
        Writes::Nothing => (),
        Writes::Repository => {
            // Its lock lies beside it, so it must be named where it really is.
            variables.push(("GIT_INDEX_FILE".to_owned(), path(checkout.git_dir.join("index"))));
        }
        Writes::Store(store) => {
            variables.push(("GIT_INDEX_FILE".to_owned(), path(store.join("index"))));
            variables.push(("GIT_OBJECT_DIRECTORY".to_owned(), path(store.join("objects"))));
            let borrowed = path(facade("objects"));
            variables.push(("GIT_ALTERNATE_OBJECT_DIRECTORIES".to_owned(), borrowed));
        }
    }
    variables
}

fn arguments(operation: Vec<OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = ["--no-pager", "--no-optional-locks"].map(OsString::from).to_vec();
    for setting in FIXED {
        arguments.extend(["-c".into(), (*setting).into()]);
    }
    arguments.extend(operation);
    arguments
}

/// The parts of the real repository, at their places in ours.
fn mounts(checkout: &Checkout, writes: &Writes) -> Vec<Mount> {
    let access = if *writes == Writes::Repository {
        Access::ReadWrite
    } else {
        Access::ReadOnly
    };
    let common = &checkout.common_dir;
    let own = &checkout.git_dir;
    let mut mounts = Vec::new();
    let mut show = |source: PathBuf, name: &str, access| {
        if source.exists() {
            mounts.push(Mount {
                source,
                target: facade(name),
                access,
            });
        }
    };
    show(common.join("objects"), "objects", access);
    show(common.join("refs"), "refs", access);
    show(common.join("logs"), "logs", access);
    show(own.join("logs/HEAD"), "logs/HEAD", access);
    show(common.join("packed-refs"), "packed-refs", Access::ReadOnly);
    show(common.join("shallow"), "shallow", Access::ReadOnly);
    show(common.join("info/exclude"), "info/exclude", Access::ReadOnly);
    show(own.join("HEAD"), "HEAD", Access::ReadOnly);
    show(own.join("index"), "index", Access::ReadOnly);
    for part in shared_indexes(own) {
        let name = part.file_name().map(|name| name.to_string_lossy().into_owned());
        show(part, &name.unwrap_or_default(), Access::ReadOnly);
    }
    match writes {
        Writes::Nothing => (),
        Writes::Repository => mounts.push(Mount {
            source: own.clone(),
            target: own.clone(),
            access: Access::ReadWrite,
        }),
        Writes::Store(store) => mounts.push(Mount {
            source: store.clone(),
            target: store.clone(),
            access: Access::ReadWrite,
        }),
    }
    mounts
}

/// The other halves of a split index.
fn shared_indexes(git_dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(git_dir).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("sharedindex."))
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.path())
        .collect()
}

/// Git's words, understood as far as a caller can act on them, and never repeated.
pub(crate) fn reworded(doing: &'static str, exit: Option<i32>, words: &str) -> RepoError {
    let says = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
    if says(&["index.lock", "Unable to create", "cannot lock ref"]) {
        RepoError::Locked
    } else if says(&[
        "unable to read",
        "Cannot read blob",
        ": bad file",
        "missing blob",
        "bad object",
        "could not fetch",
        "unable to find",
    ]) {
        RepoError::ObjectMissing
    } else {
        RepoError::Git {
            doing,
            exit: exit.unwrap_or(-1),
        }
    }
}
