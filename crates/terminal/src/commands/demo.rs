//! The demonstration: a sample repository with a real bug, a scripted model that asks, tries to
//! write although it may not, and delivers a plan; the plan is approved and carried out. Every
//! line it shows is what really happened. It must not do anything a person could not do.

use std::fs;
use std::path::{Path, PathBuf};

use engine::{
    About, Address, Attendance, Command, Done, PersonAnswer, PersonDecision, Problem, ProblemKind, RunOptions,
    RunReport,
};
use modes::{Mode, RuleText, Scope, Verdict};
use tokio_util::sync::CancellationToken;
use work::approval::ApprovalMove;
use work::plan::{ApprovalOptions, Landing, Selection};

use crate::conformance::World;
use crate::door::{Door, Output};
use crate::exit::Exit;
use crate::house::{House, Proved};
use crate::lines::Lines;
use crate::models::NamedModel;
use crate::print::{Mark, Printer, Reader};

const SCRIPT: &str = include_str!("../../demo/script.json");

/// The sample repository: plain files, and a repository without a commit.
const SAMPLE: [(&str, &str); 5] = [
    ("README.md", include_str!("../../demo/sample/README.md")),
    ("cart.sh", include_str!("../../demo/sample/cart.sh")),
    ("test.sh", include_str!("../../demo/sample/test.sh")),
    (".git/HEAD", "ref: refs/heads/main\n"),
    (
        ".git/config",
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[user]\n\tname = Demo\n\temail = demo@localhost\n",
    ),
];

/// The folders a repository without a commit has.
const FOLDERS: [&str; 4] = [
    ".git/objects/info",
    ".git/objects/pack",
    ".git/refs/heads",
    ".git/refs/tags",
];

const GOAL: &str = "The test in test.sh fails. Find out why and plan the repair.";

/// Runs the demonstration from beginning to end.
pub(crate) async fn demo(house: &House) -> Result<Exit, Problem> {
    let folder = fresh_folder(&house.stance_home.join("demo"))?;
    let sample = folder.join("sample");
    lay_out(&folder, &sample)?;
    let mut door = door(&house.elsewhere(folder.join("home"), sample.clone()), &folder).await?;
    commit_sample(&door).await?;

    heading(
        &mut door,
        "1  In Plan, a model reads, asks, and tries to write all the same",
    );
    let before = World::beneath(&[&sample])?;
    let report = planned(&mut door).await?;
    let after = World::beneath(&[&sample])?;
    let refused = report.denials.len();
    if before != after {
        return Err(Problem::new(
            ProblemKind::Machine,
            "The sample repository changed in Plan. This must not happen.",
        ));
    }
    door.printer.line(
        Mark::Done,
        &format!(
            "{refused} of {refused} writes were refused before they ran. {} files and folders, `.git` included, \
             have the same content, rights and times as before.",
            after.len()
        ),
    );

    heading(
        &mut door,
        "2  The operator reads the plan and approves exactly this digest",
    );
    let carried_out = approved(&mut door, &report).await?;

    heading(&mut door, "3  What is left");
    door.printer
        .line(Mark::Note, &format!("the sample repository: {}", sample.display()));
    let verified = door.engine.verify(Some(&carried_out.audit_head)).await?;
    if verified.fault.is_some() {
        return Err(Problem::new(
            ProblemKind::Store,
            "The journal of the demonstration does not hold.",
        ));
    }
    door.printer.line(
        Mark::Done,
        &format!("the journal: {} events, each as it was appended", verified.events),
    );
    Ok(Exit::of_outcome(carried_out.outcome))
}

/// The plan run, with the operator's answer to its question.
async fn planned(door: &mut Door) -> Result<RunReport, Problem> {
    let plan = Mode::chosen("plan").map_err(|refused| Problem::usage(refused.to_string()))?;
    let options = RunOptions {
        attendance: Attendance::Later,
        ..RunOptions::default()
    };
    let send = Command::Send {
        to: Address::FreshSpace(plan),
        text: GOAL.to_owned(),
        options,
    };
    let waiting = reported(door.act(send).await?.report)?;
    let question = waiting
        .pending
        .iter()
        .find(|pending| pending.kind == "question")
        .ok_or_else(|| Problem::refused("The model of the demonstration asked nothing."))?;
    door.printer.line(Mark::Asks, &question.title);
    door.printer.line(Mark::Note, "the operator answers: Yes");
    let answer = Command::Answer {
        id: question.id.clone(),
        digest: None,
        answer: PersonAnswer::Text("Yes".to_owned()),
    };
    reported(door.act(answer).await?.report)
}

/// Shows the plan, approves it by its digest and carries it out.
async fn approved(door: &mut Door, report: &RunReport) -> Result<RunReport, Problem> {
    let brief = report
        .plan
        .as_ref()
        .ok_or_else(|| Problem::refused("The demonstration has no plan."))?;
    let plan = door.engine.plan(&brief.id).await?;
    door.printer.prepared(&plan.text);
    door.printer.line(
        Mark::Note,
        &format!(
            "the operator types: stance plan approve {}@{}",
            plan.id,
            modes::short_digest(&plan.digest)
        ),
    );
    let decide = Command::Decide {
        about: About::Plan(plan.id),
        verdict: PersonDecision {
            digest: plan.digest,
            decision: ApprovalMove::Approve,
            reason: None,
            options: ApprovalOptions::with_landing(Landing::Checkout),
            selection: Selection::All,
        },
    };
    reported(door.act(decide).await?.report)
}

fn reported(report: Option<RunReport>) -> Result<RunReport, Problem> {
    report.ok_or_else(|| Problem::refused("The demonstration came to no report."))
}

fn heading(door: &mut Door, text: &str) {
    door.printer.prepared("");
    door.printer.line(Mark::Plan, text);
}

async fn door(house: &House, folder: &Path) -> Result<Door, Problem> {
    let script = format!("scripted:{}", folder.join("script.json").display());
    let named = NamedModel::read(Some(&script), None, None, folder)?;
    let settings = house.settings()?.sound()?;
    let held = house.held(&settings.sandbox, Proved::Now).await;
    let walls = held.standing;
    let engine = house
        .engine(&settings, named.as_ref(), Attendance::Nobody, held)
        .await?;
    Ok(Door {
        engine,
        walls,
        printer: Printer::new(&house.environment, Reader::Person),
        lines: Lines::of_nobody(),
        output: Output::Words,
        attended: false,
    })
}

/// The sample's first commit is made by an Agent run, unseen: the demonstration begins after it.
async fn commit_sample(door: &Door) -> Result<(), Problem> {
    let agent = Mode::chosen("agent").map_err(|refused| Problem::usage(refused.to_string()))?;
    let allow_commit = RuleText {
        scope: Scope::Run,
        verdict: Verdict::Allow,
        text: "effect(git_commit)".to_owned(),
        place: "the demonstration".to_owned(),
    };
    let send = Command::Send {
        to: Address::FreshSpace(agent),
        text: "Commit the sample.".to_owned(),
        options: RunOptions {
            rules: vec![allow_commit],
            ..RunOptions::default()
        },
    };
    let Done::Run { run, .. } = door.engine.carry_out(send).await? else {
        return Err(Problem::refused("The sample could not be committed."));
    };
    let report = door.engine.drive_run(&run, CancellationToken::new()).await?;
    match report.denials.first() {
        None if report.exit_code() == 0 => Ok(()),
        None => Err(Problem::refused(format!(
            "The sample could not be committed: {}",
            report.summary
        ))),
        Some(denial) => Err(
            Problem::refused(format!("The sample could not be committed: {}", denial.reason))
                .hint("`stance doctor` shows what this machine lacks."),
        ),
    }
}

fn lay_out(folder: &Path, sample: &Path) -> Result<(), Problem> {
    for name in FOLDERS {
        fs::create_dir_all(sample.join(name)).map_err(|error| unwritable(sample, &error))?;
    }
    for (name, content) in SAMPLE {
        fs::write(sample.join(name), content).map_err(|error| unwritable(sample, &error))?;
    }
    fs::write(folder.join("script.json"), SCRIPT).map_err(|error| unwritable(folder, &error))
}

/// A new folder beneath `demos`; earlier demonstrations stay as they are.
fn fresh_folder(demos: &Path) -> Result<PathBuf, Problem> {
    fs::create_dir_all(demos).map_err(|error| unwritable(demos, &error))?;
    for number in 1.. {
        let folder = demos.join(number.to_string());
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(unwritable(demos, &error)),
        }
    }
    Err(Problem::refused("There is no free folder for the demonstration."))
}

fn unwritable(folder: &Path, error: &std::io::Error) -> Problem {
    Problem::new(
        ProblemKind::Machine,
        format!("{} cannot be written: {error}.", folder.display()),
    )
}
