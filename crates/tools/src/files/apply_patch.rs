//! `apply_patch`: several files added, changed, moved and deleted in one call, all or none. Everything is settled
//! before the first file is written; a write that fails then takes back those before it.

use std::collections::{BTreeMap, BTreeSet};

use modes::paths::WriteClass;
use modes::{ProposedCall, Target};
use schemars::JsonSchema;
use serde::Deserialize;

use super::hunks::{Patched, patched};
use super::patch::{Change, Hunk, changes};
use super::read_file::hash;
use super::replace::{Standing, put, put_like, remove, standing};
use super::write_to_file::{bound, stale};
use crate::place::{Place, Roots};
use crate::scope::Scope;
use crate::tool::{BadArguments, ToolResult};
use crate::typed::{Around, TypedTool};

/// Files of one patch.
const MOST: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// `*** Begin Patch`, then for each file `*** Add File: PATH`, `*** Delete File: PATH` or `*** Update File: PATH`
    /// (`*** Move to: PATH`, hunks after `@@ LINE` with ` `, `-` and `+`), then `*** End Patch`.
    input: String,
}

pub(crate) struct ApplyPatch;

/// One file of the patch with its places.
pub(crate) enum Ready {
    Add(Place, String),
    Delete(Place),
    Update(Place, Vec<Hunk>, Option<Place>),
}

impl TypedTool for ApplyPatch {
    const NAME: &'static str = "apply_patch";
    const DESCRIPTION: &'static str = "Adds, changes, moves and deletes files in one patch, all or none. Old lines must match as they stand in the file. Use it for changes to several files.";
    const EXAMPLE: &'static str = r#"{"input": "*** Begin Patch\n*** Update File: src/a.rs\n@@ fn main() {\n-let x = 1;\n+let x = 2;\n*** End Patch"}"#;
    type Arguments = Arguments;
    type Ready = Vec<Ready>;

    fn prepare(
        Arguments { input }: Arguments,
        mut call: ProposedCall,
        scope: &Scope,
    ) -> Result<(ProposedCall, Vec<Ready>), BadArguments> {
        let changes = changes(&input).map_err(BadArguments)?;
        if changes.len() > MOST {
            return Err(BadArguments(format!(
                "the patch changes {} files and at most {MOST} are taken: make several patches.",
                changes.len()
            )));
        }
        let roots = Roots::of(scope)?;
        let mut named = BTreeSet::new();
        let mut find = |path: &str| {
            let place = roots.find(path)?;
            if named.insert(place.path().to_owned()) {
                Ok(place)
            } else {
                Err(BadArguments(format!(
                    "{path} stands twice in the patch: put its hunks under one name."
                )))
            }
        };
        let mut ready = Vec::new();
        for change in changes {
            let one = match change {
                Change::Add { path, text } => Ready::Add(find(&path)?, text),
                Change::Delete { path } => Ready::Delete(find(&path)?),
                Change::Update { path, moved, hunks } => {
                    let moved = moved.map(|path| find(&path)).transpose()?;
                    Ready::Update(find(&path)?, hunks, moved)
                }
            };
            call = one.meaning(call, scope)?;
            ready.push(one);
        }
        Ok((call, ready))
    }

    async fn act(ready: Vec<Ready>, around: Around<'_>) -> ToolResult {
        let places = ready.iter().map(Ready::place);
        let seen = places.filter_map(|place| Some((place.path().to_owned(), around.desk.last_seen(place.path())?)));
        let seen: BTreeMap<String, String> = seen.collect();
        let applied = tokio::task::spawn_blocking(move || apply(&ready, &seen));
        applied
            .await
            .unwrap_or_else(|_| ToolResult::error("writing was interrupted."))
    }
}

/// What deleting the file at a place means.
fn deleted(place: &Place, scope: &Scope) -> Target {
    let target = Target::Delete {
        path: place.path().to_owned(),
        class: WriteClass::Ordinary,
        held: false,
        words: Vec::new(),
    };
    place.behind(target, |path| scope.checkpoint_holds(path))
}

impl Ready {
    /// The call with what this change means, and what an answer is bound to.
    fn meaning(&self, call: ProposedCall, scope: &Scope) -> Result<ProposedCall, BadArguments> {
        let place = self.place();
        let call = bound(call, place, &format!("content of {}", place.path()))?;
        Ok(match self {
            Ready::Add(..) | Ready::Update(_, _, None) => call.with_target(place.as_written()),
            Ready::Delete(_) => call.with_target(deleted(place, scope)),
            Ready::Update(_, _, Some(to)) => bound(call, to, &format!("content of {}", to.path()))?
                .with_target(deleted(place, scope))
                .with_target(to.as_written()),
        })
    }

    fn place(&self) -> &Place {
        match self {
            Ready::Add(place, _) | Ready::Delete(place) | Ready::Update(place, ..) => place,
        }
    }
}

/// One file to be written or deleted, settled.
struct Settled<'a> {
    place: &'a Place,
    /// What stands there now.
    old: Option<Standing>,
    /// What shall; none: nothing.
    new: Option<String>,
    /// Whose mode bits a new file has.
    like: Option<&'a Place>,
    /// Whether the model knows the whole of what it now holds.
    known: bool,
    what: &'static str,
}

fn apply(ready: &[Ready], seen: &BTreeMap<String, String>) -> ToolResult {
    let mut settled = Vec::new();
    let mut remarks = Vec::new();
    for one in ready {
        if let Err(refused) = settle(one, seen, &mut settled, &mut remarks) {
            return *refused;
        }
    }
    // What is new stands before anything is deleted.
    settled.sort_by_key(|one| one.new.is_none());
    for (index, one) in settled.iter().enumerate() {
        if let Err(why) = carry_out(one, &settled) {
            let done = settled.get(..index).unwrap_or_default();
            let left: Vec<&str> = done
                .iter()
                .filter(|one| !taken_back(one))
                .map(|one| one.place.path())
                .collect();
            return ToolResult::error(if left.is_empty() {
                format!("{why} Nothing of the patch stands.")
            } else {
                format!(
                    "{why} These could not be put back and are as the patch has them: {}.",
                    left.join(", ")
                )
            });
        }
    }
    tell(&settled, remarks)
}

/// Settles what one change of the patch writes and deletes; the refusal is for the model.
fn settle<'a>(
    one: &'a Ready,
    seen: &BTreeMap<String, String>,
    settled: &mut Vec<Settled<'a>>,
    remarks: &mut Vec<String>,
) -> Result<(), Box<ToolResult>> {
    let place = one.place();
    let path = place.path();
    let refused = |why: String| Box::new(ToolResult::error(why));
    let nothing = |why: String| refused(format!("{path} {why}; nothing was written."));
    let old = standing(place).map_err(|why| refused(format!("{why} Nothing was written.")))?;
    if let Some(old) = &old
        && seen.get(path).is_some_and(|seen| *seen != hash(&old.bytes))
    {
        return Err(Box::new(stale(place, old, "changed since you last saw it")));
    }
    match (one, old) {
        (Ready::Add(..), Some(_)) => return Err(nothing("exists: change it with *** Update File".to_owned())),
        (Ready::Add(_, text), None) => settled.push(Settled {
            place,
            old: None,
            new: Some(text.clone()),
            like: None,
            known: true,
            what: "added",
        }),
        (_, None) => return Err(nothing("does not exist".to_owned())),
        (Ready::Delete(_), Some(old)) => settled.push(Settled::gone(place, old, "deleted")),
        (Ready::Update(_, hunks, moved), Some(old)) => {
            let Ok(text) = std::str::from_utf8(&old.bytes) else {
                return Err(nothing(
                    "is not valid UTF-8 text; it cannot be edited this way".to_owned(),
                ));
            };
            let Patched { text: new, forgiven } = patched(text, hunks).map_err(|why| {
                nothing(if place.may_be_shown() {
                    format!("was not changed: {why}")
                } else {
                    "was not changed: a hunk does not stand in exactly one place".to_owned()
                })
            })?;
            let forgave: BTreeSet<&str> = forgiven.iter().filter_map(|rung| rung.forgave()).collect();
            if !forgave.is_empty() {
                let forgave: Vec<&str> = forgave.into_iter().collect();
                remarks.push(format!(
                    "{path} matched only after forgiving {}; check it.",
                    forgave.join(", ")
                ));
            }
            let known = seen.contains_key(path);
            match moved {
                None => settled.push(Settled {
                    place,
                    old: Some(old),
                    new: Some(new),
                    like: None,
                    known,
                    what: "changed",
                }),
                Some(to) => {
                    if standing(to).map_err(refused)?.is_some() {
                        return Err(refused(format!("{} exists; nothing was written.", to.path())));
                    }
                    settled.push(Settled {
                        place: to,
                        old: None,
                        new: Some(new),
                        like: Some(place),
                        known,
                        what: "written",
                    });
                    settled.push(Settled::gone(place, old, "moved away"));
                }
            }
        }
    }
    Ok(())
}

impl<'a> Settled<'a> {
    fn gone(place: &'a Place, old: Standing, what: &'static str) -> Settled<'a> {
        Settled {
            place,
            old: Some(old),
            new: None,
            like: None,
            known: false,
            what,
        }
    }
}

fn carry_out(one: &Settled<'_>, all: &[Settled<'_>]) -> Result<(), String> {
    let source = one
        .like
        .and_then(|like| all.iter().find(|other| other.place.path() == like.path()));
    match (&one.new, &one.old, source.and_then(|source| source.old.as_ref())) {
        (Some(new), None, Some(like)) => put_like(one.place, new.as_bytes(), like),
        (Some(new), old, _) => put(one.place, new.as_bytes(), old.as_ref()),
        (None, Some(old), _) => remove(one.place, old),
        (None, None, _) => Ok(()),
    }
}

/// Puts back what stood before; false when that failed.
fn taken_back(one: &Settled<'_>) -> bool {
    let now = standing(one.place);
    match (&one.old, now) {
        (Some(old), Ok(Some(now))) => put(one.place, &old.bytes, Some(&now)).is_ok(),
        (Some(old), Ok(None)) => put_like(one.place, &old.bytes, old).is_ok(),
        (None, Ok(Some(now))) => remove(one.place, &now).is_ok(),
        (None, Ok(None)) => true,
        (_, Err(_)) => false,
    }
}

fn tell(settled: &[Settled<'_>], remarks: Vec<String>) -> ToolResult {
    let line = |one: &Settled<'_>| match &one.new {
        Some(new) => format!("{} {}: {} lines.", one.place.path(), one.what, new.lines().count()),
        None => format!("{} {}.", one.place.path(), one.what),
    };
    let lines: Vec<String> = settled.iter().map(line).chain(remarks).collect();
    let mut result = ToolResult::text(lines.join("\n"));
    for one in settled {
        if one.place.in_worktree() {
            result = result.changing(one.place.path());
        }
        if let (Some(new), true) = (&one.new, one.known) {
            result = result.showing(one.place.path(), hash(new.as_bytes()));
        }
    }
    result
}
