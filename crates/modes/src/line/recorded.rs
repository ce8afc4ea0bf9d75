//! What of index and history a git command shows: told from a table and the command's own words. What is
//! held there, others know.

use serde::Serialize;

use super::found::{Finding, Here};
use super::options::{operands, option};
use super::programs::git;
use super::programs::recorded::{COMMANDS, FLAGS, GREP_FLAGS, GREP_VALUES, NAMES, Operands, PATCHES, Row, Shows};
use super::word::Text;
use crate::call::Target;

/// What of the index and the history of a repository a git command shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// The folder, beneath the worktree or it, whose repository it is; none where nobody knows.
    pub folder: Option<String>,
    /// Nothing is shown but these paths, relative to the worktree, and what lies beneath them; all, when
    /// there are none.
    pub within: Vec<String>,
    /// The same, if at least one of them is there when the command begins; else they are revisions.
    pub perhaps: Vec<String>,
    /// Whether nothing is shown but what the index holds.
    pub index_alone: bool,
}

/// Notes what a command shows. `there` is where it is started, unknown where another repository may be given.
pub(super) fn shown(finding: &mut Finding<'_>, name: &str, rest: &[Text], there: &Here) {
    let known = COMMANDS.iter().find(|row| row.name == name);
    let words = Words::of(rest, name == "grep");
    let (within, perhaps, index_alone) = match known {
        _ if matches!(rest, [only] if only.constant() == Some("-h")) => return,
        // It may be an alias of any command.
        None if git::COMMANDS.iter().all(|row| row.name != name) => (Vec::new(), Vec::new(), false),
        None => return,
        Some(row) if !shows(row, &words) => return,
        Some(row) => {
            let within = words.within(row, finding, there);
            let perhaps = if within.is_empty() {
                words.perhaps(row, finding, there)
            } else {
                Vec::new()
            };
            (within, perhaps, words.index_alone(row))
        }
    };
    let folders = match &there.0 {
        None => vec![None],
        // Nothing of a person's lies outside: what a run has there, it read here.
        Some(folders) => folders
            .iter()
            .filter(|folder| finding.in_worktree(&Here(Some(vec![(*folder).clone()]))))
            .map(|folder| Some(folder.clone()))
            .collect(),
    };
    for folder in folders {
        finding.target(Target::History(Shown {
            folder,
            within: within.clone(),
            perhaps: perhaps.clone(),
            index_alone,
        }));
    }
}

/// Takes words that may be paths for revisions.
pub(super) fn forget(target: &mut Target) {
    if let Target::History(shown) = target {
        shown.perhaps.clear();
    }
}

fn shows(row: &Row, words: &Words<'_>) -> bool {
    let patches = || PATCHES.iter().any(|name| option(words.options, name).is_some()) || words.dynamic();
    let shows = match row.shows {
        Shows::Always => true,
        Shows::Unless(these) => !words.given(these),
        Shows::Patches => patches() || !words.given(NAMES),
        Shows::OnlyPatches => patches(),
    };
    let of_host = |text: &str| text.contains("://") && !text.starts_with("file:");
    shows
        && match row.operands {
            Operands::Repository => !words
                .operands
                .first()
                .and_then(|(_, word)| word.constant())
                .is_some_and(of_host),
            Operands::PatternFirst => words.dynamic() || !words.searched().is_empty() || words.cached(),
            _ => true,
        }
}

/// The words of a command, sorted.
struct Words<'w> {
    /// All before `--`.
    options: &'w [Text],
    /// Those of them that are no options, and whether each surely is no option's value.
    operands: Vec<(bool, &'w Text)>,
    /// What stands behind `--`; none without one.
    paths: Option<&'w [Text]>,
    of_grep: bool,
}

impl<'w> Words<'w> {
    fn of(rest: &'w [Text], of_grep: bool) -> Words<'w> {
        let separator = rest
            .iter()
            .position(|word| word.constant() == Some("--"))
            .filter(|at| alone(rest, *at, of_grep));
        let (options, paths) = match separator {
            Some(at) => (rest.get(..at).unwrap_or_default(), rest.get(at + 1..)),
            None => (rest, None),
        };
        let operands = options
            .iter()
            .enumerate()
            .filter(|(_, word)| !word.shape.starts_with('-'))
            .map(|(at, word)| (alone(options, at, of_grep), word))
            .collect();
        Words {
            options,
            operands,
            paths,
            of_grep,
        }
    }

    /// Whether a word may be an option nobody knows.
    fn dynamic(&self) -> bool {
        self.options
            .iter()
            .any(|word| word.constant().is_none() && word.may_be_option())
    }

    /// Whether one of these words surely stands there as itself.
    fn given(&self, these: &[&str]) -> bool {
        let is = |word: &Text| {
            let name = word
                .constant()
                .map(|word| word.split_once('=').map_or(word, |(name, _)| name));
            name.is_some_and(|name| these.contains(&name))
        };
        (0..self.options.len()).any(|at| self.options.get(at).is_some_and(is) && alone(self.options, at, self.of_grep))
    }

    fn cached(&self) -> bool {
        ["--cached", "--staged"]
            .iter()
            .any(|name| option(self.options, name).is_some())
    }

    /// The operands of `git grep` behind what is looked for.
    fn searched(&self) -> Vec<Text> {
        let instead = ["-e", "-f"].iter().any(|name| option(self.options, name).is_some());
        operands(self.options, GREP_VALUES)
            .into_iter()
            .skip(usize::from(!instead))
            .collect()
    }

    /// Whether only the index can be shown: beside the worktree, which the walls themselves hide secrets of.
    fn index_alone(&self, row: &Row) -> bool {
        match row.name {
            "diff" | "diff-files" => self.operands.is_empty() && !self.cached() && !self.dynamic(),
            "grep" => self.searched().is_empty() && !self.dynamic(),
            _ => false,
        }
    }

    /// The paths that limit what is shown whatever is there: those behind `--`, or of `REVISION:PATH`.
    fn within(&self, row: &Row, finding: &Finding<'_>, there: &Here) -> Vec<String> {
        let beneath = |text: &str| -> Vec<String> {
            finding
                .paths(text, there)
                .iter()
                .map(|path| finding.relative(path))
                .collect()
        };
        // With this all of a commit is shown that touches the paths.
        if option(self.options, "--full-diff").is_some() || self.dynamic() {
            return Vec::new();
        }
        let in_trees: Option<Vec<&str>> = self.operands.iter().map(|(_, word)| in_tree(word)).collect();
        let any_in_tree = self.operands.iter().any(|(_, word)| in_tree(word).is_some());
        let literal = |paths: &[Text]| paths.iter().map(|path| literal(path).map(str::to_owned)).collect();
        let limits: Option<Vec<String>> = match (self.paths, in_trees) {
            (Some(paths), _) if !any_in_tree => literal(paths),
            (None, Some(paths)) if row.name != "archive" => {
                return paths
                    .iter()
                    .flat_map(|path| {
                        if path.starts_with("./") || path.starts_with("../") {
                            beneath(path)
                        } else {
                            beneath(&format!("{}/{path}", finding.place.worktree))
                        }
                    })
                    .collect();
            }
            (None, _) if row.operands == Operands::RevisionThenPaths && !any_in_tree => {
                let sure = self.operands.iter().all(|(alone, _)| *alone);
                let paths: Vec<Text> = self.operands.iter().skip(1).map(|(_, word)| (*word).clone()).collect();
                sure.then(|| literal(&paths)).flatten()
            }
            _ => None,
        };
        limits
            .unwrap_or_default()
            .iter()
            .flat_map(|path| beneath(path))
            .collect()
    }

    /// The words that limit what is shown if they are paths.
    fn perhaps(&self, row: &Row, finding: &Finding<'_>, there: &Here) -> Vec<String> {
        let may_be = matches!(row.operands, Operands::RevisionsOrPaths | Operands::PatternFirst);
        let sure = self.operands.iter().all(|(alone, _)| *alone) && self.paths.is_none() && !self.dynamic();
        if !may_be || !sure || option(self.options, "--full-diff").is_some() {
            return Vec::new();
        }
        let words = if self.of_grep {
            self.searched()
        } else {
            self.operands.iter().map(|(_, word)| (*word).clone()).collect()
        };
        let literal: Option<Vec<String>> = words.iter().map(|word| literal(word).map(str::to_owned)).collect();
        let paths = literal.unwrap_or_default();
        let paths = paths.iter().flat_map(|path| finding.paths(path, there));
        paths.map(|path| finding.relative(&path)).collect()
    }
}

/// Whether the word there surely is no value of the one before.
fn alone(words: &[Text], at: usize, of_grep: bool) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|before| words.get(before)) else {
        return true;
    };
    let Some(before) = before.constant() else {
        return !before.may_be_option();
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let short = before.strip_prefix('-').unwrap_or_default();
    let flags = || !short.is_empty() && short.chars().all(|letter| GREP_FLAGS.contains(letter));
    !before.starts_with('-')
        || before.contains('=')
        || NAMES.contains(&before)
        || (FLAGS.contains(&before) && (!of_grep || before.starts_with("--")))
        || digits(short)
        || short.strip_prefix(['U', 'n']).is_some_and(digits)
        || (of_grep && flags())
}

/// A path that git takes for nothing else.
fn literal(word: &Text) -> Option<&str> {
    word.constant()
        .filter(|path| !path.is_empty() && !path.starts_with(':') && !path.contains(['*', '?', '[', '\\']))
}

/// The path of `REVISION:PATH`, or of the index's `:PATH` and `:2:PATH`.
fn in_tree(word: &Text) -> Option<&str> {
    let word = word.constant().filter(|word| !word.contains(['{', '^']))?;
    let (revision, path) = word.split_once(':')?;
    if !revision.is_empty() {
        return Some(path);
    }
    match path.split_once(':') {
        Some((stage, path)) => matches!(stage, "0" | "1" | "2" | "3").then_some(path),
        None => (!path.starts_with(['/', '!', '(', '^'])).then_some(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::tests::at;

    fn shown(line: &str) -> Vec<Shown> {
        let targets = at(line).targets().to_vec();
        let shown = |target: Target| match target {
            Target::History(shown) => Some(shown),
            _ => None,
        };
        targets.into_iter().filter_map(shown).collect()
    }

    /// What a line shows, in one word: nothing, all, the index, or the paths.
    fn told(line: &str) -> String {
        match shown(line).as_slice() {
            [] => "nothing".to_owned(),
            [Shown { folder: None, .. }] => "somewhere".to_owned(),
            [shown] if shown.index_alone => format!("index {}", shown.within.join(" ")).trim_end().to_owned(),
            [shown] if !shown.within.is_empty() => shown.within.join(" "),
            [shown] if !shown.perhaps.is_empty() => format!("perhaps {}", shown.perhaps.join(" ")),
            [_] => "all".to_owned(),
            several => format!("{several:?}"),
        }
    }

    #[test]
    fn each_row_holds_for_its_own_examples() {
        for row in COMMANDS {
            assert!(
                git::COMMANDS.iter().any(|command| command.name == row.name),
                "{}",
                row.name
            );
            assert_ne!(told(row.showing), "nothing", "{}", row.showing);
            assert_eq!(told(row.hiding), "nothing", "{}", row.hiding);
        }
    }

    #[test]
    fn lines_show_what_git_shows() {
        for (line, expected) in [
            ("git show HEAD", "perhaps HEAD"),
            ("git show HEAD -- src", "src"),
            ("git show HEAD -- ./src/../a.rs b", "a.rs b"),
            ("cd src && git show HEAD -- a.rs", "src/a.rs"),
            ("git show HEAD -- '*.rs'", "all"),
            ("git show HEAD -- ':!a'", "all"),
            ("git show HEAD:src/a.rs", "src/a.rs"),
            ("cd src && git show HEAD:./a.rs", "src/a.rs"),
            ("git show :2:src/a.rs", "src/a.rs"),
            ("git show :/fix", "all"),
            ("git show 'HEAD^{/fix: a}'", "perhaps HEAD^{/fix: a}"),
            ("git show HEAD HEAD:a.rs", "perhaps HEAD HEAD:a.rs"),
            ("git show --stat HEAD", "nothing"),
            ("git show --stat=80 HEAD", "nothing"),
            ("git show --stat -p HEAD", "perhaps HEAD"),
            ("git show -S --name-only HEAD", "perhaps HEAD"),
            ("git show -S -- src", "all"),
            ("git show -S src HEAD", "all"),
            ("git show --oneline --stat HEAD", "nothing"),
            ("git show $x", "all"),
            ("git show -- $x", "all"),
            ("git log -5", "nothing"),
            ("git log -p -5 src/a.rs", "perhaps src/a.rs"),
            ("git log -p --full-diff -- src", "all"),
            ("git log --color=never --format=%h", "nothing"),
            ("git log -L1,9:src/a.rs", "all"),
            ("git log $x", "all"),
            ("git diff", "index"),
            ("git diff --cached", "all"),
            ("git diff -- src", "index src"),
            ("git diff main...HEAD -- src", "src"),
            ("git diff --name-only HEAD~3", "nothing"),
            ("git blame src/a.rs", "perhaps src/a.rs"),
            ("git grep main", "nothing"),
            ("git grep -n main -- src", "nothing"),
            ("git grep main HEAD", "perhaps HEAD"),
            ("git grep -nE main HEAD -- src", "src"),
            ("git grep src HEAD", "perhaps HEAD"),
            ("git grep -e src HEAD", "all"),
            ("git grep --cached main", "index"),
            ("git grep -c main HEAD", "nothing"),
            ("git archive HEAD src", "src"),
            ("git archive --format=tar HEAD", "all"),
            ("git archive src", "all"),
            ("git cat-file -p HEAD:src/a.rs", "src/a.rs"),
            ("git cat-file --batch", "all"),
            ("git show-all HEAD", "all"),
            ("git -c color.ui=never show HEAD", "all"),
            ("git --git-dir=other show HEAD", "somewhere"),
            ("git $x HEAD", "somewhere"),
            ("cd $x; git show HEAD", "somewhere"),
            ("git -C /tmp/a show HEAD", "nothing"),
            ("mv src x; git show src", "all"),
            ("git status", "nothing"),
            ("git ls-files", "nothing"),
            ("git show -h", "nothing"),
        ] {
            assert_eq!(told(line), expected, "{line}");
        }
    }
}
