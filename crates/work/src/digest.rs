//! Naming a value by its content: one canonical JSON text, one digest over it.
//!
//! It must not know what is digested. The canonical text follows RFC 8785 in the order of keys and
//! the spelling of strings; numbers keep the spelling `serde_json` gives them, so `1` and `1.0` differ.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The 256-bit name of a value. Shown as 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Digest([u8; 32]);

/// The text is not 64 lower-case hex digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a digest is 64 lower-case hex digits")]
pub struct NotADigest;

impl Digest {
    /// The digest of a JSON value. `purpose` separates kinds of values: the same JSON digested for two
    /// purposes has two digests.
    pub fn of(purpose: &str, value: &Value) -> Digest {
        let mut hasher = blake3::Hasher::new_derive_key(purpose);
        hasher.update(canonical(value).as_bytes());
        Digest(*hasher.finalize().as_bytes())
    }

    /// All 64 hex digits.
    pub fn hex(&self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().to_string()
    }

    /// The first 12 hex digits.
    pub fn short(&self) -> String {
        modes::short_digest(&self.hex()).to_owned()
    }

    /// Whether `shown` is this digest, whole or in its short form.
    pub fn matches(&self, shown: &str) -> bool {
        modes::names_digest(shown, &self.hex())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Digest({})", self.short())
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        digest.hex()
    }
}

impl TryFrom<String> for Digest {
    type Error = NotADigest;

    fn try_from(text: String) -> Result<Digest, NotADigest> {
        let digest = blake3::Hash::from_hex(&text).map_err(|_| NotADigest)?;
        let digest = Digest(*digest.as_bytes());
        // The parser also takes capitals; a stored digest has one spelling.
        if digest.hex() == text {
            Ok(digest)
        } else {
            Err(NotADigest)
        }
    }
}

/// The canonical text of a JSON value: no spaces, keys sorted by UTF-16 code units, strings exact.
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write_canonical(value, &mut out);
    out
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            out.push('{');
            for (place, (key, field)) in sorted.into_iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write_canonical(field, out);
            }
            out.push('}');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(value: &Value, expected: &str) {
        assert_eq!(canonical(value), expected);
    }

    #[test]
    fn canonical_text_has_one_spelling() {
        check(
            &json!({"b": 1, "a": [true, null, "x"]}),
            r#"{"a":[true,null,"x"],"b":1}"#,
        );
        check(&json!({"z": {"y": 1, "x": 2}, "": {}}), r#"{"":{},"z":{"x":2,"y":1}}"#);
        check(&json!("q\"\\\n\u{1}é\u{2028}"), "\"q\\\"\\\\\\n\\u0001é\u{2028}\"");
        // By code units the surrogates of U+1F600 come before U+FB33; by code points after.
        check(
            &json!({"\u{fb33}": 1, "\u{1f600}": 2}),
            "{\"\u{1f600}\":2,\"\u{fb33}\":1}",
        );
    }

    #[test]
    fn the_order_of_keys_does_not_matter_and_the_purpose_does() {
        let one: Value = serde_json::from_str(r#"{"a":1,"b":2}"#).unwrap();
        let two: Value = serde_json::from_str(r#"{"b":2,"a":1}"#).unwrap();
        assert_eq!(Digest::of("p", &one), Digest::of("p", &two));
        assert_ne!(Digest::of("p", &one), Digest::of("q", &one));
    }

    #[test]
    fn only_the_exact_digest_or_a_long_prefix_matches() {
        let digest = Digest::of("p", &json!("x"));
        let hex = digest.hex();
        assert_eq!(hex.len(), 64);
        assert_eq!(digest.short(), hex[..20]);
        for length in 20..=64 {
            assert!(digest.matches(&hex[..length]), "{length}");
        }
        for length in 0..20 {
            assert!(!digest.matches(&hex[..length]), "{length}");
        }
        let flipped = if hex.starts_with('0') { "1" } else { "0" };
        assert!(!digest.matches(&format!("{flipped}{}", &hex[1..])));
        assert!(!digest.matches(&format!("{hex}0")));
        assert!(!digest.matches(&format!(" {hex}")));
        assert!(!digest.matches(&hex[1..40]));
        assert!(!Digest([0xab; 32]).matches(&"AB".repeat(32)));
    }

    #[test]
    fn stored_digests_read_back_and_other_spellings_do_not() {
        let digest = Digest([0xab; 32]);
        let stored = serde_json::to_string(&digest).unwrap();
        assert_eq!(stored, format!("\"{}\"", "ab".repeat(32)));
        assert_eq!(serde_json::from_str::<Digest>(&stored).unwrap(), digest);
        assert!(serde_json::from_str::<Digest>(&stored.to_uppercase()).is_err());
        assert!(serde_json::from_str::<Digest>("\"abcd\"").is_err());
    }
}
