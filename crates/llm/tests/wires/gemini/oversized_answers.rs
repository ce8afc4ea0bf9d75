//! An answer without end is cut off with a clear error instead of filling the memory.

use serde_json::json;
use stance_llm::ErrorKind;

use super::fixture::{Reply, Step, answer_to, chunk, frames, said};

#[tokio::test]
async fn ten_megabytes_of_text_or_of_calls() {
    let text = said(&"x".repeat(100_000));
    let call = chunk(json!([{"functionCall": {"name": "write", "args": {"content": "x".repeat(100_000)}}}]));
    for piece in [text, call] {
        let bytes = frames(&[piece]).into_bytes();
        let steps = (0..100).map(|_| Step::Bytes(bytes.clone()));
        let error = answer_to(Reply::steps(steps.collect())).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Malformed);
        assert_eq!(error.message, "the answer is larger than 8388608 bytes");
        assert!(!error.partial.blocks.is_empty());
    }
}
