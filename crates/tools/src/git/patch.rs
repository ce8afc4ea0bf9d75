//! Leaving files that look like secrets out of a patch. Knows the form of git's patches: a line that
//! begins with `diff --` is a file's header, because every line of content or message is marked or
//! indented.

use modes::paths::secret_shaped;

/// A patch without the files that look like secrets, and how many those are.
pub(super) fn without_secrets(patch: &str) -> (String, usize) {
    let mut kept = String::with_capacity(patch.len());
    let mut omitted = 0;
    let mut omitting = false;
    for line in patch.split_inclusive('\n') {
        if let Some(names) = line.strip_prefix("diff --") {
            omitting = names_secret(names);
            if omitting {
                omitted += 1;
            }
        }
        if !omitting {
            kept.push_str(line);
        }
    }
    (kept, omitted)
}

/// Whether any name in a header is a secret's. A name with blanks in it is looked at in pieces: it
/// is better to leave out one file too many.
fn names_secret(header: &str) -> bool {
    unquoted(header.trim_end())
        .split([' ', '/', '"'])
        .any(|part| !part.is_empty() && secret_shaped(part))
}

/// Undoes git's quoting of names: `\303\244` and `\t`.
fn unquoted(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let digits: Vec<u8> = after
            .iter()
            .take(3)
            .copied()
            .take_while(|byte| (b'0'..=b'7').contains(byte))
            .collect();
        if digits.len() == 3 {
            let value = digits
                .iter()
                .fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
            bytes.push(u8::try_from(value).unwrap_or(b'?'));
            rest = after.get(3..).unwrap_or_default();
        } else if let Some((escaped, after)) = after.split_first() {
            bytes.push(*escaped);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_files_are_left_out_and_counted() {
        let patch = "commit 1\n\n    diff --git in a message is indented\n\n\
            diff --git a/src/a.rs b/src/a.rs\n+diff --git a/.env b/.env\n+ok\n\
            diff --git a/.env b/.env\n+KEY=1\n\
            diff --git a/my dir/server.key b/my dir/server.key\n+KEY=2\n\
            diff --git a/b.rs b/b.rs\n+fine\n\
            diff --cc .npmrc\n+KEY=3\n\
            diff --git a/plain.txt b/id_rsa\nrename to id_rsa\n+KEY=4\n\
            diff --git \"a/.e\\342\\200\\214nv\" \"b/.e\\342\\200\\214nv\"\n+KEY=5\n\
            diff --git a/.env.example b/.env.example\n+sample\n";
        let (kept, omitted) = without_secrets(patch);
        assert_eq!(omitted, 5);
        assert!(!kept.contains("KEY"), "{kept}");
        for stays in ["indented", "+diff --git a/.env b/.env\n+ok", "+fine", "+sample"] {
            assert!(kept.contains(stays), "{stays}: {kept}");
        }
    }
}
