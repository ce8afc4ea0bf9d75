//! A project with a home and a folder outside, and the way of a call through parsing, proposing,
//! judging and performing.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use modes::{
    Approver, Autonomy, EffectSet, Inspection, Judged, Layer, Mode, ProposedCall, Role, RunRecipe, RunSpec, Target,
    WallsStanding, descriptor, judge, run_spec,
};
use sandbox::{Toolchains, Walls};
use serde_json::Value;
use stance_tools::mcp::Logins;
use stance_tools::{BadArguments, Incoming, Scope, ToolResult, Toolbox, toolbox};
use tokio_util::sync::CancellationToken;

use crate::desk::FakeDesk;

pub(crate) struct Ground {
    folder: tempfile::TempDir,
    pub(crate) tree: PathBuf,
    pub(crate) outside: PathBuf,
    pub(crate) scope: Scope,
    pub(crate) desk: FakeDesk,
    tools: Toolbox,
    spec: RunSpec,
}

/// What a call came to.
#[derive(Debug)]
pub(crate) enum Came {
    Bad(String),
    Refused(Layer, String),
    Asked(String),
    Done(ToolResult),
}

impl Came {
    /// The words of a good result.
    pub(crate) fn good(self) -> String {
        match self {
            Came::Done(result) if !result.is_error => result.words(),
            other => panic!("not a good result: {other:?}"),
        }
    }

    /// The words of an error result, or of arguments that are none.
    pub(crate) fn fault(self) -> String {
        match self {
            Came::Done(result) if result.is_error => result.words(),
            Came::Bad(why) => why,
            other => panic!("not a fault: {other:?}"),
        }
    }

    pub(crate) fn result(self) -> ToolResult {
        match self {
            Came::Done(result) => result,
            other => panic!("not performed: {other:?}"),
        }
    }
}

/// Everything of an entry that could change: mode, size, times to the nanosecond, content.
pub(crate) type Picture = BTreeMap<PathBuf, (u32, i64, i64, i64, i64, Vec<u8>)>;

impl Ground {
    pub(crate) fn new() -> Ground {
        Ground::under(Autonomy::ActWithApproval)
    }

    /// A run in plan mode.
    pub(crate) fn planning() -> Ground {
        Ground::of(Mode::chosen("plan").unwrap(), Autonomy::ActWithApproval)
    }

    pub(crate) fn under(autonomy: Autonomy) -> Ground {
        Ground::of(modes::after_approval(), autonomy)
    }

    fn of(mode: Mode, autonomy: Autonomy) -> Ground {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let [tree, outside, home, hidden] = ["tree", "outside", "home", "home/.stance"].map(|name| root.join(name));
        for made in [&tree, &outside, &home, &hidden] {
            fs::create_dir_all(made).unwrap();
        }
        fs::write(outside.join("secret.txt"), "outside content\n").unwrap();
        let recipe = RunRecipe {
            mode,
            chain: Vec::new(),
            role: Role::Main,
            read_only_once: false,
            autonomy,
            approver: Approver::Person,
            walls: WallsStanding::Proven,
            inspection: Inspection::On,
            rules: Vec::new(),
            hosts: Vec::new(),
            answers: Vec::new(),
        };
        let tools = toolbox().unwrap();
        let spec = run_spec(recipe, tools.built()).unwrap();
        let caches = root.join("caches");
        fs::create_dir(&caches).unwrap();
        let scope = Scope {
            run_id: "run-1".into(),
            worktree: tree.clone(),
            folder: tree.clone(),
            own: hidden.clone(),
            scratch: root.join("scratch"),
            repositories: root.join("repositories.json"),
            hidden: vec![hidden],
            secrets: sandbox::Secrets::hidden(),
            guards: sandbox::Guards::default(),
            home,
            checkout: None,
            walls: None,
            walled: true,
            caches,
            hosts: spec.standing_hosts(),
            names: Arc::new(sandbox::SystemNames),
            containment: spec.containment(),
            inspection: spec.inspection().ok(),
            servers: Arc::default(),
            logins: Logins::new(root.join("logins")),
            search: None,
            committer: ("Ada".into(), "ada@example.org".into()),
            cancel: CancellationToken::new(),
        };
        fs::create_dir_all(scope.scratch.join("tmp")).unwrap();
        Ground {
            folder,
            tree,
            outside,
            scope,
            desk: FakeDesk::default(),
            tools,
            spec,
        }
    }

    /// With the real walls of this machine.
    pub(crate) fn walled(mut self) -> Ground {
        let helper = PathBuf::from(env!("CARGO_BIN_EXE_stance-tools-walls"));
        self.scope.walls = Some(Arc::new(Walls::new(helper, Toolchains::default()).unwrap()));
        self
    }

    /// With a repository that holds what was written so far, and the real walls.
    pub(crate) async fn repository(self) -> Ground {
        let mut ground = self.walled();
        ground.person(&["init", "-q", "-b", "main"]);
        ground.person(&["add", "-A"]);
        ground.person(&["commit", "-q", "--allow-empty", "-m", "first"]);
        let git = repo::Git::new(ground.scope.walls.clone().unwrap(), ground.beside("git-scratch"));
        ground.scope.checkout = Some(repo::Checkout::discover(&git, &ground.tree).await.unwrap());
        ground
    }

    /// Git as a person runs it.
    pub(crate) fn person(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=Person", "-c", "user.email=person@example.org"])
            // Else it tidies up behind us while the tests look.
            .args(["-c", "maintenance.auto=false"])
            .args(arguments)
            .current_dir(&self.tree)
            .env("HOME", self.beside("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.tree.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.tree.join(path)).unwrap()
    }

    pub(crate) fn link(&self, name: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.tree.join(name)).unwrap();
    }

    /// A call in a repository that has recorded no secret, as the engine finds out.
    pub(crate) fn propose(&self, tool: &str, arguments: Value) -> Result<ProposedCall, BadArguments> {
        let descriptor = descriptor(tool).unwrap();
        let incoming = Incoming {
            descriptor,
            call_id: "call-1".into(),
            arguments,
        };
        let call = self.tools.find(descriptor).unwrap().propose(incoming, &self.scope)?;
        Ok(call.with_recorded(|_| Some(Vec::new())))
    }

    /// The effects and targets of a call.
    pub(crate) fn judged(&self, tool: &str, arguments: Value) -> (EffectSet, Vec<Target>) {
        let call = self.propose(tool, arguments).unwrap();
        (call.effects(), call.targets().to_vec())
    }

    /// The whole way of a call. What the model sees is remembered, as the engine does.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Came {
        match self.propose(tool, arguments) {
            Ok(call) => self.settle(call).await,
            Err(BadArguments(why)) => Came::Bad(why),
        }
    }

    /// Judges and performs a proposal.
    pub(crate) async fn settle(&self, call: ProposedCall) -> Came {
        match judge(&self.spec, call, None) {
            Judged::Refusal(refusal) => Came::Refused(refusal.layer, refusal.reason),
            Judged::Question(question) => Came::Asked(
                question
                    .asks
                    .into_iter()
                    .map(|ask| ask.what)
                    .collect::<Vec<_>>()
                    .join("; "),
            ),
            Judged::Permit(permit) => {
                let tool = self.tools.find(permit.tool()).unwrap();
                let result = tool.execute(permit, &self.scope, &self.desk).await;
                self.desk.seen.lock().unwrap().extend(result.seen.clone());
                Came::Done(result)
            }
        }
    }

    /// A picture of a folder, to see that nothing in it changed.
    pub(crate) fn picture(folder: &Path) -> Picture {
        let mut picture = Picture::new();
        let mut open = vec![folder.to_owned()];
        while let Some(path) = open.pop() {
            let metadata = path.symlink_metadata().unwrap();
            let content = if metadata.is_file() {
                fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            if metadata.is_dir() {
                open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            let times = (
                metadata.mtime(),
                metadata.mtime_nsec(),
                metadata.ctime(),
                metadata.ctime_nsec(),
            );
            picture.insert(path, (metadata.mode(), times.0, times.1, times.2, times.3, content));
        }
        picture
    }
}
