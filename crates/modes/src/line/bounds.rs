//! What is looked at before anything else of a line: how long it is, how deep it nests, which
//! characters it has. One pass; knows no grammar.

/// The longest line that is read.
const LONGEST: usize = 64 * 1024;

/// How often a line may open something. What closes is not counted, because it may stand in quotes: so
/// no line nests deeper than this.
const OPENINGS: usize = 200;

/// How many `case` words a line may have: the grammar tries the last branch of each twice.
const CASES: usize = 6;

/// The longest number before a redirection.
const LONGEST_DESCRIPTOR: usize = 4;

/// Why a line is not read at all.
pub(super) fn out_of_bounds(line: &str) -> Option<String> {
    if line.len() > LONGEST {
        return Some(format!("it is longer than {} KiB", LONGEST / 1024));
    }
    if let Some(strange) = line.chars().find(|c| strange(*c)) {
        return Some(format!("it holds the character {}", strange.escape_unicode()));
    }
    let (mut openings, mut digits) = (0_usize, 0_usize);
    for byte in line.bytes() {
        match byte {
            b'(' | b'{' | b'[' | b'`' | b'!' => openings += 1,
            b'<' | b'>' if digits > LONGEST_DESCRIPTOR => {
                return Some("a redirection has too long a number".to_owned());
            }
            _ => {}
        }
        digits = if byte.is_ascii_digit() { digits + 1 } else { 0 };
    }
    let words = line.split(|c: char| !c.is_ascii_alphanumeric());
    let mut cases = 0;
    for word in words {
        match word {
            "case" => cases += 1,
            "if" | "for" | "while" | "until" | "do" | "then" | "coproc" | "function" => openings += 1,
            _ => {}
        }
    }
    if cases > CASES {
        return Some("it has too many `case` words".to_owned());
    }
    (openings > OPENINGS).then(|| "it nests too deeply".to_owned())
}

/// Characters that look like others, show nothing, or end a line elsewhere: none belongs outside of a
/// text, and none is worth being wrong about.
fn strange(c: char) -> bool {
    match c {
        '\n' | '\t' | ' '..='~' => false,
        c if c.is_control() || c.is_whitespace() => true,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{ffff}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}
