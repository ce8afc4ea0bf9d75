//! What cargo knows about the workspace's own crates: who depends on whom, and which features exist.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use serde::Deserialize;

use crate::checkout::Checkout;
use crate::program;

/// The crates of this workspace.
#[derive(Deserialize)]
pub(crate) struct Workspace {
    /// Each of them.
    pub(crate) packages: Vec<Package>,
}

/// One crate of this workspace.
#[derive(Deserialize)]
pub(crate) struct Package {
    /// Its name for cargo: `stance-modes`.
    pub(crate) name: String,
    /// What it names in its manifest, tests included.
    pub(crate) dependencies: Vec<Dependency>,
    /// Its features, and what each turns on.
    pub(crate) features: BTreeMap<String, Vec<String>>,
}

/// One line of a manifest.
#[derive(Deserialize)]
pub(crate) struct Dependency {
    /// The crate's name for cargo, whatever the manifest calls it.
    pub(crate) name: String,
    /// `None` for ordinary ones, `dev` or `build`.
    pub(crate) kind: Option<String>,
    /// Features asked for.
    pub(crate) features: Vec<String>,
    /// The folder, for a crate of ours.
    pub(crate) path: Option<String>,
}

impl Workspace {
    /// Asks cargo; needs no network.
    pub(crate) fn read(checkout: &Checkout) -> anyhow::Result<Self> {
        let json = program::text(
            program::cargo()
                .args(["metadata", "--format-version", "1", "--no-deps"])
                .current_dir(checkout.root()),
        )?;
        serde_json::from_str(&json).context("cannot read what `cargo metadata` wrote")
    }

    /// `crate/faults` for each crate that can be built to kill itself: what tests are built with.
    pub(crate) fn faults(&self) -> Vec<String> {
        self.packages
            .iter()
            .filter(|package| package.features.contains_key("faults"))
            .map(|package| format!("{}/faults", package.name))
            .collect()
    }
}

impl Package {
    /// The room's short name: its folder.
    pub(crate) fn room(&self) -> &str {
        room(&self.name)
    }

    /// The features that an ordinary build turns on.
    pub(crate) fn default_features(&self) -> BTreeSet<&str> {
        let mut on = BTreeSet::new();
        let mut waiting = vec!["default"];
        while let Some(feature) = waiting.pop() {
            if on.insert(feature) {
                waiting.extend(self.features.get(feature).into_iter().flatten().map(String::as_str));
            }
        }
        on
    }
}

/// The short name of a crate of ours.
pub(crate) fn room(package: &str) -> &str {
    package.strip_prefix("stance-").unwrap_or(package)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_features_are_followed_to_the_end() {
        let package: Package = serde_json::from_value(serde_json::json!({
            "name": "stance-store",
            "dependencies": [],
            "features": {"default": ["a"], "a": ["b", "other/faults"], "b": [], "faults": []},
        }))
        .unwrap();
        assert_eq!(
            package.default_features(),
            BTreeSet::from(["a", "b", "default", "other/faults"])
        );
        assert_eq!(package.room(), "store");
    }
}
