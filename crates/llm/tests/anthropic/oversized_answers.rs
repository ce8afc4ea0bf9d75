//! An answer without end is cut off with a clear error instead of filling the memory.

use serde_json::json;
use stance_llm::ErrorKind;

use crate::fixture::{Reply, Step, answer_to, begin, block, frames, text};

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
    assert_eq!(error.message, "the answer is larger than 8388608 bytes");
}
