//! Who may work on what.

use futures_util::future::join_all;
use stance_store::{Durability, Holder, Lease, LeaseOutcome, Store};

use crate::{Journal, key};

fn holder(pid: u32, label: &str) -> Holder {
    Holder {
        pid,
        start_ticks: u64::MAX - 3,
        boot_id: "6f0e".to_owned(),
        label: label.to_owned(),
    }
}

const ALIVE: fn(&Holder) -> bool = |_| true;
const DEAD: fn(&Holder) -> bool = |_| false;

#[tokio::test]
async fn a_living_holder_keeps_its_lease_and_a_dead_one_is_followed() {
    let journal = Journal::new().await;
    let store = &journal.store;
    let (first, second) = (holder(1, "run one"), holder(2, "run two"));
    assert_eq!(store.lease("run/1").await.unwrap(), None);

    let taken = store.try_lease("run/1", &first, ALIVE).await.unwrap();
    assert_eq!(taken, LeaseOutcome::Taken { epoch: 1 });
    let held = store.try_lease("run/1", &second, ALIVE).await.unwrap();
    assert_eq!(held, LeaseOutcome::Held(first.clone()));
    let again = store.try_lease("run/1", &first, ALIVE).await.unwrap();
    assert_eq!(again, LeaseOutcome::Held(first.clone()));

    let mut judged = None;
    let followed = store
        .try_lease("run/1", &second, |other| {
            judged = Some(other.clone());
            false
        })
        .await
        .unwrap();
    assert_eq!(followed, LeaseOutcome::Taken { epoch: 2 });
    assert_eq!(judged, Some(first.clone()));

    assert!(!store.release("run/1", &first).await.unwrap());
    assert!(store.release("run/1", &second).await.unwrap());
    assert!(!store.release("run/1", &second).await.unwrap());
    let free = Lease { epoch: 2, holder: None };
    assert_eq!(store.lease("run/1").await.unwrap(), Some(free));
    let retaken = store.try_lease("run/1", &first, ALIVE).await.unwrap();
    assert_eq!(retaken, LeaseOutcome::Taken { epoch: 3 });
}

#[tokio::test]
async fn leases_of_other_names_do_not_touch_each_other() {
    let journal = Journal::new().await;
    let store = &journal.store;
    let one = holder(1, "one");
    store.try_lease("a", &one, ALIVE).await.unwrap();
    let other = store.try_lease("b", &holder(2, "two"), ALIVE).await.unwrap();
    assert_eq!(other, LeaseOutcome::Taken { epoch: 1 });
    assert!(!store.release("b", &one).await.unwrap());
}

#[tokio::test]
async fn a_lease_taken_in_a_dropped_transaction_was_never_taken() {
    let journal = Journal::new().await;
    let mut writer = journal.store.begin(Durability::Normal).await.unwrap();
    let one = holder(1, "one");
    writer.try_lease("a", &one, ALIVE).await.unwrap();
    assert_eq!(writer.lease("a").await.unwrap().unwrap().holder, Some(one));
    drop(writer);
    assert_eq!(journal.store.lease("a").await.unwrap(), None);
    let taken = journal.store.try_lease("a", &holder(2, "two"), DEAD).await;
    assert_eq!(taken.unwrap(), LeaseOutcome::Taken { epoch: 1 });
}

#[tokio::test]
async fn of_many_who_ask_at_once_one_gets_it() {
    let journal = Journal::new().await;
    let stores = join_all((0..6).map(|_| Store::open(&journal.path, key()))).await;
    let asking = stores.into_iter().zip(1..).map(|(store, pid)| async move {
        let store = store.unwrap();
        let outcome = store.try_lease("a", &holder(pid, "asker"), ALIVE).await;
        (pid, outcome.unwrap())
    });
    let outcomes = join_all(asking).await;
    let winners: Vec<_> = outcomes
        .iter()
        .filter(|(_, outcome)| *outcome == LeaseOutcome::Taken { epoch: 1 })
        .map(|(pid, _)| *pid)
        .collect();
    assert_eq!(winners.len(), 1, "{outcomes:?}");
    for (pid, outcome) in outcomes {
        if pid != winners[0] {
            assert_eq!(outcome, LeaseOutcome::Held(holder(winners[0], "asker")));
        }
    }
}
