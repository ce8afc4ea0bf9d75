//! What judging costs: reading a shell line of two hundred characters, and judging a call of one
//! command. Prints one JSON object with medians in microseconds.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement takes the time"
)]

use std::hint::black_box;
use std::time::Instant;

use serde_json::json;
use stance_modes::{
    Approver, Autonomy, Built, Inspection, LinePlace, LineReading, Mode, ProposedCall, Role, RuleText, RunRecipe,
    Scope, Verdict, WallsStanding, descriptor, judge, run_spec,
};

/// As the program has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const TURNS: usize = 2000;

const LINE: &str = "git log --oneline --since=2.weeks -- src/engine src/terminal | grep -n 'fix' | sort -u | head -40 && \
                    find src -name '*.rs' -newer Cargo.toml | xargs wc -l | tail -n 3; cat README.md docs/index.md | wc -w";

fn main() {
    let place = LinePlace {
        cwd: "",
        worktree: "/home/ann/project",
        home: "/home/ann",
        hidden: &["/home/ann/.stance".to_owned()],
        walled: true,
        git_starts_nothing: &|_| true,
    };
    let read = median(|| {
        let start = Instant::now();
        black_box(LineReading::read(black_box(LINE), &place));
        start.elapsed()
    });
    let spec = run_spec(recipe(), &Built::everything()).unwrap();
    let row = descriptor("execute_command").unwrap();
    let reading = LineReading::read("cargo test --workspace", &place);
    let judged = median(|| {
        let call = ProposedCall::new(row, "bench", json!({"command": LINE})).with_line(reading.clone());
        let start = Instant::now();
        black_box(judge(&spec, call, None));
        start.elapsed()
    });
    println!(
        "{{\"line_us\": {read:.3}, \"judge_us\": {judged:.3}, \"line_characters\": {}}}",
        LINE.len()
    );
}

fn recipe() -> RunRecipe {
    let rule = |verdict, text: &str| RuleText {
        scope: Scope::Person,
        verdict,
        text: text.to_owned(),
        place: "settings.toml:1".to_owned(),
    };
    RunRecipe {
        mode: Mode::chosen("agent").unwrap(),
        chain: Vec::new(),
        role: Role::Main,
        read_only_once: false,
        autonomy: Autonomy::default(),
        approver: Approver::Person,
        walls: WallsStanding::Proven,
        inspection: Inspection::Off,
        rules: vec![
            rule(Verdict::Allow, "npm run *"),
            rule(Verdict::Deny, "rm *"),
            rule(Verdict::Deny, "read(secrets/**)"),
            rule(Verdict::Ask, "edit(ci/**)"),
        ],
        hosts: Vec::new(),
        answers: Vec::new(),
    }
}

/// The median of many turns, in microseconds.
fn median(mut turn: impl FnMut() -> std::time::Duration) -> f64 {
    let mut times: Vec<_> = (0..TURNS).map(|_| turn()).collect();
    times.sort();
    times.get(TURNS / 2).copied().unwrap().as_secs_f64() * 1e6
}
