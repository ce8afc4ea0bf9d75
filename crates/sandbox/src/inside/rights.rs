//! Landlock: a second wall around writing, made of the kernel's own rules instead of mounts.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use super::{Held, Order};

/// Rights are asked for as the newest kernel names them; an older kernel takes those it knows.
const NEWEST: ABI = ABI::V10;

/// Device files that are for everybody.
const PLAIN_DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// Those that lead to a terminal, which in a view is never the caller's.
const TERMINALS: [&str; 2] = ["/dev/tty", "/dev/ptmx"];

/// From here on this process writes only what the order names, and its descendants too.
pub(super) fn restrict(order: &Order) -> Result<(), String> {
    match ruleset(order).and_then(RulesetCreated::restrict_self) {
        Err(error) => Err(format!("Landlock: {error}")),
        Ok(status) if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs => {
            Err("Landlock is not in this kernel".into())
        }
        Ok(_) => Ok(()),
    }
}

fn ruleset(order: &Order) -> Result<RulesetCreated, RulesetError> {
    match order.held {
        Held::Kernel => kernel_alone(order),
        Held::Namespaces | Held::Nothing => within_a_view(order),
    }
}

/// Where no view hides the rest, only what is named can be read, and nothing special is made.
fn kernel_alone(order: &Order) -> Result<RulesetCreated, RulesetError> {
    let read = AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir;
    let special =
        AccessFs::MakeBlock | AccessFs::MakeChar | AccessFs::MakeFifo | AccessFs::MakeSock | AccessFs::IoctlDev;
    let mut ruleset = created(order)?;
    for (paths, rights) in [
        (&order.readable, read),
        (&order.listed, AccessFs::ReadDir.into()),
        (&order.writable, AccessFs::from_all(NEWEST) & !special),
    ] {
        for path in paths {
            let rights = if path.is_dir() {
                rights
            } else {
                rights & AccessFs::from_file(NEWEST)
            };
            ruleset = allow(ruleset, path, rights)?;
        }
    }
    for device in PLAIN_DEVICES {
        ruleset = allow(ruleset, device, AccessFs::ReadFile | AccessFs::WriteFile)?;
    }
    Ok(ruleset)
}

fn created(order: &Order) -> Result<RulesetCreated, RulesetError> {
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?;
    // With the proxy its programs may also talk to each other: there is nobody else in their network.
    if order.proxy.is_none() {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    ruleset.create()
}

fn within_a_view(order: &Order) -> Result<RulesetCreated, RulesetError> {
    let mut ruleset = created(order)?;
    let read = AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir;
    ruleset = allow(ruleset, "/", read)?;
    for path in &order.writable {
        let rights = if path.is_dir() {
            AccessFs::from_all(NEWEST)
        } else {
            AccessFs::from_file(NEWEST)
        };
        ruleset = allow(ruleset, path, rights)?;
    }
    for device in PLAIN_DEVICES.into_iter().chain(TERMINALS) {
        ruleset = allow(ruleset, device, AccessFs::from_file(NEWEST))?;
    }
    allow(ruleset, "/dev/pts", AccessFs::from_file(NEWEST) | AccessFs::ReadDir)
}

fn allow(
    ruleset: RulesetCreated,
    path: impl AsRef<std::path::Path>,
    rights: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    match PathFd::new(path) {
        Ok(opened) => ruleset.add_rule(PathBeneath::new(opened, rights)),
        // What is not in the view needs no right.
        Err(_) => Ok(ruleset),
    }
}
