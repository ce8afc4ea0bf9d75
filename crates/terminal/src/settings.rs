//! Settings: the files, read once at the door, each value with the line it came from, folded into
//! what holds. A fault in any layer is an error; nothing is silently left out. It must not know what
//! the settings do.

mod edit;
mod file;
mod keep;
mod locks;
mod page;
mod project;
mod sandbox;
mod search;
mod servers;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use engine::{Limits, Problem, ProjectPart};
use llm::Given;
use modes::{Autonomy, RuleText, Scope};
use work::plan::Landing;

pub(crate) use edit::{forget_rule, keep_rule};
pub(crate) use file::{FILES, MODELS, providers_known};
use file::{File, LimitTable, Provider};
pub(crate) use keep::keep_plan_try;
pub(crate) use locks::Locks;
pub(crate) use page::Fault;
use project::Above;
pub(crate) use sandbox::{ACCEPTANCE, Sandbox, SandboxMode};
use search::SearchTable;
use servers::ServerText;

/// Opening a pipe does not wait for its other end.
const NO_WAIT: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();

/// No settings file is larger, in bytes.
const LARGEST: u64 = 256 * 1024;

/// Where the files lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    /// The administrator's.
    pub(crate) managed: PathBuf,
    /// The person's.
    pub(crate) person: PathBuf,
    /// The root of the checkout; its file is `.stance/settings.toml`.
    pub(crate) checkout: PathBuf,
}

impl Places {
    /// The files for a command started in `start`.
    pub(crate) fn of(managed: PathBuf, stance_home: &Path, start: &Path) -> Places {
        let checkout = start
            .ancestors()
            .find(|folder| folder.join(".git").symlink_metadata().is_ok())
            .unwrap_or(start);
        Places {
            managed,
            person: stance_home.join("settings.toml"),
            checkout: checkout.to_owned(),
        }
    }

    fn project(&self) -> PathBuf {
        self.checkout.join(".stance").join("settings.toml")
    }
}

/// What holds, and where it was said.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The model tables, strongest layer first.
    pub(crate) layers: Vec<llm::Layer>,
    /// Address and key variable of each provider.
    pub(crate) providers: BTreeMap<String, Endpoint>,
    /// Permission rules of every file.
    pub(crate) rules: Vec<RuleText>,
    /// MCP servers of every file.
    pub(crate) servers: Vec<ServerText>,
    /// What of the project's file waits for trust.
    pub(crate) parts: Vec<ProjectPart>,
    /// Hosts that need no question.
    pub(crate) hosts: Vec<String>,
    /// How freely agents act.
    pub(crate) autonomy: Autonomy,
    /// Limits of every run.
    pub(crate) limits: Limits,
    /// How approved work lands.
    pub(crate) landing: Landing,
    /// Whether Plan may try commands in a throw-away copy; none where nobody said.
    pub(crate) plan_try: Option<bool>,
    /// The keys nobody but the administrator sets.
    pub(crate) locks: Locks,
    /// What programs need around them.
    pub(crate) sandbox: Sandbox,
    /// Who is asked about the web.
    pub(crate) search: SearchTable,
    /// Every file looked for, and whether it is there.
    pub(crate) files: Vec<(PathBuf, bool)>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            layers: Vec::new(),
            providers: BTreeMap::new(),
            rules: Vec::new(),
            servers: Vec::new(),
            parts: Vec::new(),
            hosts: Vec::new(),
            autonomy: Autonomy::default(),
            limits: Limits::default(),
            landing: Landing::Checkout,
            plan_try: None,
            locks: Locks::default(),
            sandbox: Sandbox::default(),
            search: SearchTable::default(),
            files: Vec::new(),
        }
    }
}

/// Where a provider answers and which variable its key is in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// Its address, when it is not the provider's own.
    pub(crate) base_url: Option<String>,
    /// The environment variable, when it is not the usual one.
    pub(crate) key_env: Option<String>,
    /// The date of its interface, where it has dated ones.
    pub(crate) api_version: Option<String>,
}

/// Settings as far as they could be read, and everything that is wrong with them.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// What holds without what is wrong.
    pub(crate) settings: Settings,
    /// What is wrong.
    pub(crate) faults: Vec<Fault>,
}

impl Loaded {
    /// The settings, when nothing is wrong with them.
    pub(crate) fn sound(self) -> Result<Settings, Problem> {
        if self.faults.is_empty() {
            return Ok(self.settings);
        }
        let lines: Vec<String> = self.faults.iter().map(Fault::to_string).collect();
        Err(Problem::refused(lines.join("\n"))
            .hint("Correct the settings; nothing was started. `stance doctor` shows every file that is read."))
    }
}

/// Reads all files.
pub(crate) fn load(places: &Places) -> Result<Loaded, Problem> {
    let mut faults = Vec::new();
    let mut files = Vec::new();
    let mut take = |path: &Path, text: Option<String>| {
        files.push((path.to_owned(), text.is_some()));
        let folder = path.parent().unwrap_or(Path::new("/"));
        let (file, found) = file::read(&path.display().to_string(), folder, text.as_deref().unwrap_or_default());
        faults.extend(found);
        file
    };
    let managed = take(&places.managed, content(&places.managed)?);
    let person = take(&places.person, content(&places.person)?);
    let project = take(&places.project(), project_content(places)?);

    let limits = folded_limits(&[&person.limits, &managed.limits]);
    let person_path = places.person.display().to_string();
    let above = Above {
        trusted: [&person, &managed],
        limits: &limits,
        person: &person_path,
    };
    faults.extend(project::refusals(&project, &above));
    let (locks, against) = Locks::of(&managed, [&person, &project]);
    faults.extend(against);
    let mut settings = folded(&managed, &person, &project, files);
    settings.locks = locks;
    let projects = project_servers(places);
    settings.servers = servers::folded(&[&settings.servers, &projects]);
    settings.parts.extend(project::part(&project, &places.project()));
    for part in &mut settings.parts {
        part.vouched = vouched(&places.checkout, [&person, &managed]);
    }
    Ok(Loaded { settings, faults })
}

/// The text of a file; none when there is none. Nothing is waited for: what is no plain file is not
/// read, also when it takes the place of one just now.
fn content(path: &Path) -> Result<Option<String>, Problem> {
    let unreadable = |why: String| {
        Problem::refused(format!("{}: the settings cannot be read: {why}", path.display()))
            .hint("Make it a plain file that you can read, or remove it.")
    };
    let failed = |error: std::io::Error| unreadable(error.to_string());
    let file = match fs::OpenOptions::new().read(true).custom_flags(NO_WAIT).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(unreadable("it is no plain file".to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LARGEST {
        return Err(unreadable(format!("it is larger than {LARGEST} bytes")));
    }
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|_| unreadable("it is no UTF-8 text".to_owned()))
}

/// The project's file, where it is really in the project. In a checkout whose own `.stance` is the
/// home of Stance there is only the person's file.
fn project_content(places: &Places) -> Result<Option<String>, Problem> {
    let path = places.project();
    if path == places.person {
        return Ok(None);
    }
    let (Ok(checkout), Ok(real)) = (places.checkout.canonicalize(), path.canonicalize()) else {
        return match path.symlink_metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            _ => Err(leads_outside(&path)),
        };
    };
    if fs::canonicalize(&places.person).is_ok_and(|person| person == real) {
        return Ok(None);
    }
    if real != checkout.join(".stance").join("settings.toml") {
        return Err(leads_outside(&path));
    }
    content(&path)
}

/// The servers of the project's `.mcp.json`. A file that cannot be read stops nothing: it starts nothing either.
fn project_servers(places: &Places) -> Vec<ServerText> {
    let path = places.checkout.join(".mcp.json");
    let plain = path.symlink_metadata().is_ok_and(|facts| facts.is_file());
    match content(&path) {
        Ok(Some(text)) if plain => servers::project(&path.display().to_string(), &text),
        _ => Vec::new(),
    }
}

fn leads_outside(path: &Path) -> Problem {
    Problem::refused(format!(
        "{}: a project's settings are a plain file of the project, and this is a link.",
        path.display()
    ))
    .hint("Replace the link by a file, or remove it.")
}

fn folded(managed: &File, person: &File, project: &File, files: Vec<(PathBuf, bool)>) -> Settings {
    let layer = |name: &str, file: &File| llm::Layer {
        name: name.to_owned(),
        tables: file.models.clone(),
    };
    let (_, tightening) = project::rules_of(project);
    Settings {
        layers: vec![
            layer("project", project),
            layer("person", person),
            layer("managed", managed),
        ],
        providers: endpoints(&[&person.providers, &managed.providers]),
        rules: [
            rules_of(Scope::Managed, managed),
            tightening,
            rules_of(Scope::Person, person),
        ]
        .concat(),
        servers: servers::folded(&[&managed.servers, &person.servers]),
        parts: Vec::new(),
        hosts: [person, managed]
            .into_iter()
            .flat_map(|file| file.hosts.iter().map(|given| given.value.clone()))
            .collect(),
        autonomy: first([&person.autonomy, &managed.autonomy]).unwrap_or_default(),
        limits: folded_limits(&[&project.limits, &person.limits, &managed.limits]),
        landing: first([&person.landing, &managed.landing]).unwrap_or(Landing::Checkout),
        plan_try: first([&person.plan_try, &managed.plan_try]),
        sandbox: Sandbox::of([&person.sandbox, &managed.sandbox]),
        search: SearchTable::of([&person.search, &managed.search]),
        locks: Locks::default(),
        files,
    }
}

/// Where the checkout is named as a folder to trust.
fn vouched(checkout: &Path, files: [&File; 2]) -> Option<String> {
    let checkout = checkout.canonicalize().ok()?;
    files
        .into_iter()
        .flat_map(|file| &file.folders)
        .find(|given| fs::canonicalize(&given.value).is_ok_and(|folder| folder == checkout))
        .map(place)
}

/// `FILE:LINE`.
fn place<T>(given: &Given<T>) -> String {
    format!(
        "{}:{}",
        given.file.as_deref().unwrap_or_default(),
        given.line.unwrap_or(1)
    )
}

fn first<'a, T: Clone + 'a>(layers: impl IntoIterator<Item = &'a Option<Given<T>>>) -> Option<T> {
    layers.into_iter().flatten().next().map(|given| given.value.clone())
}

fn rules_of(scope: Scope, file: &File) -> Vec<RuleText> {
    file.rules
        .iter()
        .map(|(verdict, given)| RuleText {
            scope,
            verdict: *verdict,
            text: given.value.clone(),
            place: place(given),
        })
        .collect()
}

/// Strongest first.
fn endpoints(layers: &[&BTreeMap<String, Provider>]) -> BTreeMap<String, Endpoint> {
    let mut endpoints: BTreeMap<String, Endpoint> = BTreeMap::new();
    for (name, provider) in layers.iter().copied().flatten() {
        let endpoint = endpoints.entry(name.clone()).or_default();
        let said = |given: &Option<Given<String>>| given.as_ref().map(|given| given.value.clone());
        endpoint.base_url = endpoint.base_url.take().or_else(|| said(&provider.base_url));
        endpoint.key_env = endpoint.key_env.take().or_else(|| said(&provider.key_env));
        endpoint.api_version = endpoint.api_version.take().or_else(|| said(&provider.api_version));
    }
    endpoints
}

/// Strongest first.
fn folded_limits(layers: &[&LimitTable]) -> Limits {
    let built_in = Limits::default();
    Limits {
        mistakes: first(layers.iter().map(|table| &table.mistakes)).unwrap_or(built_in.mistakes),
        tokens: first(layers.iter().map(|table| &table.tokens)).or(built_in.tokens),
        minutes: first(layers.iter().map(|table| &table.minutes)).or(built_in.minutes),
        retries: first(layers.iter().map(|table| &table.retries)).unwrap_or(built_in.retries),
        retry_pause_ms: first(layers.iter().map(|table| &table.retry_pause_ms)).unwrap_or(built_in.retry_pause_ms),
        compact_at: first(layers.iter().map(|table| &table.compact_at)).or(built_in.compact_at),
    }
}

#[cfg(test)]
mod tests;
