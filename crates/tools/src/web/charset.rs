//! A page's bytes as text: the encoding its server names, else the one it names itself, else what its
//! bytes look like. It must not know what the text says.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Bytes from the start of a page among which it names its encoding.
const HEAD: usize = 1024;

/// The text of a page. `named` is the encoding its server says it has. A mark at its beginning goes before
/// every word about it, as in browsers; what cannot be read is shown as U+FFFD.
pub(super) fn text(body: &[u8], named: Option<&str>) -> String {
    let known = |label: &str| Encoding::for_label_no_replacement(label.as_bytes());
    let encoding = named.and_then(known).or_else(|| {
        let own = known(&named_within(body)?)?;
        // It was read as ASCII a moment ago, and so it is not that.
        Some(if own == UTF_16LE || own == UTF_16BE { UTF_8 } else { own })
    });
    let (text, ..) = encoding.unwrap_or_else(|| looks_like(body)).decode(body);
    text.into_owned()
}

/// The encoding that a page names in `<meta charset=…>`, `<meta … content="…; charset=…">` or `<?xml … encoding="…"`.
fn named_within(body: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(body.get(..HEAD).unwrap_or(body)).to_ascii_lowercase();
    let value = |text: &str, key: &str| {
        let rest = text.split_once(key)?.1.trim_start().strip_prefix('=')?;
        let label: String = rest
            .trim_start_matches([' ', '"', '\''])
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || "-_.:".contains(*c))
            .collect();
        Some(label).filter(|label| !label.is_empty())
    };
    let tag = |text: &str| text.split('>').next().unwrap_or_default().to_owned();
    if let Some(declared) = head.trim_start().strip_prefix("<?xml") {
        return value(&tag(declared), "encoding");
    }
    head.split("<meta")
        .skip(1)
        .find_map(|text| value(&tag(text), "charset"))
}

/// UTF-8 where the bytes can be that, also cut off in the midst of a character; else what browsers take
/// pages of the web for.
fn looks_like(body: &[u8]) -> &'static Encoding {
    match std::str::from_utf8(body) {
        Err(error) if error.error_len().is_some() => WINDOWS_1252,
        _ => UTF_8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_in_the_encoding_that_is_named_first() {
        let check = |body: &[u8], named: Option<&str>, expected: &str| {
            assert_eq!(text(body, named), expected, "{named:?} {body:?}");
        };
        check("grün".as_bytes(), None, "grün");
        check(b"gr\xfcn", None, "grün");
        check(b"gr\xfcn", Some("iso-8859-1"), "grün");
        check(b"\x82\xa0", Some("Shift_JIS"), "あ");
        check(b"<meta charset=shift_jis>\x82\xa0", None, "<meta charset=shift_jis>あ");
        let old = b"<META http-equiv='Content-Type' content='text/html; charset=KOI8-R'>\xc1";
        assert!(text(old, None).ends_with('а'));
        check(
            b"<?xml version='1.0' encoding=\"koi8-r\"?>\xc1",
            None,
            "<?xml version='1.0' encoding=\"koi8-r\"?>а",
        );
        // The server knows better than the page, and a mark at the beginning better than both.
        check(
            b"<meta charset=koi8-r>\xfc",
            Some("windows-1252"),
            "<meta charset=koi8-r>ü",
        );
        check(b"\xff\xfea\0", Some("koi8-r"), "a");
        check(b"\xef\xbb\xbfa", Some("koi8-r"), "a");
        check("<meta charset=utf-16>ü".as_bytes(), None, "<meta charset=utf-16>ü");
        for unknown in ["no-such-thing", "", "replacement", "iso-2022-cn"] {
            check("ü".as_bytes(), Some(unknown), "ü");
        }
        // Cut in the midst of a character it is UTF-8 still.
        check(&"grün".as_bytes()[..3], None, "gr\u{fffd}");
        check(b"", None, "");
    }
}
