//! The state of whole folders: content, rights, link targets, times of content and of facts. It must
//! not know who changes what.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use engine::{Problem, ProblemKind};

/// Everything beneath some folders, as it stood at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct World(BTreeMap<PathBuf, Facts>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Facts {
    kind: Kind,
    mode: u32,
    changed: (i64, i64),
    touched: (i64, i64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    File(Vec<u8>),
    Link(PathBuf),
    Folder,
    Other,
}

impl World {
    /// Looks at everything beneath these folders, and at the folders themselves.
    pub(crate) fn beneath(folders: &[&Path]) -> Result<World, Problem> {
        let mut world = BTreeMap::new();
        for folder in folders {
            look(folder, &mut world)?;
        }
        Ok(World(world))
    }

    /// How many files and folders were looked at.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Paths whose content, rights, link target or times are not as before, that came or that went.
    pub(crate) fn differences(&self, now: &World) -> Vec<PathBuf> {
        let before = self.0.iter().filter(|(path, facts)| now.0.get(*path) != Some(facts));
        let came = now.0.iter().filter(|(path, _)| !self.0.contains_key(*path));
        before.chain(came).map(|(path, _)| path.clone()).collect()
    }
}

fn look(path: &Path, world: &mut BTreeMap<PathBuf, Facts>) -> Result<(), Problem> {
    let unseen = |error: std::io::Error| {
        Problem::new(
            ProblemKind::Machine,
            format!("{} cannot be looked at: {error}.", path.display()),
        )
    };
    let facts = fs::symlink_metadata(path).map_err(unseen)?;
    let kind = if facts.is_symlink() {
        Kind::Link(fs::read_link(path).map_err(unseen)?)
    } else if facts.is_dir() {
        Kind::Folder
    } else if facts.is_file() {
        Kind::File(fs::read(path).map_err(unseen)?)
    } else {
        Kind::Other
    };
    let folder = kind == Kind::Folder;
    world.insert(
        path.to_owned(),
        Facts {
            kind,
            mode: facts.mode(),
            changed: (facts.mtime(), facts.mtime_nsec()),
            touched: (facts.ctime(), facts.ctime_nsec()),
        },
    );
    if folder {
        for entry in fs::read_dir(path).map_err(unseen)? {
            look(&entry.map_err(unseen)?.path(), world)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    type Act<'a> = Box<dyn Fn() + 'a>;

    #[test]
    fn every_kind_of_change_is_seen() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::write(at("file"), "x").unwrap();
        fs::create_dir(at("folder")).unwrap();
        symlink("file", at("link")).unwrap();
        let look = || World::beneath(&[root.path()]).unwrap();
        let acts: [(&str, Act<'_>); 4] = [
            (
                "file",
                Box::new(|| fs::set_permissions(at("file"), fs::Permissions::from_mode(0o600)).unwrap()),
            ),
            ("file", Box::new(|| fs::write(at("file"), "x").unwrap())),
            ("new", Box::new(|| fs::write(at("new"), "").unwrap())),
            (
                "link",
                Box::new(|| {
                    fs::remove_file(at("link")).unwrap();
                    symlink("folder", at("link")).unwrap();
                }),
            ),
        ];
        for (name, act) in acts {
            let before = look();
            assert_eq!(before.differences(&look()), Vec::<PathBuf>::new());
            act();
            assert!(before.differences(&look()).contains(&at(name)), "{name}");
        }
        let before = look();
        fs::remove_file(at("new")).unwrap();
        assert_eq!(before.differences(&look()), [root.path().to_owned(), at("new")]);
    }
}
