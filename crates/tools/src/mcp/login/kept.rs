//! Where logins are kept: one file for a server at an address, which its owner alone can read. It must not know how
//! a login is got.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use rmcp::transport::auth::{AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials};
use serde::{Deserialize, Serialize};

use super::way::Way;
use crate::mcp::server::{Launch, Server};

/// The logins of a person.
#[derive(Debug, Clone)]
pub struct Logins {
    folder: PathBuf,
}

/// How a server stands to logins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginStanding {
    /// It never asked for one at its address.
    NotAsked,
    /// It asks for one, and there is none.
    Needed,
    /// There is one.
    Here,
}

/// One file.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// The address of the server, as it was configured then.
    url: String,
    /// The login; none where the server only asked for one.
    login: Option<Held>,
}

/// A login.
#[derive(Serialize, Deserialize)]
pub(super) struct Held {
    /// The secret of the client, where one was given out.
    pub(super) secret: Option<String>,
    /// Whom it was made with.
    pub(super) origins: BTreeSet<String>,
    /// The tokens, and who gave them.
    pub(super) credentials: StoredCredentials,
}

impl Held {
    /// Whether nothing but a new login helps.
    fn is_over(&self, now_ms: i64) -> bool {
        let field = |name: &str| {
            let tokens = serde_json::to_value(&self.credentials.token_response).unwrap_or_default();
            tokens.get(name).cloned()
        };
        let expires = field("expires_in").and_then(|seconds| seconds.as_u64());
        let ends = self.credentials.token_received_at.zip(expires);
        let ended = |(received, lasts): (u64, u64)| i128::from(received + lasts) * 1000 <= i128::from(now_ms);
        self.credentials.token_response.is_none() || field("refresh_token").is_none() && ends.is_some_and(ended)
    }
}

impl Logins {
    /// Those in this folder, which is made when one is kept.
    pub fn new(folder: PathBuf) -> Logins {
        Logins { folder }
    }

    /// How a server stands.
    pub fn standing(&self, server: &Server, now_ms: i64) -> LoginStanding {
        match self.file(server).and_then(|(file, url)| read(&file, url)) {
            None => LoginStanding::NotAsked,
            Some(Kept { login: Some(held), .. }) if !held.is_over(now_ms) => LoginStanding::Here,
            Some(_) => LoginStanding::Needed,
        }
    }

    /// Forgets every login under this name, also at addresses it had before; whether there was one.
    pub fn forget(&self, name: &str) -> io::Result<bool> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        let begins = format!("{name}.");
        let mut forgotten = false;
        for entry in entries {
            let entry = entry?;
            let file_name = entry.file_name();
            let file_name = file_name.to_string_lossy();
            if !file_name.starts_with(&begins) || !file_name.ends_with(".json") {
                continue;
            }
            let kept = serde_json::from_slice::<Kept>(&fs::read(entry.path())?);
            forgotten |= !matches!(&kept, Ok(Kept { login: None, .. }));
            match kept {
                // The server still asks for one at its address.
                Ok(kept) => write(&entry.path(), &Kept { login: None, ..kept })?,
                Err(_) => fs::remove_file(entry.path())?,
            }
        }
        Ok(forgotten)
    }

    /// Keeps in mind that a server asks for a login and has none that serves.
    pub(in crate::mcp) fn need(&self, server: &Server) -> io::Result<()> {
        match self.file(server) {
            Some((file, url)) => write(
                &file,
                &Kept {
                    url: url.to_owned(),
                    login: None,
                },
            ),
            None => Ok(()),
        }
    }

    /// The login of a server.
    pub(super) fn held(&self, server: &Server) -> Option<Held> {
        let (file, url) = self.file(server)?;
        read(&file, url)?.login
    }

    /// What keeps the tokens of a server from now on.
    pub(super) fn keeper(&self, server: &Server, secret: Option<String>, way: Arc<Way>) -> Option<Keeper> {
        let (file, url) = self.file(server)?;
        Some(Keeper {
            file,
            url: url.to_owned(),
            secret,
            way,
        })
    }

    fn file<'a>(&self, server: &'a Server) -> Option<(PathBuf, &'a str)> {
        let Launch::Address { url, .. } = &server.launch else {
            return None;
        };
        let digest = blake3::hash(url.as_bytes()).to_hex();
        let digest: String = digest.chars().take(16).collect();
        Some((self.folder.join(format!("{}.{digest}.json", server.name)), url))
    }
}

/// Keeps the tokens of one server in its file.
pub(super) struct Keeper {
    file: PathBuf,
    url: String,
    secret: Option<String>,
    way: Arc<Way>,
}

#[async_trait]
impl CredentialStore for Keeper {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let held = read(&self.file, &self.url).and_then(|kept| kept.login);
        Ok(held.map(|held| held.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let kept = Kept {
            url: self.url.clone(),
            login: Some(Held {
                secret: self.secret.clone(),
                origins: self.way.origins(),
                credentials,
            }),
        };
        write(&self.file, &kept).map_err(|error| unkept(&error))
    }

    async fn clear(&self) -> Result<(), AuthError> {
        let kept = Kept {
            url: self.url.clone(),
            login: None,
        };
        write(&self.file, &kept).map_err(|error| unkept(&error))
    }

    async fn on_refresh_token_rejected(&self, _: &StoredCredentials) -> Result<(), AuthError> {
        self.clear().await
    }

    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        let file = self.file.with_extension("lock");
        let locked = tokio::task::spawn_blocking(move || -> io::Result<File> {
            let lock = private(&file, OpenOptions::new().create(true).write(true).truncate(false))?;
            lock.lock()?;
            Ok(lock)
        });
        match locked.await {
            Ok(Ok(lock)) => Ok(Some(CredentialRefreshGuard::new(lock))),
            Ok(Err(error)) => Err(unkept(&error)),
            Err(_) => Err(AuthError::CredentialStoreError("the lock was not taken".to_owned())),
        }
    }
}

fn unkept(error: &io::Error) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}

/// What stands in a file about this address.
fn read(file: &Path, url: &str) -> Option<Kept> {
    let kept: Kept = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    (kept.url == url).then_some(kept)
}

fn private(file: &Path, open: &mut OpenOptions) -> io::Result<File> {
    if let Some(folder) = file.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    open.mode(0o600).open(file)
}

/// Replaces a file as a whole.
fn write(file: &Path, kept: &Kept) -> io::Result<()> {
    let draft = file.with_extension(format!("draft-{}", std::process::id()));
    let mut open = private(&draft, OpenOptions::new().create(true).write(true).truncate(true))?;
    open.write_all(&serde_json::to_vec(kept)?)?;
    open.sync_all()?;
    fs::rename(&draft, file)
}
