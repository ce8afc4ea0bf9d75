//! Keeping an answer of the person in the person's own settings file, everything else in it as it was.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use engine::{Problem, ProblemKind};
use toml_edit::{DocumentMut, Item, Table, value};

/// Writes `[plan] try`.
pub(crate) fn keep_plan_try(file: &Path, may: bool) -> Result<(), Problem> {
    let unkept = |why: String| {
        Problem::new(
            ProblemKind::Machine,
            format!("{}: the answer could not be kept: {why}.", file.display()),
        )
        .hint(format!("Write `try = {may}` under `[plan]` there yourself."))
    };
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        read => read.map_err(|error| unkept(error.to_string()))?,
    };
    let text = with_plan_try(&text, may).map_err(&unkept)?;
    replace(file, &text).map_err(|error| unkept(error.to_string()))
}

fn with_plan_try(text: &str, may: bool) -> Result<String, String> {
    let mut page: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let plan = page.entry("plan").or_insert(Item::Table(Table::new()));
    let plan = plan.as_table_like_mut().ok_or("`plan` is no table there")?;
    plan.insert("try", value(may));
    Ok(page.to_string())
}

/// The file is the old one or the new one, never a part.
pub(super) fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    // A link stays one: what it leads to is written.
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let draft = file.with_extension(format!("toml.{}", std::process::id()));
    let mut open = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)?;
    open.write_all(text.as_bytes())?;
    open.sync_all()?;
    if let Ok(facts) = fs::metadata(&file) {
        fs::set_permissions(&draft, facts.permissions())?;
    }
    fs::rename(&draft, &file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_kept_beside_everything_else() {
        let kept = |text: &str, may| with_plan_try(text, may).unwrap();
        assert_eq!(kept("", true), "[plan]\ntry = true\n");
        assert_eq!(
            kept("# mine\n[limits]\ntokens = 5 # few\n", false),
            "# mine\n[limits]\ntokens = 5 # few\n\n[plan]\ntry = false\n"
        );
        assert_eq!(kept("[plan]\ntry = false\n", true), "[plan]\ntry = true\n");
        assert!(with_plan_try("[plan", true).is_err());
    }

    #[test]
    fn a_file_is_made_private_and_a_link_stays_one() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("home/settings.toml");
        keep_plan_try(&file, true).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "[plan]\ntry = true\n");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let link = folder.path().join("link.toml");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        keep_plan_try(&link, false).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "[plan]\ntry = false\n");
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
    }
}
