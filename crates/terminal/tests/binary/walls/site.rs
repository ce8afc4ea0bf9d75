//! A place with everything around it that a process could want to reach, and whose it is.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::net::{TcpListener, UdpSocket};
use std::os::fd::AsFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{PermissionsExt, lchown};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value;
use tempfile::NamedTempFile;

use crate::support::Place;

pub(crate) const SECRET: &str = "bytes-of-somebody-else";

const NOBODY: u32 = 65534;

/// Who starts Stance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// Whoever runs the tests.
    AsStarted,
    /// Not the system's owner.
    Ordinary,
}

pub(crate) struct Site {
    pub(crate) place: Place,
    who: Who,
    binary: PathBuf,
    /// A process of the same user, outside.
    pub(crate) victim: Child,
    tcp: TcpListener,
    udp: UdpSocket,
    sockets: Vec<UnixListener>,
    abstract_name: String,
    pipes: Vec<File>,
    /// A file in the `/tmp` of the host.
    pub(crate) temporary: NamedTempFile,
}

impl Site {
    pub(crate) fn new(who: Who) -> Site {
        let place = Place::new();
        place.settings("[limits]\nmistakes = \"off\"\n");
        place.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
        place.git(&["branch", "topic"]);
        fs::write(place.outside().join("file"), SECRET).unwrap();
        for store in [".ssh", ".aws"] {
            fs::create_dir_all(place.home().join(store)).unwrap();
            fs::write(place.home().join(store).join("secret"), SECRET).unwrap();
        }
        fs::write(place.home().join(".bashrc"), "# mine\n").unwrap();
        let temporary = NamedTempFile::new().unwrap();
        fs::write(temporary.path(), SECRET).unwrap();
        let mut pipes = Vec::new();
        for folder in [place.repo(), place.outside()] {
            let pipe = folder.join("pipe");
            mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
            let held = OpenOptions::new().read(true).write(true).open(pipe).unwrap();
            rustix::io::ioctl_fionbio(held.as_fd(), true).unwrap();
            pipes.push(held);
        }
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let abstract_name = format!("stance-test-{}", place.repo().display());
        let sockets = vec![
            UnixListener::bind(place.repo().join("socket")).unwrap(),
            UnixListener::bind(place.outside().join("socket")).unwrap(),
            UnixListener::bind_addr(&SocketAddr::from_abstract_name(&abstract_name).unwrap()).unwrap(),
        ];
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        for socket in &sockets {
            socket.set_nonblocking(true).unwrap();
        }
        let top = place.repo().with_file_name("");
        let mut binary = PathBuf::from(env!("CARGO_BIN_EXE_stance"));
        if who == Who::Ordinary {
            let copy = top.join("stance");
            fs::copy(&binary, &copy).unwrap();
            binary = copy;
        }
        let mut victim = Command::new("cat");
        victim.env("VICTIM", SECRET).stdin(Stdio::piped()).stdout(Stdio::null());
        take_on(&mut victim, who);
        let site = Site {
            victim: victim.spawn().unwrap(),
            place,
            who,
            binary,
            tcp,
            udp,
            sockets,
            abstract_name,
            pipes,
            temporary,
        };
        site.hand_over();
        fs::set_permissions(top, PermissionsExt::from_mode(0o755)).unwrap();
        site
    }

    /// Everything belongs to who starts Stance.
    pub(crate) fn hand_over(&self) {
        if is_foreign(self.who) {
            give(&self.place.repo().with_file_name(""));
            give(self.temporary.path());
        }
    }

    /// A line with its places filled in.
    pub(crate) fn named(&self, line: &str) -> String {
        let shown = |path: PathBuf| path.display().to_string();
        [
            ("{OUT}", shown(self.place.outside())),
            ("{REPO}", shown(self.place.repo())),
            ("{HOME}", shown(self.place.home())),
            ("{STATE}", shown(self.place.stance_home())),
            ("{TMP}", shown(self.temporary.path().to_owned())),
            ("{TCP}", self.tcp.local_addr().unwrap().port().to_string()),
            ("{UDP}", self.udp.local_addr().unwrap().port().to_string()),
            ("{ABSTRACT}", self.abstract_name.clone()),
            ("{VICTIM}", self.victim.id().to_string()),
        ]
        .into_iter()
        .fold(line.to_owned(), |line, (name, value)| line.replace(name, &value))
    }

    fn started(&self, program: &str, words: &[&str]) -> Command {
        // What a careless caller leaves open: a folder at 7, a file for reading at 5.
        let open = format!(
            "exec \"$0\" \"$@\" 7<'{0}' 5<'{0}/file'",
            self.place.outside().display()
        );
        let mut command = Command::new("bash");
        command
            .args(["-c", &open, program])
            .args(words)
            .current_dir(self.place.repo())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.place.home())
            .env("STANCE_HOME", self.place.stance_home())
            .envs(self.place.variables.iter().cloned())
            .stdin(Stdio::null());
        take_on(&mut command, self.who);
        command
    }

    /// The binary.
    pub(crate) fn stance(&self, words: &[&str]) -> Command {
        self.started(self.binary.to_str().unwrap(), words)
    }

    /// The same line without any walls.
    pub(crate) fn unwalled(&self, line: &str) -> String {
        let output = self.started("bash", &["-c", line]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs the binary with standard output in a regular file; every line of it is one of Stance's.
    pub(crate) fn stream(&self, model: &str) -> Vec<Value> {
        let path = self.place.repo().with_file_name("output");
        let output = File::create(&path).unwrap();
        let words = [
            "run",
            "--stream-json",
            "--mode",
            "agent",
            "--yolo",
            "--model",
            model,
            "try it",
        ];
        let ended = self
            .stance(&words)
            .stdout(output)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let text = fs::read_to_string(path).unwrap();
        let mut lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: a foreign line {line:?}")))
            .collect();
        let report = lines.pop();
        assert_eq!(
            ended.status.code(),
            Some(0),
            "{report:?}\n{}",
            String::from_utf8_lossy(&ended.stderr)
        );
        lines
    }

    /// What nobody may change: the folder outside, the home, the records of the repository, the file
    /// in the host's `/tmp`.
    pub(crate) fn untouchable(&self) -> Vec<String> {
        let tree = format!("{}/", self.place.repo().display());
        let git = self.place.repo().join(".git").display().to_string();
        let mut lines = self.place.world();
        lines.retain(|line| !line.starts_with(&tree) || line.starts_with(&git));
        // The worktree itself may be written.
        lines.retain(|line| !line.starts_with(&format!("{} ", self.place.repo().display())));
        lines.push(fs::read_to_string(self.temporary.path()).unwrap());
        lines
    }

    /// Nobody who listens has heard anything.
    pub(crate) fn nobody_heard(&mut self) {
        let quiet = Err(ErrorKind::WouldBlock);
        assert_eq!(self.tcp.accept().map(drop).map_err(|error| error.kind()), quiet);
        assert_eq!(
            self.udp.recv(&mut [0; 8]).map(drop).map_err(|error| error.kind()),
            quiet
        );
        for socket in &self.sockets {
            assert_eq!(
                socket.accept().map(drop).map_err(|error| error.kind()),
                quiet,
                "{socket:?}"
            );
        }
        for pipe in &mut self.pipes {
            assert_eq!(
                pipe.read(&mut [0; 8]).map(drop).map_err(|error| error.kind()),
                quiet,
                "{pipe:?}"
            );
        }
        assert_eq!(self.victim.try_wait().unwrap(), None, "the victim lives");
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        drop(self.victim.kill());
        drop(self.victim.wait());
    }
}

fn is_foreign(who: Who) -> bool {
    who == Who::Ordinary && rustix::process::geteuid().is_root()
}

fn take_on(command: &mut Command, who: Who) {
    if is_foreign(who) {
        command.uid(NOBODY).gid(NOBODY);
    }
}

fn give(path: &Path) {
    lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.symlink_metadata().unwrap().is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path());
        }
    }
}
