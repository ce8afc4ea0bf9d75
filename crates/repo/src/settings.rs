//! The few settings of a repository or person that are copied, as values, from an allow-list. Git
//! itself parses the file, inside the walls, without includes.

use std::path::Path;

use crate::{Git, RepoError, checkout};

/// How this repository stores things, from `core.*` and `extensions.*`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Allow-listed lines for our own configuration: full key and value.
    copied: Vec<(&'static str, String)>,
    object_format: Option<String>,
    /// The addresses of the remotes. They are told to people and judges, and to no git.
    pub(crate) remotes: Vec<String>,
}

/// Addresses of remotes that are looked at.
const MOST_REMOTES: usize = 100;

/// Keys that say how files are stored. None names a program, a path or an address.
const COPIED: [(&str, &[&str]); 6] = [
    ("core.filemode", &["true", "false"]),
    ("core.symlinks", &["true", "false"]),
    ("core.ignorecase", &["true", "false"]),
    ("core.autocrlf", &["true", "false", "input"]),
    ("core.eol", &["lf", "crlf", "native"]),
    ("core.safecrlf", &["true", "false", "warn"]),
];

pub(crate) async fn load(git: &Git, worktree: &Path, config: &Path) -> Result<Settings, RepoError> {
    let mut settings = Settings::default();
    for (key, value) in git.list_config(worktree, config).await? {
        let of_remote = key.strip_prefix("remote.").and_then(|rest| rest.rsplit_once('.'));
        if let Some((_, "url" | "pushurl")) = of_remote {
            if settings.remotes.len() < MOST_REMOTES {
                settings.remotes.push(value);
            }
            continue;
        }
        let value = value.to_ascii_lowercase();
        match key.as_str() {
            "extensions.objectformat" if matches!(value.as_str(), "sha1" | "sha256") => {
                settings.object_format = Some(value);
            }
            "extensions.refstorage" if value != "files" => {
                return Err(RepoError::Layout {
                    path: config.to_owned(),
                    why: "its references are kept in a way that is not supported",
                    hint: Some(checkout::TO_FILES),
                });
            }
            _ => {
                let known = COPIED
                    .iter()
                    .find(|(known, values)| *known == key && values.contains(&value.as_str()));
                if let Some((key, _)) = known {
                    settings.copied.retain(|(earlier, _)| earlier != key);
                    settings.copied.push((key, value));
                }
            }
        }
    }
    Ok(settings)
}

impl Settings {
    /// The id of the tree without entries, which every repository has.
    pub(crate) fn empty_tree(&self) -> &'static str {
        match self.object_format.as_deref() {
            Some("sha256") => "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
            _ => "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        }
    }

    /// The whole configuration of our own git directory. `exact` leaves out what changes bytes on
    /// their way between worktree and objects.
    pub(crate) fn configuration(&self, exact: bool) -> Vec<u8> {
        let mut lines = vec![
            "[core]".to_owned(),
            "bare = false".into(),
            "logAllRefUpdates = true".into(),
        ];
        for (key, value) in &self.copied {
            let changes_bytes = matches!(*key, "core.autocrlf" | "core.eol" | "core.safecrlf");
            if let Some(name) = key.strip_prefix("core.")
                && !(exact && changes_bytes)
            {
                lines.push(format!("{name} = {value}"));
            }
        }
        match &self.object_format {
            Some(format) => lines.extend([
                "repositoryFormatVersion = 1".into(),
                "[extensions]".into(),
                format!("objectFormat = {format}"),
            ]),
            None => lines.push("repositoryFormatVersion = 0".into()),
        }
        lines.push(String::new());
        lines.join("\n").into_bytes()
    }
}
