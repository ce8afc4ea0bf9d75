//! A page as Markdown, from its tokens alone: no tree is built, so that nesting costs nothing and the
//! work grows with the length of the page. Knows no address but the page's own.

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use reqwest::Url;

/// Lists and links within each other that are shown; what is deeper counts and is not indented more.
const DEEPEST: usize = 16;

/// Elements whose content is no text of the page.
const UNSEEN: &[&str] = &[
    "script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "math",
];

/// Elements that stand alone, with an empty line around them.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "details",
    "dialog",
    "div",
    "dl",
    "fieldset",
    "figure",
    "footer",
    "form",
    "header",
    "main",
    "nav",
    "p",
    "section",
    "summary",
    "table",
];

/// Marks around words, the same before and after.
const MARKS: &[(&str, &str)] = &[
    ("strong", "**"),
    ("b", "**"),
    ("em", "*"),
    ("i", "*"),
    ("code", "`"),
    ("kbd", "`"),
];

/// A page's title and its text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) title: String,
    pub(super) text: String,
}

/// Reads a page that was fetched from `base`, against which its links are resolved.
pub(super) fn markdown(html: &str, base: &Url) -> Page {
    let sink = Sink(RefCell::new(Writer::new(base.clone())));
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(html));
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    // The tokenizer pauses for scripts and encodings; there is nothing to do about either.
    while !input.is_empty() {
        let _ = tokenizer.feed(&input);
    }
    tokenizer.end();
    tokenizer.sink.0.into_inner().finish()
}

struct Sink(RefCell<Writer>);

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut writer = self.0.borrow_mut();
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => {
                writer.start(&tag);
                return raw(&tag);
            }
            Token::TagToken(tag) => writer.end(&tag.name),
            Token::CharacterTokens(text) => writer.text(&text),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

/// Elements in which no tag but their own end counts.
fn raw(tag: &Tag) -> TokenSinkResult<()> {
    match &*tag.name {
        "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
        "script" => TokenSinkResult::RawData(RawKind::ScriptData),
        "style" | "iframe" | "xmp" | "noembed" | "noframes" => TokenSinkResult::RawData(RawKind::Rawtext),
        _ => TokenSinkResult::Continue,
    }
}

struct Writer {
    base: Url,
    out: String,
    title: String,
    in_title: bool,
    /// The unseen element being passed over, and how often it stands within itself.
    unseen: Option<(String, u32)>,
    /// Line ends owed before the next word.
    gap: usize,
    /// Whether a space is owed before the next word.
    space: bool,
    preformatted: u32,
    quoted: usize,
    /// Numbers of the lists that are open; none for one without.
    lists: Vec<Option<u32>>,
    deeper_lists: usize,
    /// Where the open links lead; none for one that leads nowhere worth showing.
    links: Vec<Option<String>>,
    /// Cells of the row being written, and whether the table's first row is.
    cells: usize,
    first_row: bool,
}

impl Writer {
    fn new(base: Url) -> Writer {
        Writer {
            base,
            out: String::new(),
            title: String::new(),
            in_title: false,
            unseen: None,
            gap: 0,
            space: false,
            preformatted: 0,
            quoted: 0,
            lists: Vec::new(),
            deeper_lists: 0,
            links: Vec::new(),
            cells: 0,
            first_row: false,
        }
    }

    fn finish(mut self) -> Page {
        self.out.truncate(self.out.trim_end().len());
        Page {
            title: self.title.split_whitespace().collect::<Vec<_>>().join(" "),
            text: self.out,
        }
    }

    fn start(&mut self, tag: &Tag) {
        let name: &str = &tag.name;
        if let Some((unseen, depth)) = &mut self.unseen {
            *depth += u32::from(unseen == name && !tag.self_closing);
            return;
        }
        if UNSEEN.contains(&name) {
            if !tag.self_closing {
                self.unseen = Some((name.to_owned(), 1));
            }
            return;
        }
        match name {
            "title" => self.in_title = true,
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.break_lines(2);
                let level = name.bytes().last().map_or(1, |digit| usize::from(digit - b'0'));
                self.mark(&format!("{} ", "#".repeat(level)));
            }
            "hr" => {
                self.break_lines(2);
                self.mark("---");
                self.break_lines(2);
            }
            "ul" | "ol" => self.open_list(name == "ol"),
            "li" => self.item(),
            "br" | "dt" | "dd" => self.break_lines(1),
            "pre" => {
                self.break_lines(2);
                self.mark("```\n");
                self.preformatted += 1;
            }
            "a" => self.open_link(attribute(tag, "href")),
            "img" => {
                let words = attribute(tag, "alt").unwrap_or_default();
                if !words.trim().is_empty() {
                    self.text(&format!("[image: {}]", words.trim()));
                }
            }
            "tr" => {
                self.break_lines(1);
                self.cells = 0;
            }
            "td" | "th" => {
                self.mark(if self.cells == 0 { "| " } else { "" });
                self.cells += 1;
            }
            _ => self.start_plain(name),
        }
    }

    fn start_plain(&mut self, name: &str) {
        if BLOCKS.contains(&name) {
            self.break_lines(2);
            self.first_row |= name == "table";
            self.quoted += usize::from(name == "blockquote");
        } else if let Some((_, mark)) = MARKS.iter().find(|(known, _)| *known == name)
            && self.preformatted == 0
        {
            self.mark(mark);
        }
    }

    fn end(&mut self, name: &str) {
        if let Some((unseen, depth)) = &mut self.unseen {
            *depth -= u32::from(unseen == name);
            if *depth == 0 {
                self.unseen = None;
            }
            return;
        }
        match name {
            "title" => self.in_title = false,
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.break_lines(2),
            "ul" | "ol" => self.close_list(),
            "li" | "dt" | "dd" => self.break_lines(1),
            "pre" if self.preformatted > 0 => {
                self.preformatted -= 1;
                if !self.out.ends_with('\n') {
                    self.out.push('\n');
                }
                self.out.push_str("```");
                self.break_lines(2);
            }
            "a" => {
                if let Some(Some(address)) = self.links.pop() {
                    self.out.extend(["](", &address, ")"]);
                }
            }
            "td" | "th" if self.cells > 0 => self.out.push_str(" | "),
            "tr" => self.close_row(),
            _ => self.end_plain(name),
        }
    }

    fn end_plain(&mut self, name: &str) {
        if BLOCKS.contains(&name) {
            self.break_lines(2);
            self.quoted = self.quoted.saturating_sub(usize::from(name == "blockquote"));
        } else if let Some((_, mark)) = MARKS.iter().find(|(known, _)| *known == name)
            && self.preformatted == 0
        {
            self.out.push_str(mark);
        }
    }

    fn open_list(&mut self, numbered: bool) {
        self.break_lines(if self.lists.is_empty() { 2 } else { 1 });
        if self.lists.len() < DEEPEST {
            self.lists.push(numbered.then_some(0));
        } else {
            self.deeper_lists += 1;
        }
    }

    fn close_list(&mut self) {
        if self.deeper_lists > 0 {
            self.deeper_lists -= 1;
        } else {
            self.lists.pop();
        }
        self.break_lines(if self.lists.is_empty() { 2 } else { 1 });
    }

    fn item(&mut self) {
        self.break_lines(1);
        let indent = "  ".repeat(self.lists.len().saturating_sub(1));
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{indent}{number}. ")
            }
            _ => format!("{indent}- "),
        };
        self.mark(&mark);
    }

    fn open_link(&mut self, href: Option<&str>) {
        if self.links.len() >= DEEPEST {
            return;
        }
        let address = href
            .filter(|href| !href.starts_with('#'))
            .and_then(|href| self.base.join(href).ok());
        let address = address
            .filter(|url| matches!(url.scheme(), "http" | "https"))
            .map(String::from);
        if address.is_some() {
            self.mark("[");
        }
        self.links.push(address);
    }

    fn close_row(&mut self) {
        if self.first_row && self.cells > 0 {
            self.first_row = false;
            let cells = self.cells;
            self.break_lines(1);
            self.mark(&format!("|{}", " --- |".repeat(cells.min(100))));
        }
        self.break_lines(1);
    }

    fn break_lines(&mut self, lines: usize) {
        self.gap = self.gap.max(lines);
        self.space = false;
    }

    /// Writes what belongs before the next word, then a mark as it is.
    fn mark(&mut self, mark: &str) {
        if self.out.is_empty() {
            self.gap = 0;
        }
        if self.gap > 0 {
            let quote = "> ".repeat(self.quoted.min(DEEPEST));
            for line in 0..self.gap {
                self.out.push('\n');
                if line + 1 == self.gap {
                    self.out.push_str(&quote);
                }
            }
            self.gap = 0;
        } else if self.space && !self.out.ends_with([' ', '\n']) {
            self.out.push(' ');
        }
        self.space = false;
        self.out.push_str(mark);
    }

    fn text(&mut self, text: &str) {
        if self.unseen.is_some() {
            return;
        }
        if self.in_title {
            self.title.push_str(text);
            return;
        }
        if self.preformatted > 0 {
            self.out.push_str(text);
            return;
        }
        self.space |= text.starts_with(|c: char| c.is_whitespace());
        for word in text.split_whitespace() {
            self.mark(word);
            self.space = true;
        }
        self.space = text.ends_with(|c: char| c.is_whitespace()) && (self.space || !text.trim().is_empty());
    }
}

fn attribute<'t>(tag: &'t Tag, name: &str) -> Option<&'t str> {
    let found = tag.attrs.iter().find(|attribute| &*attribute.name.local == name)?;
    Some(&found.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(html: &str) -> Page {
        markdown(html, &Url::parse("https://docs.example/guide/start").unwrap())
    }

    #[test]
    fn a_page_becomes_markdown() {
        let page = read(
            "<!doctype html><html><head><title>The  Guide</title><style>p{}</style><script>if (a<b) { '<p>no</p>' }</script>\
             </head><body><nav><a href='#top'>Top</a></nav><h1>Start</h1><p>Read <b>this</b> &amp; <a href=\"../api?x=1\">the \
             API</a>.</p><ul><li>one<li>two<ol><li>deep</ol></ul><pre><code>let a = 1;\n  b();</code></pre>\
             <table><tr><th>Key</th><th>Value</th></tr><tr><td>a</td><td>1</td></tr></table>\
             <blockquote>said</blockquote><img alt='a cat' src=x><svg><text>no</text></svg></body></html>",
        );
        assert_eq!(page.title, "The Guide");
        assert_eq!(
            page.text,
            "Top\n\n# Start\n\nRead **this** & [the API](https://docs.example/api?x=1).\n\n- one\n- two\n  1. deep\n\n\
             ```\nlet a = 1;\n  b();\n```\n\n| Key | Value | \n| --- | --- |\n| a | 1 | \n\n> said\n\n[image: a cat]"
        );
    }

    #[test]
    fn words_keep_their_distance_and_lose_their_layout() {
        assert_eq!(read("a\n\n  b<i> c </i>d<br>e").text, "a b* c* d\ne");
        assert_eq!(read("<p>one</p>\n\n<p>two").text, "one\n\ntwo");
        assert_eq!(read("<a href='javascript:x()'>run</a>").text, "run");
        assert_eq!(read("").text, "");
    }

    #[test]
    fn deep_nesting_and_endless_lists_cost_no_more_than_their_length() {
        let deep = format!("{}end", "<div>".repeat(200_000));
        assert_eq!(read(&deep).text, "end");
        let formatting: String = "<div><b></div>".repeat(100_000);
        assert!(read(&format!("{formatting}end")).text.ends_with("end"));
        let lists = format!("{}<li>end", "<ul>".repeat(200_000));
        assert_eq!(read(&lists).text.trim_start(), "- end");
        let links = format!("{}end", "<a href=x>".repeat(200_000));
        assert!(read(&links).text.len() < 100);
        let unclosed = format!("{}end", "<svg>".repeat(200_000));
        assert_eq!(read(&unclosed).text, "");
    }
}
