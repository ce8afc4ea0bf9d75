//! One simple command: what its name stands for, and from that what it does with its words. Knows the
//! kinds of programs; which program is of which kind is data beside it.

use super::found::{Finding, Here, Kind};
use super::names::{ESCAPES, interpreter, system_name};
use super::programs::program;
use super::walk::Then;
use super::word::Text;
use super::{builtins, git, scripts, wrappers};
use crate::call::Target;
use crate::effect::EffectSet;

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
        let inside = |path: &String| self.is_inside(path);
        let rememberable = here.0.is_some() && self.paths(path, here).iter().all(inside);
        self.found(
            words,
            here,
            Kind {
                rememberable,
                ..Kind::SCRIPT
            },
        );
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
