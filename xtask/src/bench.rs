//! Measurements, each a bench of the room it is about, shown beside what they are to stay under. It
//! measures nothing itself.

pub(crate) mod agents;

use std::collections::BTreeMap;

use anyhow::{Context, bail};

use crate::checkout::Checkout;
use crate::program;

/// One figure.
struct Figure {
    what: &'static str,
    unit: &'static str,
    value: f64,
    most: f64,
}

/// What judging a call and putting up the walls cost.
pub(crate) fn guard(checkout: &Checkout) -> anyhow::Result<()> {
    let guard = measured(checkout, "stance-modes", "guard")?;
    let walls = measured(checkout, "stance-sandbox", "walls")?;
    let of = |figures: &BTreeMap<String, f64>, name: &str| {
        figures
            .get(name)
            .copied()
            .with_context(|| format!("the bench does not tell {name}"))
    };
    let (plain, walled) = (of(&walls, "plain_ms")?, of(&walls, "walled_ms")?);
    let figures = [
        Figure {
            what: "reading a shell line of 200 characters",
            unit: "µs",
            value: of(&guard, "line_us")?,
            most: 50.0,
        },
        Figure {
            what: "judging a call",
            unit: "µs",
            value: of(&guard, "judge_us")?,
            most: 10.0,
        },
        Figure {
            what: "the walls, over a plain start",
            unit: "ms",
            value: walled - plain,
            most: 15.0,
        },
    ];
    for figure in &figures {
        println!(
            "{:<40} {:>8.2} {}   at most {} {}",
            figure.what, figure.value, figure.unit, figure.most, figure.unit
        );
    }
    println!(
        "a plain start takes {plain:.2} ms, one inside the walls {walled:.2} ms: {:.1} times",
        walled / plain
    );
    println!("medians of one run on this machine");
    let missed: Vec<&str> = figures
        .iter()
        .filter(|figure| figure.value > figure.most)
        .map(|figure| figure.what)
        .collect();
    if missed.is_empty() {
        Ok(())
    } else {
        bail!("slower than it is to be: {}", missed.join("; "))
    }
}

/// Runs a bench and reads the JSON object in its last line.
fn measured(checkout: &Checkout, package: &str, bench: &str) -> anyhow::Result<BTreeMap<String, f64>> {
    let printed = program::text(
        program::cargo()
            .args(["bench", "--quiet", "--package", package, "--bench", bench])
            .current_dir(checkout.root()),
    )?;
    let last = printed.lines().last().unwrap_or_default();
    serde_json::from_str(last).with_context(|| format!("the bench {bench} ended with {last:?}"))
}
