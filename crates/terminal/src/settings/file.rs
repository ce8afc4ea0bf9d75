//! One settings file as it was written: each value with its line. It must not know whose file it is
//! nor what other files say.

use std::collections::BTreeMap;
use std::path::Path;

use llm::{Effort, Given, ModelSettings, Preset, Table};
use modes::{Autonomy, Rule, RuleText, Scope, Verdict};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use work::plan::Landing;

use super::page::{Fault, Page};
use super::sandbox::{self, SandboxTable};
use super::search::{self, SearchTable};
use super::servers::ServerText;

/// The tables of a settings file.
pub(crate) const TABLES: &[&str] = &[
    "models",
    "providers",
    "permissions",
    "limits",
    "autonomy",
    "landing",
    "plan",
    "network",
    "trust",
    "sandbox",
    "mcp",
    "search",
];
/// The key of the administrator's file that names the keys nobody else sets.
pub(crate) const LOCKED: &str = "locked";
/// The tables beneath `[models]`: the modes, and what they share.
pub(crate) const MODELS: &[&str] = &["default", "agent", "plan", "review", "orchestrate"];
const PROVIDER_KEYS: &[&str] = &["base_url", "key_env", "api_version"];
const VERDICTS: &[(&str, Verdict)] = &[
    ("allow", Verdict::Allow),
    ("ask", Verdict::Ask),
    ("plan", Verdict::Plan),
    ("deny", Verdict::Deny),
];

/// Whom a model can be asked of.
pub(crate) fn providers_known() -> Vec<&'static str> {
    let mut names = Preset::names();
    names.extend(FILES);
    names
}

/// The providers whose models are files.
pub(crate) const FILES: [&str; 2] = [llm::scripted::PROVIDER, llm::recording::PROVIDER];

/// The key a verdict is written under.
pub(crate) fn word(verdict: Verdict) -> &'static str {
    let key = VERDICTS.iter().find(|(_, known)| *known == verdict);
    key.map_or("", |(word, _)| word)
}

const LIMITS: &[&str] = &[
    "mistakes",
    "tokens",
    "minutes",
    "retries",
    "retry_pause_ms",
    "compact_at",
];
/// The word that takes the mistake limit away.
const OFF: &str = "off";
const AUTONOMIES: &[&str] = &["propose_only", "act_with_approval", "act_freely"];
const LANDINGS: &[&str] = &["checkout", "commits"];

/// What one file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct File {
    /// `[models.NAME]` by name.
    pub(crate) models: BTreeMap<String, Table>,
    /// `[providers.NAME]` by name.
    pub(crate) providers: BTreeMap<String, Provider>,
    /// `[mcp.servers.NAME]`.
    pub(crate) servers: Vec<ServerText>,
    /// `[permissions]`, in the order of the file.
    pub(crate) rules: Vec<(Verdict, Given<String>)>,
    /// `[limits]`.
    pub(crate) limits: LimitTable,
    /// `[autonomy] default`.
    pub(crate) autonomy: Option<Given<Autonomy>>,
    /// `[landing] default`.
    pub(crate) landing: Option<Given<Landing>>,
    /// `[plan] try`: whether Plan may try commands in a throw-away copy.
    pub(crate) plan_try: Option<Given<bool>>,
    /// `[network] hosts`, each in its one spelling.
    pub(crate) hosts: Vec<Given<String>>,
    /// `[trust] folders`.
    pub(crate) folders: Vec<Given<String>>,
    /// `locked`.
    pub(crate) locked: Vec<Given<String>>,
    /// The whole name of every key above, `locked` aside.
    pub(crate) keys: Vec<Given<String>>,
    /// `[sandbox]`.
    pub(crate) sandbox: SandboxTable,
    /// `[search]`.
    pub(crate) search: SearchTable,
}

/// A `[providers.NAME]` table.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Provider {
    /// Where it answers.
    pub(crate) base_url: Option<Given<String>>,
    /// The environment variable its key is in.
    pub(crate) key_env: Option<Given<String>>,
    /// The date of its interface, where it has dated ones.
    pub(crate) api_version: Option<Given<String>>,
}

/// The `[limits]` table.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LimitTable {
    /// None inside: no limit.
    pub(crate) mistakes: Option<Given<Option<u32>>>,
    /// Tokens.
    pub(crate) tokens: Option<Given<u64>>,
    /// Minutes.
    pub(crate) minutes: Option<Given<u64>>,
    /// Further tries.
    pub(crate) retries: Option<Given<u32>>,
    /// Milliseconds before the first of them.
    pub(crate) retry_pause_ms: Option<Given<u64>>,
    /// Tokens of a request at which a conversation is compacted.
    pub(crate) compact_at: Option<Given<u64>>,
}

/// Reads a file. `folder` is where it lies: a model that is a file is named relative to it.
pub(crate) fn read(file: &str, folder: &Path, text: &str) -> (File, Vec<Fault>) {
    let mut page = Page::new(file, text);
    let root = page.root();
    let mut read = File::default();
    for (key, value) in &root {
        if key.get_ref() == LOCKED {
            read.locked = page.texts(LOCKED, value);
            continue;
        }
        let Some(table) = known(&mut page, "", key, TABLES)
            .then(|| page.table(key.get_ref(), value))
            .flatten()
        else {
            continue;
        };
        read.keys.extend(page.keys(key.get_ref(), value));
        match key.get_ref().as_ref() {
            "models" => models(&mut page, table, folder, &mut read),
            "mcp" => super::servers::table(&mut page, table, &mut read),
            "providers" => providers(&mut page, table, &mut read),
            "permissions" => permissions(&mut page, table, &mut read),
            "limits" => limits(&mut page, table, &mut read.limits),
            "autonomy" => autonomy(&mut page, table, &mut read),
            "sandbox" => read.sandbox = sandbox::read(&mut page, table),
            "search" => read.search = search::read(&mut page, table),
            "landing" => landing(&mut page, table, &mut read),
            "network" => network(&mut page, table, &mut read),
            "plan" => plan(&mut page, table, &mut read),
            _ => trust(&mut page, table, &mut read),
        }
    }
    (read, page.into_faults())
}

fn known(page: &mut Page<'_>, table: &str, key: &Spanned<std::borrow::Cow<'_, str>>, keys: &[&str]) -> bool {
    let known = keys.contains(&key.get_ref().as_ref());
    if !known {
        page.unknown_key(key.span().start, table, key.get_ref(), keys);
    }
    known
}

fn models<'t>(page: &mut Page<'t>, tables: &DeTable<'t>, folder: &Path, read: &mut File) {
    for (key, value) in tables {
        if !known(page, "models", key, MODELS) {
            continue;
        }
        let Some(table) = page.table(key.get_ref(), value) else {
            continue;
        };
        let name = format!("models.{}", key.get_ref());
        let mut model = model(page, &name, table);
        travels_together(page, key.span().start, &name, &model);
        if let (Some(provider), Some(file)) = (&model.provider, &mut model.model)
            && FILES.contains(&provider.value.as_str())
        {
            file.value = folder.join(&file.value).display().to_string();
        }
        read.models.insert(key.get_ref().to_string(), model);
    }
}

fn model(page: &mut Page<'_>, name: &str, table: &DeTable<'_>) -> Table {
    let mut model = Table::default();
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "provider" => model.provider = provider(page, value),
            "model" => model.model = page.text("model", value),
            "effort" => model.effort = effort(page, value),
            "thinking_budget" => model.thinking_budget = page.whole("thinking_budget", 1, value),
            "max_output" => model.max_output = page.whole("max_output", 1, value),
            "temperature" => model.temperature = page.number("temperature", (0.0, 2.0), value),
            other => page.unknown_key(key.span().start, name, other, &ModelSettings::KEYS),
        }
    }
    model
}

fn travels_together(page: &mut Page<'_>, at: usize, name: &str, model: &Table) {
    let alone = match (&model.provider, &model.model) {
        (Some(_), None) => ("provider", "model"),
        (None, Some(_)) => ("model", "provider"),
        _ => return,
    };
    page.fault(
        at,
        format!(
            "[{name}] sets `{}` without `{}`: the two travel together",
            alone.0, alone.1
        ),
    );
}

fn provider(page: &mut Page<'_>, value: &Spanned<DeValue<'_>>) -> Option<Given<String>> {
    let given = page.text("provider", value)?;
    let known = providers_known();
    if !known.contains(&given.value.as_str()) {
        page.unknown_word(value.span().start, "provider", &given.value, &known);
    }
    Some(given)
}

fn effort(page: &mut Page<'_>, value: &Spanned<DeValue<'_>>) -> Option<Given<Effort>> {
    let given = page.text("effort", value)?;
    let at = value.span().start;
    let Ok(effort) = given.value.parse() else {
        page.unknown_word(at, "effort", &given.value, &Effort::ALL.map(Effort::word));
        return None;
    };
    Some(page.given(at, effort))
}

fn providers<'t>(page: &mut Page<'t>, tables: &DeTable<'t>, read: &mut File) {
    for (key, value) in tables {
        if !known(page, "providers", key, &Preset::names()) {
            continue;
        }
        let Some(table) = page.table(key.get_ref(), value) else {
            continue;
        };
        let name = format!("providers.{}", key.get_ref());
        let mut provider = Provider::default();
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "base_url" => provider.base_url = base_url(page, value),
                "key_env" => provider.key_env = variable(page, "key_env", value),
                "api_version" => provider.api_version = page.text("api_version", value),
                other => page.unknown_key(key.span().start, &name, other, PROVIDER_KEYS),
            }
        }
        read.providers.insert(key.get_ref().to_string(), provider);
    }
}

fn base_url(page: &mut Page<'_>, value: &Spanned<DeValue<'_>>) -> Option<Given<String>> {
    let given = page.text("base_url", value)?;
    if !["http://", "https://"]
        .iter()
        .any(|scheme| given.value.starts_with(scheme))
    {
        page.fault(value.span().start, "`base_url` must begin with `https://` or `http://`");
    }
    Some(given)
}

/// A key itself in the place of its variable's name is a common slip; it is never shown.
pub(super) fn variable(page: &mut Page<'_>, key: &str, value: &Spanned<DeValue<'_>>) -> Option<Given<String>> {
    let given = page.text(key, value)?;
    if given
        .value
        .bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    {
        return Some(given);
    }
    page.fault(
        value.span().start,
        format!(
            "`{key}` is the NAME of an environment variable, in capitals, digits and `_`; a key itself never stands in a settings file"
        ),
    );
    None
}

fn permissions(page: &mut Page<'_>, table: &DeTable<'_>, read: &mut File) {
    for (key, value) in table {
        let Some((word, verdict)) = VERDICTS.iter().find(|(word, _)| *word == key.get_ref()) else {
            let words: Vec<&str> = VERDICTS.iter().map(|(word, _)| *word).collect();
            page.unknown_key(key.span().start, "permissions", key.get_ref(), &words);
            continue;
        };
        for given in page.texts(word, value) {
            read.rules.push((*verdict, given));
        }
        check_rules(page, *verdict, value);
    }
    read.rules.sort_by_key(|(_, given)| given.line);
}

fn check_rules(page: &mut Page<'_>, verdict: Verdict, value: &Spanned<DeValue<'_>>) {
    for item in value.get_ref().as_array().into_iter().flat_map(|items| items.iter()) {
        let Some(text) = item.get_ref().as_str().filter(|text| !text.trim().is_empty()) else {
            continue;
        };
        let rule = RuleText {
            scope: Scope::Person,
            verdict,
            text: text.to_owned(),
            place: String::new(),
        };
        if let Err(refused) = Rule::parse(rule) {
            page.fault(
                item.span().start,
                format!("the rule `{text}` cannot be read: {}", refused.why),
            );
        }
    }
}

fn limits(page: &mut Page<'_>, table: &DeTable<'_>, limits: &mut LimitTable) {
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "mistakes" => limits.mistakes = mistakes(page, value),
            "tokens" => limits.tokens = page.whole("tokens", 1, value),
            "minutes" => limits.minutes = page.whole("minutes", 1, value),
            "retries" => limits.retries = small(page, "retries", 0, value),
            "retry_pause_ms" => limits.retry_pause_ms = page.whole("retry_pause_ms", 1, value),
            "compact_at" => limits.compact_at = page.whole("compact_at", 1, value),
            other => page.unknown_key(key.span().start, "limits", other, LIMITS),
        }
    }
}

/// A whole number from `least` to the largest of 32 bits.
fn small(page: &mut Page<'_>, key: &str, least: u64, value: &Spanned<DeValue<'_>>) -> Option<Given<u32>> {
    let given = page.whole(key, least, value)?;
    let Ok(number) = u32::try_from(given.value) else {
        page.fault(value.span().start, format!("`{key}` is too large"));
        return None;
    };
    Some(page.given(value.span().start, number))
}

fn mistakes(page: &mut Page<'_>, value: &Spanned<DeValue<'_>>) -> Option<Given<Option<u32>>> {
    if let Some(word) = value.get_ref().as_str() {
        if word == OFF {
            return Some(page.given(value.span().start, None));
        }
        page.fault(
            value.span().start,
            format!("`mistakes` must be a whole number from 1 up, or `\"{OFF}\"`"),
        );
        return None;
    }
    let given = small(page, "mistakes", 1, value)?;
    Some(page.given(value.span().start, Some(given.value)))
}

fn autonomy(page: &mut Page<'_>, table: &DeTable<'_>, read: &mut File) {
    for (key, value) in table {
        if !known(page, "autonomy", key, &["default"]) {
            continue;
        }
        let Some(given) = page.text("default", value) else {
            continue;
        };
        match Autonomy::from_word(&given.value) {
            Some(autonomy) => read.autonomy = Some(page.given(value.span().start, autonomy)),
            None => page.unknown_word(value.span().start, "default", &given.value, AUTONOMIES),
        }
    }
}

fn trust(page: &mut Page<'_>, table: &DeTable<'_>, read: &mut File) {
    for (key, value) in table {
        if known(page, "trust", key, &["folders"]) {
            read.folders = page.texts("folders", value);
        }
    }
    for folder in &read.folders {
        if !Path::new(&folder.value).is_absolute() {
            page.fault_at(folder, "a folder to trust is named from the root, with `/` in front");
        }
    }
}

fn plan(page: &mut Page<'_>, table: &DeTable<'_>, read: &mut File) {
    for (key, value) in table {
        if known(page, "plan", key, &["try"]) {
            read.plan_try = page.truth("try", value);
        }
    }
}

fn network(page: &mut Page<'_>, table: &DeTable<'_>, read: &mut File) {
    for (key, value) in table {
        if !known(page, "network", key, &["hosts"]) {
            continue;
        }
        let Some(items) = value.get_ref().as_array() else {
            page.texts("hosts", value);
            continue;
        };
        for item in items {
            let Some(given) = page.text("hosts", item) else {
                continue;
            };
            match modes::parse_pattern(&given.value) {
                Some(host) => read.hosts.push(Given { value: host, ..given }),
                None => page.fault(
                    item.span().start,
                    format!(
                        "`{}` is no host: write a name as `docs.example.org`, every name beneath one as \
                         `*.example.org`, or a name with its port as `example.org:8443`",
                        given.value
                    ),
                ),
            }
        }
    }
}

fn landing(page: &mut Page<'_>, table: &DeTable<'_>, read: &mut File) {
    for (key, value) in table {
        if !known(page, "landing", key, &["default"]) {
            continue;
        }
        let Some(given) = page.text("default", value) else {
            continue;
        };
        match given.value.as_str() {
            "checkout" => read.landing = Some(page.given(value.span().start, Landing::Checkout)),
            "commits" => read.landing = Some(page.given(value.span().start, Landing::Commits)),
            other => page.unknown_word(value.span().start, "default", other, LANDINGS),
        }
    }
}
