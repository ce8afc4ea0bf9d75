//! A process that is talked with while it lives, inside the same walls as any other.

use stance_sandbox::{Program, Spawn, converse};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use crate::ground::{Ground, READ_ONLY, content};

fn shell(line: &str) -> Spawn {
    Spawn::new(Program::Shell(line.into()), "/")
}

#[tokio::test]
async fn what_is_said_is_heard_and_answered_until_nothing_more_is_said() {
    let ground = Ground::new();
    let it = shell("while read -r line; do echo \"heard $line\"; done; echo quiet >&2; exit 3");
    let (running, stream) = converse(&ground.walls, READ_ONLY, &ground.places, it).unwrap();
    let (hears, mut says) = tokio::io::split(stream);
    let mut hears = BufReader::new(hears).lines();
    for word in ["one", "two"] {
        says.write_all(format!("{word}\n").as_bytes()).await.unwrap();
        assert_eq!(hears.next_line().await.unwrap(), Some(format!("heard {word}")));
    }
    drop((hears, says));
    let finished = running.wait().await.unwrap();
    assert_eq!(finished.exit, Some(3));
    assert_eq!(finished.stderr.text(), "quiet\n");
    assert_eq!(finished.stdout.text(), "");
}

#[tokio::test]
async fn a_program_that_goes_away_ends_the_conversation() {
    let ground = Ground::new();
    let (running, mut stream) = converse(&ground.walls, READ_ONLY, &ground.places, shell("echo bye")).unwrap();
    let mut heard = String::new();
    stream.read_to_string(&mut heard).await.unwrap();
    assert_eq!(heard, "bye\n");
    assert_eq!(running.wait().await.unwrap().exit, Some(0));
}

#[tokio::test]
async fn it_stands_in_the_walls_and_dies_when_it_is_let_go() {
    let ground = Ground::new();
    let line = format!(
        "echo changed > {}/file || echo refused; exec 2>/dev/null; while :; do sleep 1; done",
        ground.tree.display()
    );
    let (running, stream) = converse(&ground.walls, READ_ONLY, &ground.places, shell(&line)).unwrap();
    let mut hears = BufReader::new(stream).lines();
    assert_eq!(hears.next_line().await.unwrap(), Some("refused".to_owned()));
    assert_eq!(content(&ground.tree.join("file")), "as it was\n");
    drop(running);
    assert_eq!(hears.next_line().await.unwrap(), None);
}
