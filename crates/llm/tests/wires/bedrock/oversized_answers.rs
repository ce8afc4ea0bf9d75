//! An answer without end is cut off with a clear error instead of filling the memory.

use stance_llm::ErrorKind;

use super::fixture::{Step, answer_to, begin, calls, input, streamed, text};

#[tokio::test]
async fn ten_megabytes_of_text_or_of_arguments() {
    let large = "x".repeat(100_000);
    for (first, piece) in [
        (Vec::new(), text(0, &large)),
        (calls(0, "a", "write"), input(0, &large)),
    ] {
        let mut steps = vec![Step::Bytes(begin()), Step::Bytes(first)];
        steps.extend((0..100).map(|_| Step::Bytes(piece.clone())));
        let error = answer_to(streamed(steps)).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Malformed);
        assert_eq!(error.message, "the answer is larger than 8388608 bytes");
    }
}

#[tokio::test]
async fn a_frame_that_says_it_is_enormous() {
    let mut bytes = u32::MAX.to_be_bytes().to_vec();
    bytes.extend([0; 4]);
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    let error = answer_to(streamed(vec![Step::Bytes(bytes)])).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Malformed);
    assert_eq!(error.message, "an event is larger than 8388608 bytes");
}
