//! Files rendered from tables: written by `codegen`, compared by tidy. Renders nothing itself.

mod clippy;
mod modes_page;

use std::path::PathBuf;

use anyhow::{Context, bail};

use crate::bans::ROOMS;
use crate::checkout::Checkout;

struct Rendered {
    path: PathBuf,
    text: String,
}

/// Writes every rendered file that is stale.
pub(crate) fn write(checkout: &Checkout) -> anyhow::Result<()> {
    for file in stale(checkout)? {
        let path = checkout.at(&file.path);
        std::fs::write(&path, file.text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("rendered {}", file.path.display());
    }
    Ok(())
}

/// Fails when a rendered file is not what its table says.
pub(crate) fn check(checkout: &Checkout) -> anyhow::Result<()> {
    let stale = stale_paths(checkout)?;
    if stale.is_empty() {
        Ok(())
    } else {
        bail!("stale: {}; run `cargo xtask codegen`", stale.join(", "))
    }
}

/// The rendered files that are not what their table says.
pub(crate) fn stale_paths(checkout: &Checkout) -> anyhow::Result<Vec<String>> {
    Ok(stale(checkout)?
        .iter()
        .map(|file| file.path.display().to_string())
        .collect())
}

fn stale(checkout: &Checkout) -> anyhow::Result<Vec<Rendered>> {
    let mut files = rendered()?;
    files.retain(|file| std::fs::read_to_string(checkout.at(&file.path)).ok().as_deref() != Some(file.text.as_str()));
    Ok(files)
}

fn rendered() -> anyhow::Result<Vec<Rendered>> {
    let mut files: Vec<Rendered> = ROOMS
        .iter()
        .map(|room| Rendered {
            path: folder(room).join("clippy.toml"),
            text: clippy::render(room),
        })
        .collect();
    files.push(Rendered {
        path: "docs/modes.md".into(),
        text: modes_page::render()?,
    });
    Ok(files)
}

/// A room's folder beneath the root.
pub(crate) fn folder(room: &str) -> PathBuf {
    if room == "xtask" {
        room.into()
    } else {
        PathBuf::from("crates").join(room)
    }
}
