//! Secrets that are known, in every form they are recognised in, and texts without them. What a
//! secret looks like that nobody named stands in `kinds.rs`. Where secrets come from is not known here.

pub(crate) mod kinds;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

/// What stands where a secret was.
const GONE: &str = "[key]";
/// A shorter secret would be found in words that have nothing to do with it.
const SHORTEST: usize = 8;

/// Every form some secrets are recognised in.
#[derive(Clone, Default)]
pub struct Secrets(Arc<Vec<SecretString>>);

impl Secrets {
    /// The secrets among `secrets` that are long enough to be told from other words.
    pub fn of<'a>(secrets: impl IntoIterator<Item = &'a SecretString>) -> Self {
        let forms: BTreeSet<String> = secrets
            .into_iter()
            .map(|secret| secret.expose_secret().trim())
            .filter(|secret| secret.len() >= SHORTEST)
            .flat_map(forms)
            .collect();
        Self(Arc::new(forms.into_iter().map(SecretString::from).collect()))
    }

    /// `text` without them. Ends of lines inside of one do not hide it: programs that encode break lines.
    pub fn taken_out(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        let mut places = Vec::new();
        let mut unbroken = String::new();
        for (place, letter) in text.char_indices().filter(|(_, letter)| !"\r\n".contains(*letter)) {
            unbroken.push(letter);
            places.extend(place..place + letter.len_utf8());
        }
        let mut clean = String::new();
        let mut kept = 0;
        for found in self.ranges(&unbroken) {
            let (Some(from), Some(last)) = (places.get(found.start), places.get(found.end.saturating_sub(1))) else {
                continue;
            };
            clean.push_str(text.get(kept..*from).unwrap_or_default());
            clean.push_str(GONE);
            kept = last + 1;
        }
        clean.push_str(text.get(kept..).unwrap_or_default());
        clean
    }

    /// Takes them out of every text in `value`, names of fields among them.
    pub fn take_out_of(&self, value: &mut Value) {
        if self.0.is_empty() {
            return;
        }
        match value {
            Value::String(text) => *text = self.taken_out(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.take_out_of(item)),
            Value::Object(fields) => {
                for (name, mut value) in std::mem::take(fields) {
                    self.take_out_of(&mut value);
                    fields.insert(self.taken_out(&name), value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Where they stand in `text`, in order; what overlaps is one.
    fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = self
            .0
            .iter()
            .flat_map(|form| {
                let form = form.expose_secret();
                text.match_indices(form).map(|(at, form)| at..at + form.len())
            })
            .collect();
        found.sort_by_key(|range| range.start);
        found
            .into_iter()
            .fold(Vec::new(), |mut merged: Vec<Range<usize>>, range| {
                match merged.last_mut() {
                    Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                    _ => merged.push(range),
                }
                merged
            })
    }
}

fn forms(secret: &str) -> Vec<String> {
    let escaped = Value::from(secret).to_string();
    let escaped = escaped.trim_matches('"').to_owned();
    let mut forms = vec![
        secret.to_owned(),
        hex::encode(secret),
        hex::encode_upper(secret),
        percent_encoded(secret, true),
        percent_encoded(secret, false),
        escaped.replace('/', "\\/"),
        escaped,
    ];
    forms.extend((0..3).map(|before| within_base64(secret, before)).flat_map(|form| {
        let other = form.replace('+', "-").replace('/', "_");
        [form, other]
    }));
    forms
}

/// What a secret looks like in base64 when `before` bytes stand before it, without the letters that
/// depend on what stands around it.
fn within_base64(secret: &str, before: usize) -> String {
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(secret.as_bytes());
    let from = (before * 8).div_ceil(6);
    let to = bytes.len() * 8 / 6;
    let whole = STANDARD_NO_PAD.encode(&bytes);
    whole.get(from..to).unwrap_or_default().to_owned()
}

fn percent_encoded(secret: &str, upper: bool) -> String {
    secret
        .bytes()
        .map(|byte| match byte {
            _ if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => char::from(byte).to_string(),
            _ if upper => format!("%{byte:02X}"),
            _ => format!("%{byte:02x}"),
        })
        .collect()
}

/// `text` as base64 says it, in either alphabet, padded or not.
pub(crate) fn decoded_base64(text: &str) -> Option<Vec<u8>> {
    let bare = text.trim_end_matches('=');
    STANDARD_NO_PAD
        .decode(bare)
        .or_else(|_| URL_SAFE_NO_PAD.decode(bare))
        .ok()
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};
    use proptest::prelude::*;

    use super::*;

    /// Every way `secret` is hidden in what a program prints.
    fn hidden(secret: &str, before: &str, after: &str) -> Vec<String> {
        let around = format!("{before}{secret}{after}");
        let wrapped = |text: String| {
            let letters = text.chars().collect::<Vec<_>>();
            let lines = letters.chunks(7).map(|line| line.iter().collect::<String>());
            lines.collect::<Vec<_>>().join("\n")
        };
        vec![
            around.clone(),
            STANDARD.encode(&around),
            URL_SAFE.encode(&around),
            wrapped(STANDARD.encode(&around)),
            hex::encode(&around),
            wrapped(hex::encode_upper(&around)),
            percent_encoded(&around, true),
            percent_encoded(&around, false),
            Value::from(around.as_str()).to_string(),
        ]
    }

    proptest! {
        #[test]
        fn no_form_of_a_key_is_left(secret in "[!-~]{8,40}", before in "[a-z ]{0,9}", after in "[a-z ]{0,9}\n?") {
            let secrets = Secrets::of([&SecretString::from(secret.as_str())]);
            for text in hidden(&secret, &before, &after) {
                let told = secrets.taken_out(&text);
                prop_assert!(told.contains(GONE), "{} of {}", told, text);
                let unbroken = told.replace('\n', "");
                for form in forms(&secret) {
                    prop_assert!(!unbroken.contains(&form), "{} in {}", form, told);
                }
            }
            prop_assert_eq!(secrets.taken_out("nothing\nof it é"), "nothing\nof it é");
        }
    }

    #[test]
    fn what_is_short_is_no_secret() {
        let secrets = Secrets::of([&SecretString::from("k")]);
        assert_eq!(secrets.taken_out("a key"), "a key");
    }

    #[test]
    fn what_stands_around_a_secret_stays() {
        let secrets = Secrets::of([&SecretString::from("abcd/1234")]);
        let check = |text: &str, expected: &str| assert_eq!(secrets.taken_out(text), expected);
        check("é abcd/1234\nü", "é [key]\nü");
        check("abcd/\n1234abcd/1234", "[key]");
        check("x abcd%2f1234 y abcd\\/1234 z", "x [key] y [key] z");
        let mut value = serde_json::json!({"abcd/1234": ["abcd/1234", 1, null]});
        secrets.take_out_of(&mut value);
        assert_eq!(value, serde_json::json!({"[key]": ["[key]", 1, null]}));
    }
}
