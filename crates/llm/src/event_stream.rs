//! Amazon's binary event stream (`application/vnd.amazon.eventstream`) out of bytes that arrive cut
//! anywhere: frames with two checksums, headers and a JSON payload. What an event means is the
//! wires' business.
//!
//! Our own, because the published decoder brings a dozen libraries of a client that is not used.

use futures_util::{Stream, StreamExt, stream};
use serde_json::{Value, json};

use crate::{ErrorKind, ModelError};

/// The two lengths and their checksum.
const PRELUDE: usize = 12;
/// A checksum ends the prelude, and the frame.
const CHECKSUM: usize = 4;
/// No honest frame comes near: it holds a piece of an answer.
const MOST_FRAME_BYTES: usize = 8 * 1024 * 1024;

/// The data of every event in a body, as soon as it is there, and the body's own errors. The data
/// is an object with one member: the payload under the event's name, or `exception` with `kind`
/// and `message`. A body that ends inside a frame ends without it.
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

/// Bytes on their way to becoming events. It holds one frame at most.
#[derive(Debug, Default)]
struct Decoder {
    begun: Vec<u8>,
}

impl Decoder {
    /// Takes the next bytes and returns the data of every event they complete. Nothing sensible
    /// follows an error.
    fn feed(&mut self, bytes: &[u8]) -> Vec<Result<String, ModelError>> {
        self.begun.extend_from_slice(bytes);
        let mut events = Vec::new();
        let mut rest = self.begun.as_slice();
        loop {
            match Frame::split(rest) {
                Ok(Some((frame, after))) => {
                    events.push(frame.event());
                    rest = after;
                }
                Ok(None) => break,
                Err(error) => {
                    events.push(Err(error));
                    rest = &[];
                    break;
                }
            }
        }
        let read = self.begun.len() - rest.len();
        self.begun.drain(..read);
        events
    }
}

/// A whole frame whose checksums hold.
struct Frame<'a> {
    headers: &'a [u8],
    payload: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The first frame of `bytes` and what follows it; `None` while it is not whole.
    fn split(bytes: &'a [u8]) -> Result<Option<(Self, &'a [u8])>, ModelError> {
        let Some((prelude, _)) = bytes.split_at_checked(PRELUDE) else {
            return Ok(None);
        };
        let (lengths, checksum) = prelude.split_at(PRELUDE - CHECKSUM);
        if crc32fast::hash(lengths) != number(checksum) {
            return Err(malformed("a frame whose beginning is not what was sent"));
        }
        let (whole, headers) = lengths.split_at(4);
        let (whole, headers) = (number(whole) as usize, number(headers) as usize);
        if whole > MOST_FRAME_BYTES {
            return Err(malformed(&format!("an event is larger than {MOST_FRAME_BYTES} bytes")));
        }
        if whole < headers.saturating_add(PRELUDE + CHECKSUM) {
            return Err(malformed("a frame whose lengths do not fit"));
        }
        let Some((frame, after)) = bytes.split_at_checked(whole) else {
            return Ok(None);
        };
        let (checked, checksum) = frame.split_at(whole - CHECKSUM);
        if crc32fast::hash(checked) != number(checksum) {
            return Err(malformed("a frame that is not what was sent"));
        }
        let (headers, payload) = checked.split_at(PRELUDE).1.split_at(headers);
        Ok(Some((Self { headers, payload }, after)))
    }

    fn event(&self) -> Result<String, ModelError> {
        let payload = std::str::from_utf8(self.payload).map_err(|_| malformed("an event that is not UTF-8"))?;
        match self.header(":message-type") {
            Some("event") => {
                let name = self.header(":event-type").unwrap_or_default();
                let payload = if payload.is_empty() { "null" } else { payload };
                // Put together as text: the wire reads it once, with its own types.
                Ok(format!("{{{}:{payload}}}", json!(name)))
            }
            Some("exception") => {
                let written = serde_json::from_str::<Value>(payload).unwrap_or_default();
                let message = ["message", "Message"]
                    .into_iter()
                    .find_map(|key| written.get(key)?.as_str());
                Ok(exception(self.header(":exception-type"), message))
            }
            Some("error") => Ok(exception(self.header(":error-code"), self.header(":error-message"))),
            _ => Err(malformed("a frame of no known kind")),
        }
    }

    /// The text of a header. Nothing is found behind one that cannot be read.
    fn header(&self, wanted: &str) -> Option<&'a str> {
        let mut rest = self.headers;
        loop {
            let (length, after) = rest.split_first()?;
            let (name, after) = after.split_at_checked(usize::from(*length))?;
            let (kind, after) = after.split_first()?;
            let (value, after) = value(*kind, after)?;
            if name == wanted.as_bytes() {
                return std::str::from_utf8(value).ok();
            }
            rest = after;
        }
    }
}

/// The value of a header by the kind it says it has, and what follows it.
fn value(kind: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = match kind {
        0 | 1 => 0,
        2 => 1,
        3 => 2,
        4 => 4,
        5 | 8 => 8,
        9 => 16,
        6 | 7 => {
            let (length, after) = bytes.split_first_chunk()?;
            return after.split_at_checked(usize::from(u16::from_be_bytes(*length)));
        }
        _ => return None,
    };
    bytes.split_at_checked(length)
}

fn exception(kind: Option<&str>, message: Option<&str>) -> String {
    json!({"exception": {"kind": kind.unwrap_or_default(), "message": message.unwrap_or_default()}}).to_string()
}

/// Four bytes as a number, the largest first.
fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn malformed(words: &str) -> ModelError {
    ModelError::new(ErrorKind::Malformed, words)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A frame as the format has it, with headers whose values are text.
    fn frame(headers: &[(&str, &str)], payload: &str) -> Vec<u8> {
        let mut written = Vec::new();
        for (name, value) in headers {
            written.push(u8::try_from(name.len()).unwrap());
            written.extend(name.bytes());
            written.push(7);
            written.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
            written.extend(value.bytes());
        }
        sealed(&written, payload)
    }

    fn sealed(headers: &[u8], payload: &str) -> Vec<u8> {
        let whole = u32::try_from(PRELUDE + headers.len() + payload.len() + CHECKSUM).unwrap();
        let mut bytes = whole.to_be_bytes().to_vec();
        bytes.extend(u32::try_from(headers.len()).unwrap().to_be_bytes());
        bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
        bytes.extend(headers);
        bytes.extend(payload.bytes());
        bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
        bytes
    }

    fn event(name: &str, payload: &str) -> Vec<u8> {
        frame(
            &[
                (":message-type", "event"),
                (":event-type", name),
                (":content-type", "application/json"),
            ],
            payload,
        )
    }

    fn read(bytes: &[u8]) -> Vec<Result<String, String>> {
        let events = Decoder::default().feed(bytes).into_iter();
        events.map(|event| event.map_err(|error| error.message)).collect()
    }

    /// The examples published with the format: an empty frame, and one with a header of each kind.
    #[test]
    fn checksums_are_those_of_the_published_examples() {
        let empty = hex("00000010 00000000 05c248eb 7d98c8ff");
        assert_eq!(sealed(&[], ""), empty);
        let payload = hex("0000001d 00000000 fd528c5a 7b27666f6f273a27626172277d c3653936");
        assert_eq!(sealed(&[], "{'foo':'bar'}"), payload);
    }

    fn hex(text: &str) -> Vec<u8> {
        let digits = text.replace(' ', "");
        let pairs = digits.as_bytes().chunks(2);
        pairs
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }

    #[test]
    fn events_exceptions_and_errors() {
        let check = |bytes: &[u8], expected: &str| assert_eq!(read(bytes), [Ok(expected.to_owned())]);
        check(&event("messageStop", r#"{"a":1}"#), r#"{"messageStop":{"a":1}}"#);
        check(&event("messageStop", ""), r#"{"messageStop":null}"#);
        check(
            &frame(
                &[
                    (":message-type", "exception"),
                    (":exception-type", "throttlingException"),
                ],
                r#"{"message":"slow"}"#,
            ),
            r#"{"exception":{"kind":"throttlingException","message":"slow"}}"#,
        );
        check(
            &frame(
                &[
                    (":error-code", "InternalFailure"),
                    (":error-message", "no"),
                    (":message-type", "error"),
                ],
                "",
            ),
            r#"{"exception":{"kind":"InternalFailure","message":"no"}}"#,
        );
    }

    #[test]
    fn headers_of_every_kind_are_passed_over() {
        let mut headers = Vec::new();
        for (kind, value) in [
            (0, &[][..]),
            (1, &[]),
            (2, &[1]),
            (3, &[1; 2]),
            (4, &[1; 4]),
            (5, &[1; 8]),
            (6, &[0, 3, 1, 1, 1]),
            (8, &[1; 8]),
            (9, &[1; 16]),
        ] {
            headers.extend([1, b'x', kind]);
            headers.extend(value);
        }
        let named = frame(&[(":message-type", "event"), (":event-type", "e")], "");
        headers.extend(&named[PRELUDE..named.len() - CHECKSUM]);
        assert_eq!(read(&sealed(&headers, "1")), [Ok(r#"{"e":1}"#.to_owned())]);
    }

    #[test]
    fn a_changed_bit_anywhere_is_noticed() {
        let whole = event("messageStop", r#"{"stopReason":"end_turn"}"#);
        for place in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 1;
            let read = read(&bytes);
            assert!(matches!(read.as_slice(), [Err(_)]), "byte {place}: {read:?}");
        }
    }

    #[test]
    fn lengths_that_lie_are_refused_before_anything_is_kept() {
        let lying = |whole: u32, headers: u32| {
            let mut bytes = whole.to_be_bytes().to_vec();
            bytes.extend(headers.to_be_bytes());
            bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
            read(&bytes)
        };
        let refused = |words: &str| [Err(words.to_owned())];
        assert_eq!(lying(u32::MAX, 0), refused("an event is larger than 8388608 bytes"));
        assert_eq!(lying(15, 0), refused("a frame whose lengths do not fit"));
        assert_eq!(lying(20, 5), refused("a frame whose lengths do not fit"));
        assert_eq!(lying(20, u32::MAX), refused("a frame whose lengths do not fit"));
    }

    #[test]
    fn a_frame_that_is_no_event() {
        assert_eq!(read(&sealed(&[], "")), [Err("a frame of no known kind".to_owned())]);
        assert_eq!(
            read(&sealed(&[200, 1], "")),
            [Err("a frame of no known kind".to_owned())]
        );
    }

    proptest! {
        /// Where the bytes are cut does not matter.
        #[test]
        fn cuts_do_not_matter(
            payloads in prop::collection::vec("[0-9]{1,20}", 0..8),
            size in 1_usize..50,
        ) {
            let bytes = payloads.iter().flat_map(|payload| event("e", payload)).collect::<Vec<_>>();
            let mut decoder = Decoder::default();
            let cut = bytes
                .chunks(size)
                .flat_map(|piece| decoder.feed(piece))
                .map(Result::unwrap)
                .collect::<Vec<_>>();
            let expected = payloads.iter().map(|payload| format!("{{\"e\":{payload}}}")).collect::<Vec<_>>();
            prop_assert_eq!(cut, expected);
        }

        #[test]
        fn any_bytes_at_all(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Decoder::default().feed(&bytes);
            let _ = Decoder::default().feed(&sealed(&bytes, ""));
        }
    }
}
