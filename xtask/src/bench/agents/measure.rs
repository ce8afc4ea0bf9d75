//! What running a program costs: time, processor time and memory of it and all it starts; and the least
//! that the same requests can cost. Knows no agent.
#![allow(clippy::disallowed_methods, reason = "a measurement takes the time")]

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::model::Asked;
use crate::program;

/// How long a run may take before it counts as stuck.
const LONGEST: Duration = Duration::from_mins(2);

/// How often memory is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// What one run cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    /// From its start to its end, in seconds.
    pub(super) wall: f64,
    /// Processor time of it and what it started, in seconds.
    pub(super) processor: f64,
}

/// Runs a program to its end. Fails when it does.
pub(super) fn run(command: &mut Command) -> anyhow::Result<Cost> {
    let before = processor_of_children()?;
    let start = Instant::now();
    let output = finished(quiet(command).spawn()?, LONGEST, |_| ())?;
    let wall = start.elapsed().as_secs_f64();
    well(command, &output)?;
    Ok(Cost {
        wall,
        processor: processor_of_children()? - before,
    })
}

/// Runs a program to its end, looking at the memory of it and what it started all along: the greatest sum
/// of what is theirs alone and their part of what they share, in megabytes.
pub(super) fn memory(command: &mut Command) -> anyhow::Result<f64> {
    let mut most = 0;
    let child = quiet(command).spawn()?;
    let output = finished(child, LOOK, |id| most = most.max(tree(id)))?;
    well(command, &output)?;
    let kibibytes = u32::try_from(most).context("more memory than there is")?;
    Ok(f64::from(kibibytes) / 1024.0)
}

fn quiet(command: &mut Command) -> &mut Command {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
}

fn well(command: &Command, output: &Output) -> anyhow::Result<()> {
    if output.status.success() {
        return Ok(());
    }
    let last = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        text.lines()
            .rev()
            .take(12)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect::<Vec<_>>()
            .join("\n")
    };
    bail!(
        "{} ended with {}:\n{}\n{}",
        command.get_program().display(),
        output.status,
        last(&output.stdout),
        last(&output.stderr)
    )
}

/// Waits for a child, calling `look` with its id as often as `every` says. One that is stuck is killed.
fn finished(child: Child, every: Duration, mut look: impl FnMut(u32)) -> anyhow::Result<Output> {
    let (id, start) = (child.id(), Instant::now());
    let (ended, end) = mpsc::channel();
    std::thread::spawn(move || ended.send(child.wait_with_output()));
    loop {
        match end.recv_timeout(every) {
            Ok(output) => return Ok(output?),
            Err(RecvTimeoutError::Disconnected) => bail!("what the program wrote could not be read"),
            Err(RecvTimeoutError::Timeout) => look(id),
        }
        if start.elapsed() > LONGEST {
            program::succeeds(Command::new("kill").arg("-KILL").arg(id.to_string()));
        }
    }
}

/// Processor time of every child that has ended, in seconds. The kernel counts it finely and tells it in
/// hundredths.
fn processor_of_children() -> anyhow::Result<f64> {
    let text = std::fs::read_to_string("/proc/self/stat")?;
    let fields = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = fields
        .split_whitespace()
        .skip(13)
        .take(2)
        .map(str::parse::<u32>)
        .sum::<Result<u32, _>>()
        .context("/proc/self/stat is not as it is known")?;
    Ok(f64::from(ticks) / 100.0)
}

/// The memory of a process and everything beneath it, in KiB.
fn tree(root: u32) -> u64 {
    let mut parents: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat
            .rsplit_once(") ")
            .and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
        if let Some(parent) = parent {
            parents.entry(parent).or_default().push(id);
        }
    }
    let mut all = vec![root];
    let mut at = 0;
    while let Some(id) = all.get(at) {
        all.extend(parents.get(id).cloned().unwrap_or_default());
        at += 1;
    }
    all.into_iter().map(proportional).sum()
}

fn proportional(id: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok())
        .unwrap_or(0)
}

/// Sends the same requests again, one after the other over one connection, and answers how long each
/// took, in milliseconds.
pub(super) fn bare(address: SocketAddr, requests: &[Asked]) -> anyhow::Result<Vec<f64>> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut answers = BufReader::new(stream.try_clone()?);
    let mut times = Vec::new();
    for request in requests {
        let start = Instant::now();
        let head = format!(
            "POST {} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            request.path,
            request.body.len()
        );
        let mut message = head.into_bytes();
        message.extend_from_slice(&request.body);
        (&stream).write_all(&message)?;
        let mut length = 0;
        loop {
            let mut line = String::new();
            answers.read_line(&mut line)?;
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
            if line.trim().is_empty() {
                break;
            }
        }
        io::copy(&mut (&mut answers).take(length), &mut io::sink())?;
        times.push(start.elapsed().as_secs_f64() * 1000.0);
    }
    Ok(times)
}

/// The middle value; of an even number the upper one.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_found() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn a_program_costs_time_and_memory_and_its_failure_is_told() {
        let cost = run(Command::new("sh").args(["-c", "exit 0"])).unwrap();
        assert!(cost.wall > 0.0 && cost.processor >= 0.0);
        let error = run(Command::new("sh").args(["-c", "echo why >&2; exit 3"])).unwrap_err();
        assert!(error.to_string().contains("why"), "{error}");
        assert!(memory(Command::new("sh").args(["-c", "head -c 500000000 /dev/zero > /dev/null"])).unwrap() > 0.1);
    }
}
