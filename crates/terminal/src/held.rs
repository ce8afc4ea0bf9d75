//! What holds processes here: the operator's word, the walls that answer to it, and what a person is
//! told when they are less than proven. It must not know what is started inside.

use modes::WallsStanding;
use sandbox::{Backend, LOST, Proof, Walls, WallsState};

use crate::house::{House, Proved};
use crate::settings::{ACCEPTANCE, Sandbox, SandboxMode};

/// The walls of this process of Stance.
pub(crate) struct Held {
    /// What processes are started with.
    pub(crate) walls: Option<Walls>,
    /// What runs are told.
    pub(crate) standing: WallsStanding,
    /// What was tried for it, if it was tried now: the last try of several.
    pub(crate) proof: Option<Proof>,
    /// Why they are not proven, in one line for each thing to know; nothing where they are.
    pub(crate) warnings: Vec<String>,
}

/// What an operator's word lets stand, best first.
const fn rungs(mode: SandboxMode) -> &'static [(Backend, WallsStanding)] {
    match mode {
        SandboxMode::Required => &[(Backend::Namespaces, WallsStanding::Proven)],
        SandboxMode::Preferred => &[
            (Backend::Namespaces, WallsStanding::Proven),
            (Backend::Kernel, WallsStanding::Partial),
            (Backend::Nothing, WallsStanding::Off),
        ],
        SandboxMode::Off => &[(Backend::Nothing, WallsStanding::Off)],
        SandboxMode::Outer => &[(Backend::Nothing, WallsStanding::Outer)],
    }
}

/// Takes the best that stands.
pub(crate) async fn find(house: &House, sandbox: &Sandbox, proved: Proved) -> Held {
    let mut reasons = Vec::new();
    let mut absent = Held {
        walls: None,
        standing: WallsStanding::Absent,
        proof: None,
        warnings: Vec::new(),
    };
    for (backend, standing) in rungs(sandbox.mode) {
        let walls = match house.walls(*backend) {
            Ok(walls) => walls,
            Err(problem) => {
                reasons.push(problem.message);
                continue;
            }
        };
        let (proof, state) = tried(house, &walls, *backend, proved).await;
        absent.proof = proof.or(absent.proof);
        match state {
            Some(WallsState::Absent { why }) => {
                reasons.push(why);
                absent.walls.get_or_insert(walls);
            }
            Some(WallsState::Proven | WallsState::Partial) => {
                let (standing, warnings) = accepted(house, sandbox, *standing, &reasons);
                return Held {
                    walls: Some(walls),
                    standing,
                    warnings,
                    ..absent
                };
            }
            None => {
                return Held {
                    walls: Some(walls),
                    ..absent
                };
            }
        }
    }
    if proved != Proved::NotNeeded {
        let why = reasons.join("; ");
        absent.warnings.push(format!("walls OFF: {why}; no program is started"));
    }
    absent
}

/// What came of trying: no state where it was not asked for.
async fn tried(house: &House, walls: &Walls, backend: Backend, proved: Proved) -> (Option<Proof>, Option<WallsState>) {
    match (proved, backend) {
        (Proved::NotNeeded, _) => (None, None),
        // There is nothing to try.
        (_, Backend::Nothing) => (None, Some(WallsState::Partial)),
        (Proved::Now, _) => (None, Some(walls.stand(&house.proofs()).await)),
        (Proved::Anew, _) => {
            let proof = walls.prove_and_remember(&house.proofs()).await;
            let state = proof.state();
            (Some(proof), Some(state))
        }
    }
}

/// What runs are told, and what a person reads: walls that are less than proven hold nothing until an
/// operator has accepted it in words.
fn accepted(
    house: &House,
    sandbox: &Sandbox,
    standing: WallsStanding,
    reasons: &[String],
) -> (WallsStanding, Vec<String>) {
    let mut warnings: Vec<String> = warning(standing, reasons).into_iter().collect();
    if standing == WallsStanding::Proven || sandbox.accepted {
        return (standing, warnings);
    }
    warnings.push(format!(
        "no program is started so, since {ACCEPTANCE}; to accept that, write `accept = \"{ACCEPTANCE}\"` under \
         [sandbox] in {}",
        house.places.person.display()
    ));
    (WallsStanding::Absent, warnings)
}

fn warning(standing: WallsStanding, reasons: &[String]) -> Option<String> {
    let because = match reasons {
        [] => "you switched them off".to_owned(),
        reasons => reasons.join("; "),
    };
    match standing {
        WallsStanding::Proven | WallsStanding::Absent => None,
        WallsStanding::Partial => Some(format!("walls partly: {because}; {LOST}")),
        WallsStanding::Outer => Some("walls outer: the container is the wall; not proven by Stance".to_owned()),
        WallsStanding::Off => Some(format!("walls OFF: {because}; a program may do whatever your user may")),
    }
}
