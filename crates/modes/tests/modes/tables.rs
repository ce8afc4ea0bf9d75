//! The tables as they were reviewed, whole. A change of one is a change of what modes guarantee.

use std::fmt::Write as _;

use insta::assert_snapshot;
use stance_modes::{
    Approver, Autonomy, Built, Cause, Mode, Role, RunRecipe, after_approval, descriptors, model_view, run_spec,
};

use crate::drawn::spec;
use crate::rules::at;

#[test]
fn every_tool_in_every_mode() {
    let specs = Mode::all().map(|mode| spec(at(mode, &[])));
    let mut text = String::new();
    for row in descriptors() {
        let _ = write!(text, "{} [{}]", row.name, format!("{:?}", row.tier).to_lowercase());
        for effect in row.effects.iter() {
            let _ = write!(text, " {effect}");
        }
        text.push('\n');
        for spec in &specs {
            let standing = match spec.surface().find(row.name) {
                Ok(tool) if spec.pinned(tool) => "pinned".to_owned(),
                Ok(_) => "in".to_owned(),
                Err(absent) => format!("out: {}", absent.absence.unwrap()),
            };
            let _ = writeln!(text, "    {:12}{standing}", spec.mode().to_string());
        }
    }
    assert_snapshot!(text);
}

/// The tools of the first issue, in the order they are registered.
const FIRST: &[&str] = &[
    "read_file",
    "list_files",
    "search_files",
    "git_read",
    "git_write",
    "write_to_file",
    "replace_in_file",
    "execute_command",
    "ask_user",
    "plan_mode_respond",
    "act_mode_respond",
    "attempt_completion",
    "submit_plan",
    "exit_plan_mode",
    "submit_output",
    "update_todo",
];

fn block(recipe: RunRecipe) -> String {
    let mut names = FIRST.to_vec();
    names.extend(["propose_orchestration", "decline_orchestration", "finalize_review"]);
    let built = Built::new(names).unwrap();
    model_view(&run_spec(recipe, &built).unwrap()).preamble().to_owned()
}

#[test]
fn prompt_blocks_of_the_modes() {
    for mode in Mode::all() {
        assert_snapshot!(format!("block_{}", mode.stored()), block(at(mode, &[])));
    }
}

#[test]
fn prompt_blocks_of_narrowed_runs_and_steps() {
    let agent = at(after_approval(), &[]);
    let step = |read_only| RunRecipe {
        role: Role::Step { files: None, read_only },
        ..agent.clone()
    };
    assert_snapshot!("block_step", block(step(false)));
    assert_snapshot!("block_step_read_only", block(step(true)));
    assert_snapshot!(
        "block_read_only_once",
        block(RunRecipe {
            read_only_once: true,
            ..agent.clone()
        })
    );
    let before = RunRecipe {
        chain: vec![Cause::Run(Mode::chosen("plan").unwrap())],
        ..agent.clone()
    };
    assert_snapshot!("block_started_before_the_approval", block(before));
}

#[test]
fn nobody_is_invited_to_ask_where_nobody_answers() {
    let plan = at(Mode::chosen("plan").unwrap(), &[]);
    let invites = |recipe: RunRecipe| block(recipe).contains("ask with `ask_user`");
    assert!(invites(plan.clone()));
    assert!(!invites(RunRecipe {
        approver: Approver::Nobody,
        ..plan.clone()
    }));
    assert!(!invites(RunRecipe {
        approver: Approver::Later,
        ..plan.clone()
    }));
    assert!(!invites(RunRecipe {
        autonomy: Autonomy::ActFreely,
        ..plan
    }));
}
