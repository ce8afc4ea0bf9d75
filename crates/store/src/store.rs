//! One journal file: opening it, reading it, beginning to write to it.
//! Does not know where files are kept or who may read which.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use sqlx::{Connection as _, SqliteConnection, SqlitePool};
use tokio::sync::Mutex;

use crate::error::StoreError;
use crate::event::{Event, Head};
use crate::journal;
use crate::key::JournalKey;
use crate::lease::{Holder, Lease, LeaseOutcome};
use crate::row::{Query, Row};
use crate::sqlite::{self, Durability};
use crate::table::Table;
use crate::verify::{self, Verification};
use crate::writer::Writer;
use crate::{lease, row, scratch};

/// How long a writer waits for others before it gives up with [`StoreError::Locked`].
const PATIENCE: Duration = Duration::from_secs(30);

/// The permissions of our files.
const PRIVATE: u32 = 0o600;

/// A journal file, open. Clones share it; several processes may have it open at once.
#[derive(Clone, Debug)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    key: JournalKey,
    patience: Duration,
    readers: SqlitePool,
    /// Empty while a writer is at sea or has not come back.
    writer: Arc<Mutex<Option<SqliteConnection>>>,
    #[cfg(feature = "faults")]
    faults: crate::faults::Faults,
}

impl Store {
    /// Opens the journal at `path`, created (file 0600, missing folders 0700) if it is not there, and
    /// brings an older format forward. A file that is not a journal, is newer, or belongs to another
    /// key is refused and left as it was.
    pub async fn open(path: &Path, key: JournalKey) -> Result<Self, StoreError> {
        Self::open_within(path, key, PATIENCE).await
    }

    pub(crate) async fn open_within(path: &Path, key: JournalKey, patience: Duration) -> Result<Self, StoreError> {
        create(path).map_err(|source| unopenable(path, source))?;
        sqlite::inspect(path, patience).await?;
        fs::set_permissions(path, Permissions::from_mode(PRIVATE)).map_err(|source| unopenable(path, source))?;
        let mut connection = sqlite::connect(path, patience).await?;
        sqlite::begin(&mut connection, Durability::Full).await?;
        sqlite::migrate(&mut connection, path, sqlite::MIGRATIONS).await?;
        if !journal::found_with(&mut connection, &key).await? {
            return Err(StoreError::WrongKey(path.to_owned()));
        }
        sqlite::commit(&mut connection).await?;
        Ok(Self {
            inner: Arc::new(Inner {
                path: path.to_owned(),
                key,
                patience,
                readers: sqlite::readers(path, patience),
                writer: Arc::new(Mutex::new(Some(connection))),
                #[cfg(feature = "faults")]
                faults: crate::faults::Faults::default(),
            }),
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// Begins to write, once every other writer of this and of other processes has ended. A task
    /// that already holds a [`Writer`] must not begin another.
    pub async fn begin(&self, durability: Durability) -> Result<Writer, StoreError> {
        let inner = &self.inner;
        let berth = Arc::clone(&inner.writer).lock_owned();
        let mut berth = tokio::time::timeout(inner.patience, berth)
            .await
            .map_err(|_| StoreError::Locked)?;
        let mut connection = match berth.take() {
            Some(connection) => connection,
            None => sqlite::connect(&inner.path, inner.patience).await?,
        };
        sqlite::begin(&mut connection, durability).await?;
        Ok(Writer::new(
            connection,
            berth,
            inner.key.clone(),
            #[cfg(feature = "faults")]
            inner.faults.trigger(),
        ))
    }

    /// The row of that id.
    pub async fn get(&self, table: Table, id: &str) -> Result<Option<Row>, StoreError> {
        row::get(&mut *self.inner.readers.acquire().await?, table, id).await
    }

    /// The rows a query asks for.
    pub async fn find(&self, query: &Query) -> Result<Vec<Row>, StoreError> {
        row::find(&mut *self.inner.readers.acquire().await?, query).await
    }

    /// The events of a stream behind a version, oldest first.
    pub async fn stream(&self, stream: &str, after_version: u64) -> Result<Vec<Event>, StoreError> {
        let reader = &mut *self.inner.readers.acquire().await?;
        journal::stream(reader, &self.inner.key, stream, after_version).await
    }

    /// At most `limit` events behind a number, oldest first.
    pub async fn events_after(&self, number: u64, limit: u32) -> Result<Vec<Event>, StoreError> {
        let reader = &mut *self.inner.readers.acquire().await?;
        journal::events_after(reader, &self.inner.key, number, limit).await
    }

    /// The payload stored under a hash, unless there never was one or retention has removed it.
    pub async fn payload(&self, hash: &str) -> Result<Option<Value>, StoreError> {
        let reader = &mut *self.inner.readers.acquire().await?;
        journal::payload(reader, &self.inner.key, hash).await
    }

    /// The end of the journal.
    pub async fn head(&self) -> Result<Head, StoreError> {
        let reader = &mut *self.inner.readers.acquire().await?;
        Ok(journal::tip(reader).await?.into())
    }

    /// Walks the whole journal and names the first fault. A cut or rewritten journal whose head row
    /// was rewritten too is only found `against` a head that was printed before and kept elsewhere.
    pub async fn verify(&self, against: Option<&Head>) -> Result<Verification, StoreError> {
        let mut reader = sqlite::connect_reader(&self.inner.path, self.inner.patience).await?;
        sqlite::begin_snapshot(&mut reader).await?;
        sqlite::check_pages(&mut reader).await?;
        verify::verify(&mut reader, &self.inner.key, against).await
    }

    /// Adds the next streamed part in a transaction of its own.
    pub async fn scratch_put(&self, stream: &str, text: &str) -> Result<(), StoreError> {
        let mut writer = self.begin(Durability::Normal).await?;
        writer.scratch_put(stream, text).await?;
        writer.commit().await
    }

    /// The streamed parts so far, in order.
    pub async fn scratch_get(&self, stream: &str) -> Result<Vec<String>, StoreError> {
        scratch::get(&mut *self.inner.readers.acquire().await?, stream).await
    }

    /// [`Writer::try_lease`] in a transaction of its own.
    pub async fn try_lease(
        &self,
        name: &str,
        holder: &Holder,
        is_alive: impl FnOnce(&Holder) -> bool,
    ) -> Result<LeaseOutcome, StoreError> {
        let mut writer = self.begin(Durability::Normal).await?;
        let outcome = writer.try_lease(name, holder, is_alive).await?;
        writer.commit().await?;
        Ok(outcome)
    }

    /// [`Writer::release`] in a transaction of its own.
    pub async fn release(&self, name: &str, holder: &Holder) -> Result<bool, StoreError> {
        let mut writer = self.begin(Durability::Normal).await?;
        let released = writer.release(name, holder).await?;
        writer.commit().await?;
        Ok(released)
    }

    /// The state of a lease; `None` if it was never taken.
    pub async fn lease(&self, name: &str) -> Result<Option<Lease>, StoreError> {
        lease::lease(&mut *self.inner.readers.acquire().await?, name).await
    }

    /// Writes a whole copy (0600) to a path where nothing is yet, while work goes on.
    pub async fn backup(&self, to: &Path) -> Result<(), StoreError> {
        let copied = async {
            sqlite::copy_into(&self.inner.path, to, self.inner.patience).await?;
            File::open(to)
                .and_then(|copy| copy.sync_all())
                .map_err(|source| unopenable(to, source))
        };
        private()
            .create_new(true)
            .open(to)
            .map_err(|source| unopenable(to, source))?;
        let copied = copied.await;
        if copied.is_err() {
            // The error tells more than a failure to clear up behind it.
            let _ = fs::remove_file(to);
        }
        copied
    }

    /// Whether the file was made by [`Store::backup`] and nobody has acted on that yet with
    /// [`Writer::forget_backup`].
    pub async fn is_from_backup(&self) -> Result<bool, StoreError> {
        journal::is_from_backup(&mut *self.inner.readers.acquire().await?).await
    }

    /// Closes all connections and waits until the file is at rest. Dropping the last clone closes
    /// them too, without waiting.
    pub async fn close(self) -> Result<(), StoreError> {
        self.inner.readers.close().await;
        let connection = self.inner.writer.lock().await.take();
        if let Some(connection) = connection {
            connection.close().await?;
        }
        Ok(())
    }

    /// Kills the own process at a chosen moment.
    #[cfg(feature = "faults")]
    pub fn arm_fault(&self, point: crate::faults::FaultPoint) {
        self.inner.faults.arm(point);
    }

    /// The caller stands between the commit of an event of this kind and acting on it.
    #[cfg(feature = "faults")]
    pub fn fault_between(&self, kind: &str) {
        self.inner.faults.between(kind);
    }

    /// The caller stands between the commit of an event of this kind and acting on it. Does nothing
    /// in this build.
    #[cfg(not(feature = "faults"))]
    #[inline]
    pub const fn fault_between(&self, _kind: &str) {}
}

fn unopenable(path: &Path, source: io::Error) -> StoreError {
    StoreError::Unopenable {
        path: path.to_owned(),
        source,
    }
}

/// How files of ours are created: for their owner alone. `SQLite` gives its companion files the same
/// permissions.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(PRIVATE);
    options
}

/// Sees to it that the file is there, without opening one that is: closing it again would end the
/// locks that `SQLite` holds on it in this process.
fn create(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    match private().create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map(drop),
    }
}
