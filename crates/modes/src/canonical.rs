//! One byte form for a JSON value, so that two readers cannot take two meanings from one digest:
//! keys sorted, no white space, numbers and strings as `serde_json` writes them. Numbers are read to
//! the last bit (`float_roundtrip`), so what comes back from the journal has the digest it went with.

use serde_json::Value;

/// The canonical text of a value.
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

/// The digest of a value: 64 hexadecimal digits of BLAKE3 over its canonical text.
pub fn digest(value: &Value) -> String {
    blake3::hash(canonical(value).as_bytes()).to_hex().to_string()
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
            text.push('{');
            for (position, key) in keys.into_iter().enumerate() {
                if position > 0 {
                    text.push(',');
                }
                text.push_str(&Value::String(key.clone()).to_string());
                text.push(':');
                write(map.get(key).unwrap_or(&Value::Null), text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

/// Digits of a digest that people are shown and type; fewer name nothing.
const SHORT: usize = 20;

/// The digits of a digest that people are shown.
pub fn short_digest(digest: &str) -> &str {
    digest.get(..SHORT).unwrap_or(digest)
}

/// Whether what a person typed names this digest: all of it, or at least its short form. Nothing is
/// trimmed and no case is folded: what was displayed must be given back as it was.
pub fn names_digest(shown: &str, digest: &str) -> bool {
    shown.len() >= SHORT && digest.starts_with(shown)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn order_of_keys_does_not_matter_and_content_does() {
        let a = json!({"b": [1, {"y": null, "x": "\u{1}\"é"}], "a": true});
        let b = json!({"a": true, "b": [1, {"x": "\u{1}\"é", "y": null}]});
        assert_eq!(canonical(&a), r#"{"a":true,"b":[1,{"x":"\u0001\"é","y":null}]}"#);
        assert_eq!(digest(&a), digest(&b));
        assert_ne!(digest(&a), digest(&json!({"a": true, "b": [{"x": "é", "y": null}, 1]})));
    }

    #[test]
    fn fewer_digits_than_are_shown_name_nothing() {
        let whole = digest(&json!(1));
        assert!(names_digest(&whole, &whole) && names_digest(short_digest(&whole), &whole));
        assert!(!names_digest(whole.get(..SHORT - 1).unwrap(), &whole));
        assert!(!names_digest(&format!("{whole}0"), &whole));
        assert!(!names_digest(&whole.to_uppercase(), &whole));
        assert!(!names_digest(&format!("{whole} "), &whole));
        assert!(!names_digest("", ""));
    }
}
