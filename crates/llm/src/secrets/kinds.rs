//! What keys look like that nobody named: the beginnings their issuers give them. Whose they are is
//! not known here.

use serde_json::Value;

use super::decoded_base64;

/// The beginnings of keys, and how many letters follow at least.
const KINDS: [(&str, &str, usize); 30] = [
    ("an Anthropic key", "sk-ant-", 16),
    ("an OpenRouter key", "sk-or-", 16),
    ("an OpenAI key", "sk-proj-", 16),
    ("an OpenAI key", "sk-svcacct-", 16),
    ("a key of a model provider", "sk-", 20),
    ("a GitHub token", "ghp_", 30),
    ("a GitHub token", "gho_", 30),
    ("a GitHub token", "ghs_", 30),
    ("a GitHub token", "ghu_", 30),
    ("a GitHub token", "ghr_", 30),
    ("a GitHub token", "github_pat_", 30),
    ("a GitLab token", "glpat-", 16),
    ("an AWS access key", "AKIA", 16),
    ("an AWS access key", "ASIA", 16),
    ("a Bedrock key", "ABSK", 40),
    ("a Google key", "AIza", 30),
    ("a Google token", "ya29.", 20),
    ("a Slack token", "xoxb-", 16),
    ("a Slack token", "xoxp-", 16),
    ("a Slack token", "xapp-", 16),
    ("a Hugging Face token", "hf_", 30),
    ("a Groq key", "gsk_", 30),
    ("an xAI key", "xai-", 30),
    ("a Fireworks key", "fw_", 20),
    ("a Cerebras key", "csk-", 30),
    ("an NVIDIA key", "nvapi-", 30),
    ("a Stripe key", "sk_live_", 16),
    ("an npm token", "npm_", 30),
    ("a PyPI token", "pypi-", 30),
    ("a Replicate token", "r8_", 30),
];

/// How often a text is decoded to look inside.
const DEPTH: u8 = 3;
/// No key is shorter once it is encoded, in letters.
const SHORTEST_ENCODED: usize = 20;

/// What kind of secret stands somewhere in `value`, and where.
pub(crate) fn in_value(value: &Value) -> Option<(&'static str, String)> {
    let beneath = |place: String, value| in_value(value).map(|(kind, inner)| (kind, format!("{place}{inner}")));
    match value {
        Value::String(text) => in_text(text).map(|kind| (kind, String::new())),
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(place, item)| beneath(format!("/{place}"), item))
        }
        Value::Object(fields) => fields.iter().find_map(|(name, value)| {
            let named = in_text(name).map(|kind| (kind, "/…".to_owned()));
            named.or_else(|| beneath(format!("/{name}"), value))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// What kind of secret stands in `text`, plainly, escaped, or in base64, hex or the form of URLs.
pub(crate) fn in_text(text: &str) -> Option<&'static str> {
    within(text, DEPTH)
}

fn within(text: &str, depth: u8) -> Option<&'static str> {
    let plain = KINDS
        .iter()
        .find(|(_, beginning, least)| begins(text, beginning, *least));
    if let Some((kind, ..)) = plain {
        return Some(kind);
    }
    if is_private_key(text) {
        return Some("a private key");
    }
    let depth = depth.checked_sub(1)?;
    decodings(text).find_map(|inner| within(&inner, depth))
}

/// Whether a word of `text` begins so, with at least so many letters behind it, a digit among them.
fn begins(text: &str, beginning: &str, least: usize) -> bool {
    text.match_indices(beginning).any(|(at, _)| {
        let is_inside = text
            .get(..at)
            .and_then(|before| before.chars().next_back())
            .is_some_and(|letter| letter.is_ascii_alphanumeric());
        let rest = text.get(at + beginning.len()..).unwrap_or_default();
        let tail = rest
            .split(|letter: char| !letter.is_ascii_alphanumeric() && !"-_".contains(letter))
            .next()
            .unwrap_or_default();
        !is_inside && tail.len() >= least && tail.bytes().any(|byte| byte.is_ascii_digit())
    })
}

fn is_private_key(text: &str) -> bool {
    text.split("-----BEGIN ").skip(1).any(|rest| {
        let title = rest.split("-----").next().unwrap_or_default();
        title.ends_with("PRIVATE KEY")
    })
}

/// What `text`, or a word in it, says when it is decoded.
fn decodings(text: &str) -> impl Iterator<Item = String> {
    let unescaped = text
        .contains('\\')
        .then(|| serde_json::from_str::<String>(&format!("\"{text}\"")).ok())
        .flatten();
    let unbroken = text.replace(['\r', '\n'], "");
    let words = [text, unbroken.as_str()]
        .into_iter()
        .flat_map(|text| text.split(|letter: char| !letter.is_ascii_alphanumeric() && !"+/-_".contains(letter)))
        .filter(|word| word.len() >= SHORTEST_ENCODED)
        .flat_map(|word| [decoded_base64(word), hex::decode(word).ok()])
        .flatten()
        .filter_map(|bytes| String::from_utf8(bytes).ok())
        .collect::<Vec<_>>();
    unescaped.into_iter().chain(percent_decoded(text)).chain(words)
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next()?.as_bytes().to_vec();
    let mut decoded = false;
    for piece in pieces {
        if let Some(byte) = piece.get(..2).and_then(|number| u8::from_str_radix(number, 16).ok()) {
            decoded = true;
            bytes.push(byte);
            bytes.extend_from_slice(piece.get(2..).unwrap_or_default().as_bytes());
        } else {
            bytes.push(b'%');
            bytes.extend_from_slice(piece.as_bytes());
        }
    }
    decoded.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde_json::json;

    use super::*;

    const KEY: &str = "sk-ant-canary0123456789abcdef";

    #[test]
    fn a_key_is_seen_in_every_form() {
        let escaped: Vec<_> = KEY
            .chars()
            .map(|letter| format!("\\u{:04x}", u32::from(letter)))
            .collect();
        let encoded: Vec<_> = KEY.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let (escaped, encoded) = (escaped.concat(), encoded.concat());
        for text in [
            KEY.to_owned(),
            format!("X-KEY={KEY}; and more"),
            STANDARD.encode(KEY),
            STANDARD.encode(format!("user:{KEY}\n")),
            format!("ENCODED={}", STANDARD.encode(KEY)),
            hex::encode(KEY),
            escaped,
            encoded,
            hex::encode(STANDARD.encode(KEY)),
            STANDARD.encode(KEY).replace("YW5", "YW5\n"),
        ] {
            assert!(in_text(&text).is_some(), "{text}");
        }
        assert_eq!(in_text("-----BEGIN RSA PRIVATE KEY-----\nMII"), Some("a private key"));
    }

    #[test]
    fn other_words_are_none() {
        for text in [
            "",
            "the task-runner-of-this-long-named-project-2",
            "sk-ant-",
            "sk-a-class-name-without-any-digit-in-it",
            "Bearer",
            "-----BEGIN CERTIFICATE-----\nMII",
            "0123456789abcdef0123456789abcdef01234567",
            "100% of \\ nothing %zz",
        ] {
            assert_eq!(in_text(text), None, "{text}");
        }
    }

    #[test]
    fn its_place_is_told() {
        let check = |value, place: &str| assert_eq!(in_value(&value).map(|(_, place)| place), Some(place.to_owned()));
        check(json!({"a": [1, {"b": KEY}]}), "/a/1/b");
        check(json!({ KEY: 1 }), "/…");
        assert_eq!(in_value(&json!({"a": [null, true, 2, "b"]})), None);
    }
}
