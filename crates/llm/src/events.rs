//! Server-sent events out of bytes that arrive cut anywhere. Only the data of events is of use
//! here; what it means is the wires' business.
//!
//! Our own, because the library at hand panics at a byte order mark and reads a long line anew
//! with every piece of it.

use futures_util::{Stream, StreamExt, stream};

use crate::{ErrorKind, ModelError};

/// The data of every event in a body, as soon as it is there, and the body's own errors.
pub(crate) fn events<Piece: AsRef<[u8]>>(
    pieces: impl Stream<Item = Result<Piece, ModelError>>,
) -> impl Stream<Item = Result<String, ModelError>> {
    let mut decoder = Decoder::default();
    pieces.flat_map(move |piece| {
        stream::iter(match piece {
            Ok(piece) => decoder.feed(piece.as_ref()),
            Err(error) => vec![Err(error)],
        })
    })
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// No honest event comes near: it holds a piece of an answer, or one tool call at most.
const MOST_EVENT_BYTES: usize = 8 * 1024 * 1024;

/// Bytes on their way to becoming events. It holds one event at most.
#[derive(Debug, Default)]
struct Decoder {
    /// The line begun.
    line: Vec<u8>,
    /// The data of the event begun.
    data: Vec<u8>,
    /// The last byte was a carriage return, so that a line feed now belongs to it.
    after_return: bool,
    /// A line has ended, so that no byte order mark is expected any more.
    begun: bool,
}

impl Decoder {
    /// Takes the next bytes and returns the data of every event they complete. Nothing sensible
    /// follows an error.
    fn feed(&mut self, bytes: &[u8]) -> Vec<Result<String, ModelError>> {
        let mut events = Vec::new();
        for byte in bytes {
            let ends_return = std::mem::replace(&mut self.after_return, *byte == b'\r');
            match byte {
                b'\n' if ends_return => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                _ => self.line.push(*byte),
            }
        }
        if self.line.len().saturating_add(self.data.len()) > MOST_EVENT_BYTES {
            events.push(Err(malformed(&format!(
                "an event is larger than {MOST_EVENT_BYTES} bytes"
            ))));
        }
        events
    }

    /// Ends a line; an empty one ends the event.
    fn end_line(&mut self) -> Option<Result<String, ModelError>> {
        let whole = std::mem::take(&mut self.line);
        let marked = !std::mem::replace(&mut self.begun, true);
        let line = match whole.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) if marked => rest,
            _ => &whole,
        };
        if line.is_empty() {
            return self.end_event();
        }
        if let Some(value) = line.strip_prefix(b"data:") {
            self.data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
            self.data.push(b'\n');
        }
        None
    }

    fn end_event(&mut self) -> Option<Result<String, ModelError>> {
        let mut data = std::mem::take(&mut self.data);
        // Every line of data has added a line feed, of which the last is not meant.
        data.pop();
        let text = String::from_utf8(data).map_err(|_| malformed("an event that is not UTF-8"));
        match text {
            Ok(text) if text.is_empty() => None,
            whole => Some(whole),
        }
    }
}

fn malformed(words: &str) -> ModelError {
    ModelError::new(ErrorKind::Malformed, words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole(bytes: &[u8]) -> Vec<String> {
        let events = Decoder::default().feed(bytes);
        events.into_iter().map(Result::unwrap).collect()
    }

    #[test]
    fn events_by_the_book() {
        let check = |text: &str, expected: &[&str]| assert_eq!(whole(text.as_bytes()), expected);
        check("data: one\n\ndata:two\n\n", &["one", "two"]);
        check("data: a\ndata:  b\n\n", &["a\n b"]);
        check(
            "event: x\nid: 1\nretry: 2\n: comment\ndatabase: no\ndata: y\n\n",
            &["y"],
        );
        check("data: a\r\n\r\ndata: b\r\rdata: c\n\n", &["a", "b", "c"]);
        check("\u{feff}data: a\n\n\u{feff}data: b\n\n", &["a"]);
        check("\n\n\ndata:\n\ndata: \n\n", &[]);
        check("data: never ended\n", &[]);
        check("data: never ended", &[]);
    }

    #[test]
    fn data_that_is_no_text_spoils_no_other_event() {
        let mut events = Decoder::default().feed(b"data: a\n\ndata: \xff\n\ndata: b\n\n");
        assert_eq!(events.len(), 3);
        assert_eq!(events.remove(0).unwrap(), "a");
        assert_eq!(events.remove(1).unwrap(), "b");
        let error = events.remove(0).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Malformed);
        assert_eq!(error.message, "an event that is not UTF-8");
    }

    proptest! {
        /// No bytes make it panic, and where they are cut does not matter.
        #[test]
        fn cuts_do_not_matter(
            pieces in prop::collection::vec("(data: ?|\r|\n|\r\n|\n\n|:|\u{feff}|[a-zé]{0,3})", 0..40),
            size in 1_usize..9,
        ) {
            let bytes = pieces.concat().into_bytes();
            let mut decoder = Decoder::default();
            let cut = bytes
                .chunks(size)
                .flat_map(|piece| decoder.feed(piece))
                .map(Result::unwrap)
                .collect::<Vec<_>>();
            prop_assert_eq!(cut, whole(&bytes));
        }

        #[test]
        fn any_bytes_at_all(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Decoder::default().feed(&bytes);
        }
    }
}
