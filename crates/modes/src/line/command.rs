//! One simple command: what its name stands for, and from that what it does with its words. Knows the
//! kinds of programs; which program is of which kind is data beside it.

use super::found::{Finding, Here, Kind, Meets};
use super::options::{operands, option};
use super::programs::{Does, Program, program};
use super::walk::Then;
use super::word::Text;
use super::{builtins, git, scripts, wrappers};
use crate::call::Target;
use crate::effect::{Effect, EffectSet};

/// Folders whose programs belong to the system: their names alone say which is meant.
const SYSTEM_FOLDERS: &[&str] = &["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin"];

/// Programs that give a process more than it has, or lead out of the walls.
const ESCAPES: &[&str] = &[
    "sudo",
    "su",
    "doas",
    "pkexec",
    "runuser",
    "setpriv",
    "newgrp",
    "sg",
    "gosu",
    "su-exec",
    "capsh",
    "sudoedit",
    "unshare",
    "nsenter",
    "bwrap",
    "firejail",
    "chroot",
    "pivot_root",
    "switch_root",
    "mount",
    "umount",
    "losetup",
    "insmod",
    "modprobe",
    "rmmod",
    "setcap",
    "machinectl",
    "systemd-run",
    "systemd-nspawn",
    "runcon",
    "newuidmap",
    "newgidmap",
    "slirp4netns",
    "rootlesskit",
];

/// Programs that run code given to them.
const INTERPRETERS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "mksh",
    "ash",
    "fish",
    "rbash",
    "csh",
    "tcsh",
    "python",
    "python2",
    "python3",
    "pypy",
    "pypy3",
    "node",
    "nodejs",
    "deno",
    "bun",
    "perl",
    "ruby",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "wish",
    "expect",
    "osascript",
    "pwsh",
    "powershell",
    "Rscript",
    "R",
    "julia",
    "guile",
    "racket",
    "sbcl",
    "ghci",
    "runghc",
    "elixir",
    "erl",
    "iex",
    "ipython",
    "jshell",
    "groovy",
    "scala",
    "kotlin",
    "ts-node",
    "tsx",
    "gawk",
    "mawk",
    "nawk",
    "m4",
    "bc",
    "dc",
    "ed",
    "ex",
    "vi",
    "vim",
    "nvim",
    "emacs",
    "nano",
    "gdb",
    "lldb",
    "sqlite3",
    "psql",
    "mysql",
    "less",
    "more",
    "man",
    "info",
    "screen",
    "tmux",
    "script",
    "parallel",
    "rlwrap",
    "at",
    "batch",
    "crontab",
    "ld.so",
];

impl Finding<'_> {
    /// A command of these words, its name first.
    pub(super) fn invoke(&mut self, words: &[Text], here: &Here) -> Then {
        let Some((name, arguments)) = words.split_first() else {
            return Then::stays(here);
        };
        let Some(written) = name.constant().filter(|name| !name.is_empty()) else {
            self.opaque(format!("the name of a command is not constant ({})", name.raw));
            self.found(
                words,
                here,
                Kind {
                    rememberable: false,
                    ..Kind::STARTS
                },
            );
            return Then::stays(here);
        };
        let Some(name) = system_name(written) else {
            let name = written.to_owned();
            self.script(&name, words, here);
            return Then::stays(here);
        };
        let mut words = words.to_vec();
        if let Some(first) = words.first_mut() {
            *first = Text::known(name);
        }
        if ESCAPES.contains(&name) {
            self.target(Target::Never {
                what: format!("`{name}` would give a command more than the run has, or lead it out of the walls"),
            });
            self.found(&words, here, Kind::STARTS);
            return Then::stays(here);
        }
        if name == "cd" {
            return self.cd(&words, arguments, here);
        }
        if builtins::builtin(self, name, &words, here) || wrappers::wrapper(self, name, &words, here) {
            return Then::stays(here);
        }
        match name {
            "git" => git::git(self, &words, here),
            "stance" => self.decides(&words, here),
            "sed" => scripts::sed(self, &words, here),
            "awk" => scripts::awk(self, &words, here),
            name if interpreter(name) => self.interprets(name, &words, here),
            name => match program(name, arguments) {
                Some(row) => self.by(row, &words, here),
                None => self.starts(&words, here, EffectSet::EMPTY),
            },
        }
        Then::stays(here)
    }

    /// A program that is a file named by its path.
    fn script(&mut self, path: &str, words: &[Text], here: &Here) {
        if path.ends_with("/stance") {
            return self.decides(words, here);
        }
        self.decided_by(path, here);
        self.found(words, here, Kind::SCRIPT);
    }

    fn cd(&mut self, words: &[Text], arguments: &[Text], here: &Here) -> Then {
        self.looks(words, here);
        let mut target = arguments
            .iter()
            .filter(|word| !matches!(word.constant(), Some("--" | "-P" | "-L" | "-e")));
        let well = match (target.next().map(Text::constant), target.next()) {
            (None, _) => Here(Some(vec![self.place.home.to_owned()])),
            (Some(Some(folder)), None) if folder != "-" && !folder.starts_with(['-', '+']) => Self::there(folder, here),
            _ => Here(None),
        };
        Then {
            well,
            ill: here.clone(),
        }
    }

    /// Stance's own commands: those by which a person decides are nothing for a run.
    fn decides(&mut self, words: &[Text], here: &Here) {
        self.target(Target::Never {
            what: "`stance` decides for a person, and a run is never one".to_owned(),
        });
        self.found(words, here, Kind::STARTS);
    }

    /// An interpreter: what it is given is code.
    fn interprets(&mut self, name: &str, words: &[Text], here: &Here) {
        let arguments = words.get(1..).unwrap_or_default();
        let asks_itself = |word: &Text| matches!(word.constant(), Some("--version" | "-V" | "--help"));
        if let [only] = arguments
            && asks_itself(only)
        {
            return self.starts(words, here, EffectSet::EMPTY);
        }
        let named = |word: &&Text| {
            word.constant()
                .is_some_and(|file| file.contains(['.', '/']) && file != "-")
        };
        let file = arguments.iter().find(|word| !word.may_be_option()).filter(named);
        if let Some(file) = file.and_then(Text::constant) {
            self.decided_by(file, here);
        }
        // A file alone, with nothing before it: as if it were started itself.
        if arguments.first().is_some_and(|first| file == Some(first)) {
            return self.found(words, here, Kind::SCRIPT);
        }
        self.opaque(format!("{name} runs code that is not read here"));
        self.found(
            words,
            here,
            Kind {
                rememberable: false,
                ..Kind::STARTS
            },
        );
    }

    /// A program that stands in the table.
    fn by(&mut self, row: &Program, words: &[Text], here: &Here) {
        let arguments = words.get(1..).unwrap_or_default();
        let opened = row.starts_with.iter().find_map(|name| option(arguments, name));
        let sure = opened.is_none() && self.writes_by_option(row, arguments, here);
        if opened.is_some() {
            self.opaque(format!("an option of {} can start a program", row.name));
        }
        let given = operands(arguments, row.values);
        let kind = match row.does {
            Does::Names if sure => Kind::read(Meets::Names),
            Does::Shows(skipped) if sure => {
                for path in given.iter().skip(Self::skipped(skipped, arguments)) {
                    self.shows(path, here);
                }
                Kind::read(Meets::Reads)
            }
            Does::Converts => match given.as_slice() {
                [] => Kind::read(Meets::Reads),
                [from] if !from.several && !from.free => {
                    self.shows(from, here);
                    Kind::read(Meets::Reads)
                }
                [from, to] => {
                    self.shows(from, here);
                    self.meets(to, here, Meets::Writes);
                    Kind::STARTS
                }
                _ => {
                    self.opaque(format!("what {} writes is not known", row.name));
                    Kind::STARTS
                }
            },
            Does::Names | Does::Shows(_) => Kind::STARTS,
            Does::Starts(effects) => {
                row.decided_by.iter().for_each(|file| self.decided_by(file, here));
                Kind { effects, ..Kind::CODE }
            }
            Does::Changes {
                skip,
                last_only,
                effects,
            } => {
                self.changes(&given, skip, last_only, here);
                Kind {
                    meets: Meets::Names,
                    ..Kind::with(effects)
                }
            }
            Does::Deletes(options) => {
                let effects = if self.deletes(words, &given, options, here) {
                    EffectSet::EMPTY
                } else {
                    EffectSet::of(&[Effect::FileDelete])
                };
                Kind {
                    meets: Meets::Names,
                    ..Kind::with(effects)
                }
            }
            Does::Copies { moves } => {
                self.copies(&given, moves, here);
                Kind::STARTS
            }
            Does::WritesUnnamed => {
                self.opaque(format!("which files {} writes is not known", row.name));
                Kind::STARTS
            }
            Does::Connects => self.connects(arguments, &given),
        };
        self.found(words, here, kind);
    }

    /// Notes what options write to; answers whether none does, and none may.
    fn writes_by_option(&mut self, row: &Program, arguments: &[Text], here: &Here) -> bool {
        let mut sure = true;
        for name in row.writes_with {
            if let Some(given) = option(arguments, name) {
                sure = false;
                match given.value {
                    Some(path) => self.meets(&path, here, Meets::Writes),
                    None => self.opaque(format!("what {} writes is not known", row.name)),
                }
            }
        }
        let steered = !row.writes_with.is_empty() || !row.starts_with.is_empty();
        if steered
            && arguments
                .iter()
                .any(|word| word.constant().is_none() && word.may_be_option())
        {
            self.opaque(format!("what is given to {} may be an option", row.name));
            sure = false;
        }
        sure
    }

    /// Of the operands that are no paths, those that are given here: an option can stand for them.
    fn skipped(skipped: usize, arguments: &[Text]) -> usize {
        const INSTEAD: &[&str] = &["-e", "-f", "--regexp", "--file", "--expression", "--from-file"];
        let instead = INSTEAD.iter().any(|name| option(arguments, name).is_some());
        if instead { 0 } else { skipped }
    }

    /// Notes a path whose content comes out.
    pub(super) fn shows(&mut self, path: &Text, here: &Here) {
        match path.constant() {
            Some("-") => {}
            Some(_) => self.meets(path, here, Meets::Reads),
            None if path.free || path.shape.starts_with(super::word::ANY) && !path.several => {
                self.opaque(format!("which file is read is not known ({})", path.raw));
            }
            None => {}
        }
    }

    fn changes(&mut self, given: &[Text], skip: usize, last_only: bool, here: &Here) {
        let changed = given.get(skip..).unwrap_or_default();
        let changed = if last_only {
            changed.last().map_or(&[][..], std::slice::from_ref)
        } else {
            changed
        };
        for path in changed {
            self.meets(path, here, Meets::Writes);
        }
    }

    /// Removing: each thing by itself, where all that goes is named; answers whether it is.
    fn deletes(&mut self, words: &[Text], given: &[Text], options: &[&str], here: &Here) -> bool {
        let mut before = words.iter().skip(1).take_while(|word| word.constant() != Some("--"));
        let known = |word: &Text| word.constant().is_some_and(|word| options.contains(&word));
        let named = here.0.is_some()
            && before.all(|word| !word.may_be_option() || known(word))
            && given.iter().all(|path| path.constant().is_some());
        if !named {
            for path in given {
                self.meets(path, here, Meets::Writes);
            }
            return false;
        }
        let words: Vec<String> = words.iter().map(Text::shown).collect();
        let mut all = true;
        for path in given.iter().filter_map(Text::constant) {
            all &= self.removes(path, &words, here);
        }
        all
    }

    /// Copying, moving, linking: the last operand is written, or what lies in it under the names of the
    /// others.
    fn copies(&mut self, given: &[Text], moves: bool, here: &Here) {
        let Some((last, sources)) = given.split_last() else {
            return;
        };
        // A name with an ending is a file's, where one thing alone goes there.
        let file = |name: &str| {
            name.rsplit('/')
                .next()
                .is_some_and(|name| name.trim_start_matches('.').contains('.'))
        };
        let folder = last
            .constant()
            .filter(|last| sources.len() > 1 || !file(last))
            .map(|last| last.trim_end_matches('/').to_owned());
        for source in sources {
            self.meets(source, here, if moves { Meets::Writes } else { Meets::Reads });
            if let (Some(folder), Some(source)) = (&folder, source.constant()) {
                let name = source.trim_end_matches('/').rsplit('/').next().unwrap_or(source);
                self.meets(&Text::known(format!("{folder}/{name}")), here, Meets::Writes);
            }
        }
        self.meets(last, here, Meets::Writes);
    }

    /// A program that speaks with hosts.
    fn connects(&mut self, arguments: &[Text], given: &[Text]) -> Kind {
        const SENDS: &[&str] = &[
            "-d",
            "--data",
            "--data-raw",
            "--data-binary",
            "--data-urlencode",
            "--data-ascii",
            "--json",
            "-F",
            "--form",
            "--form-string",
            "-T",
            "--upload-file",
            "--post-data",
            "--post-file",
            "--body-data",
            "--body-file",
        ];
        const ELSEWHERE: &[&str] = &[
            "-K",
            "--config",
            "-x",
            "--proxy",
            "--preproxy",
            "--connect-to",
            "--resolve",
            "--socks4",
            "--socks4a",
            "--socks5",
            "--socks5-hostname",
            "--unix-socket",
            "--abstract-unix-socket",
            "-i",
            "--input-file",
            "-e",
            "--execute",
            "--url",
        ];
        let method = ["-X", "--request", "--method"]
            .iter()
            .find_map(|name| option(arguments, name));
        let reads_only =
            method.is_none_or(|given| matches!(given.value.as_ref().and_then(Text::constant), Some("GET" | "HEAD")));
        let sends = !reads_only || SENDS.iter().any(|name| option(arguments, name).is_some());
        let mut effects = EffectSet::EMPTY;
        if sends {
            effects = effects.with(Effect::VendorSyncWrite);
        }
        let hosts: Option<Vec<String>> = given.iter().map(|url| host_of(url.constant()?)).collect();
        match hosts.filter(|hosts| !hosts.is_empty()) {
            Some(hosts) if !ELSEWHERE.iter().any(|name| option(arguments, name).is_some()) => {
                for host in &hosts {
                    self.host(host);
                }
            }
            _ => effects = effects.with(Effect::NetworkEgress),
        }
        Kind::with(effects)
    }

    /// Notes a host.
    pub(super) fn host(&mut self, host: &str) {
        self.target(Target::Host { host: host.to_owned() });
    }

    /// The folders a constant name leads to from here.
    pub(super) fn there(folder: &str, here: &Here) -> Here {
        /// No folder has a longer path.
        const LONGEST: usize = 4096;
        let join = |from: &String| super::found::normal(&format!("{from}/{folder}"));
        let there = if folder.starts_with('/') {
            Some(vec![super::found::normal(folder)])
        } else {
            here.0.as_ref().map(|folders| folders.iter().map(join).collect())
        };
        Here(there.filter(|folders: &Vec<String>| folders.iter().all(|folder| folder.len() <= LONGEST)))
    }
}

/// The name of a program of the system; none for one named by another path.
fn system_name(written: &str) -> Option<&str> {
    match written.rsplit_once('/') {
        None => Some(written),
        Some((folder, name)) => (SYSTEM_FOLDERS.contains(&folder) && !name.is_empty()).then_some(name),
    }
}

fn interpreter(name: &str) -> bool {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    INTERPRETERS.contains(&name) || INTERPRETERS.contains(&stem) || name.starts_with("ld-")
}

/// The host of a URL as curl takes it: with or without its scheme.
pub(super) fn host_of(url: &str) -> Option<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next()?,
        None => host.split(':').next()?,
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
    (!name.is_empty() && name.chars().all(plain)).then(|| name.to_ascii_lowercase())
}
