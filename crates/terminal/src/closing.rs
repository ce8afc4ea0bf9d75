//! What a person reads when a run or an orchestration has come to its halt. It must not know how it
//! was driven.

use engine::{Engine, ModelUsed, OrchestrationReport, Pending, PlanBrief, PlanView, RunReport};

use crate::exit::Exit;
use crate::print::{Mark, Printer};
use modes::short_digest;

/// Files that are named; the others are counted.
const NAMED_FILES: usize = 8;

/// Says what it came to: what waits, the plan, the steps, one last line.
pub(crate) async fn say(printer: &mut Printer, engine: &Engine, report: &RunReport) {
    for denial in report
        .denials
        .iter()
        .filter(|denial| denial.layer == modes::Layer::NoApprover)
    {
        printer.line(
            Mark::Refused,
            &format!("{}   {} (nobody was here to ask)", denial.tool, denial.reason),
        );
    }
    for refused in &report.hosts_refused {
        printer.line(
            Mark::Refused,
            &format!("commands did not reach {}: {}", refused.host, refused.why),
        );
    }
    if let Some(first) = report.hosts_refused.iter().find(|refused| refused.can_ask) {
        printer.line(
            Mark::Note,
            &format!(
                "hint: --allow 'net({})' opens a host for one run; `hosts` under [network] of your own settings, for \
                 every run.",
                first.host
            ),
        );
    }
    if report.thread_holds_secrets {
        printer.line(
            Mark::Note,
            "secrets were read in this thread: it reaches only hosts of the list unasked",
        );
    }
    for check in report.checks.iter().filter(|_| report.orchestration.is_none()) {
        let exit = check
            .exit
            .map_or_else(|| "was ended".to_owned(), |code| format!("exit code {code}"));
        let mark = if check.exit == Some(0) {
            Mark::Done
        } else {
            Mark::Refused
        };
        printer.line(mark, &format!("check {}: {exit}", check.command));
    }
    if let Some(orchestration) = &report.orchestration {
        if report.summary.contains('\n') {
            printer.prepared(&report.summary);
        } else {
            steps(printer, orchestration);
        }
        if orchestration.status == "executing" {
            printer.line(
                Mark::Note,
                &format!("go on with: stance plan run {}", orchestration.plan_id),
            );
        }
    }
    if let Some(brief) = &report.plan {
        let plans = engine.plans().await.unwrap_or_default();
        plan_row(printer, brief, plans.iter().find(|plan| plan.id == brief.id));
    }
    for pending in report.pending.iter().filter(|pending| pending.kind != "plan") {
        printer.line(
            Mark::Asks,
            &format!("{} {}: {}", pending.kind.replace('_', " "), pending.id, pending.title),
        );
        if pending.kind == "permission" {
            pending.lines.iter().for_each(|line| printer.foreign(line));
        }
        printer.line(Mark::Note, &format!("stance {}", how_to_answer(pending)));
    }
    last_line(printer, report);
}

/// A plan in three rows: what it is, how to read it, how to approve exactly it.
fn plan_row(printer: &mut Printer, brief: &PlanBrief, view: Option<&PlanView>) {
    let count = view
        .and_then(|view| view.content.pointer("/nodes"))
        .and_then(serde_json::Value::as_array)
        .map_or(0, Vec::len);
    let steps = if count == 1 {
        "1 step".to_owned()
    } else {
        format!("{count} steps")
    };
    printer.line(
        Mark::Plan,
        &format!(
            "plan {} · {} · {steps} · revision {} · digest {}",
            brief.id,
            brief.status,
            brief.revision,
            short_digest(&brief.digest)
        ),
    );
    if let Some(view) = view {
        printer.foreign(&view.goal);
    }
    printer.line(Mark::Note, &format!("read it:    stance plan show {}", brief.id));
    if brief.status == "proposed" {
        printer.line(
            Mark::Note,
            &format!(
                "approve it: stance plan approve {}@{}",
                brief.id,
                short_digest(&brief.digest)
            ),
        );
    }
}

fn steps(printer: &mut Printer, orchestration: &OrchestrationReport) {
    for step in &orchestration.steps {
        let mark = if step.status == "done" {
            Mark::Done
        } else {
            Mark::Refused
        };
        let mut parts = vec![format!("step {}: {}", step.key, step.status)];
        if !step.files_changed.is_empty() {
            parts.push(files(&step.files_changed));
        }
        if let Some(commit) = &step.commit {
            parts.push(format!("commit {commit}"));
        }
        parts.extend(step.reason.clone());
        printer.line(mark, &parts.join(" · "));
        if let Some(evidence) = &step.evidence {
            printer.foreign(evidence);
        }
    }
}

/// The model that answered; where it is not the one that was asked, both.
pub(crate) fn model_used(model: &ModelUsed) -> String {
    let configured = &model.configured;
    match &model.actual {
        None => configured.clone(),
        // A script is known by its digest, wherever its file lies.
        Some(actual) if actual.starts_with(llm::scripted::PROVIDER) => actual.clone(),
        Some(actual) if configured.split_once(':').is_some_and(|(_, asked)| asked == actual) => configured.clone(),
        Some(actual) => format!("{configured}, answered by {actual}"),
    }
}

fn last_line(printer: &mut Printer, report: &RunReport) {
    let mark = match Exit::of_outcome(report.outcome) {
        Exit::FINE => Mark::Done,
        Exit::WAITING => Mark::Asks,
        _ => Mark::Refused,
    };
    if !report.summary.is_empty() && !report.summary.contains('\n') {
        printer.line(mark, &report.summary);
    }
    let cost = report.cost.amount.filter(|_| report.cost.known).map_or_else(
        || "cost unknown".to_owned(),
        |amount| match report.cost.currency.as_str() {
            currency if amount < 0.01 => format!("under 0.01 {currency}"),
            currency => format!("{amount:.2} {currency}"),
        },
    );
    let model = model_used(&report.model);
    printer.line(
        mark,
        &format!(
            "{} · {} · {} · {} tokens · {cost} · {model} · {}",
            report.outcome.word().replace('_', " "),
            report.label,
            files(&report.files_changed),
            report.usage.total(),
            duration(report.duration_ms),
        ),
    );
    if report.orchestration.is_none() {
        match report.outcome {
            modes::Outcome::Waiting => printer.line(
                Mark::Note,
                &format!("go on with: stance run --resume {}", report.run_id),
            ),
            modes::Outcome::Cancelled => printer.line(
                Mark::Note,
                &format!("say how to go on: stance run --resume {} \"…\"", report.run_id),
            ),
            _ => {}
        }
    }
}

/// The command that answers what waits, without the program's name.
pub(crate) fn how_to_answer(pending: &Pending) -> String {
    let exact = format!("{}@{}", pending.id, short_digest(&pending.digest));
    match pending.kind.as_str() {
        "permission" if !pending.rules.is_empty() => {
            format!("inbox approve {exact} --resume   (also --run, --always)   or   stance inbox deny {exact} --resume")
        }
        "permission" | "plan_exit" => {
            format!("inbox approve {exact} --resume   or   stance inbox deny {exact} --resume")
        }
        "plan" => {
            let plan = pending.plan_id.as_deref().unwrap_or_default();
            format!(
                "plan show {plan}   then   stance plan approve {plan}@{}",
                short_digest(&pending.digest)
            )
        }
        "mcp_server" => format!("mcp allow {exact}"),
        _ => format!("inbox answer {} \"…\" --resume", pending.id),
    }
}

fn files(paths: &[String]) -> String {
    match paths {
        [] => "no file changed".to_owned(),
        paths => {
            let named = paths
                .iter()
                .take(NAMED_FILES)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(", ");
            match paths.len().saturating_sub(NAMED_FILES) {
                0 => format!("changed {named}"),
                more => format!("changed {named} and {more} more"),
            }
        }
    }
}

pub(crate) fn duration(milliseconds: i64) -> String {
    let seconds = milliseconds / 1000;
    if seconds < 60 {
        format!("{seconds}.{} s", (milliseconds % 1000) / 100)
    } else {
        format!("{} min {} s", seconds / 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_well() {
        let paths: Vec<String> = (0..10).map(|number| format!("f{number}")).collect();
        assert_eq!(files(&[]), "no file changed");
        assert_eq!(files(&paths[..2]), "changed f0, f1");
        assert!(files(&paths).ends_with("f7 and 2 more"));
        assert_eq!(duration(1250), "1.2 s");
        assert_eq!(duration(125_000), "2 min 5 s");
    }
}
