//! An answer without end is cut off with a clear error instead of filling the memory.

use serde_json::json;
use stance_llm::{Block, ErrorKind};

use super::fixture::{Reply, Step, answer_to, begin, block, close, ending, frames, stop, text};

#[tokio::test]
async fn ten_megabytes_of_text() {
    let mut steps = vec![Step::Bytes(
        frames(&[begin(), block(0, json!({"type": "text", "text": ""}))]).into_bytes(),
    )];
    for _ in 0..100 {
        steps.push(Step::Bytes(frames(&[text(0, &"x".repeat(100_000))]).into_bytes()));
    }
    let error = answer_to(Reply::steps(steps)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Malformed);
    assert_eq!(error.message, "the answer is larger than 8388608 bytes");
    assert_eq!(error.partial.blocks.len(), 1);
}

#[tokio::test]
async fn one_line_without_end() {
    let steps = (0..100).map(|_| Step::Bytes(vec![b'x'; 100_000]));
    let error = answer_to(Reply::steps(steps.collect())).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Malformed);
    assert_eq!(error.message, "an event is larger than 8388608 bytes");
}

#[tokio::test]
async fn pings_without_end() {
    let pings = ": still here\n\n".repeat(100_000).into_bytes();
    let steps = (0..60).map(|_| Step::Bytes(pings.clone()));
    let error = answer_to(Reply::steps(steps.collect())).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Malformed);
    assert_eq!(error.message, "the answer takes more than 67108864 bytes on the wire");
}

#[tokio::test]
async fn a_long_answer_in_the_smallest_frames_is_none() {
    let mut written = vec![begin(), block(0, json!({"type": "text", "text": ""}))];
    let piece = frames(&vec![text(0, "x"); 1_000]);
    let mut steps = vec![Step::Bytes(frames(&written).into_bytes())];
    steps.extend((0..128).map(|_| Step::Bytes(piece.clone().into_bytes())));
    written = vec![close(0), ending("end_turn"), stop()];
    steps.push(Step::Bytes(frames(&written).into_bytes()));
    let answer = answer_to(Reply::steps(steps)).await.unwrap();
    assert_eq!(answer.blocks, [Block::Text("x".repeat(128_000))]);
}
