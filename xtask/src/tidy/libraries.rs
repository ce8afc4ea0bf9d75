//! Every library has its line, with the reason why it is here, in the table "Libraries" of the architecture page.

use std::collections::BTreeSet;

use crate::workspace::Workspace;

/// A sentence for each library without a line and each line without a library.
pub(crate) fn check(workspace: &Workspace, architecture: &str) -> Vec<String> {
    let used: BTreeSet<&str> = workspace
        .packages
        .iter()
        .flat_map(|package| &package.dependencies)
        .filter(|dependency| dependency.path.is_none())
        .map(|dependency| dependency.name.as_str())
        .collect();
    let listed = listed(architecture);
    let missing = used
        .difference(&listed)
        .map(|name| format!("{name} has no line in the table of libraries"));
    let left = listed
        .difference(&used)
        .map(|name| format!("{name} is in the table of libraries but nobody uses it"));
    missing.chain(left).collect()
}

/// The names in the first column, each in backquotes; a cell may hold several.
fn listed(architecture: &str) -> BTreeSet<&str> {
    architecture
        .lines()
        .skip_while(|line| *line != "## Libraries")
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter_map(|line| line.strip_prefix("| `")?.split('|').next())
        .flat_map(|cell| cell.split(['`', ',', ' ']))
        .filter(|name| !name.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PAGE: &str = "\
# House
| `other` | a table before |
## Libraries

| library | why |
| --- | --- |
| `serde`, `serde_json` | our JSON |
| `petgraph` | graphs |

## After
| `later` | a table after |
";

    #[test]
    fn libraries_and_lines_are_compared_both_ways() {
        let uses = |names: &[&str]| -> Workspace {
            let mut dependencies: Vec<_> = names
                .iter()
                .map(|name| json!({"name": name, "kind": null, "features": [], "path": null}))
                .collect();
            dependencies.push(json!({"name": "stance-modes", "kind": null, "features": [], "path": "/modes"}));
            serde_json::from_value(
                json!({"packages": [{"name": "stance-work", "features": {}, "dependencies": dependencies}]}),
            )
            .unwrap()
        };
        assert_eq!(
            check(&uses(&["serde", "serde_json", "petgraph"]), PAGE),
            Vec::<String>::new()
        );
        assert_eq!(
            check(&uses(&["serde", "serde_json", "rand"]), PAGE),
            [
                "rand has no line in the table of libraries",
                "petgraph is in the table of libraries but nobody uses it"
            ]
        );
    }
}
