//! Who is asked about the web: `[search]` of the person's and the administrator's file. It must not know what is
//! searched for.

use engine::{SEARCH_ENGINES, Search, SearchEngine};
use llm::Given;
use toml::de::DeTable;

use super::page::Page;
use crate::environment::Environment;

const KEYS: &[&str] = &["provider", "url", "key_env"];

/// The table of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SearchTable {
    provider: Option<&'static SearchEngine>,
    url: Option<Given<String>>,
    key_env: Option<Given<String>>,
}

impl SearchTable {
    /// The table of the strongest file that names an engine: its parts belong together.
    pub(super) fn of(files: [&SearchTable; 2]) -> SearchTable {
        let named = files.into_iter().find(|file| file.provider.is_some());
        named.cloned().unwrap_or_default()
    }

    /// The engine, with its key; none where nobody named one.
    pub(crate) fn search(&self, environment: &Environment) -> Option<Search> {
        self.made(|variable| environment.key(variable)).and_then(Result::ok)
    }

    fn made(&self, key: impl Fn(&str) -> Option<secrecy::SecretString>) -> Option<Result<Search, String>> {
        let engine = self.provider?;
        let own = self.url.as_ref().map(|given| given.value.as_str());
        let variable = self.key_env.as_ref().map(|given| given.value.clone());
        let variable = variable.or_else(|| engine.key_env.map(str::to_owned));
        let key = variable.map(|variable| {
            let key = key(&variable);
            (variable, key)
        });
        Some(Search::new(engine, own, key))
    }
}

pub(super) fn read(page: &mut Page<'_>, table: &DeTable<'_>) -> SearchTable {
    let mut read = SearchTable::default();
    let mut at = 0;
    for (key, value) in table {
        at = key.span().start;
        match key.get_ref().as_ref() {
            "provider" => {
                let Some(given) = page.text("provider", value) else {
                    return SearchTable::default();
                };
                read.provider = SEARCH_ENGINES.iter().find(|engine| engine.name == given.value);
                if read.provider.is_none() {
                    let names: Vec<&str> = SEARCH_ENGINES.iter().map(|engine| engine.name).collect();
                    page.unknown_word(value.span().start, "provider", &given.value, &names);
                    return SearchTable::default();
                }
            }
            "url" => read.url = page.text("url", value),
            "key_env" => read.key_env = super::file::variable(page, "key_env", value),
            other => page.unknown_key(key.span().start, "search", other, KEYS),
        }
    }
    match read.made(|_| None) {
        None => page.fault(at, "[search] names no `provider`".to_owned()),
        Some(Err(why)) => page.fault(at, format!("[search]: {why}")),
        Some(Ok(_)) => {}
    }
    read
}
