//! Folding the read tables anew from the journal: what was dropped comes out the same. It knows no
//! fact; what each means is said where it is said for the first time, too.

use store::{Durability, RETENTION_STREAM, Store};

use crate::fact::Fact;
use crate::problem::{Problem, ProblemKind};
use crate::projection;

/// Events that are read at a time.
const AT_A_TIME: u32 = 500;

/// Drops every row of the read tables and folds the whole journal again, in one transaction. A
/// journal whose payloads retention has removed cannot be folded; the rows stay as they were.
pub(crate) async fn refold(store: &Store) -> Result<(), Problem> {
    let mut writer = store.begin(Durability::Full).await?;
    writer.clear_read_tables().await?;
    let mut last = 0;
    loop {
        let events = writer.events_after(last, AT_A_TIME).await?;
        let Some(end) = events.last() else { break };
        last = end.number;
        for event in events.iter().filter(|event| event.stream != RETENTION_STREAM) {
            let fact = Fact::of(event)?.ok_or_else(|| removed(event.number))?;
            projection::apply(&mut writer, event, &fact).await?;
        }
    }
    Ok(writer.commit().await?)
}

fn removed(number: u64) -> Problem {
    Problem::new(
        ProblemKind::Store,
        format!("the payload of event {number} was removed: the read tables cannot be folded again"),
    )
}

#[cfg(test)]
mod tests;
