//! Walking the whole journal and naming the first thing that is not as it was appended.
//! Read tables are not walked: they can be folded anew from the events.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use crate::error::StoreError;
use crate::event::Head;
use crate::journal::{self, StoredEvent, Tip};
use crate::key::JournalKey;
use crate::retention::Admissions;
use crate::sqlite;

const STRIDE: u32 = 512;

/// What a walk over the journal found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// How many events from the first on are as they were appended.
    pub events: u64,
    /// How many of those had their payload removed by retention.
    pub removed_payloads: u64,
    /// The last of those events.
    pub head: Head,
    /// The first thing that is not right.
    pub fault: Option<Fault>,
}

/// What is wrong with a journal, at the first place where something is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The link does not fit the event and the one before it.
    #[error("event {number} does not carry its link: it was changed or moved, or events before it were removed")]
    HeaderChanged {
        /// The first event that does not fit.
        number: u64,
    },
    /// The payload does not have the hash the event names.
    #[error("the payload of event {number} was changed")]
    PayloadChanged {
        /// The event.
        number: u64,
    },
    /// The payload is gone and no later event says that retention removed it.
    #[error("the payload of event {number} was removed, and not by retention")]
    PayloadRemoved {
        /// The event.
        number: u64,
    },
    /// Events are gone.
    #[error("events {first} to {last} were removed")]
    Removed {
        /// The first that is gone.
        first: u64,
        /// The last that is gone.
        last: u64,
    },
    /// There is an event that was never appended.
    #[error("event {number} was inserted")]
    Inserted {
        /// The number it carries.
        number: i64,
    },
    /// The journal ends before a head that was printed earlier.
    #[error("the journal ends at event {last}, but reached event {expected} before: its tail was cut")]
    TailCut {
        /// The last event there is.
        last: u64,
        /// The number of the head.
        expected: u64,
    },
    /// The journal is sound in itself but not the one a head was printed of.
    #[error("event {number} is not the one the head was printed at: the journal was rewritten")]
    Rewritten {
        /// The number of the head.
        number: u64,
    },
    /// A table, index, trigger or view is not as we define it.
    #[error("the definition of {name} in the database is not ours")]
    DefinitionChanged {
        /// Its name.
        name: String,
    },
    /// The head row does not name the last event.
    #[error("the head row does not name event {last}, the last there is")]
    HeadRowChanged {
        /// The last event there is.
        last: u64,
    },
}

/// Walks everything as it is at this moment. The connection must be in a reading transaction.
pub(crate) async fn verify(
    connection: &mut SqliteConnection,
    key: &JournalKey,
    against: Option<&Head>,
) -> Result<Verification, StoreError> {
    let mut walk = Walk {
        key,
        against,
        admissions: Admissions::read(connection, key).await?,
        stated: match journal::tip(connection).await {
            Ok(tip) => Some(tip),
            Err(StoreError::HeadMismatch) => None,
            Err(error) => return Err(error),
        },
        reached: Tip::before_all(key),
        removed_payloads: 0,
    };
    let fault = walk.first_fault(connection).await?;
    Ok(Verification {
        events: walk.reached.number,
        removed_payloads: walk.removed_payloads,
        head: walk.reached.into(),
        fault,
    })
}

struct Walk<'a> {
    key: &'a JournalKey,
    against: Option<&'a Head>,
    admissions: Admissions,
    stated: Option<Tip>,
    /// The last event found to be right.
    reached: Tip,
    removed_payloads: u64,
}

impl Walk<'_> {
    async fn first_fault(&mut self, connection: &mut SqliteConnection) -> Result<Option<Fault>, StoreError> {
        if let Some(name) = sqlite::foreign_definition(connection).await? {
            return Ok(Some(Fault::DefinitionChanged { name }));
        }
        if let Some(fault) = self.rewritten() {
            return Ok(Some(fault));
        }
        let mut after = i64::MIN;
        loop {
            let rows = journal::rows_after(connection, after, STRIDE).await?;
            for row in &rows {
                if let Some(fault) = self.step(connection, row).await? {
                    return Ok(Some(fault));
                }
            }
            match rows.last() {
                Some(row) => after = row.try_get("number")?,
                None => return Ok(self.end()),
            }
        }
    }

    async fn step(&mut self, connection: &mut SqliteConnection, row: &SqliteRow) -> Result<Option<Fault>, StoreError> {
        let found: i64 = row.try_get("number")?;
        let number = self.reached.number + 1;
        match u64::try_from(found) {
            Ok(found) if found == number => {}
            Ok(found) if found > number => {
                return Ok(Some(Fault::Removed {
                    first: number,
                    last: found - 1,
                }));
            }
            _ => return Ok(Some(Fault::Inserted { number: found })),
        }
        let event = match StoredEvent::read(row) {
            Ok(event) if self.follows(&event) => event,
            _ if self.is_out_of_line(connection, found).await? => {
                return Ok(Some(Fault::Inserted { number: found }));
            }
            _ => return Ok(Some(Fault::HeaderChanged { number })),
        };
        if !event.payload_is_intact(self.key) {
            return Ok(Some(Fault::PayloadChanged { number }));
        }
        if event.body.is_none() {
            if !self.admissions.cover(number, event.time_ms) {
                return Ok(Some(Fault::PayloadRemoved { number }));
            }
            self.removed_payloads += 1;
        }
        self.reached = Tip {
            number,
            link: event.link,
        };
        Ok(self.rewritten())
    }

    /// Whether this event was appended right behind the last one that is right.
    fn follows(&self, event: &StoredEvent) -> bool {
        event.link_as(self.key, self.reached.number + 1, &self.reached.link) == event.link
    }

    /// Whether an event that does not follow was put in: the one behind it follows in its place, or
    /// the head row says that the journal was already at its end.
    async fn is_out_of_line(&self, connection: &mut SqliteConnection, number: i64) -> Result<bool, StoreError> {
        let next = journal::rows_after(connection, number, 1).await?;
        let next = next.first().and_then(|row| StoredEvent::read(row).ok());
        Ok(self.stated == Some(self.reached) || next.is_some_and(|event| self.follows(&event)))
    }

    fn rewritten(&self) -> Option<Fault> {
        let head = self.against?;
        let here = Head::from(self.reached);
        (head.number == here.number && *head != here).then_some(Fault::Rewritten { number: head.number })
    }

    fn end(&self) -> Option<Fault> {
        let last = self.reached.number;
        let expected = [
            self.against.map(|head| head.number),
            self.stated.map(|stated| stated.number),
        ];
        if let Some(expected) = expected.into_iter().flatten().find(|number| *number > last) {
            return Some(Fault::TailCut { last, expected });
        }
        (self.stated != Some(self.reached)).then_some(Fault::HeadRowChanged { last })
    }
}
