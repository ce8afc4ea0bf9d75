//! The smallest program that can be re-entered as the first one inside the walls. The tests of this
//! room use it in the place of the product's binary. Called with a folder it proves the walls there
//! and prints the proof, so that a test can do that as another user; called with a folder and a line
//! it runs the line there and waits, so that a test can kill it meanwhile.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use stance_sandbox::{Places, Program, SandboxError, Spawn, Toolchains, Walls, WallsState, enter_if_asked, spawn};

fn main() -> ExitCode {
    enter_if_asked();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let (Ok(helper), Ok(runtime)) = (std::env::current_exe(), runtime) else {
        return ExitCode::FAILURE;
    };
    let done = runtime.block_on(async {
        let walls = Walls::new(helper, Toolchains::default())?;
        match arguments.as_slice() {
            [scratch] => prove(&walls, Path::new(scratch)).await,
            [folder, line] => run(&walls, Path::new(folder), line).await,
            _ => Ok(false),
        }
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(error.to_string().as_bytes());
            ExitCode::FAILURE
        }
    }
}

async fn prove(walls: &Walls, scratch: &Path) -> Result<bool, SandboxError> {
    let state = walls.prove(scratch).await.state();
    say(format!("{state:?}").as_bytes());
    Ok(state == WallsState::Proven)
}

async fn run(walls: &Walls, folder: &Path, line: &str) -> Result<bool, SandboxError> {
    let places = Places::new(folder.join("tree"), folder.join("scratch"));
    let program = Program::Shell(line.to_owned());
    let mut running = spawn(
        walls,
        modes::Containment::read_only(),
        &places,
        Spawn::new(program, "/"),
    )?;
    let mut output = running.take_output();
    while let Some(chunk) = async { output.as_mut()?.recv().await }.await {
        say(&chunk.bytes);
    }
    Ok(running.wait().await?.exit == Some(0))
}

fn say(bytes: &[u8]) {
    let mut output = std::io::stdout();
    // With nobody listening there is nothing left to do.
    drop(output.write_all(bytes).and_then(|()| output.flush()));
}
