//! Who a commit is by.

use std::path::PathBuf;

use crate::{Checkout, Git, RepoError};

/// A name and a mail address, fit to stand in a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    name: String,
    mail: String,
}

impl Identity {
    /// Refuses text that would break out of its place in a commit.
    pub fn new(name: impl Into<String>, mail: impl Into<String>) -> Result<Self, RepoError> {
        let (name, mail) = (name.into().trim().to_owned(), mail.into().trim().to_owned());
        for (which, text) in [("name", &name), ("mail", &mail)] {
            let breaks = |character: char| character.is_control() || matches!(character, '<' | '>');
            if text.is_empty() || text.contains(breaks) {
                return Err(RepoError::Identity(which));
            }
        }
        Ok(Self { name, mail })
    }

    /// The person's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The mail address.
    pub fn mail(&self) -> &str {
        &self.mail
    }

    pub(crate) fn variables(&self, role: &str) -> [(String, String); 2] {
        [
            (format!("GIT_{role}_NAME"), self.name.clone()),
            (format!("GIT_{role}_EMAIL"), self.mail.clone()),
        ]
    }
}

/// The identity that the person's own configuration files (weakest first) and then the repository's
/// name: `user.name` and `user.email`, read as values and nothing else. None if one is missing.
pub async fn identity(git: &Git, checkout: &Checkout, personal: &[PathBuf]) -> Result<Option<Identity>, RepoError> {
    let (mut name, mut mail) = (None, None);
    let of_repository = checkout.common_dir.join("config");
    for file in personal.iter().chain([&of_repository]) {
        for (key, value) in git.list_config(&checkout.worktree, file).await? {
            match key.as_str() {
                "user.name" => name = Some(value),
                "user.email" => mail = Some(value),
                _ => (),
            }
        }
    }
    name.zip(mail).map(|(name, mail)| Identity::new(name, mail)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_one_line_each() {
        let identity = Identity::new(" Ada Lovelace ", "ada@example.org").unwrap();
        assert_eq!((identity.name(), identity.mail()), ("Ada Lovelace", "ada@example.org"));
        for (name, mail) in [
            ("", "a@b"),
            ("A", ""),
            ("A\nB", "a@b"),
            ("A", "a@b> 0 +0000\n"),
            ("A <x>", "a"),
        ] {
            assert!(Identity::new(name, mail).is_err(), "{name:?} {mail:?}");
        }
    }
}
