//! A hermetic place with a repository in it, and what the real binary says there.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use modes::{Mode, RuleText, RunSpec, descriptor};
use serde_json::{Value, json};

use crate::drawn::Call;

/// What `stance profile --json` says of a mode.
pub(crate) struct Door {
    pub(crate) tools: Vec<String>,
    pub(crate) absent: BTreeMap<String, String>,
    pub(crate) prompt: String,
    pub(crate) not_startable: Option<String>,
}

/// A repository, a home, a home of Stance and a folder outside, each with a file in it.
pub(crate) struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    pub(crate) fn new() -> Ground {
        let ground = Ground {
            folder: tempfile::tempdir().unwrap(),
        };
        for folder in ["repo", "home", "stance-home", "outside", "scratch"] {
            fs::create_dir(ground.path(folder)).unwrap();
        }
        let initialised = Command::new("git")
            .args(["init", "-q", "-b", "main"])
            .current_dir(ground.path("repo"))
            .status();
        assert!(initialised.unwrap().success());
        ground
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn stance(&self, arguments: &[&str]) -> Value {
        let output = Command::new(env!("CARGO_BIN_EXE_stance"))
            .args(arguments)
            .current_dir(self.path("repo"))
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap())
            .env("HOME", self.path("home"))
            .env("STANCE_HOME", self.path("stance-home"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(&said).unwrap_or_else(|error| {
            panic!(
                "{arguments:?} {error}: {said}{}",
                String::from_utf8_lossy(&output.stderr)
            )
        })
    }

    pub(crate) fn doors(&self) -> BTreeMap<Mode, Door> {
        let door = |mode: Mode| {
            let said = self.stance(&["profile", mode.settings_key(), "--json"]);
            assert_eq!(said["mode"], mode.stored());
            Door {
                tools: serde_json::from_value(said["tools"].clone()).unwrap(),
                absent: serde_json::from_value(said["absent"].clone()).unwrap(),
                prompt: said["prompt"].as_str().unwrap().to_owned(),
                not_startable: said["not_startable"].as_str().map(str::to_owned),
            }
        };
        Mode::all().into_iter().map(|mode| (mode, door(mode))).collect()
    }

    /// The person's settings hold these rules, and `explain` says of the tool what the judge says.
    pub(crate) fn explains_as_the_judge_decides(&self, spec: &RunSpec, tool: &'static str) {
        fs::write(self.path("stance-home/settings.toml"), settings(&spec.recipe().rules)).unwrap();
        let said = self.stance(&["explain", tool, "--mode", spec.mode().settings_key(), "--json"]);
        fs::remove_file(self.path("stance-home/settings.toml")).unwrap();

        let call = Call {
            tool,
            effects: Vec::new(),
            line: None,
        };
        let row = descriptor(tool).unwrap();
        let record = call.judged(spec).record(tool, String::new(), row.effects);
        let asked = format!("{tool} in {} under {:?}: {said}", spec.label(), spec.recipe().rules);
        assert_eq!(said["decision"], json!(record.decision), "{asked}");
        assert_eq!(said["layer"], json!(record.layer), "{asked}");
        assert_eq!(said["in_surface"], json!(spec.surface().find(tool).is_ok()), "{asked}");
    }
}

fn settings(rules: &[RuleText]) -> String {
    let lines = ["allow", "plan", "ask", "deny"].map(|word| {
        let said = |rule: &&RuleText| json!(rule.verdict) == word;
        let texts: Vec<&str> = rules.iter().filter(said).map(|rule| rule.text.as_str()).collect();
        format!("{word} = {texts:?}")
    });
    format!("[permissions]\n{}\n", lines.join("\n"))
}
