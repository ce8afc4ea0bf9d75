//! Permission rules: one syntax everywhere. A rule speaks only for what it names.
//!
//! `npm run *` (whole words of a command), `edit(src/**)`, `read(.env*)`, `net(host)`,
//! `mcp(server/tool*)`, `effect(git_push)`.

use std::collections::BTreeMap;
use std::fmt;

use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};

use crate::effect::Effect;

/// Where a rule comes from. The order is the order in which scopes are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The administrator's file.
    Managed,
    /// `--allow` and `--deny` of this run.
    Run,
    /// Answers stored for a space.
    Space,
    /// An agent's own rules.
    Agent,
    /// The trusted project file and answers stored for the workspace.
    Workspace,
    /// The person's own file.
    Person,
}

/// What a rule says. The order is from lax to strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Goes through.
    Allow,
    /// Goes through only inside a step of an approved plan that names the path.
    Plan,
    /// A person is asked.
    Ask,
    /// Never.
    Deny,
}

impl Verdict {
    /// What becomes of a call it is about.
    pub const fn participle(self) -> &'static str {
        match self {
            Verdict::Allow => "allowed",
            Verdict::Plan => "allowed in approved steps that name the path",
            Verdict::Ask => "asked",
            Verdict::Deny => "denied",
        }
    }
}

impl Scope {
    /// The word of lists.
    pub const fn word(self) -> &'static str {
        match self {
            Scope::Managed => "managed",
            Scope::Run => "run",
            Scope::Space => "space",
            Scope::Agent => "agent",
            Scope::Workspace => "workspace",
            Scope::Person => "person",
        }
    }
}

/// A rule as text with its verdict and its place, as settings hand it over.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RuleText {
    /// Who said it.
    pub scope: Scope,
    /// What it says.
    pub verdict: Verdict,
    /// The rule's words.
    pub text: String,
    /// Where it stands, for people: `settings.toml:12`.
    pub place: String,
}

/// How far a person's yes reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// This very call.
    Once,
    /// Every such call of this run.
    Run,
    /// Every such call in this workspace.
    Workspace,
}

/// A rule that a person's answer to a call has become. It holds for calls whose evidence is the same,
/// and never for what may not be remembered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberedRule {
    /// The rule.
    pub rule: RuleText,
    /// What the answered line would have run, by content: see [`crate::Ask::evidence`].
    pub evidence: BTreeMap<String, String>,
}

/// One rule, parsed.
#[derive(Debug, Clone)]
pub struct Rule {
    text: RuleText,
    pattern: Pattern,
    /// The evidence a remembered rule is bound to.
    bound: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Clone)]
enum Pattern {
    Words(Vec<String>),
    Edit(GlobMatcher),
    Read(GlobMatcher),
    Net(GlobMatcher),
    Mcp(GlobMatcher),
    Effect(Effect),
}

/// A rule that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: the rule {text:?} cannot be read: {why}")]
pub struct RuleRefused {
    /// Where it stands.
    pub place: String,
    /// Its words.
    pub text: String,
    /// What is wrong.
    pub why: String,
}

/// What a rule can be asked about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Subject<'a> {
    /// An effect, with the paths or hosts that cause it.
    Effect(Effect),
    /// A write of this path.
    Edit(&'a str),
    /// A read of this path.
    Read(&'a str),
    /// A connection to this host.
    Net(&'a str),
    /// A call of this tool of an MCP server, as `SERVER/TOOL`.
    Mcp(&'a str),
    /// A command of these words.
    Words(&'a [String]),
}

impl Rule {
    /// Reads one rule.
    pub fn parse(text: RuleText) -> Result<Rule, RuleRefused> {
        let refused = |why: String| RuleRefused {
            place: text.place.clone(),
            text: text.text.clone(),
            why,
        };
        let words = text.text.trim();
        let call = words.strip_suffix(')').and_then(|head| head.split_once('('));
        let pattern = match call {
            Some(("edit", glob)) => Pattern::Edit(path_glob(glob).map_err(refused)?),
            Some(("read", glob)) => Pattern::Read(path_glob(glob).map_err(refused)?),
            Some(("net", host)) => Pattern::Net(path_glob(host).map_err(refused)?),
            Some(("mcp", tool)) => Pattern::Mcp(path_glob(tool).map_err(refused)?),
            Some(("effect", name)) => {
                Pattern::Effect(Effect::from_name(name).ok_or_else(|| refused(format!("{name:?} is not an effect")))?)
            }
            Some((other, _)) if other.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
                return Err(refused(format!(
                    "{other:?} is not a kind of rule: use edit, read, net, mcp, effect or the words of a command"
                )));
            }
            _ => {
                let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
                if words.is_empty() {
                    return Err(refused("it is empty".to_owned()));
                }
                if words.first().is_some_and(|word| word.contains('(')) {
                    return Err(refused(
                        "a bracket is open: write edit(…), read(…), net(…), mcp(…) or effect(…)".to_owned(),
                    ));
                }
                if words.iter().rev().skip(1).any(|word| word.contains('*')) {
                    return Err(refused("a `*` stands only as the last word".to_owned()));
                }
                Pattern::Words(words)
            }
        };
        Ok(Rule {
            text,
            pattern,
            bound: None,
        })
    }

    /// Reads a rule that was remembered from an answer.
    pub fn remembered(remembered: RememberedRule) -> Result<Rule, RuleRefused> {
        Ok(Rule {
            bound: Some(remembered.evidence),
            ..Rule::parse(remembered.rule)?
        })
    }

    /// The evidence a remembered rule is bound to; none for a rule that somebody wrote.
    pub(crate) fn bound(&self) -> Option<&BTreeMap<String, String>> {
        self.bound.as_ref()
    }

    /// Who said it, what and where.
    pub fn source(&self) -> &RuleText {
        &self.text
    }

    /// Whether it names hosts, and not all that uses the network.
    pub(crate) fn speaks_of_hosts(&self) -> bool {
        matches!(self.pattern, Pattern::Net(_))
    }

    /// Whether it allows this very host, by its name and not by a pattern.
    pub(crate) fn allows_very_host(&self, host: &str) -> bool {
        let named = self
            .text
            .text
            .trim()
            .strip_prefix("net(")
            .and_then(|rest| rest.strip_suffix(')'));
        self.text.verdict == Verdict::Allow && self.speaks_of_hosts() && named == Some(literal(host).as_str())
    }

    pub(crate) fn speaks_of_commands(&self) -> bool {
        matches!(self.pattern, Pattern::Words(_))
    }

    pub(crate) fn speaks_of_writes(&self) -> bool {
        matches!(self.pattern, Pattern::Edit(_))
    }

    pub(crate) fn speaks_of_reads(&self) -> bool {
        matches!(self.pattern, Pattern::Read(_))
    }

    /// Whether it allows without naming what: every program, host, secret or tool of a server. What a person
    /// keeps is not so wide; to be asked nothing at all has a word of its own, the autonomy `act_freely`.
    pub fn allows_everything(&self) -> bool {
        let names = |glob: &GlobMatcher| glob.glob().glob().contains(|c| !matches!(c, '*' | '/'));
        self.text.verdict == Verdict::Allow
            && match &self.pattern {
                Pattern::Words(words) => words.first().is_some_and(|program| program.ends_with('*')),
                Pattern::Read(glob) | Pattern::Net(glob) | Pattern::Mcp(glob) => !names(glob),
                // Of the project alone, unless it begins at the root of the machine.
                Pattern::Edit(glob) => glob.glob().glob().starts_with('/') && !names(glob),
                Pattern::Effect(_) => false,
            }
    }

    /// How closely the rule names the subject; none when it does not. What is allowed of paths is allowed in
    /// the worktree, unless the rule names a place of the machine.
    pub(crate) fn specificity(&self, subject: Subject<'_>) -> Option<usize> {
        if let (Pattern::Edit(glob) | Pattern::Read(glob), Subject::Edit(path) | Subject::Read(path)) =
            (&self.pattern, subject)
            && self.text.verdict == Verdict::Allow
            && path.starts_with('/')
            && !glob.glob().glob().starts_with('/')
        {
            return None;
        }
        match (&self.pattern, subject) {
            (Pattern::Effect(named), Subject::Effect(effect)) if *named == effect => Some(0),
            (Pattern::Edit(glob), Subject::Edit(path)) | (Pattern::Read(glob), Subject::Read(path)) => {
                glob_weight(glob, path)
            }
            (Pattern::Net(glob), Subject::Net(name)) | (Pattern::Mcp(glob), Subject::Mcp(name)) => {
                glob_weight(glob, name)
            }
            (Pattern::Words(rule), Subject::Words(command)) => words_match(rule, command),
            _ => None,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?} ({})", self.text.text, self.text.place)
    }
}

/// The text of a glob that matches this name alone.
pub(crate) fn literal(name: &str) -> String {
    let mut glob = String::new();
    for c in name.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\') {
            glob.push('\\');
        }
        glob.push(c);
    }
    glob
}

/// Whether `words` are a rule that names all that `exact` does; else why not.
pub(crate) fn widens(words: &str, exact: &str) -> Result<(), String> {
    let read = |text: &str| {
        let text = RuleText {
            scope: Scope::Run,
            verdict: Verdict::Allow,
            text: text.to_owned(),
            place: String::new(),
        };
        Rule::parse(text).map_err(|refused| refused.why)
    };
    let (wide, narrow) = (read(words)?, read(exact)?);
    if words == exact {
        return Ok(());
    }
    let named = match (&wide.pattern, &narrow.pattern) {
        (Pattern::Words(rule), Pattern::Words(command)) => {
            if rule.first() != command.first() {
                return Err("it begins with another program than the call".to_owned());
            }
            words_match(rule, command).is_some()
        }
        (Pattern::Edit(wide), Pattern::Edit(narrow))
        | (Pattern::Net(wide), Pattern::Net(narrow))
        | (Pattern::Mcp(wide), Pattern::Mcp(narrow)) => wide.is_match(unescaped(narrow.glob().glob())),
        (Pattern::Read(_), Pattern::Read(_)) => return Err("a yes to reading is for one path".to_owned()),
        _ => false,
    };
    if named {
        Ok(())
    } else {
        Err(format!("it does not name what was asked: {exact}"))
    }
}

/// The name a literal glob matches.
fn unescaped(glob: &str) -> String {
    let mut name = String::new();
    let mut characters = glob.strip_prefix("**/").unwrap_or(glob).chars();
    while let Some(c) = characters.next() {
        name.extend(if c == '\\' { characters.next() } else { Some(c) });
    }
    name
}

fn path_glob(glob: &str) -> Result<GlobMatcher, String> {
    if glob.is_empty() {
        return Err("nothing stands between the brackets".to_owned());
    }
    let anywhere = if glob.contains('/') {
        glob.to_owned()
    } else {
        format!("**/{glob}")
    };
    GlobBuilder::new(&anywhere)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| error.kind().to_string())
}

fn glob_weight(glob: &GlobMatcher, subject: &str) -> Option<usize> {
    glob.is_match(subject).then(|| {
        1 + glob
            .glob()
            .glob()
            .chars()
            .filter(|c| !matches!(c, '*' | '?' | '[' | ']' | '{' | '}'))
            .count()
    })
}

/// A rule's words are whole words; a last `*` stands for any further words, also none.
fn words_match(rule: &[String], command: &[String]) -> Option<usize> {
    let (last, start) = rule.split_last()?;
    if last == "*" {
        command.starts_with(start).then_some(start.len())
    } else if let Some(beginning) = last.strip_suffix('*') {
        let (word, before) = command.get(..rule.len())?.split_last()?;
        (before == start && word.starts_with(beginning)).then_some(rule.len())
    } else {
        (rule == command).then_some(rule.len() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> Result<Rule, RuleRefused> {
        Rule::parse(RuleText {
            scope: Scope::Person,
            verdict: Verdict::Allow,
            text: text.to_owned(),
            place: "settings.toml:3".to_owned(),
        })
    }

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn words_are_whole_words() {
        let check = |text: &str, line: &str| rule(text).unwrap().specificity(Subject::Words(&words(line)));
        assert!(check("npm run *", "npm run test").is_some());
        assert!(check("npm run *", "npm run").is_some());
        assert_eq!(check("npm run test", "npm run testx"), None);
        assert_eq!(check("npm run test", "npm run test --watch"), None);
        assert_eq!(check("git log", "git log --output=f"), None);
        assert!(check("npm run test*", "npm run test:unit").is_some());
        assert!(check("git push origin x", "git push origin x") > check("git push *", "git push origin x"));
    }

    #[test]
    fn a_glob_without_a_slash_holds_anywhere() {
        let check = |text: &str, matter: Subject<'_>| rule(text).unwrap().specificity(matter).is_some();
        assert!(check("read(.env*)", Subject::Read("a/b/.env.local")));
        assert!(check("edit(src/**)", Subject::Edit("src/a/b.rs")));
        assert!(!check("edit(src/**)", Subject::Edit("lib/src/a.rs")));
        assert!(!check("edit(src/**)", Subject::Read("src/a.rs")));
        assert!(check("effect(git_push)", Subject::Effect(Effect::GitPush)));
        assert!(check("net(*.example.org)", Subject::Net("api.example.org")));
        assert!(check("mcp(forge/create_*)", Subject::Mcp("forge/create_issue")));
        assert!(check("mcp(create_issue)", Subject::Mcp("forge/create_issue")));
        assert!(!check("mcp(forge/create_*)", Subject::Mcp("other/create_issue")));
    }

    #[test]
    fn what_is_allowed_of_paths_is_allowed_in_the_worktree_and_what_is_denied_everywhere() {
        let named = |verdict, text: &str, path| {
            let text = RuleText {
                verdict,
                ..rule(text).unwrap().text
            };
            Rule::parse(text).unwrap().specificity(Subject::Edit(path)).is_some()
        };
        for text in ["edit(**)", "edit(*.conf)", "edit(**/a.conf)"] {
            assert!(named(Verdict::Allow, text, "etc/a.conf"), "{text}");
            assert!(!named(Verdict::Allow, text, "/etc/a.conf"), "{text}");
            assert!(named(Verdict::Deny, text, "/etc/a.conf"), "{text}");
            assert!(named(Verdict::Ask, text, "/etc/a.conf"), "{text}");
        }
        assert!(named(Verdict::Allow, "edit(/etc/**)", "/etc/a.conf"));
    }

    #[test]
    fn a_rule_that_names_nothing_allows_everything() {
        for text in [
            "*",
            "**",
            "n*",
            "read(*)",
            "read(**)",
            "net(*)",
            "net(**)",
            "mcp(*)",
            "mcp(*/*)",
            "edit(/**)",
            "edit(/*)",
        ] {
            assert!(rule(text).unwrap().allows_everything(), "{text}");
        }
        for text in [
            "make *",
            "git",
            "edit(**)",
            "read(.env*)",
            "net(*.rs)",
            "mcp(forge/*)",
            "effect(git_push)",
        ] {
            assert!(!rule(text).unwrap().allows_everything(), "{text}");
        }
        let asks = RuleText {
            verdict: Verdict::Ask,
            ..rule("*").unwrap().text
        };
        assert!(!Rule::parse(asks).unwrap().allows_everything());
    }

    #[test]
    fn own_words_name_what_was_asked_and_more() {
        for (words, exact) in [
            ("git log *", "git log -5"),
            ("git log -5", "git log -5"),
            ("npm run *", "npm run test"),
            ("edit(src/**)", "edit(src/a.rs)"),
            ("edit(a\\[1\\]*)", r"edit(a\[1\].rs)"),
            ("edit(*.rs)", "edit(a.rs)"),
            ("mcp(forge/*)", "mcp(forge/create)"),
            ("net(*.example.org)", "net(api.example.org)"),
        ] {
            assert_eq!(widens(words, exact), Ok(()), "{words} for {exact}");
        }
        for (words, exact) in [
            ("*", "git log"),
            ("g*", "git"),
            ("git push *", "git log"),
            ("git log --all", "git log"),
            ("read(**)", "read(.env)"),
            ("edit(lib/**)", "edit(src/a.rs)"),
            ("effect(process_spawn)", "npm test"),
            ("", "npm test"),
            ("npm * test", "npm run test"),
        ] {
            assert!(widens(words, exact).is_err(), "{words} for {exact}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_an_error_that_names_its_place() {
        for text in [
            "",
            "effect(push)",
            "write(src)",
            "edit()",
            "edit(a.py",
            "foo(",
            "npm * run",
            "edit([)",
        ] {
            let error = rule(text).unwrap_err();
            assert!(error.to_string().starts_with("settings.toml:3: "), "{error}");
        }
    }
}
