//! The smallest program that can be re-entered as the first one inside the walls. The tests of this
//! room use it in the place of the product's binary. Called with a folder it proves the walls there
//! and prints the proof, so that a test can do that as another user.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use stance_sandbox::{Toolchains, Walls, WallsState, enter_if_asked};

fn main() -> ExitCode {
    enter_if_asked();
    let Some(scratch) = std::env::args_os().nth(1) else {
        return ExitCode::FAILURE;
    };
    let state = prove(Path::new(&scratch)).unwrap_or_else(|why| WallsState::Absent { why });
    let shown = std::io::stdout().write_all(format!("{state:?}").as_bytes());
    if shown.is_ok() && state == WallsState::Proven {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn prove(scratch: &Path) -> Result<WallsState, String> {
    let helper = std::env::current_exe().map_err(|error| error.to_string())?;
    let walls = Walls::new(helper, Toolchains::default()).map_err(|error| error.to_string())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    Ok(runtime.block_on(walls.prove(scratch)).state())
}
