//! The main job, shown: builds `stance` and runs its own demo. Knows nothing of what is shown.

use std::ffi::OsString;

use anyhow::bail;

use crate::checkout::Checkout;
use crate::{program, setup};

/// Sets up, builds, runs.
pub(crate) fn run(checkout: &Checkout, arguments: &[OsString]) -> anyhow::Result<()> {
    let standing = setup::run();
    standing.print();
    if let [unmet, ..] = standing.unmet("git,bwrap").as_slice() {
        bail!("the demo runs programs inside walls: {unmet}");
    }
    program::show(
        program::cargo()
            .args(["run", "--package", "stance-terminal", "--bin", "stance", "--", "demo"])
            .args(arguments)
            .current_dir(checkout.root()),
    )
}
