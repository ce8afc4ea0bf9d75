//! One word of a line as bash would expand it: constant, of a known shape, or unknown. Where anything
//! but plain text is evaluated, the word says what; it never evaluates itself.

use brush_parser::ParserOptions;
use brush_parser::word::{Parameter, ParameterExpr, SpecialParameter, WordPiece, WordPieceWithSource, parse};

/// Stands in a shape for text that is not known. No line holds this character.
pub(super) const ANY: char = '\0';

/// A word after expansion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    /// Its text, with `ANY` for what is not known.
    pub(super) shape: String,
    /// Whether it may become several words of this shape, or none.
    pub(super) several: bool,
    /// Whether it may become any words whatever.
    pub(super) free: bool,
    /// Whether it was written without quotes, escapes and expansions.
    pub(super) plain: bool,
    /// As it was written.
    pub(super) raw: String,
}

impl Text {
    /// A word that is known.
    pub(super) fn known(text: impl Into<String>) -> Text {
        let shape: String = text.into();
        Text {
            raw: shape.clone(),
            shape,
            several: false,
            free: false,
            plain: true,
        }
    }

    /// Words nobody knows: what `xargs` adds, what a substitution gives.
    pub(super) fn unknown(raw: &str) -> Text {
        Text {
            shape: ANY.to_string(),
            several: true,
            free: true,
            plain: false,
            raw: raw.to_owned(),
        }
    }

    /// Its text where it is one constant word.
    pub(super) fn constant(&self) -> Option<&str> {
        (!self.several && !self.free && !self.shape.contains(ANY)).then_some(self.shape.as_str())
    }

    /// Whether it may be taken for an option.
    pub(super) fn may_be_option(&self) -> bool {
        self.free || self.shape.starts_with(['-', ANY])
    }

    /// How people and rules read it.
    pub(super) fn shown(&self) -> String {
        self.constant().unwrap_or(&self.raw).to_owned()
    }
}

/// What evaluating a word runs and evaluates beside giving text.
#[derive(Debug, Default)]
pub(super) struct Inside {
    /// Lines of command substitutions.
    pub(super) lines: Vec<String>,
    /// What cannot be seen, in words.
    pub(super) opaque: Option<String>,
}

/// Reads a word. `home` is what a leading `~` stands for.
pub(super) fn text(raw: &str, home: &str, inside: &mut Inside) -> Text {
    let mut writer = Writer::new(home);
    if raw.contains(['$', '`']) {
        if let Ok(pieces) = parse(raw, &options()) {
            writer.pieces(&pieces, false, inside);
        } else {
            writer.unknown(true);
            inside.opaque = Some(format!("the word {raw} cannot be read"));
        }
    } else {
        writer.unquoted(raw);
    }
    Text {
        shape: writer.shape,
        several: writer.several,
        free: writer.free,
        plain: writer.plain,
        raw: raw.to_owned(),
    }
}

/// Reads the text of a here-document whose end is not quoted.
pub(super) fn here_document(raw: &str, inside: &mut Inside) {
    if !raw.contains(['$', '`']) {
        return;
    }
    match brush_parser::word::parse_heredoc(raw, &options()) {
        Ok(pieces) => {
            let mut writer = Writer::new("");
            writer.pieces(&pieces, true, inside);
        }
        Err(_) => inside.opaque = Some("a here-document cannot be read".to_owned()),
    }
}

/// As bash reads a line that is no script: no extended globs.
pub(super) fn options() -> ParserOptions {
    ParserOptions {
        enable_extended_globbing: false,
        ..ParserOptions::default()
    }
}

#[expect(clippy::struct_excessive_bools, reason = "each is one thing that is lost on the way")]
struct Writer<'a> {
    home: &'a str,
    shape: String,
    several: bool,
    free: bool,
    plain: bool,
    /// After a bracket or brace: the rest of the word is not known.
    lost: bool,
    /// Whether the word is read piece by piece: what closes a bracket may be in another one.
    in_pieces: bool,
}

impl<'a> Writer<'a> {
    fn new(home: &'a str) -> Writer<'a> {
        Writer {
            home,
            shape: String::new(),
            several: false,
            free: false,
            plain: true,
            lost: false,
            in_pieces: false,
        }
    }

    fn pieces(&mut self, pieces: &[WordPieceWithSource], quoted: bool, inside: &mut Inside) {
        self.plain = false;
        self.in_pieces = true;
        for WordPieceWithSource { piece, .. } in pieces {
            match piece {
                WordPiece::Text(text) if quoted => self.literal(text),
                WordPiece::Text(text) => self.unquoted(text),
                WordPiece::SingleQuotedText(text) => self.literal(text),
                WordPiece::EscapeSequence(text) => self.escape(text),
                WordPiece::AnsiCQuotedText(_) => self.unknown(false),
                WordPiece::DoubleQuotedSequence(pieces) | WordPiece::GettextDoubleQuotedSequence(pieces) => {
                    self.pieces(pieces, true, inside);
                }
                WordPiece::TildeExpansion(_) => self.unknown(!quoted),
                WordPiece::ParameterExpansion(parameter) => {
                    if !only_named(parameter) {
                        inside.opaque = Some("an expansion evaluates more than a name".to_owned());
                    }
                    self.unknown(!quoted || several_words(parameter));
                }
                WordPiece::CommandSubstitution(line) => {
                    inside.lines.push(line.clone());
                    self.unknown(!quoted);
                }
                WordPiece::BackquotedCommandSubstitution(line) => {
                    // What a backslash means in there depends on what stands around it.
                    if line.contains('\\') {
                        inside.opaque = Some("a substitution in backquotes holds a backslash".to_owned());
                    }
                    inside.lines.push(line.clone());
                    self.unknown(!quoted);
                }
                WordPiece::ArithmeticExpression(expression) => {
                    if !only_numbers(&expression.value) {
                        inside.opaque = Some("arithmetic evaluates more than numbers".to_owned());
                    }
                    self.unknown(!quoted);
                }
            }
        }
    }

    fn literal(&mut self, text: &str) {
        self.plain = false;
        if !self.lost {
            self.shape.push_str(text);
        }
    }

    fn escape(&mut self, text: &str) {
        self.literal(text.strip_prefix('\\').unwrap_or(text).trim_matches('\n'));
    }

    fn unknown(&mut self, free: bool) {
        self.plain = false;
        self.free |= free;
        if !self.shape.ends_with(ANY) {
            self.shape.push(ANY);
        }
    }

    /// Text without `$` and backquotes, as bash reads it outside of quotes.
    fn unquoted(&mut self, text: &str) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let after = from(rest, c.len_utf8());
            rest = after;
            match c {
                '\'' => {
                    let quoted = after.split('\'').next().unwrap_or_default();
                    self.literal(quoted);
                    rest = from(after, quoted.len() + 1);
                }
                '"' => rest = from(after, self.double_quoted(after)),
                '\\' => {
                    let escaped = after.chars().next().map_or(0, char::len_utf8);
                    self.literal(after.get(..escaped).filter(|c| *c != "\n").unwrap_or_default());
                    rest = from(after, escaped);
                }
                '~' if self.shape.is_empty() && (after.is_empty() || after.starts_with('/')) => {
                    self.plain = false;
                    self.shape.push_str(self.home);
                }
                '~' if self.shape.is_empty() || self.shape.ends_with(['=', ':']) => self.lose(),
                '*' | '?' => {
                    self.unknown(false);
                    self.several = true;
                }
                '[' if self.in_pieces || after.contains(']') => self.lose(),
                '{' if self.in_pieces => self.unknown(true),
                '{' if after.contains(',') || after.contains("..") => self.lose(),
                c if !self.lost => self.shape.push(c),
                _ => {}
            }
        }
    }

    /// Text after an opening quote; answers how long it is with its closing quote.
    fn double_quoted(&mut self, text: &str) -> usize {
        self.plain = false;
        let mut escaped = false;
        for (at, c) in text.char_indices() {
            match c {
                '"' if !escaped => return at + 1,
                '\\' if !escaped => {
                    escaped = true;
                    continue;
                }
                '"' | '\\' | '$' | '`' if escaped => self.literal(c.encode_utf8(&mut [0; 4])),
                '\n' if escaped => {}
                c => {
                    if escaped {
                        self.literal("\\");
                    }
                    self.literal(c.encode_utf8(&mut [0; 4]));
                }
            }
            escaped = false;
        }
        text.len()
    }

    fn lose(&mut self) {
        self.unknown(false);
        self.several = true;
        self.lost = true;
    }
}

fn from(text: &str, start: usize) -> &str {
    text.get(start..).unwrap_or_default()
}

/// Whether an expansion gives several words even within quotes.
fn several_words(expansion: &ParameterExpr) -> bool {
    let (ParameterExpr::Parameter { parameter, .. } | ParameterExpr::ParameterLength { parameter, .. }) = expansion
    else {
        return true;
    };
    matches!(
        parameter,
        Parameter::NamedWithAllIndices { .. } | Parameter::Special(SpecialParameter::AllPositionalParameters { .. })
    )
}

/// Whether an expansion only puts a variable's text in place.
fn only_named(expansion: &ParameterExpr) -> bool {
    match expansion {
        ParameterExpr::Parameter { parameter, indirect } | ParameterExpr::ParameterLength { parameter, indirect } => {
            !indirect
                && match parameter {
                    Parameter::Positional(_) | Parameter::Special(_) | Parameter::NamedWithAllIndices { .. } => true,
                    Parameter::Named(name) => ordinary_name(name),
                    Parameter::NamedWithIndex { index, .. } => index.bytes().all(|byte| byte.is_ascii_digit()),
                }
        }
        ParameterExpr::UseDefaultValues { .. }
        | ParameterExpr::AssignDefaultValues { .. }
        | ParameterExpr::IndicateErrorIfNullOrUnset { .. }
        | ParameterExpr::UseAlternativeValue { .. }
        | ParameterExpr::RemoveSmallestSuffixPattern { .. }
        | ParameterExpr::RemoveLargestSuffixPattern { .. }
        | ParameterExpr::RemoveSmallestPrefixPattern { .. }
        | ParameterExpr::RemoveLargestPrefixPattern { .. }
        | ParameterExpr::Substring { .. }
        | ParameterExpr::Transform { .. }
        | ParameterExpr::UppercaseFirstChar { .. }
        | ParameterExpr::UppercasePattern { .. }
        | ParameterExpr::LowercaseFirstChar { .. }
        | ParameterExpr::LowercasePattern { .. }
        | ParameterExpr::ReplaceSubstring { .. }
        | ParameterExpr::VariableNames { .. }
        | ParameterExpr::MemberKeys { .. } => false,
    }
}

fn ordinary_name(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn only_numbers(expression: &str) -> bool {
    expression
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b" +-*/%()<>=!&|^~?:".contains(&byte))
}
