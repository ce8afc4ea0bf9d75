//! Search engines of the web, as data: where each is asked, by which key, and where its results lie. It must not know
//! who asks.

use modes::host_of_page;
use reqwest::Url;
use secrecy::SecretString;

use crate::https::is_this_machine;

/// A search engine.
#[derive(Debug, PartialEq, Eq)]
pub struct SearchEngine {
    /// Its name in settings.
    pub name: &'static str,
    /// The variable its key is in; none where it takes none.
    pub key_env: Option<&'static str>,
    /// Where it is asked; none where everybody has one of their own.
    address: Option<&'static str>,
    /// The header of the key, and what stands before it.
    pub(super) key: (&'static str, &'static str),
    pub(super) asks: Asks,
    /// Where the list of results lies in its answer.
    pub(super) results: &'static str,
    /// The field of a result that says what the page holds.
    pub(super) snippet: &'static str,
    /// Whether titles and snippets are HTML.
    pub(super) is_html: bool,
}

/// How an engine is asked.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asks {
    /// In the address: the query as `q`, with further fields. Domains are words of the query.
    Address(&'static [(&'static str, &'static str)]),
    /// By a JSON object: the query as `query`, with the further fields of this object.
    Body {
        /// The field of the only domains.
        allowed: &'static str,
        /// The field of domains left out.
        blocked: &'static str,
        /// JSON.
        further: &'static str,
    },
}

/// The engines that are known.
pub static SEARCH_ENGINES: &[SearchEngine] = &[
    SearchEngine {
        name: "brave",
        key_env: Some("BRAVE_API_KEY"),
        address: Some("https://api.search.brave.com/res/v1/web/search"),
        key: ("x-subscription-token", ""),
        asks: Asks::Address(&[("count", "10")]),
        results: "/web/results",
        snippet: "description",
        is_html: true,
    },
    SearchEngine {
        name: "exa",
        key_env: Some("EXA_API_KEY"),
        address: Some("https://api.exa.ai/search"),
        key: ("x-api-key", ""),
        asks: Asks::Body {
            allowed: "includeDomains",
            blocked: "excludeDomains",
            further: r#"{"numResults": 10, "contents": {"text": {"maxCharacters": 500}}}"#,
        },
        results: "/results",
        snippet: "text",
        is_html: false,
    },
    SearchEngine {
        name: "searxng",
        key_env: None,
        address: None,
        key: ("", ""),
        asks: Asks::Address(&[("format", "json")]),
        results: "/results",
        snippet: "content",
        is_html: false,
    },
    SearchEngine {
        name: "tavily",
        key_env: Some("TAVILY_API_KEY"),
        address: Some("https://api.tavily.com/search"),
        key: ("authorization", "Bearer "),
        asks: Asks::Body {
            allowed: "include_domains",
            blocked: "exclude_domains",
            further: r#"{"max_results": 10}"#,
        },
        results: "/results",
        snippet: "content",
        is_html: false,
    },
];

/// The engine that an operator chose, at its address, with its key.
#[derive(Debug)]
pub struct Search {
    pub(super) engine: &'static SearchEngine,
    pub(super) address: Url,
    /// Whether the address is the operator's own word.
    pub(super) is_own: bool,
    /// The variable of the key, and the key where it is set.
    pub(super) key: Option<(String, Option<SecretString>)>,
}

impl Search {
    /// The engine at its own address, or at the operator's; why that cannot be. `key` is the variable of the key and
    /// what it holds.
    pub fn new(
        engine: &'static SearchEngine,
        own: Option<&str>,
        key: Option<(String, Option<SecretString>)>,
    ) -> Result<Search, String> {
        let Some(address) = own.or(engine.address) else {
            return Err(format!("{} needs a `url`: everybody has their own", engine.name));
        };
        let address = Url::parse(address).map_err(|error| format!("the `url` cannot be read: {error}"))?;
        let safe = address.scheme() == "https" || is_this_machine(&address);
        if !matches!(address.scheme(), "http" | "https") || !address.has_host() {
            return Err("the `url` must begin with `https://` or `http://`".to_owned());
        }
        if key.is_some() && !safe {
            return Err("a key goes over https alone, and the `url` begins with `http://`".to_owned());
        }
        Ok(Search {
            engine,
            address,
            is_own: own.is_some(),
            key,
        })
    }

    /// The host that is asked, as rules name it.
    pub fn host(&self) -> Option<String> {
        host_of_page(self.address.as_str())
    }
}
