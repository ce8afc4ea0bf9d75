//! What a failed command's words say about the walls, in one line each: data.

use modes::{Containment, Network};

/// Words of a program that was refused by the walls.
const HINTS: &[(&[&str], &str)] = &[
    (
        &["Read-only file system"],
        "outside the project, and its .git, is read-only here; commit with git_write, keep temporary files in $TMPDIR",
    ),
    (
        &["Operation not permitted", "Permission denied"],
        "the walls forbid mounts, namespaces, tracing, devices and sockets of other kinds; take a way without them",
    ),
];

/// Words of a program that did not reach a host.
const UNREACHED: &[&str] = &[
    "Could not resolve host",
    "Temporary failure in name resolution",
    "Network is unreachable",
    "Name or service not known",
    "Connection refused",
    "EAI_AGAIN",
    "ENETUNREACH",
    "ECONNREFUSED",
    "socket: Operation not permitted",
];

/// What they come from where there is the proxy, and where there is nothing.
const PAST_THE_PROXY: &str = "commands reach hosts only through the proxy that HTTPS_PROXY names, and nothing of this machine: package registries, documentation and the repository's remotes are open, any other host is named in `hosts`";
const NO_NETWORK: &str = "commands have no network here; read pages with web_fetch";

/// The hints for an output of a process held so, at most one of each kind.
pub(super) fn hints(output: &str, held: Containment) -> Vec<&'static str> {
    let says = |words: &[&str]| words.iter().any(|word| output.contains(word));
    let unreached = says(UNREACHED).then_some(match held.network() {
        Network::EgressGate => PAST_THE_PROXY,
        Network::None => NO_NETWORK,
    });
    let others = HINTS.iter().filter(|(words, _)| says(words)).map(|(_, hint)| *hint);
    unreached.into_iter().chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_for_each_kind_of_wall() {
        let gated = |output| hints(output, Containment::gated());
        assert_eq!(gated("bash: /etc/x: Read-only file system").len(), 1);
        assert_eq!(gated("curl: (6) Could not resolve host: a.b"), [PAST_THE_PROXY]);
        assert_eq!(
            hints("curl: (6) Could not resolve host: a.b", Containment::throw_away()),
            [NO_NETWORK]
        );
        assert!(gated("mount: Operation not permitted\nPermission denied")[0].contains("mounts"));
        assert!(gated("error[E0308]: mismatched types").is_empty());
    }
}
