//! What a failed command's words say about the walls, in one line each: data.

/// Words of a program, and what the model should know.
const HINTS: &[(&[&str], &str)] = &[
    (
        &["Read-only file system"],
        "outside the project, and its .git, is read-only here; commit with git_write, keep temporary files in $TMPDIR",
    ),
    (
        &[
            "Could not resolve host",
            "Temporary failure in name resolution",
            "Network is unreachable",
            "Name or service not known",
            "Connection refused",
            "EAI_AGAIN",
            "ENETUNREACH",
            "ECONNREFUSED",
            "socket: Operation not permitted",
        ],
        "commands reach hosts only through the proxy that HTTPS_PROXY names, and nothing of this machine: package registries and documentation are open, any other host is named in `hosts`",
    ),
    (
        &["Operation not permitted", "Permission denied"],
        "the walls forbid other networks, mounts, namespaces, tracing and devices; take a way without them",
    ),
];

/// The hints for an output, at most one of each kind.
pub(super) fn hints(output: &str) -> Vec<&'static str> {
    HINTS
        .iter()
        .filter(|(words, _)| words.iter().any(|word| output.contains(word)))
        .map(|(_, hint)| *hint)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_for_each_kind_of_wall() {
        assert_eq!(hints("bash: /etc/x: Read-only file system").len(), 1);
        assert!(hints("curl: (6) Could not resolve host: a.b")[0].contains("only through the proxy"));
        assert!(hints("mount: Operation not permitted\nPermission denied")[0].contains("mounts"));
        assert!(hints("error[E0308]: mismatched types").is_empty());
    }
}
