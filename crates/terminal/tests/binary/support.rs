//! A place to try the binary in: a home, a home of Stance, a repository and a folder outside, all
//! beneath one temporary folder and nothing of the machine's own.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Everything one story touches.
pub(crate) struct Place {
    folder: TempDir,
    /// Variables added to every call.
    pub(crate) variables: Vec<(String, String)>,
}

/// What a call of the binary came to.
#[derive(Debug)]
pub(crate) struct Said {
    /// Its exit code; 128 + N when signal N ended it.
    pub(crate) code: i32,
    /// What it wrote for programs.
    pub(crate) out: String,
    /// What it wrote for people.
    pub(crate) err: String,
}

impl Place {
    /// A repository with one commit: README.md, src/app.js, src/util.py, an empty folder outside.
    pub(crate) fn new() -> Place {
        let place = Place {
            folder: tempfile::tempdir().unwrap(),
            variables: Vec::new(),
        };
        for folder in ["home", "repo/src", "outside", "scripts"] {
            fs::create_dir_all(place.folder.path().join(folder)).unwrap();
        }
        place.write("README.md", "# Sample\nconst in words\n");
        place.write("src/app.js", "const x = 1;\n");
        place.write("src/util.py", "def add(a, b):\n    return a + b\n");
        place.git(&["init", "-q", "-b", "main"]);
        place.git(&["config", "user.name", "Ada"]);
        place.git(&["config", "user.email", "ada@example.org"]);
        place.git(&["add", "-A"]);
        place.git(&["commit", "-q", "-m", "start"]);
        place
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn stance_home(&self) -> PathBuf {
        self.folder.path().join("stance-home")
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.folder.path().join("outside")
    }

    /// Writes a file of the repository.
    pub(crate) fn write(&self, path: &str, content: &str) {
        let file = self.repo().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.repo().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The person's settings file.
    pub(crate) fn settings(&self, text: &str) {
        fs::create_dir_all(self.stance_home()).unwrap();
        fs::write(self.stance_home().join("settings.toml"), text).unwrap();
    }

    /// A script for the model; returns what `--model` takes.
    pub(crate) fn script(&self, name: &str, script: &Value) -> String {
        let file = self.folder.path().join("scripts").join(format!("{name}.json"));
        fs::write(&file, serde_json::to_string_pretty(script).unwrap()).unwrap();
        format!("scripted:{}", file.display())
    }

    /// The real git, as the person would use it.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(self.repo())
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap())
            .env("HOME", self.home())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            // Else it tidies up behind us while the tests look.
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "maintenance.auto")
            .env("GIT_CONFIG_VALUE_0", "false")
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "git {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// The binary, ready to be started in the repository.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stance"));
        command
            .args(arguments)
            .current_dir(self.repo())
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap())
            .env("HOME", self.home())
            .env("STANCE_HOME", self.stance_home())
            .stdin(Stdio::null());
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn stance(&self, arguments: &[&str]) -> Said {
        said(self.command(arguments).output().unwrap())
    }

    /// Runs the binary to its end with something on standard input.
    pub(crate) fn stance_with_input(&self, arguments: &[&str], input: &str) -> Said {
        use std::io::Write as _;
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        said(child.wait_with_output().unwrap())
    }

    /// `stance run --json` with this script; the one report.
    pub(crate) fn run(&self, model: &str, arguments: &[&str]) -> (i32, Value) {
        let mut all = vec!["run", "--json", "--model", model];
        all.extend(arguments);
        let said = self.stance(&all);
        (said.code, said.report())
    }

    /// Every event of a run's journal, as `--stream-json` prints them, then the report.
    pub(crate) fn stream(&self, model: &str, arguments: &[&str]) -> (i32, Vec<Value>, Value) {
        let mut all = vec!["run", "--stream-json", "--model", model];
        all.extend(arguments);
        let said = self.stance(&all);
        let mut lines: Vec<Value> = said
            .out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let report = lines
            .pop()
            .unwrap_or_else(|| panic!("nothing was printed: {}", said.err));
        (said.code, lines, report)
    }

    /// `stance run --json` with the model of the settings.
    pub(crate) fn run_configured(&self, arguments: &[&str]) -> (i32, Value) {
        let said = self.stance(&[&["run", "--json"], arguments].concat());
        (said.code, said.report())
    }

    /// The state of everything a read-only run must leave alone: content, mode, link target, mtime
    /// and ctime of the repository with its `.git`, the folder outside and the home.
    pub(crate) fn world(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for root in [self.repo(), self.outside(), self.home()] {
            state(&root, &mut lines);
        }
        lines
    }
}

impl Said {
    /// The one JSON object on standard output.
    pub(crate) fn report(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("no JSON ({error}): {:?}\n{}", self.out, self.err))
    }
}

pub(crate) fn said(output: Output) -> Said {
    use std::os::unix::process::ExitStatusExt as _;
    let code = output
        .status
        .code()
        .unwrap_or_else(|| 128 + output.status.signal().unwrap_or_default());
    Said {
        code,
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn state(path: &Path, lines: &mut Vec<String>) {
    let facts = fs::symlink_metadata(path).unwrap();
    let content = if facts.is_symlink() {
        fs::read_link(path).unwrap().display().to_string()
    } else if facts.is_file() {
        digest_of(&fs::read(path).unwrap())
    } else {
        String::new()
    };
    lines.push(format!(
        "{} {:o} {content} {}.{} {}.{}",
        path.display(),
        facts.mode(),
        facts.mtime(),
        facts.mtime_nsec(),
        facts.ctime(),
        facts.ctime_nsec()
    ));
    if facts.is_dir() {
        let mut names: Vec<PathBuf> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        for name in names {
            state(&name, lines);
        }
    }
}

fn digest_of(bytes: &[u8]) -> String {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!("{:016x}:{}", hasher.finish(), bytes.len())
}

/// A line that does the same, in words no reading of lines sees through: the walls are tried alone.
pub(crate) fn unseen(line: &str) -> String {
    use std::fmt::Write as _;
    let mut escaped = String::new();
    for byte in line.bytes() {
        write!(escaped, "\\x{byte:02x}").unwrap();
    }
    format!("eval $'{escaped}'")
}

/// One turn of a script that makes these calls.
pub(crate) fn calls(calls: &[(&str, Value)]) -> Value {
    let calls: Vec<Value> = calls
        .iter()
        .map(|(name, arguments)| json!({"name": name, "arguments": arguments}))
        .collect();
    json!({"tool_calls": calls})
}

/// One turn of a script that only says something.
pub(crate) fn says(text: &str) -> Value {
    json!({"text": text})
}

/// A script of these turns.
pub(crate) fn turns(turns: &[Value]) -> Value {
    json!({"turns": turns})
}

/// A plan of one work step, as `submit_plan` takes it.
pub(crate) fn one_step_plan(goal: &str, key: &str, files: &[&str], checks: &[&str]) -> Value {
    json!({
        "goal": goal,
        "nodes": [{"key": key, "title": format!("Do {key}"), "kind": "work", "description": "As the goal says.", "files": files}],
        "checks": checks,
    })
}

/// What a decision about the plan of a report names.
pub(crate) fn plan_at_digest(report: &Value) -> String {
    let plan = &report["plan"];
    format!("{}@{}", plan["id"].as_str().unwrap(), plan["digest"].as_str().unwrap())
}

/// What the model read of each call, in the order the calls ended in.
pub(crate) fn results(events: &[Value]) -> Vec<String> {
    let finished = events.iter().filter(|event| event["kind"] == "tool_finished");
    let text = |event: &Value| {
        event["payload"]["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    finished.map(text).collect()
}
