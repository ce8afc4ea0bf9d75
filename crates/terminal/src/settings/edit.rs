//! Changing one rule of a person's settings file and nothing else of it: comments, order and layout
//! stay. It must not know what a rule means.

use std::fs;
use std::path::Path;

use engine::{Problem, ProblemKind};
use modes::Verdict;
use toml_edit::{Array, Decor, DocumentMut, Item, RawString, Table, TableLike, Value};

use super::keep::replace;

const TABLE: &str = "permissions";
const WORDS: [(&str, Verdict); 4] = [
    ("allow", Verdict::Allow),
    ("ask", Verdict::Ask),
    ("plan", Verdict::Plan),
    ("deny", Verdict::Deny),
];

/// Sets a rule; it stands once afterwards, whatever it said before.
pub(crate) fn keep_rule(file: &Path, rule: &str, verdict: Verdict) -> Result<(), Problem> {
    let mut document = read(file)?;
    removed(&mut document, rule);
    let table = document.entry(TABLE).or_insert(Item::Table(Table::new()));
    let Some(table) = table.as_table_like_mut() else {
        return Err(unusual(file));
    };
    let word = WORDS
        .iter()
        .find(|(_, known)| *known == verdict)
        .map_or("deny", |(word, _)| word);
    let list = table.entry(word).or_insert(Item::Value(Value::Array(Array::new())));
    let Some(list) = list.as_array_mut() else {
        return Err(unusual(file));
    };
    list.push(rule);
    write(file, &document.to_string())
}

/// Removes a rule wherever it stands in the file.
pub(crate) fn forget_rule(file: &Path, rule: &str) -> Result<(), Problem> {
    let mut document = read(file)?;
    if !removed(&mut document, rule) {
        return Err(
            Problem::usage(format!("{}: no rule {rule:?} stands there", file.display()))
                .hint("`stance policy list` shows every rule with its place."),
        );
    }
    write(file, &document.to_string())
}

fn removed(document: &mut DocumentMut, rule: &str) -> bool {
    let mut found = false;
    let Some(table) = document.get_mut(TABLE).and_then(Item::as_table_like_mut) else {
        return false;
    };
    for (word, _) in WORDS {
        if let Some(list) = table.get_mut(word).and_then(Item::as_array_mut) {
            let stands = |list: &Array| list.iter().position(|item| item.as_str() == Some(rule));
            while let Some(place) = stands(list) {
                take(list, place);
                found = true;
            }
            if found && list.is_empty() && !is_remarked(list) {
                leave_out(table, word);
            }
        }
    }
    let bare = document.get(TABLE).and_then(Item::as_table);
    if found && bare.is_some_and(|table| table.is_empty() && !remarked(table.decor())) {
        document.remove(TABLE);
    }
    found
}

/// Leaves an emptied list out, unless somebody wrote a comment about it.
fn leave_out(table: &mut dyn TableLike, word: &str) {
    if table.key(word).is_some_and(|key| !remarked(key.leaf_decor())) {
        table.remove(word);
    }
}

fn is_remarked(list: &Array) -> bool {
    remarked(list.decor()) || list.trailing().as_str().unwrap_or_default().contains('#')
}

fn remarked(decor: &Decor) -> bool {
    let parts = [decor.prefix(), decor.suffix()].into_iter().flatten();
    parts.filter_map(RawString::as_str).any(|text| text.contains('#'))
}

/// Takes an item out. A comment before it is about the one before, and stays.
fn take(list: &mut Array, place: usize) {
    let gone = list.remove(place);
    let before = gone.decor().prefix().and_then(|text| text.as_str()).unwrap_or_default();
    if !before.contains('#') {
        return;
    }
    let comment = before.trim_end();
    if let Some(next) = list.get_mut(place) {
        let own = next.decor().prefix().and_then(|text| text.as_str()).unwrap_or_default();
        let kept = format!("{comment}{own}");
        next.decor_mut().set_prefix(kept);
    } else {
        let kept = format!("{comment}{}", list.trailing().as_str().unwrap_or_default());
        list.set_trailing(kept);
    }
}

fn read(file: &Path) -> Result<DocumentMut, Problem> {
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        other => other.map_err(|error| machine(file, &error))?,
    };
    text.parse()
        .map_err(|error| Problem::refused(format!("{}: this is no TOML: {error}", file.display())))
}

fn write(file: &Path, text: &str) -> Result<(), Problem> {
    replace(file, text).map_err(|error| machine(file, &error))
}

fn machine(file: &Path, error: &std::io::Error) -> Problem {
    Problem::new(ProblemKind::Machine, format!("{}: {error}", file.display()))
}

fn unusual(file: &Path) -> Problem {
    Problem::refused(format!(
        "{}: `{TABLE}` is written in a form that cannot be changed here",
        file.display()
    ))
    .hint("Edit the file yourself; `stance policy list` shows what it comes to.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_changed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.toml");
        let before = "# mine\n[limits]\nminutes = 5 # short\n\n[permissions]\n# what I trust\nallow = [\n    \"npm run *\", \
                      # builds\n    \"make\",\n]\n";
        fs::write(&file, before).unwrap();
        keep_rule(&file, "git push *", Verdict::Deny).unwrap();
        let after = fs::read_to_string(&file).unwrap();
        assert_eq!(after, format!("{before}deny = [\"git push *\"]\n"));
        keep_rule(&file, "make", Verdict::Ask).unwrap();
        let after = fs::read_to_string(&file).unwrap();
        assert!(
            after.contains("ask = [\"make\"]") && after.matches("make").count() == 1,
            "{after}"
        );
        assert!(
            after.contains("# mine") && after.contains("# builds") && after.contains("# short"),
            "{after}"
        );
        forget_rule(&file, "git push *").unwrap();
        forget_rule(&file, "make").unwrap();
        assert!(forget_rule(&file, "make").is_err());
        assert!(fs::read_to_string(&file).unwrap().contains("npm run *"));
    }

    #[test]
    fn a_rule_that_is_set_and_unset_leaves_the_file_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.toml");
        for before in [
            "",
            "# mine\n",
            "[limits]\nminutes = 5",
            "[permissions]\nallow = [\"make\"] # builds\n\n[plan]\ntry = true\n",
            "[permissions]\ndeny = [\n    \"a\", # bad\n]\n",
            "permissions = { deny = [\"a\"] }\n",
            "[permissions] # rules\n",
            "[permissions]\n# none yet\nallow = []\n",
        ] {
            fs::write(&file, before).unwrap();
            keep_rule(&file, "edit(x)", Verdict::Allow).unwrap();
            keep_rule(&file, "edit(x)", Verdict::Deny).unwrap();
            forget_rule(&file, "edit(x)").unwrap();
            let after = fs::read_to_string(&file).unwrap();
            assert_eq!(after.trim_end(), before.trim_end(), "{before}");
        }
    }

    #[test]
    fn a_file_that_is_not_there_yet_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep/settings.toml");
        keep_rule(&file, "edit(src/**)", Verdict::Allow).unwrap();
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            "[permissions]\nallow = [\"edit(src/**)\"]\n"
        );
        assert_eq!(fs::read_dir(folder.path().join("deep")).unwrap().count(), 1);
    }
}
