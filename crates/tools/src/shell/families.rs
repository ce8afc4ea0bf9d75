//! How long a command line may take when nobody said: data. A line is never believed here, only
//! given more time.

use std::time::Duration;

/// For anything else.
const ORDINARY: Duration = Duration::from_secs(30);

/// For builds, tests and installs.
const LONG: Duration = Duration::from_mins(5);

/// The longest that can be asked for.
pub(super) const LONGEST: Duration = Duration::from_mins(10);

/// Programs that build, test or install, whatever follows.
const ALWAYS: &[&str] = &[
    "make",
    "ninja",
    "cmake",
    "meson",
    "bazel",
    "gradle",
    "gradlew",
    "mvn",
    "mvnw",
    "ant",
    "sbt",
    "pytest",
    "tox",
    "nox",
    "ctest",
    "jest",
    "vitest",
    "mocha",
    "playwright",
    "cypress",
    "tsc",
    "webpack",
    "rspec",
    "rake",
    "bundle",
    "phpunit",
    "composer",
    "xcodebuild",
];

/// Programs that do so with one of these words after them.
const WITH_WORD: &[(&str, &[&str])] = &[
    (
        "cargo",
        &[
            "build", "b", "test", "t", "check", "c", "clippy", "doc", "bench", "install", "run", "r", "nextest",
            "xtask",
        ],
    ),
    ("go", &["build", "test", "install", "generate", "vet", "mod", "run"]),
    ("npm", &["install", "i", "ci", "test", "t", "run", "exec", "build"]),
    ("pnpm", &["install", "i", "test", "run", "build", "exec"]),
    ("yarn", &["install", "test", "run", "build"]),
    ("bun", &["install", "test", "run", "build"]),
    (
        "npx",
        &[
            "jest",
            "vitest",
            "mocha",
            "playwright",
            "cypress",
            "tsc",
            "webpack",
            "vite",
            "next",
        ],
    ),
    ("pip", &["install", "wheel"]),
    ("pip3", &["install", "wheel"]),
    ("uv", &["sync", "run", "pip", "build"]),
    ("poetry", &["install", "run", "build"]),
    ("python", &["pytest", "unittest", "build", "pip"]),
    ("python3", &["pytest", "unittest", "build", "pip"]),
    ("dotnet", &["build", "test", "restore", "publish", "run"]),
    ("swift", &["build", "test", "run"]),
    ("mix", &["test", "compile", "deps.get"]),
    ("zig", &["build", "test"]),
    ("docker", &["build", "compose"]),
    ("deno", &["test", "install", "cache"]),
];

/// The time a line gets when none was asked for.
pub(super) fn usual(line: &str) -> Duration {
    let words: Vec<&str> = line
        .split([' ', '\t', '\n', ';', '&', '|', '(', ')'])
        .filter(|word| !word.is_empty())
        .collect();
    let long = words.iter().enumerate().any(|(index, word)| {
        let program = word.rsplit('/').next().unwrap_or(word);
        let after = || words.iter().skip(index + 1).take(4);
        ALWAYS.contains(&program)
            || WITH_WORD
                .iter()
                .any(|(name, follow)| *name == program && after().any(|word| follow.contains(word)))
    });
    if long { LONG } else { ORDINARY }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_tests_and_installs_get_longer() {
        for long in [
            "cargo test",
            "cargo +nightly test -p x",
            "cd a && npm ci",
            "./gradlew build",
            "python3 -m pytest -q",
            "make -j2",
            "RUST_LOG=debug cargo nextest run",
            "(cd web; yarn build)",
            "npx vitest run",
        ] {
            assert_eq!(usual(long), LONG, "{long}");
        }
        for ordinary in [
            "ls",
            "cargo --version",
            "grep -r make_price src",
            "git status",
            "npm --version",
            "sleep 100",
        ] {
            assert_eq!(usual(ordinary), ORDINARY, "{ordinary}");
        }
    }
}
