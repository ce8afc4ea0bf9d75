//! What a call lets git show of index and history, looked at before the call is judged. Decides nothing.

use std::collections::BTreeSet;
use std::path::Path;

use modes::paths::{in_dependencies, secret_shaped};
use modes::{ProposedCall, RunSpec, Shown};
use repo::{Checkout, Names};

use crate::inner::Inner;

/// The call with the secrets that it lets git show, and what rules deny to be read. Git is asked only for a
/// call that shows anything.
pub(crate) async fn looked_at(inner: &Inner, spec: &RunSpec, call: ProposedCall) -> ProposedCall {
    if call.shows().next().is_none() {
        return call;
    }
    let Some((git, checkout)) = inner.repository() else {
        return call;
    };
    // What cannot be looked through may hold anything.
    let Ok(names) = inner.recorded.names(git, checkout).await else {
        return call;
    };
    call.with_recorded(|shown| held(spec, checkout, &names, shown))
}

fn held(spec: &RunSpec, checkout: &Checkout, names: &Names, shown: &Shown) -> Option<Vec<String>> {
    let folder = Path::new(shown.folder.as_ref()?);
    if !checkout.is_that_of(folder) {
        return None;
    }
    let there = |path: &String| checkout.worktree.join(path).symlink_metadata().is_ok();
    let perhaps = shown.perhaps.iter().filter(|path| there(path));
    let within: Vec<&String> = shown.within.iter().chain(perhaps).collect();
    let beneath = |name: &str| {
        let above = |path: &&String| *path == "." || Path::new(name).starts_with(path);
        within.is_empty() || within.iter().any(above)
    };
    let secret = |name: &str| secret_shaped(name) && !in_dependencies(name) || spec.denies_reading(name);
    let history = names.history.iter().filter(|_| !shown.index_alone);
    let held: BTreeSet<&String> = names
        .index
        .iter()
        .chain(history)
        .filter(|name| secret(name) && beneath(name))
        .collect();
    Some(held.into_iter().cloned().collect())
}
