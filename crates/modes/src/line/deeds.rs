//! What a program of the table does with its words: which files it shows, writes, copies and removes, which
//! hosts it speaks with. Knows kinds of deeds; which program is of which kind is data beside it.

use super::found::{Finding, Here, Kind, Meets};
use super::options::{operands, option};
use super::programs::{Does, Program};
use super::word::Text;
use crate::call::Target;
use crate::effect::{Effect, EffectSet};

impl Finding<'_> {
    /// A program that stands in the table.
    pub(super) fn by(&mut self, row: &Program, words: &[Text], here: &Here) {
        let arguments = words.get(1..).unwrap_or_default();
        let opened = row.starts_with.iter().find_map(|name| option(arguments, name));
        for name in row.reads_with {
            if let Some(path) = option(arguments, name).and_then(|given| given.value) {
                self.shows(&path, here);
            }
        }
        let sure = opened.is_none() && self.writes_by_option(row, arguments, here) && self.only_looks(row, arguments);
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

    /// Whether a program is used in a way that only looks, as far as it can be told from where walls stand.
    fn only_looks(&mut self, row: &Program, arguments: &[Text]) -> bool {
        let given = |names: &[&str]| names.iter().any(|name| option(arguments, name).is_some());
        let in_the_open = !self.place.walled && (row.walled || given(row.descends_with));
        if in_the_open {
            self.opaque(format!("no walls hold what {} comes to", row.name));
        }
        let begins = |word: &Text| word.may_be_option() || word.shape.starts_with(row.operands);
        !in_the_open && !given(row.acts_with) && operands(arguments, row.values).iter().all(begins)
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
            None if path.free
                || path.shape.starts_with(super::word::ANY) && !path.several
                || !self.may_be_shown_all(&path.shape, here) =>
            {
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
