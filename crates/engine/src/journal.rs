//! The one door for change: facts appended and read tables changed in one transaction, then shown.

use store::{Durability, Event, NewEvent, Provenance, Row, Store, Table, Writer};
use tokio::sync::broadcast;

use crate::clock;
use crate::fact::Fact;
use crate::problem::Problem;
use crate::projection;
use crate::view::{EventView, FeedItem};

/// The journal of a workspace, with everybody who watches it.
#[derive(Clone)]
pub(crate) struct Journal {
    store: Store,
    feed: broadcast::Sender<FeedItem>,
}

/// A change being made: nothing of it is there until `commit`.
pub(crate) struct Change {
    writer: Writer,
    journal: Journal,
    appended: Vec<EventView>,
    run: String,
}

impl Journal {
    pub(crate) fn new(store: Store) -> Journal {
        Journal {
            store,
            feed: broadcast::channel(4096).0,
        }
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn watch(&self) -> broadcast::Receiver<FeedItem> {
        self.feed.subscribe()
    }

    /// Shows something that is no event. Nobody watching is no fault.
    pub(crate) fn show(&self, item: FeedItem) {
        let _ = self.feed.send(item);
    }

    /// Begins a change. `run` names the stream of facts that name none themselves.
    pub(crate) async fn change(&self, run: &str) -> Result<Change, Problem> {
        self.begin(run, Durability::Normal).await
    }

    /// Begins a change that survives the loss of power: approvals and mode changes.
    pub(crate) async fn lasting_change(&self, run: &str) -> Result<Change, Problem> {
        self.begin(run, Durability::Full).await
    }

    async fn begin(&self, run: &str, durability: Durability) -> Result<Change, Problem> {
        let writer = self.store.begin(durability).await?;
        Ok(Change {
            writer,
            journal: self.clone(),
            appended: Vec::new(),
            run: run.to_owned(),
        })
    }

    /// The facts of a stream, oldest first, with their event numbers and times.
    pub(crate) async fn facts(&self, stream: &str) -> Result<Vec<(u64, i64, Fact)>, Problem> {
        let events = self.store.stream(stream, 0).await?;
        let mut facts = Vec::with_capacity(events.len());
        for event in &events {
            if let Some(fact) = Fact::of(event)? {
                facts.push((event.number, event.time_ms, fact));
            }
        }
        Ok(facts)
    }
}

impl Change {
    /// Appends a fact and changes the read tables with it. Returns the event's number. What follows
    /// a run's start and names no stream itself belongs to that run.
    pub(crate) async fn record(&mut self, fact: &Fact) -> Result<u64, Problem> {
        if let Fact::RunStarted(start) = fact {
            self.about(&start.run);
        }
        let (kind, payload) = fact.parts()?;
        let event = self
            .writer
            .append(NewEvent {
                stream: fact.stream(&self.run),
                kind,
                provenance: Provenance::Observed,
                time_ms: clock::now_ms(),
                payload,
            })
            .await?;
        projection::apply(&mut self.writer, &event, fact).await?;
        let number = event.number;
        self.appended.push(view(event));
        Ok(number)
    }

    /// Facts recorded from here on that name no stream themselves belong to this run.
    pub(crate) fn about(&mut self, run: &str) {
        run.clone_into(&mut self.run);
    }

    /// A row as this change sees it.
    pub(crate) async fn get(&mut self, table: Table, id: &str) -> Result<Option<Row>, Problem> {
        Ok(self.writer.get(table, id).await?)
    }

    /// Rows as this change sees them.
    pub(crate) async fn find(&mut self, query: &store::Query) -> Result<Vec<Row>, Problem> {
        Ok(self.writer.find(query).await?)
    }

    /// Makes the change, then shows it.
    pub(crate) async fn commit(self) -> Result<(), Problem> {
        self.writer.commit().await?;
        for event in self.appended {
            let kind = event.kind.clone();
            self.journal.show(FeedItem::Event(event));
            self.journal.store.fault_between(&kind);
        }
        Ok(())
    }
}

/// An event as doors see it.
pub(crate) fn view(event: Event) -> EventView {
    EventView {
        number: event.number,
        stream: event.stream,
        kind: event.kind,
        time_ms: event.time_ms,
        provenance: match event.provenance {
            Provenance::Observed => "observed".to_owned(),
            Provenance::ReportedBy(who) => format!("reported by {who}"),
        },
        payload: event.payload.unwrap_or_default(),
    }
}
