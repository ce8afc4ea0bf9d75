//! A thread as doors see it: everything that was said and done, whether it is still shown to the model or
//! not, and what it took by mode and model.

use store::{Query, Table};

use crate::inner::Inner;
use crate::intake::row as named;
use crate::journal::view as event_view;
use crate::problem::Problem;
use crate::report;
use crate::run_state::RunState;
use crate::view::{ThreadTook, ThreadView};

/// One thread. What runs for it in threads of their own is counted with it.
pub(crate) async fn view(inner: &Inner, id: &str) -> Result<ThreadView, Problem> {
    let store = inner.journal.store();
    let row = named(inner, Table::Thread, id, "thread").await?;
    let mut events = Vec::new();
    let mut took: Vec<ThreadTook> = Vec::new();
    let mut threads = vec![id.to_owned()];
    let mut place = 0;
    while let Some(thread) = threads.get(place).cloned() {
        for run in store
            .find(&Query::all(Table::Run).having("thread", thread.as_str()))
            .await?
        {
            if thread == id {
                events.extend(store.stream(&format!("run/{}", run.id), 0).await?);
            }
            let state = inner.run(&run.id).await?;
            add(&mut took, &state);
        }
        let children = store
            .find(&Query::all(Table::Thread).having("parent", thread.as_str()))
            .await?;
        threads.extend(children.into_iter().map(|row| row.id));
        place += 1;
    }
    events.sort_by_key(|event| event.number);
    Ok(ThreadView {
        id: id.to_owned(),
        space_id: row.text("space").unwrap_or_default().to_owned(),
        holds_secrets: inner.thread_holds_secrets(id).await?,
        took,
        events: events.into_iter().map(event_view).collect(),
    })
}

/// Counts a run to what its mode took with its model. A run that asked nothing took nothing.
fn add(took: &mut Vec<ThreadTook>, state: &RunState) {
    if state.requests == 0 {
        return;
    }
    let (mode, model) = (state.start.recipe.mode.stored(), report::model(state));
    let place = took.iter().position(|one| one.mode == mode && one.model == model);
    let (mut requests, mut usage) = (state.requests, state.usage);
    if let Some(known) = place.and_then(|place| took.get(place)) {
        requests += known.requests;
        usage += known.usage;
    }
    let sum = ThreadTook {
        mode: mode.to_owned(),
        cost: report::cost(&state.start.model, &model, &usage),
        model,
        requests,
        usage,
    };
    match place.and_then(|place| took.get_mut(place)) {
        Some(known) => *known = sum,
        None => took.push(sum),
    }
}
