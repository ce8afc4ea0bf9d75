//! No build that people get can kill itself: the feature `faults` is for test builds alone.

use crate::workspace::Workspace;

/// A sentence for each way an ordinary build would turn the feature on.
pub(crate) fn check(workspace: &Workspace) -> Vec<String> {
    let mut problems = Vec::new();
    for package in &workspace.packages {
        if package.default_features().iter().any(|feature| names_faults(feature)) {
            problems.push(format!("{} turns `faults` on by default", package.room()));
        }
        for dependency in package
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind.as_deref() != Some("dev"))
        {
            if dependency.features.iter().any(|feature| names_faults(feature)) {
                problems.push(format!(
                    "{} asks {} for `faults` in every build",
                    package.room(),
                    dependency.name
                ));
            }
        }
    }
    problems
}

fn names_faults(feature: &str) -> bool {
    feature.rsplit(['/', ':']).next() == Some("faults")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn house(features: &Value, kind: &Value, asked: &[&str]) -> Vec<String> {
        let workspace: Workspace = serde_json::from_value(json!({"packages": [{
            "name": "stance-engine",
            "features": features,
            "dependencies": [{"name": "stance-store", "kind": kind, "features": asked, "path": "/store"}],
        }]}))
        .unwrap();
        check(&workspace)
    }

    #[test]
    fn a_feature_that_is_only_offered_is_fine() {
        let offered = json!({"default": ["fast"], "fast": [], "faults": ["stance-store/faults"]});
        assert_eq!(house(&offered, &Value::Null, &["sqlite"]), Vec::<String>::new());
        assert_eq!(house(&offered, &json!("dev"), &["faults"]), Vec::<String>::new());
    }

    #[test]
    fn a_feature_that_is_on_is_told() {
        let default = json!({"default": ["fast"], "fast": ["stance-store/faults"]});
        assert_eq!(
            house(&default, &Value::Null, &[]),
            ["engine turns `faults` on by default"]
        );
        assert_eq!(
            house(&json!({}), &Value::Null, &["faults"]),
            ["engine asks stance-store for `faults` in every build"]
        );
        assert_eq!(house(&json!({}), &json!("build"), &["faults"]).len(), 1);
    }
}
