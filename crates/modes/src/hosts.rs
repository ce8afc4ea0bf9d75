//! Hosts: their one spelling, the list that needs no question, and the gate that a run's processes
//! and pages go through. Knows no address and resolves no name.

use std::collections::BTreeSet;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use serde::Serialize;
use url::{Host, Url};

use crate::effect::Effect;
use crate::judge::{Standing, denied_by, settle};
use crate::matter::of_host;
use crate::rules::Rule;
use crate::spec::{Autonomy, RunSpec};

/// Documentation and package registries: what research and builds need, and where nothing of the
/// person's can be left. A `*.` stands for one or more names before the rest.
pub const SHIPPED_HOSTS: &[&str] = &[
    // Documentation.
    "docs.rs",
    "doc.rust-lang.org",
    "rust-lang.github.io",
    "developer.mozilla.org",
    "docs.python.org",
    "packaging.python.org",
    "*.readthedocs.io",
    "go.dev",
    "pkg.go.dev",
    "nodejs.org",
    "docs.npmjs.com",
    "www.typescriptlang.org",
    "react.dev",
    "docs.oracle.com",
    "kotlinlang.org",
    "learn.microsoft.com",
    "docs.ruby-lang.org",
    "hexdocs.pm",
    "www.php.net",
    "en.cppreference.com",
    "docs.swift.org",
    "docs.docker.com",
    "kubernetes.io",
    "git-scm.com",
    "www.gnu.org",
    "man7.org",
    "www.sqlite.org",
    "www.postgresql.org",
    "www.rfc-editor.org",
    "datatracker.ietf.org",
    "www.w3.org",
    "html.spec.whatwg.org",
    // Package registries.
    "crates.io",
    "index.crates.io",
    "static.crates.io",
    "static.rust-lang.org",
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    "pypi.org",
    "files.pythonhosted.org",
    "proxy.golang.org",
    "sum.golang.org",
    "repo.maven.apache.org",
    "repo1.maven.org",
    "plugins.gradle.org",
    "services.gradle.org",
    "rubygems.org",
    "index.rubygems.org",
    "repo.packagist.org",
    "packagist.org",
    "api.nuget.org",
    "repo.hex.pm",
    "jsr.io",
    "deb.debian.org",
    "archive.ubuntu.com",
    "security.ubuntu.com",
];

/// The ports of the web, which a host is named without.
const WEB_PORTS: [u16; 2] = [80, 443];

/// Where git speaks over ssh, and where it speaks alone.
const SSH_PORT: u16 = 22;
const GIT_PORT: u16 = 9418;

/// Longest list of URLs taken from a thread.
const MOST_URLS: usize = 1000;

/// A host in the spelling that rules and lists compare: lower case, international names in their
/// ASCII form, every way to write an address of version 4 as four numbers, and the port unless it
/// is 80 or 443. None when it names no host.
pub fn host_key(name: &str, port: u16) -> Option<String> {
    let name = bare_name(name)?;
    Some(match name {
        _ if WEB_PORTS.contains(&port) => name,
        name if name.contains(':') => format!("[{name}]:{port}"),
        name => format!("{name}:{port}"),
    })
}

/// Reads a host as people write it, with or without a port: `docs.rs`, `example.org:8443`.
pub fn parse_host(text: &str) -> Option<String> {
    let text = text.trim();
    if let Some(name) = bare_name(text) {
        return Some(name);
    }
    let (name, port) = text.rsplit_once(':')?;
    host_key(name, port.parse().ok()?)
}

/// The name alone, an address of version 6 without brackets.
fn bare_name(name: &str) -> Option<String> {
    let name = name.trim_end_matches('.');
    let unbracketed = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    if let Ok(address) = unbracketed.unwrap_or(name).parse::<std::net::Ipv6Addr>() {
        return Some(address.to_string());
    }
    match Host::parse(name).ok()? {
        Host::Domain(name) => Some(name.trim_end_matches('.').to_owned()).filter(|name| !name.is_empty()),
        Host::Ipv4(address) => Some(address.to_string()),
        Host::Ipv6(address) => Some(address.to_string()),
    }
}

/// Whether a pattern of the list names the host: the very name, or any name beneath `*.NAME`.
fn on_list<'a>(mut list: impl Iterator<Item = &'a str>, host: &str) -> bool {
    list.any(|pattern| match pattern.strip_prefix("*.") {
        Some(parent) => host
            .strip_suffix(parent)
            .is_some_and(|rest| rest.len() > 1 && rest.ends_with('.')),
        None => pattern == host,
    })
}

/// Reads an entry of a list of hosts: a host, or `*.NAME`. None when it is neither.
pub fn parse_pattern(text: &str) -> Option<String> {
    match text.trim().strip_prefix("*.") {
        Some(parent) => {
            let parent = parse_host(parent)?;
            // `*.com` would be everybody's.
            parent.contains('.').then(|| format!("*.{parent}"))
        }
        None => parse_host(text),
    }
}

/// The addresses of pages that stand in a text, in their one spelling and without fragment.
pub fn urls_in(text: &str) -> Vec<String> {
    let mut urls: Vec<String> = Vec::new();
    let starts = text
        .match_indices("http")
        .map(|(start, _)| text.get(start..).unwrap_or_default());
    for rest in starts.filter(|rest| rest.starts_with("http://") || rest.starts_with("https://")) {
        let word = rest.split(|c: char| {
            c.is_whitespace() || c.is_control() || matches!(c, '"' | '<' | '>' | '`' | '|' | '\\' | '^')
        });
        let whole = word.into_iter().next().unwrap_or_default();
        let bare = whole.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', ')', ']', '}', '*', '_']);
        for candidate in [whole, bare] {
            let url = page_key(candidate).filter(|url| !urls.contains(url));
            urls.extend(url);
        }
        if urls.len() >= MOST_URLS {
            break;
        }
    }
    urls
}

/// A page's address in its one spelling, without fragment; none when it is not one of the web.
pub fn page_key(url: &str) -> Option<String> {
    let mut url = Url::parse(url).ok()?;
    url.set_fragment(None);
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then(|| url.to_string())
}

/// The host of a page's address, as `host_key` spells it.
pub fn host_of_page(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    host_key(url.host_str()?, url.port_or_known_default()?)
}

/// The hosts at which a remote of a repository answers: on the web, and where git speaks to it over
/// another port. Reads addresses as git does, `git@example.org:a.git` too; none for a folder.
pub fn hosts_of_remote(address: &str) -> Vec<String> {
    let of_ssh = |name: &str, port: u16| {
        [host_key(name, 443), host_key(name, port)]
            .into_iter()
            .flatten()
            .collect()
    };
    if address.contains("::") {
        // The name of a program that is given the rest.
        return Vec::new();
    }
    if let Some((scheme, _)) = address.split_once("://") {
        let Some((url, name)) = Url::parse(address)
            .ok()
            .and_then(|url| Some((url.clone(), url.host_str()?.to_owned())))
        else {
            return Vec::new();
        };
        return match scheme {
            "http" | "https" => host_of_page(address).into_iter().collect(),
            "ssh" | "git+ssh" => of_ssh(&name, url.port().unwrap_or(SSH_PORT)),
            "git" => host_key(&name, url.port().unwrap_or(GIT_PORT)).into_iter().collect(),
            _ => Vec::new(),
        };
    }
    let place = address.split_once(':').map(|(place, _)| place);
    match place.filter(|place| !place.contains('/')) {
        Some(place) => of_ssh(place.rsplit('@').next().unwrap_or_default(), SSH_PORT),
        None => Vec::new(),
    }
}

/// What the history of a thread decides about hosts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ThreadReach {
    /// Whether secrets have been read in it: then everything off the list asks.
    pub flagged: bool,
    /// Pages an operator named in it, as `urls_in` spells them.
    pub urls: Vec<String>,
}

/// What the gate says about a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostDecision {
    /// It may be reached.
    Allowed,
    /// A person would be asked; why, in words.
    Asks(String),
    /// It may not; why, in words.
    Denied(String),
}

/// The gate of one permitted call: which hosts its processes and pages reach without anybody being
/// asked. A view of the run's profile, like its containment; without one, of the shipped list alone.
#[derive(Clone, Default)]
pub struct HostGate {
    rules: Arc<[Rule]>,
    hosts: Arc<[String]>,
    granted: BTreeSet<String>,
    /// Whether a person said yes to the hosts granted.
    answered: bool,
    flagged: bool,
    /// Whether what would be asked goes through.
    free: bool,
}

impl HostGate {
    pub(crate) fn of(spec: &RunSpec, granted: BTreeSet<String>, answered: bool, installs: bool) -> HostGate {
        HostGate {
            rules: spec.shared_rules(),
            hosts: Arc::clone(&spec.hosts),
            granted,
            answered,
            flagged: spec.reach().flagged,
            free: spec.recipe().autonomy == Autonomy::ActFreely && !spec.reach().flagged && !installs,
        }
    }

    /// The gate of what a run starts beside its calls and keeps: its check, a server of tools. The list and
    /// what rules name by host, whatever the dial and whatever is read later.
    pub(crate) fn standing(spec: &RunSpec) -> HostGate {
        HostGate {
            flagged: true,
            free: false,
            ..HostGate::of(spec, BTreeSet::new(), false, false)
        }
    }

    /// Whether a host, as `host_key` spells it, may be reached.
    pub fn decide(&self, host: &str) -> HostDecision {
        if self.granted.contains(host) {
            return HostDecision::Allowed;
        }
        let matter = of_host(Effect::NetworkEgress, host, self.on_list(host), self.flagged);
        if let Some(rule) = denied_by(&self.rules, &matter) {
            return HostDecision::Denied(format!("the rule {rule} denies it"));
        }
        let settled = settle(&self.rules, &matter);
        match settled.standing {
            Standing::Allowed => HostDecision::Allowed,
            Standing::Asked if self.free => HostDecision::Allowed,
            _ => HostDecision::Asks(match settled.rule {
                Some(rule) => format!("the rule {rule} wants it asked"),
                None => "it is not on the list of hosts that need no question".to_owned(),
            }),
        }
    }

    /// Whether an operator's rule allows this very host, so that it may also be one of the person's
    /// own network; or a person's yes does, where the question itself said that it is.
    pub fn names(&self, host: &str) -> bool {
        self.rules.iter().any(|rule| rule.allows_very_host(host))
            || self.answered && self.granted.contains(host) && is_plainly_near(host)
    }

    fn on_list(&self, host: &str) -> bool {
        listed(&self.hosts, host)
    }
}

impl fmt::Debug for HostGate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HostGate")
            .field("hosts", &self.hosts)
            .field("granted", &self.granted)
            .field("flagged", &self.flagged)
            .field("free", &self.free)
            .finish_non_exhaustive()
    }
}

/// Whether a host's own spelling says where it is: an address, or this machine. A name may lead anywhere.
fn is_plainly_near(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok() || host.parse::<SocketAddr>().is_ok()
}

/// Whether a host is on the shipped list or on these further hosts.
pub(crate) fn listed(hosts: &[String], host: &str) -> bool {
    on_list(
        SHIPPED_HOSTS.iter().copied().chain(hosts.iter().map(String::as_str)),
        host,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_one_spelling() {
        let check = |text: &str, port: u16, expected: &str| {
            assert_eq!(host_key(text, port).as_deref(), Some(expected), "{text}");
        };
        check("DOCS.rs.", 443, "docs.rs");
        check("bücher.example", 80, "xn--bcher-kva.example");
        check("docs.rs", 8443, "docs.rs:8443");
        for spelling in ["127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.1"] {
            check(spelling, 80, "127.0.0.1");
        }
        check("[::1]", 80, "::1");
        check("::ffff:127.0.0.1", 80, "::ffff:127.0.0.1");
        check("[::1]", 8080, "[::1]:8080");
        for text in ["", "a b", "user@host", "a/b", "."] {
            assert_eq!(host_key(text, 80), None, "{text}");
        }
        assert_eq!(parse_host("example.org:8443").as_deref(), Some("example.org:8443"));
        assert_eq!(parse_host("example.org:443").as_deref(), Some("example.org"));
        assert_eq!(parse_host("https://example.org"), None);
    }

    #[test]
    fn a_remote_answers_at_hosts() {
        let check = |address: &str, expected: &[&str]| assert_eq!(hosts_of_remote(address), expected, "{address}");
        check("https://Forge.example/a/b.git", &["forge.example"]);
        check("https://ann:secret@forge.example:8443/b.git", &["forge.example:8443"]);
        check("git@forge.example:a/b.git", &["forge.example", "forge.example:22"]);
        check("forge.example:b.git", &["forge.example", "forge.example:22"]);
        check("ssh://git@forge.example/b.git", &["forge.example", "forge.example:22"]);
        check(
            "ssh://git@forge.example:2222/b.git",
            &["forge.example", "forge.example:2222"],
        );
        check("git://forge.example/b.git", &["forge.example:9418"]);
        for nowhere in [
            "",
            "../b.git",
            "/srv/b.git",
            "./a:b.git",
            "file:///srv/b.git",
            "ext::sh -c 'touch x'",
            "https://",
            "git@a b:c",
            ":c",
        ] {
            check(nowhere, &[]);
        }
    }

    #[test]
    fn every_entry_of_the_list_is_in_its_one_spelling() {
        for host in SHIPPED_HOSTS {
            assert_eq!(parse_pattern(host).as_deref(), Some(*host));
        }
        assert_eq!(parse_pattern("*.com"), None);
    }

    #[test]
    fn a_wildcard_stands_for_names_beneath_and_not_for_the_name_or_its_ending() {
        let list = || ["docs.rs", "*.readthedocs.io"].into_iter();
        for host in ["docs.rs", "a.readthedocs.io", "a.b.readthedocs.io"] {
            assert!(on_list(list(), host), "{host}");
        }
        for host in [
            "x.docs.rs",
            "docs.rs.evil.example",
            "readthedocs.io",
            "evilreadthedocs.io",
            ".readthedocs.io",
            "docs.rs:81",
        ] {
            assert!(!on_list(list(), host), "{host}");
        }
    }

    #[test]
    fn pages_are_found_in_a_text_as_they_stand_there() {
        let text = "See https://example.org/a?b=1#top, (http://Example.ORG/c). <https://x.example/d> file:///etc/passwd httpx://no";
        assert_eq!(
            urls_in(text),
            [
                "https://example.org/a?b=1",
                "http://example.org/c).",
                "http://example.org/c",
                "https://x.example/d",
            ]
        );
        assert_eq!(urls_in("nothing here"), Vec::<String>::new());
    }
}
