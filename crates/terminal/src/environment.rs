//! Every environment variable this program reads, declared and read here and nowhere else. It must
//! not know what the values are used for.

use std::ffi::OsString;
use std::path::{Component, PathBuf};

use engine::Problem;
use secrecy::SecretString;

/// Moves everything Stance keeps to another folder.
pub(crate) const STANCE_HOME: &str = "STANCE_HOME";
/// Set in every process a run starts; such a process decides nothing.
pub(crate) const STANCE_RUN: &str = "STANCE_RUN";
const HOME: &str = "HOME";
const PATH: &str = "PATH";
const NO_COLOR: &str = "NO_COLOR";
const TERM: &str = "TERM";

type Read = dyn Fn(&str) -> Option<OsString> + Send + Sync;

/// The variables of this process. It shows none of them: keys are among them.
pub(crate) struct Environment {
    read: Box<Read>,
}

impl Environment {
    /// The variables this process was started with.
    pub(crate) fn of_process() -> Environment {
        Environment {
            read: Box::new(|name| std::env::var_os(name)),
        }
    }

    /// Made-up variables.
    #[cfg(test)]
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Environment {
        let pairs: std::collections::BTreeMap<String, OsString> = pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), OsString::from(value)))
            .collect();
        Environment {
            read: Box::new(move |name| pairs.get(name).cloned()),
        }
    }

    /// The value of a variable; an empty one counts as not set.
    fn set(&self, name: &str) -> Option<OsString> {
        (self.read)(name).filter(|value| !value.is_empty())
    }

    /// The person's home folder.
    pub(crate) fn home(&self) -> Result<PathBuf, Problem> {
        self.set(HOME)
            .map(PathBuf::from)
            .filter(|home| home.is_absolute())
            .ok_or_else(|| {
                Problem::usage("HOME is not set to an absolute folder.").hint("Set HOME to your home folder.")
            })
    }

    /// The folder where Stance keeps everything: `STANCE_HOME`, else `.stance` in the home folder.
    pub(crate) fn stance_home(&self) -> Result<PathBuf, Problem> {
        match self.set(STANCE_HOME).map(PathBuf::from) {
            Some(folder) if folder.components().any(|part| part == Component::ParentDir) => Err(Problem::usage(
                format!("STANCE_HOME is {}: it leads upwards.", folder.display()),
            )
            .hint("Set STANCE_HOME to the folder itself, without `..`.")),
            Some(folder) if folder.is_absolute() => Ok(folder),
            Some(folder) => Err(Problem::usage(format!(
                "STANCE_HOME is {}: not an absolute folder.",
                folder.display()
            ))
            .hint("Set STANCE_HOME to a folder that begins with `/`, or leave it out.")),
            None => Ok(self.home()?.join(".stance")),
        }
    }

    /// The folders where a shell looks for programs. Stance starts none from there.
    pub(crate) fn search_path(&self) -> Vec<PathBuf> {
        self.set(PATH)
            .map(|folders| std::env::split_paths(&folders).collect())
            .unwrap_or_default()
    }

    /// The administrator's settings file. No variable moves it, but in test builds.
    #[cfg_attr(
        not(feature = "faults"),
        expect(clippy::unused_self, reason = "only test builds look into the environment for it")
    )]
    pub(crate) fn managed_settings(&self) -> PathBuf {
        #[cfg(feature = "faults")]
        if let Some(file) = self.set("STANCE_MANAGED") {
            return PathBuf::from(file);
        }
        PathBuf::from("/etc/stance/managed.toml")
    }

    /// Test builds only: where this process is to die, as `KIND:MOMENT:NUMBER`.
    #[cfg(feature = "faults")]
    pub(crate) fn fault(&self) -> Option<String> {
        self.set("STANCE_FAULT")?.into_string().ok()
    }

    /// Test builds only: `unread` where no line is to be read.
    #[cfg(feature = "faults")]
    pub(crate) fn lines(&self) -> Option<String> {
        self.set("STANCE_LINES")?.into_string().ok()
    }

    /// Test builds only: where names of hosts lead, as `docs.rs=127.0.0.2:8080,…`.
    #[cfg(feature = "faults")]
    pub(crate) fn names(&self) -> Option<String> {
        self.set("STANCE_NAMES")?.into_string().ok()
    }

    /// Whether colour is welcome, were the output a terminal.
    pub(crate) fn wants_colour(&self) -> bool {
        self.set(NO_COLOR).is_none() && self.set(TERM).is_some_and(|terminal| terminal != "dumb")
    }

    /// Whether this process carries the marker of a run.
    pub(crate) fn is_marked(&self) -> bool {
        (self.read)(STANCE_RUN).is_some()
    }

    /// The value of a variable that is part of a provider's address, such as a region.
    pub(crate) fn word(&self, variable: &str) -> Option<String> {
        self.set(variable)?.into_string().ok()
    }

    /// The API key in a variable. Surrounding white space, such as a line end, is no part of it.
    pub(crate) fn key(&self, variable: &str) -> Option<SecretString> {
        let value = self.set(variable)?.into_string().ok()?;
        let key = value.trim();
        (!key.is_empty()).then(|| SecretString::from(key))
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    #[test]
    fn state_lies_in_the_home_folder_unless_it_is_moved() {
        let check = |pairs: &[(&str, &str)]| Environment::of(pairs).stance_home();
        assert_eq!(check(&[("HOME", "/home/ann")]), Ok(PathBuf::from("/home/ann/.stance")));
        assert_eq!(
            check(&[("HOME", "/home/ann"), ("STANCE_HOME", "/srv/s")]),
            Ok(PathBuf::from("/srv/s"))
        );
        assert_eq!(check(&[("STANCE_HOME", "/srv/s")]), Ok(PathBuf::from("/srv/s")));
        assert_eq!(
            check(&[("HOME", "/home/ann"), ("STANCE_HOME", "")]),
            Ok(PathBuf::from("/home/ann/.stance"))
        );
        for wrong in [
            &[][..],
            &[("HOME", "ann")],
            &[("HOME", "/home/ann"), ("STANCE_HOME", "s")],
            &[("HOME", "/home/ann"), ("STANCE_HOME", "/srv/x/../s")],
        ] {
            assert!(check(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn colour_needs_a_capable_terminal_and_no_objection() {
        let check = |pairs: &[(&str, &str)]| Environment::of(pairs).wants_colour();
        assert!(check(&[("TERM", "xterm")]));
        assert!(check(&[("TERM", "xterm"), ("NO_COLOR", "")]));
        assert!(!check(&[("TERM", "xterm"), ("NO_COLOR", "1")]));
        assert!(!check(&[("TERM", "dumb")]));
        assert!(!check(&[]));
    }

    #[test]
    fn a_key_is_read_without_its_line_end_and_an_empty_one_is_none() {
        let environment = Environment::of(&[("A", "k-1\n"), ("B", "  "), ("STANCE_RUN", "")]);
        assert_eq!(environment.key("A").unwrap().expose_secret(), "k-1");
        assert!(environment.key("B").is_none());
        assert!(environment.key("C").is_none());
        assert!(environment.is_marked());
    }
}
