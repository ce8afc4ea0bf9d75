//! What a path is, by its name alone: ordinary, secret-shaped, a file that configures agents,
//! editors, git or CI, or one that is never touched. Lists as data; opens nothing.

use std::sync::LazyLock;

use globset::GlobBuilder;

use crate::names::Names;

/// The class of a path beneath the worktree, for writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WriteClass {
    /// A file like any other.
    Ordinary,
    /// It configures agents, editors, git or CI: a write asks unless an approved step names it.
    Configures,
    /// Part of a repository's own records: never written by a tool.
    Repository,
}

/// File and folder names whose files hold secrets. A leading `*` stands for any beginning, a
/// trailing `*` for any end.
pub const SECRET_NAMES: &[&str] = &[
    ".env",
    ".env.*",
    ".envrc",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".git-credentials",
    ".dockercfg",
    ".dockerconfigjson",
    ".vault-token",
    "kubeconfig",
    "*.kubeconfig",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.ppk",
    "*.tfstate",
    "*.tfstate.*",
    "*.tfvars",
    "credentials.json",
    "service-account*.json",
    "serviceaccount*.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
    ".aws",
    ".ssh",
    ".gnupg",
    ".kube",
];

/// Names that look secret and are not: samples meant to be read.
pub const SECRET_SAMPLES: &[&str] = &[
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    ".env.defaults",
    "*.pub",
];

/// Folders that other people's packages are unpacked into, and what is built: files in them are
/// nobody's secrets here, whatever their names.
pub const DEPENDENCY_FOLDERS: &[&str] = &[
    "node_modules",
    "bower_components",
    ".venv",
    "venv",
    ".tox",
    "site-packages",
    "vendor",
    "target",
];

/// A file that only such a folder has, whatever its own name: what Python marks an environment with.
pub const DEPENDENCY_MARK: &str = "pyvenv.cfg";

/// Names of files and folders that configure agents, editors, git or CI.
pub const CONFIGURING_NAMES: &[&str] = &[
    ".stance",
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".opencode",
    ".agents",
    ".aider*",
    ".cline*",
    ".roo*",
    ".mcp.json",
    "agents.md",
    "claude.md",
    "gemini.md",
    ".cursorrules",
    ".windsurfrules",
    ".vscode",
    ".idea",
    ".zed",
    ".fleet",
    ".devcontainer",
    ".devcontainer.json",
    ".editorconfig",
    ".vimrc",
    ".exrc",
    ".nvimrc",
    ".envrc",
    ".husky",
    ".githooks",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".gitattributes",
    ".gitmodules",
    ".gitconfig",
    ".github",
    ".gitlab",
    ".gitlab-ci.yml",
    ".circleci",
    ".ci",
    ".buildkite",
    ".travis.yml",
    "azure-pipelines.yml",
    "jenkinsfile",
    ".drone.yml",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".cargo",
];

/// Folders beneath a home that hold credentials: never readable, by any tool or process.
pub const CREDENTIAL_STORES: &[&str] = &[
    ".1password",
    ".aws",
    ".azure",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".claude",
    ".codex",
    ".composer/auth.json",
    ".config/chromium",
    ".config/containers/auth.json",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/glab-cli",
    ".config/google-chrome",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".docker",
    ".gem/credentials",
    ".git-credentials",
    ".gnupg",
    ".gradle/gradle.properties",
    ".kube",
    ".local/share/keyrings",
    ".m2/settings.xml",
    ".mozilla",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".ssh",
    ".terraform.d",
    ".vault-token",
];

/// Files beneath a home that run when a person logs in or opens an editor: never written.
pub const START_UP_FILES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".config/fish",
    ".config/autostart",
    ".config/systemd",
    ".config/environment.d",
    ".xprofile",
    ".xinitrc",
    ".xsessionrc",
    ".gitconfig",
    ".config/git",
    ".vimrc",
    ".vim",
    ".config/nvim",
    ".emacs",
    ".emacs.d",
    ".config/Code",
    ".tmux.conf",
    ".inputrc",
    ".pam_environment",
    ".ssh",
    "Library/LaunchAgents",
];

/// One component of a path as git and file systems that fold names read it: case folded, code
/// points that HFS+ ignores dropped, NTFS stream suffixes and trailing dots and spaces cut.
pub fn folded(component: &str) -> String {
    let visible: String = if component.is_ascii() {
        component.to_ascii_lowercase()
    } else {
        let seen = component.chars().filter(|c| !ignorable(*c));
        seen.flat_map(char::to_lowercase).collect()
    };
    let stem = visible.split(':').next().unwrap_or_default();
    stem.trim_end_matches(['.', ' ']).to_owned()
}

fn ignorable(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

static CONFIGURING: LazyLock<Names> = LazyLock::new(|| Names::of(CONFIGURING_NAMES));
static SECRETS: LazyLock<Names> = LazyLock::new(|| Names::of(SECRET_NAMES));
static SAMPLES: LazyLock<Names> = LazyLock::new(|| Names::of(SECRET_SAMPLES));

fn any_component(path: &str, names: &Names) -> bool {
    components(path).any(|name| names.hold(&name))
}

fn components(path: &str) -> impl Iterator<Item = String> {
    path.split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .map(folded)
}

/// Whether a component is a repository's own folder in any spelling a file system takes for it.
pub fn names_repository(component: &str) -> bool {
    let name = folded(component);
    name == ".git" || name == "git~1"
}

/// The class of a path for writing. `path` is relative to the worktree, `/`-separated.
pub fn write_class(path: &str) -> WriteClass {
    if path.split('/').any(names_repository) {
        WriteClass::Repository
    } else if any_component(path, &CONFIGURING) {
        WriteClass::Configures
    } else {
        WriteClass::Ordinary
    }
}

/// Whether a path is shaped like one that holds secrets. `path` is relative or absolute.
pub fn secret_shaped(path: &str) -> bool {
    any_component(path, &SECRETS) && !components(path).last().is_some_and(|last| is_sample(&last))
}

/// Whether a path lies in a folder of other people's packages, or of what is built.
pub fn in_dependencies(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    folders.split('/').any(|folder| DEPENDENCY_FOLDERS.contains(&folder))
}

/// Whether a file, or every file in a folder, of this name holds secrets unless it is a sample.
pub fn is_secret_name(component: &str) -> bool {
    any_component(component, &SECRETS)
}

/// Whether a file, or every file in a folder, of this name configures agents, editors, git or CI.
pub fn is_configuring_name(component: &str) -> bool {
    any_component(component, &CONFIGURING)
}

/// Whether a file of this name is a sample, meant to be read.
pub fn is_sample(component: &str) -> bool {
    any_component(component, &SAMPLES)
}

/// Whether a path of which not everything is known may be shaped like a secret's: `any` stands for text
/// nobody knows. What a shell completes begins with a dot only where one is written.
pub(crate) fn may_be_secret(path: &str, any: char, completed: bool) -> bool {
    let last = path.rsplit('/').next().unwrap_or(path);
    SECRET_NAMES.iter().any(|name| {
        let hidden = completed && name.starts_with('.') && last.starts_with(any);
        // Of a name that is open at both ends the middle must be there.
        let middle = name.strip_prefix('*').and_then(|name| name.strip_suffix('*'));
        !hidden && middle.is_none_or(|middle| last.contains(middle)) && meet(&folded(last), name, any)
    })
}

/// Whether two patterns have a name in common: `any` in the one and `*` in the other stand for any text.
fn meet(path: &str, name: &str, any: char) -> bool {
    let name: Vec<char> = name.chars().collect();
    let passing_stars = |mut reached: Vec<bool>| {
        for (at, c) in name.iter().enumerate() {
            if *c == '*' && reached.get(at) == Some(&true) {
                reached.splice(at + 1..at + 2, [true]);
            }
        }
        reached
    };
    // Which places of the name can be reached with the path so far.
    let start = (0..=name.len()).map(|at| at == 0).collect();
    let end = path.chars().fold(passing_stars(start), |reached, p| {
        let mut first = false;
        let next = (0..=name.len()).map(|at| {
            let here = reached.get(at).copied().unwrap_or_default();
            first |= here;
            let before = at
                .checked_sub(1)
                .and_then(|at| Some((*reached.get(at)?, *name.get(at)?)));
            if p == any {
                first
            } else {
                before.is_some_and(|(reached, n)| reached && n == p) || (here && name.get(at) == Some(&'*'))
            }
        });
        passing_stars(next.collect())
    });
    end.last().copied().unwrap_or_default()
}

/// Whether a step's list of files names a path: as itself, as a folder above it, or by a pattern.
/// Paths are relative to the worktree.
pub fn names(files: &[String], path: &str) -> bool {
    files.iter().any(|glob| {
        let folder = glob.trim_end_matches('/');
        let literal = folder == path || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        literal
            || GlobBuilder::new(glob)
                .literal_separator(true)
                .build()
                .is_ok_and(|glob| glob.compile_matcher().is_match(path))
    })
}

/// Whether a path beneath a home (relative to it) lies in one of the listed places.
pub fn beneath_any(path: &str, places: &[&str]) -> bool {
    places.iter().any(|place| {
        path.strip_prefix(place)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_told_by_shape() {
        for secret in [
            ".env",
            ".env.local",
            "a/.env.production",
            "deploy/id_rsa",
            "certs/server.key",
            "x.pem",
            ".npmrc",
            "infra/terraform.tfstate",
            "infra/terraform.tfstate.backup",
            "service-account-prod.json",
            ".ENV",
            "home/.ssh/config",
            ".netrc",
            "k8s/kubeconfig",
        ] {
            assert!(secret_shaped(secret), "{secret}");
        }
        for plain in [
            ".env.example",
            "a/.env.sample",
            "src/env.rs",
            "environment.md",
            "key.rs",
            "id_rsa.pub",
            "README.md",
            "monkey",
            "src/keys.ts",
            "server.key.md",
            "service-account.md",
        ] {
            assert!(!secret_shaped(plain), "{plain}");
        }
    }

    #[test]
    fn packages_of_others_are_told_by_the_folders_above() {
        for theirs in ["node_modules/a/.npmrc", "a/vendor/b/test.pem", "target/x.key"] {
            assert!(in_dependencies(theirs), "{theirs}");
        }
        for ours in ["vendor", ".env", "src/vendors/x.pem", "a/target"] {
            assert!(!in_dependencies(ours), "{ours}");
        }
    }

    #[test]
    fn a_repository_is_known_in_every_spelling() {
        for name in [
            ".git/hooks/x",
            ".GIT/hooks/x",
            ".g\u{200c}it/config",
            ".git::$INDEX_ALLOCATION/x",
            ".git./config",
            ".git /config",
            "git~1/config",
            "GIT~1/config",
            "sub/.git/config",
            ".gi\u{feff}t",
        ] {
            assert_eq!(write_class(name), WriteClass::Repository, "{name}");
        }
        for name in ["src/git.rs", "gitx", ".gitignore", "a.git/x"] {
            assert_eq!(write_class(name), WriteClass::Ordinary, "{name}");
        }
    }

    #[test]
    fn files_that_configure_are_known() {
        for name in [
            ".mcp.json",
            ".vscode/tasks.json",
            ".github/workflows/ci.yml",
            "CLAUDE.md",
            "sub/AGENTS.md",
            ".envrc",
            ".husky/pre-commit",
            ".stance/settings.toml",
            ".gitattributes",
            ".ci/run",
            ".cargo/config.toml",
        ] {
            assert_eq!(write_class(name), WriteClass::Configures, "{name}");
        }
        assert_eq!(write_class("src/agents.rs"), WriteClass::Ordinary);
    }

    #[test]
    fn a_list_of_files_names_files_folders_and_patterns() {
        let files = ["src/a.rs", "docs", "tests/*.rs"].map(str::to_owned);
        for named in ["src/a.rs", "docs/x/y.md", "docs", "tests/b.rs"] {
            assert!(names(&files, named), "{named}");
        }
        for other in ["src/b.rs", "src/a.rs2", "docsx", "tests/x/b.rs", "a.rs"] {
            assert!(!names(&files, other), "{other}");
        }
    }

    #[test]
    fn places_beneath_a_home() {
        assert!(beneath_any(".ssh/authorized_keys", CREDENTIAL_STORES));
        assert!(beneath_any(".bashrc", START_UP_FILES));
        assert!(!beneath_any(".bashrc2", START_UP_FILES));
        assert!(!beneath_any("work/.ssh-notes", CREDENTIAL_STORES));
    }
}
