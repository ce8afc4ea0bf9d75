//! The ground attempts are made on: a repository with everything an attempt may reach for, a folder
//! outside, a home, a process that must live and a server that must hear nothing. It must not know
//! what an attempt is.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use engine::{Problem, ProblemKind};
use modes::Containment;
use sandbox::{Access, Limits, Mount, Places, Program, Running, Spawn, Walls};

use super::watch::Watch;
use super::world::World;

/// Files of the repository's one commit.
const COMMITTED: [(&str, &str); 9] = [
    ("README.md", "# Sample\nconst in words\n"),
    ("src/app.js", "const x = 1;\n"),
    ("src/util.py", "def add(a, b):\n    return a + b\n"),
    ("src/build.py", "open('f.txt', 'w').write('x')\n"),
    ("nb.ipynb", "{\"cells\": [{\"id\": \"0\", \"source\": \"print(1)\"}]}\n"),
    (
        "package.json",
        "{\"name\": \"sample\", \"scripts\": {\"test\": \"touch f.txt\"}}\n",
    ),
    ("vendor/lp/package.json", "{\"name\": \"lp\", \"version\": \"1.0.0\"}\n"),
    ("Makefile", "all:\n\ttouch f.txt\n"),
    (".stance/settings.toml", "# nothing is tightened here\n"),
];
/// A script of the repository that writes.
const SCRIPT: (&str, &str) = ("pre.sh", "#!/bin/sh\ntouch f.txt\ncat \"$1\"\n");
/// What a repository without a commit consists of.
const REPOSITORY: [(&str, &str); 2] = [
    ("HEAD", "ref: refs/heads/main\n"),
    ("config", "[core]\n\trepositoryformatversion = 0\n\tbare = "),
];
const FOLDERS: [&str; 4] = ["objects/info", "objects/pack", "refs/heads", "refs/tags"];
/// Longer than any measurement.
const LIFE: std::time::Duration = std::time::Duration::from_hours(4);

/// The ground.
pub(super) struct Ground {
    root: PathBuf,
    server: TcpListener,
    walls: Option<Walls>,
    victim: Option<(Running, u32)>,
    watch: Watch,
}

/// What changed between two looks.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Changes {
    /// Files and folders.
    pub(super) paths: Vec<PathBuf>,
    /// Whether the server heard something.
    pub(super) heard: bool,
    /// Whether the process ended.
    pub(super) ended: bool,
}

impl Changes {
    /// Whether nothing changed.
    pub(super) fn none(&self) -> bool {
        self.paths.is_empty() && !self.heard && !self.ended
    }

    /// What changed, in words.
    pub(super) fn words(&self) -> String {
        let mut words: Vec<String> = self.paths.iter().map(|path| path.display().to_string()).collect();
        words.extend(self.heard.then(|| "the server was reached".to_owned()));
        words.extend(self.ended.then(|| "the process ended".to_owned()));
        words.join(", ")
    }
}

impl Ground {
    /// Makes everything but the first commit, beneath a fresh folder.
    pub(super) fn lay_out(root: &Path) -> Result<Ground, Problem> {
        let ground = Ground {
            root: root.to_owned(),
            server: listening(root)?,
            walls: None,
            victim: None,
            watch: Watch::over(&[]).map_err(|error| unmade(root, &error))?,
        };
        ground.furnish().map_err(|error| unmade(root, &error))?;
        Ok(ground)
    }

    /// Adds what lies beside the first commit, starts the process and the watch.
    pub(super) async fn complete(&mut self, walls: Option<Walls>) -> Result<(), Problem> {
        self.dirty().map_err(|error| unmade(&self.root, &error))?;
        self.walls = walls;
        self.victim = self.victim().await?;
        let roots = self.roots();
        self.watch =
            Watch::over(&roots.each_ref().map(PathBuf::as_path)).map_err(|error| unmade(&self.root, &error))?;
        Ok(())
    }

    /// The repository.
    pub(super) fn repository(&self) -> PathBuf {
        self.root.join("sample")
    }

    /// The home of Stance for the measurement.
    pub(super) fn stance_home(&self) -> PathBuf {
        self.root.join("stance")
    }

    /// The home of the person there.
    pub(super) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    fn outside(&self) -> PathBuf {
        self.root.join("outside")
    }

    fn roots(&self) -> [PathBuf; 3] {
        [self.repository(), self.outside(), self.home()]
    }

    /// What stands for the placeholders of the list.
    pub(super) fn placeholders(&self) -> Vec<(&'static str, String)> {
        let shown = |path: PathBuf| path.display().to_string();
        let port = self.server.local_addr().map_or(0, |address| address.port());
        let process = self
            .victim
            .as_ref()
            .map_or_else(std::process::id, |(_, process)| *process);
        vec![
            ("{FIX}", shown(self.repository())),
            ("{OUT}", shown(self.outside())),
            ("{HOME}", shown(self.home())),
            ("{TMP}", "/tmp".to_owned()),
            ("{PORT}", port.to_string()),
            ("{KILLPID}", process.to_string()),
            ("{CFG}", shown(self.repository().join(".stance/settings.toml"))),
            ("{OWNCFG}", shown(self.stance_home().join("settings.toml"))),
            ("{PLANDIR}", shown(self.repository().join("plans"))),
            // Our number and a port of ours: nobody else has both.
            ("{NAME}", format!("canary-{}-{port}", std::process::id())),
        ]
    }

    /// A text with the placeholders in the place of the ground's own folders.
    pub(super) fn unnamed(&self, text: &str) -> String {
        let folders = self.placeholders().into_iter().take(3);
        folders.fold(text.to_owned(), |text, (placeholder, folder)| {
            text.replace(&folder, placeholder)
        })
    }

    /// The state of everything, with the person's own settings.
    pub(super) fn look(&self) -> Result<World, Problem> {
        self.watch.seen().map_err(|error| unmade(&self.root, &error))?;
        self.world()
    }

    fn world(&self) -> Result<World, Problem> {
        let settings = self.stance_home().join("settings.toml");
        let mut roots: Vec<PathBuf> = self.roots().to_vec();
        roots.extend(settings.exists().then_some(settings));
        World::beneath(&roots.iter().map(PathBuf::as_path).collect::<Vec<_>>())
    }

    /// Everything that is not as it was, or was otherwise in between.
    pub(super) fn changes(&mut self, before: &World) -> Result<Changes, Problem> {
        let failed = |error: std::io::Error| unmade(&self.root, &error);
        let mut paths = before.differences(&self.world()?);
        paths.extend(self.watch.seen().map_err(failed)?.into_iter().map(|(_, path)| path));
        paths.sort();
        paths.dedup();
        let heard = match self.server.accept() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            Err(error) => return Err(failed(error)),
            Ok(_) => true,
        };
        let ended = self.victim.as_ref().is_some_and(|(_, process)| !lives(*process));
        Ok(Changes { paths, heard, ended })
    }

    fn furnish(&self) -> std::io::Result<()> {
        for folder in [self.home(), self.stance_home(), self.outside().join("linked")] {
            fs::create_dir_all(folder)?;
        }
        fs::write(self.home().join(".bashrc"), "# mine\n")?;
        fs::write(self.outside().join("kept.log"), "kept\n")?;
        let repository = self.repository();
        for (name, content) in COMMITTED.into_iter().chain([SCRIPT]) {
            let file = repository.join(name);
            fs::create_dir_all(file.parent().unwrap_or(&repository))?;
            fs::write(file, content)?;
        }
        fs::set_permissions(repository.join(SCRIPT.0), fs::Permissions::from_mode(0o755))?;
        symlink(self.outside().join("linked"), repository.join("escape"))?;
        empty_repository(
            &repository.join(".git"),
            "false\n[user]\n\tname = Ada\n\temail = ada@localhost\n",
        )
    }

    /// A second branch, a remote, settings that start programs, changes that are not committed.
    fn dirty(&self) -> std::io::Result<()> {
        let repository = self.repository();
        let git = repository.join(".git");
        fs::copy(git.join("refs/heads/main"), git.join("refs/heads/topic"))?;
        let remote = self.outside().join("remote.git");
        empty_repository(&remote, "true\n")?;
        let mut config = fs::OpenOptions::new().append(true).open(git.join("config"))?;
        writeln!(
            config,
            "[remote \"origin\"]\n\turl = {}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[diff]\n\texternal = touch planted.txt; true",
            remote.display()
        )?;
        fs::write(repository.join("src/util.py"), "def add(a, b):\n    return a - b\n")?;
        fs::create_dir(repository.join("scratch"))?;
        fs::write(repository.join("scratch/a.tmp"), "scratch\n")
    }

    /// A process that waits until it is ended; none where nothing can be started.
    async fn victim(&self) -> Result<Option<(Running, u32)>, Problem> {
        let Some(walls) = &self.walls else {
            return Ok(None);
        };
        let mut spawn = self.shell("sleep infinity");
        spawn.limits = Limits {
            wall_time: LIFE,
            ..Limits::default()
        };
        let mut running = sandbox::spawn(walls, Containment::read_only(), &self.places("victim"), spawn)
            .map_err(|error| unstarted(&error))?;
        Ok(running.process().await.map(|process| (running, process)))
    }

    /// Runs the line that prepares an attempt, with the repository's records writable.
    pub(super) async fn prepare(&self, line: &str) -> Result<(), Problem> {
        let Some(walls) = &self.walls else {
            return Err(Problem::refused(format!(
                "`{line}` prepares an attempt, and nothing can be started without walls."
            )));
        };
        let mut places = self.places("prepare");
        let git = self.repository().join(".git");
        places.mounts.push(Mount {
            source: git.clone(),
            target: git,
            access: Access::ReadWrite,
        });
        let running = sandbox::spawn(walls, Containment::repository_write(), &places, self.shell(line))
            .map_err(|error| unstarted(&error))?;
        let finished = running.wait().await.map_err(|error| unstarted(&error))?;
        match finished.exit {
            Some(0) => Ok(()),
            code => Err(Problem::refused(format!(
                "`{line}`, which prepares an attempt, ended with {code:?}."
            ))),
        }
    }

    fn places(&self, scratch: &str) -> Places {
        Places::new(self.repository(), self.root.join(scratch))
    }

    fn shell(&self, line: &str) -> Spawn {
        Spawn::new(Program::Shell(line.to_owned()), self.repository())
    }
}

fn unstarted(error: &sandbox::SandboxError) -> Problem {
    Problem::new(ProblemKind::Machine, error.to_string())
}

fn listening(root: &Path) -> Result<TcpListener, Problem> {
    let server = TcpListener::bind("127.0.0.1:0").map_err(|error| unmade(root, &error))?;
    server.set_nonblocking(true).map_err(|error| unmade(root, &error))?;
    Ok(server)
}

fn empty_repository(folder: &Path, kind: &str) -> std::io::Result<()> {
    for name in FOLDERS {
        fs::create_dir_all(folder.join(name))?;
    }
    for (name, content) in REPOSITORY {
        let rest = if content.ends_with('\n') { "" } else { kind };
        fs::write(folder.join(name), format!("{content}{rest}"))?;
    }
    Ok(())
}

/// Whether a process is there and no mere remnant.
fn lives(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X']))
    })
}

fn unmade(root: &Path, error: &std::io::Error) -> Problem {
    Problem::new(
        ProblemKind::Machine,
        format!(
            "The ground beneath {} cannot be made or watched: {error}.",
            root.display()
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn ground(folder: &Path) -> Ground {
        let mut ground = Ground::lay_out(&folder.join("ground")).unwrap();
        fs::write(ground.repository().join(".git/refs/heads/main"), "0\n").unwrap();
        ground.complete(None).await.unwrap();
        ground
    }

    #[tokio::test]
    async fn the_eyes_of_the_ground_see_each_change() {
        let folder = tempfile::tempdir().unwrap();
        let mut ground = ground(folder.path()).await;
        let before = ground.look().unwrap();
        assert_eq!(ground.changes(&before).unwrap(), Changes::default());

        // What comes and goes leaves its mark on the watch alone.
        let hidden = ground.outside().join("linked/hidden");
        let before = ground.look().unwrap();
        fs::write(&hidden, "x").unwrap();
        fs::remove_file(&hidden).unwrap();
        assert!(ground.changes(&before).unwrap().paths.contains(&hidden));

        let before = ground.look().unwrap();
        fs::write(ground.home().join(".bashrc"), "# mine\n").unwrap();
        assert!(ground.changes(&before).unwrap().words().contains(".bashrc"));

        let before = ground.look().unwrap();
        std::net::TcpStream::connect(ground.server.local_addr().unwrap()).unwrap();
        let changes = ground.changes(&before).unwrap();
        assert!(changes.heard && changes.paths.is_empty() && !changes.none());
    }

    #[test]
    fn a_dead_process_lives_no_more() {
        assert!(lives(std::process::id()));
        assert!(!lives(u32::MAX));
    }
}
