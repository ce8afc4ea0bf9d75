//! What is looked at before anything else of a line: how long it is, how deep it nests, which
//! characters it has. One pass; knows no grammar.

/// The longest line that is read.
const LONGEST: usize = 64 * 1024;

/// How often a line may open something. What closes is not counted, because it may stand in quotes: so
/// no line nests deeper than this.
const OPENINGS: usize = 200;

/// How many `case` words a line may have: the grammar tries the last branch of each twice.
const CASES: usize = 6;

/// How many `(` a line may have where two follow each other: the grammar tries arithmetic first, and each of
/// them twice before it gives up.
const PARENTHESES: usize = 10;

/// How many expansions of elements of arrays a line may have: the grammar tries each a dozen times, with
/// what stands in its index.
const INDICES: usize = 2;

/// The longest number before a redirection.
const LONGEST_DESCRIPTOR: usize = 4;

/// How often a line opens something, where it is read; why it is not.
pub(super) fn openings(line: &str) -> Result<usize, String> {
    if line.len() > LONGEST {
        return Err(format!("it is longer than {} KiB", LONGEST / 1024));
    }
    if let Some(strange) = line.chars().find(|c| strange(*c)) {
        return Err(format!("it holds the character {}", strange.escape_unicode()));
    }
    let (mut openings, mut digits) = (0_usize, 0_usize);
    for byte in line.bytes() {
        match byte {
            b'(' | b'{' | b'[' | b'`' | b'!' => openings += 1,
            b'<' | b'>' if digits > LONGEST_DESCRIPTOR => {
                return Err("a redirection has too long a number".to_owned());
            }
            _ => {}
        }
        digits = if byte.is_ascii_digit() { digits + 1 } else { 0 };
    }
    if redirects_to_a_redirection(line) {
        return Err("a redirection stands where a file's name is expected".to_owned());
    }
    if names_its_descriptor(line) {
        return Err("a redirection sets a variable to its number".to_owned());
    }
    if !plain_here_documents(line) {
        return Err("a here-document stands in something else, or does not end in a plain word".to_owned());
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
        return Err("it has too many `case` words".to_owned());
    }
    let parentheses = line.bytes().filter(|byte| *byte == b'(').count();
    if parentheses > PARENTHESES && may_begin_arithmetic(line) || indices(line) > INDICES {
        return Err("it nests too deeply".to_owned());
    }
    if openings > OPENINGS {
        return Err("it nests too deeply".to_owned());
    }
    Ok(openings)
}

/// Whether what follows a redirection begins another one, as in `< 2>&1`: the grammar takes the number for a
/// file's name, and bash for the other's.
fn redirects_to_a_redirection(line: &str) -> bool {
    line.match_indices(['<', '>']).any(|(at, _)| {
        let after = line
            .get(at + 1..)
            .unwrap_or_default()
            .trim_start_matches([' ', '\t', '|']);
        let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '{' | '}');
        let rest = after.trim_start_matches(name);
        let word = after.strip_suffix(rest).unwrap_or_default();
        let number = word.bytes().all(|byte| byte.is_ascii_digit());
        !word.is_empty() && (number || word.starts_with('{')) && rest.starts_with(['<', '>'])
    })
}

/// Whether a redirection may begin with `{NAME}`, a variable that bash sets and the grammar takes for a word.
fn names_its_descriptor(line: &str) -> bool {
    let line = line.replace("\\\n", "");
    line.match_indices(['<', '>']).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.strip_suffix('}'));
        let opened = before.and_then(|before| before.rsplit_once('{'));
        opened.is_some_and(|(before, _)| !before.ends_with('$'))
    })
}

/// Whether two `(` follow each other, with blanks between them or not, outside of an expansion.
fn may_begin_arithmetic(line: &str) -> bool {
    let mut before = None;
    for c in line.chars() {
        match (c, before) {
            ('(', Some('(')) => return true,
            // What an expansion holds is a line of its own.
            ('(', Some('$')) => before = None,
            (' ' | '\t' | '\\' | '\n', Some('(')) => {}
            (c, _) => before = Some(c),
        }
    }
    false
}

/// How many expansions of elements of arrays there are.
fn indices(line: &str) -> usize {
    let element = |after: &&str| {
        let name = after.trim_start_matches(['!', '#']);
        let index = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        index.starts_with('[')
    };
    line.split("${").skip(1).filter(element).count()
}

/// What holds a line of its own.
const NESTS: &[&str] = &["$(", "${", "`", "((", "<(", ">(", "$["];

/// Whether each here-document begins on a line, and after lines, that hold no lines of their own, and ends
/// in a plain word. Of others the grammar's reader finds no end.
fn plain_here_documents(line: &str) -> bool {
    let mut lines = line.split('\n');
    let mut nests = false;
    while let Some(line) = lines.next() {
        nests |= NESTS.iter().any(|nest| line.contains(nest));
        let mut begins = runs(line).filter(|(_, length)| *length != 1 && *length != 3);
        match (begins.next(), begins.next()) {
            (None, _) => {}
            (Some((at, 2)), None) if !nests => {
                let Some(tag) = line.get(at + 2..).and_then(plain_tag) else {
                    return false;
                };
                lines.find(|line| line.trim_start_matches('\t') == tag);
            }
            _ => return false,
        }
    }
    true
}

/// Where `<` stand, and how many together.
fn runs(line: &str) -> impl Iterator<Item = (usize, usize)> {
    line.match_indices('<').filter_map(move |(at, _)| {
        let first = !line.get(..at).is_some_and(|before| before.ends_with('<'));
        let rest = line.get(at..)?;
        first.then(|| (at, rest.len() - rest.trim_start_matches('<').len()))
    })
}

/// The word a here-document ends in, where it is a plain one, in quotes or not.
fn plain_tag(after: &str) -> Option<&str> {
    let after = after.strip_prefix('-').unwrap_or(after).trim_start_matches([' ', '\t']);
    let quote = after.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let word = quote.map_or(after, |quote| after.trim_start_matches(quote));
    let end = word
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .unwrap_or(word.len());
    let (tag, rest) = word.split_at(end);
    let rest = match quote {
        Some(quote) => rest.strip_prefix(quote)?,
        None => rest,
    };
    let ends = rest.is_empty() || rest.starts_with([' ', '\t', '|', '&', ';', '>', '<']);
    (ends && tag.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')).then_some(tag)
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
