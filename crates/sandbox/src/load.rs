//! How many processes a tree has and how much memory they hold, as `/proc` tells it. Decides nothing.

use std::collections::BTreeMap;
use std::fs;

/// What a tree uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) processes: usize,
    /// Bytes, each shared page counted for its share where that can be asked.
    pub(crate) memory: u64,
}

/// The load of everything beneath a process. `suspicious` is the memory from which on shared pages
/// are looked at, which takes longer.
pub(crate) fn beneath(root: u32, suspicious: u64) -> Load {
    let beneath = tree(root);
    let resident: u64 = beneath.iter().map(|(_, memory)| memory).sum();
    let memory = if resident < suspicious {
        resident
    } else {
        beneath
            .iter()
            .map(|(id, memory)| bytes(&format!("/proc/{id}/smaps_rollup"), "Pss:").unwrap_or(*memory))
            .sum()
    };
    Load {
        processes: beneath.len(),
        memory,
    }
}

/// All memory of this machine, in bytes.
pub(crate) fn machine_memory() -> Option<u64> {
    bytes("/proc/meminfo", "MemTotal:")
}

/// Every process beneath another, with its resident memory.
fn tree(root: u32) -> Vec<(u32, u64)> {
    let mut children: BTreeMap<u32, Vec<(u32, u64)>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let id = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some((id, (parent, memory))) = id.and_then(|id| Some((id, facts(id)?))) {
            children.entry(parent).or_default().push((id, memory));
        }
    }
    let mut beneath = Vec::new();
    let mut pending = vec![root];
    while let Some(next) = pending.pop() {
        for child in children.remove(&next).into_iter().flatten() {
            pending.push(child.0);
            beneath.push(child);
        }
    }
    beneath
}

/// Parent and resident memory; a process that has ended holds none.
fn facts(id: u32) -> Option<(u32, u64)> {
    let text = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let parent = word(&text, "PPid:")?.parse().ok()?;
    let memory = word(&text, "VmRSS:").and_then(|kilobytes| kilobytes.parse::<u64>().ok());
    Some((parent, memory.unwrap_or_default() * 1024))
}

/// A number of kilobytes in a file of lines, as bytes.
fn bytes(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    word(&text, name)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

fn word<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines()
        .find_map(|line| line.strip_prefix(name))?
        .split_whitespace()
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_counted_with_its_memory() {
        let mut child = std::process::Command::new("bash")
            .args(["-c", "sleep 60 & sleep 60 & read; kill %1 %2"])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let load = loop {
            let load = beneath(child.id(), u64::MAX);
            if load.processes == 2 && load.memory > 0 {
                break load;
            }
        };
        assert!(beneath(child.id(), 0).memory < load.memory);
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(machine_memory().unwrap() > load.memory);
        assert_eq!(beneath(child.id(), 0), Load::default());
    }
}
