//! The smallest program that can be re-entered as the first one inside the walls. The tests of this
//! room use it in the place of the product's binary. Called with a folder it proves the walls there
//! and prints the proof, so that a test can do that as another user; called with a folder, `read`,
//! `write` or `try`, and a line it runs the line there and waits, so that a test can do it as another user or
//! kill it meanwhile. After a writing line it says each planted repository.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use modes::Containment;
use stance_sandbox::{
    Places, Program, SandboxError, Spawn, Toolchains, Violation, Walls, WallsState, enter_if_asked, spawn,
};

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
            [folder, posture, line] => run(&walls, Path::new(folder), posture, line).await,
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
    let view = walls.prove_throw_away(scratch).await.state();
    say(format!("{state:?} {view:?}").as_bytes());
    Ok(state == WallsState::Proven && view == WallsState::Proven)
}

async fn run(walls: &Walls, folder: &Path, posture: &str, line: &str) -> Result<bool, SandboxError> {
    let places = Places::new(folder.join("tree"), folder.join("scratch"));
    let program = Program::Shell(line.to_owned());
    let containment = match posture {
        "write" => Containment::repository_write(),
        "try" => Containment::throw_away(),
        _ => Containment::read_only(),
    };
    let mut running = spawn(walls, containment, &places, Spawn::new(program, folder.join("tree")))?;
    let mut output = running.take_output();
    while let Some(chunk) = async { output.as_mut()?.recv().await }.await {
        say(&chunk.bytes);
    }
    let finished = running.wait().await?;
    for Violation::GitCreated { path, .. } | Violation::Guarded { path, .. } in finished.violations {
        say(format!("planted {}\n", path.display()).as_bytes());
    }
    say(&finished.stderr.bytes);
    Ok(finished.exit == Some(0))
}

fn say(bytes: &[u8]) {
    let mut output = std::io::stdout();
    // With nobody listening there is nothing left to do.
    drop(output.write_all(bytes).and_then(|()| output.flush()));
}
