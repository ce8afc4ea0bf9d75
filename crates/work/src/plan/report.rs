//! What came of a plan: every step tied to what was really seen.
//!
//! It must not know how anything was observed, and it calls nothing done that was not seen to be.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::content::{NodeKind, StepKey};
use crate::orchestration::OrchestrationDefinition;
use crate::text::{framed, printable};

/// Columns of the terminal form.
const WIDTH: usize = 100;
const BAR: &str = "      │ ";

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum StepStatus {
    /// It was carried out.
    Done,
    /// It was begun and not carried out.
    Failed {
        /// Why.
        reason: String,
    },
    /// The operator stopped it.
    Cancelled,
    /// It was never begun.
    NotRun {
        /// Why.
        reason: String,
    },
}

/// What was observed of one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepRecord {
    /// How it ended.
    pub status: StepStatus,
    /// The run that was at it.
    pub run: Option<String>,
    /// Files seen to change while it was at work, relative to the workspace.
    pub files: Vec<String>,
    /// Commits made for it.
    pub commits: Vec<String>,
    /// What the step itself gave as evidence.
    pub evidence: Vec<String>,
}

/// One step in the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepReport {
    /// The step.
    pub key: StepKey,
    /// Its title.
    pub title: String,
    /// What kind of doing it is.
    pub kind: NodeKind,
    /// Whether the plan says how to see that it is done.
    pub has_acceptance: bool,
    /// What was observed.
    pub record: StepRecord,
}

impl StepReport {
    /// Whether the step is said to be done, the plan says how to see it, and nothing shows it.
    pub fn is_unverified(&self) -> bool {
        let evidence = self.record.evidence.iter().any(|text| !text.trim().is_empty());
        self.record.status == StepStatus::Done && self.has_acceptance && !evidence
    }
}

/// What came of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum CheckOutcome {
    /// It ran to its end.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// It was ended from outside.
    Killed {
        /// By what.
        reason: String,
    },
    /// It was not run.
    NotRun {
        /// Why.
        reason: String,
    },
}

/// One check in the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckReport {
    /// The command line, as in the plan.
    pub check: String,
    /// What came of it.
    pub outcome: CheckOutcome,
}

/// The whole in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every approved step is done and every check succeeded.
    Done,
    /// Every step is said to be done, but a step lacks its evidence or a check was not run.
    Unverified,
    /// Every step is said to be done, and a check failed.
    ChecksFailed,
    /// Some approved step is not done.
    Incomplete,
}

/// What came of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The plan's id.
    pub plan: String,
    /// The approved steps, in the order they were to be done.
    pub steps: Vec<StepReport>,
    /// Steps of the plan that were not approved.
    pub deferred: Vec<StepKey>,
    /// Every check of the plan, in the plan's order.
    pub checks: Vec<CheckReport>,
    /// Files that changed and that no step touched.
    pub untied_files: Vec<String>,
}

impl Report {
    /// Ties what was observed to the definition. `changed` is every file seen to differ from the
    /// starting point. A step without a record was never begun; a check without an outcome was not run;
    /// records and outcomes of nothing in the definition are left out.
    pub fn assemble(
        definition: &OrchestrationDefinition,
        records: &BTreeMap<StepKey, StepRecord>,
        changed: &BTreeSet<String>,
        outcomes: &BTreeMap<String, CheckOutcome>,
    ) -> Report {
        let steps: Vec<StepReport> = definition
            .steps
            .iter()
            .map(|step| StepReport {
                key: step.key.clone(),
                title: step.title.clone(),
                kind: step.kind,
                has_acceptance: step.acceptance.is_some(),
                record: records.get(&step.key).cloned().unwrap_or_else(never_begun),
            })
            .collect();
        let tied: BTreeSet<&String> = steps.iter().flat_map(|step| &step.record.files).collect();
        let untied_files = changed.iter().filter(|file| !tied.contains(file)).cloned().collect();
        let checks = definition
            .checks
            .iter()
            .map(|check| CheckReport {
                check: check.clone(),
                outcome: outcomes.get(check).cloned().unwrap_or_else(|| CheckOutcome::NotRun {
                    reason: "nobody ran it".to_owned(),
                }),
            })
            .collect();
        Report {
            plan: definition.plan.clone(),
            steps,
            deferred: definition.deferred.clone(),
            checks,
            untied_files,
        }
    }

    /// The whole in one word; the worst that is true.
    pub fn verdict(&self) -> Verdict {
        let failed = |check: &CheckReport| match check.outcome {
            CheckOutcome::Exited { code } => code != 0,
            CheckOutcome::Killed { .. } => true,
            CheckOutcome::NotRun { .. } => false,
        };
        let not_run = |check: &CheckReport| matches!(check.outcome, CheckOutcome::NotRun { .. });
        if self.steps.iter().any(|step| step.record.status != StepStatus::Done) {
            Verdict::Incomplete
        } else if self.checks.iter().any(failed) {
            Verdict::ChecksFailed
        } else if self.checks.iter().any(not_run) || self.steps.iter().any(StepReport::is_unverified) {
            Verdict::Unverified
        } else {
            Verdict::Done
        }
    }

    /// Everything the plan names that was not done, with the reason.
    pub fn not_done(&self) -> Vec<(StepKey, String)> {
        self.steps
            .iter()
            .filter_map(|step| {
                let reason = match &step.record.status {
                    StepStatus::Done => return None,
                    StepStatus::Failed { reason } => format!("failed: {reason}"),
                    StepStatus::Cancelled => "stopped by the operator".to_owned(),
                    StepStatus::NotRun { reason } => format!("not run: {reason}"),
                };
                Some((step.key.clone(), reason))
            })
            .chain(
                self.deferred
                    .iter()
                    .map(|key| (key.clone(), "not approved yet".to_owned())),
            )
            .collect()
    }
}

fn never_begun() -> StepRecord {
    StepRecord {
        status: StepStatus::NotRun {
            reason: "it was never begun".to_owned(),
        },
        run: None,
        files: Vec::new(),
        commits: Vec::new(),
        evidence: Vec::new(),
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Done => "done",
            Self::Unverified => "done as far as is known, not verified",
            Self::ChecksFailed => "the steps are done, a check failed",
            Self::Incomplete => "not all of it was done",
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "Plan {}: {}", printable(&self.plan), self.verdict())?;
        for step in &self.steps {
            write_step(formatter, step)?;
        }
        for check in &self.checks {
            match &check.outcome {
                CheckOutcome::Exited { code } => writeln!(formatter, "  check: exit code {code}")?,
                CheckOutcome::Killed { reason } => {
                    writeln!(formatter, "  check: ended from outside, {}", printable(reason))?;
                }
                CheckOutcome::NotRun { reason } => {
                    writeln!(formatter, "  check: not run, {}", printable(reason))?;
                }
            }
            formatter.write_str(&framed(&check.check, BAR, WIDTH))?;
        }
        if !self.untied_files.is_empty() {
            writeln!(formatter, "  files touched by no step")?;
            write_each(formatter, &self.untied_files)?;
        }
        let not_done = self.not_done();
        if !not_done.is_empty() {
            writeln!(formatter, "  not done")?;
            for (key, reason) in not_done {
                formatter.write_str(&framed(&format!("{key}: {reason}"), BAR, WIDTH))?;
            }
        }
        Ok(())
    }
}

fn write_step(formatter: &mut fmt::Formatter<'_>, step: &StepReport) -> fmt::Result {
    let word = match step.record.status {
        StepStatus::Done if step.is_unverified() => "done, not verified",
        StepStatus::Done => "done",
        StepStatus::Failed { .. } => "failed",
        StepStatus::Cancelled => "cancelled",
        StepStatus::NotRun { .. } => "not run",
    };
    write!(formatter, "  {} ({}): {word}", step.key, step.kind)?;
    if let Some(run) = &step.record.run {
        write!(formatter, ", run {}", printable(run))?;
    }
    for commit in &step.record.commits {
        write!(formatter, ", commit {}", printable(commit))?;
    }
    writeln!(formatter)?;
    formatter.write_str(&framed(&step.title, BAR, WIDTH))?;
    if !step.record.files.is_empty() {
        writeln!(formatter, "    files")?;
        write_each(formatter, &step.record.files)?;
    }
    if !step.record.evidence.is_empty() {
        writeln!(formatter, "    in its own words")?;
        write_each(formatter, &step.record.evidence)?;
    }
    Ok(())
}

fn write_each(formatter: &mut fmt::Formatter<'_>, texts: &[String]) -> fmt::Result {
    for text in texts {
        formatter.write_str(&framed(text, BAR, WIDTH))?;
    }
    Ok(())
}
