//! Walking one settings file: every value keeps its line, every fault is kept. It must not know
//! which keys exist.

use std::fmt;

use llm::Given;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::near::suggestion;

/// Something in a settings file that cannot stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The file.
    pub(crate) file: String,
    /// The line, counted from 1.
    pub(crate) line: u32,
    /// What is wrong and what to do, as a clause.
    pub(crate) what: String,
    /// Whether nobody knows such a key.
    pub(crate) unknown: bool,
}

impl Fault {
    /// A fault at the place of a value.
    pub(crate) fn of<T>(given: &Given<T>, what: impl Into<String>) -> Fault {
        Fault {
            file: given.file.clone().unwrap_or_default(),
            line: given.line.unwrap_or(1),
            what: what.into(),
            unknown: false,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.file, self.line, self.what)
    }
}

/// A file being read.
pub(crate) struct Page<'t> {
    file: &'t str,
    text: &'t str,
    faults: Vec<Fault>,
}

impl<'t> Page<'t> {
    pub(crate) fn new(file: &'t str, text: &'t str) -> Page<'t> {
        Page {
            file,
            text,
            faults: Vec::new(),
        }
    }

    /// The file's table; an empty one when it is no TOML.
    pub(crate) fn root(&mut self) -> DeTable<'t> {
        match DeTable::parse(self.text) {
            Ok(table) => table.into_inner(),
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                self.fault(at, format!("this is no TOML: {}", error.message()));
                DeTable::new()
            }
        }
    }

    /// Every fault found, in the order of the lines.
    pub(crate) fn into_faults(mut self) -> Vec<Fault> {
        self.faults.sort_by_key(|fault| fault.line);
        self.faults
    }

    pub(crate) fn fault(&mut self, at: usize, what: impl Into<String>) {
        let fault = Fault {
            file: self.file.to_owned(),
            line: self.line(at),
            what: what.into(),
            unknown: false,
        };
        self.faults.push(fault);
    }

    /// A fault in a value that was read already.
    pub(crate) fn fault_at<T>(&mut self, given: &Given<T>, what: impl Into<String>) {
        self.faults.push(Fault::of(given, what));
    }

    /// The line of a byte.
    pub(crate) fn line(&self, at: usize) -> u32 {
        let before = self.text.bytes().take(at).filter(|byte| *byte == b'\n').count();
        u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1)
    }

    pub(crate) fn given<T>(&self, at: usize, value: T) -> Given<T> {
        Given {
            value,
            file: Some(self.file.to_owned()),
            line: Some(self.line(at)),
        }
    }

    /// A key nobody knows in `[table]`.
    pub(crate) fn unknown_key(&mut self, at: usize, table: &str, key: &str, known: &[&str]) {
        let place = if table.is_empty() {
            String::new()
        } else {
            format!(" in [{table}]")
        };
        self.fault(
            at,
            format!("unknown key `{key}`{place}: {}", suggestion(key, known.iter().copied())),
        );
        if let Some(fault) = self.faults.last_mut() {
            fault.unknown = true;
        }
    }

    /// Every key beneath `name` that holds a value, by its whole name.
    pub(crate) fn keys(&self, name: &str, value: &Spanned<DeValue<'_>>) -> Vec<Given<String>> {
        match value.get_ref() {
            DeValue::Table(table) if !table.is_empty() => table
                .iter()
                .flat_map(|(key, value)| self.keys(&format!("{name}.{}", key.get_ref()), value))
                .collect(),
            _ => vec![self.given(value.span().start, name.to_owned())],
        }
    }

    /// A word nobody knows as the value of `key`.
    pub(crate) fn unknown_word(&mut self, at: usize, key: &str, word: &str, known: &[&str]) {
        self.fault(
            at,
            format!(
                "`{word}` cannot be the value of `{key}`: {}",
                suggestion(word, known.iter().copied())
            ),
        );
    }

    fn wrong_kind(&mut self, key: &str, wanted: &str, value: &Spanned<DeValue<'_>>) {
        let found = match value.get_ref().type_str() {
            found @ ("integer" | "array") => format!("an {found}"),
            found => format!("a {found}"),
        };
        self.fault(
            value.span().start,
            format!("`{key}` must be {wanted}, and {found} stands there"),
        );
    }

    pub(crate) fn table<'v>(&mut self, key: &str, value: &'v Spanned<DeValue<'t>>) -> Option<&'v DeTable<'t>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.wrong_kind(key, "a table", value);
        }
        table
    }

    pub(crate) fn text(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Option<Given<String>> {
        match value.get_ref().as_str() {
            Some(text) if !text.trim().is_empty() => Some(self.given(value.span().start, text.to_owned())),
            Some(_) => {
                self.fault(value.span().start, format!("`{key}` is empty"));
                None
            }
            None => {
                self.wrong_kind(key, "a text in quotes", value);
                None
            }
        }
    }

    pub(crate) fn truth(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Option<Given<bool>> {
        let truth = value.get_ref().as_bool();
        if truth.is_none() {
            self.wrong_kind(key, "`true` or `false`", value);
        }
        truth.map(|truth| self.given(value.span().start, truth))
    }

    /// A list of texts, each with its own line.
    pub(crate) fn texts(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Vec<Given<String>> {
        let Some(items) = value.get_ref().as_array() else {
            self.wrong_kind(key, "a list of texts in quotes", value);
            return Vec::new();
        };
        items.iter().filter_map(|item| self.text(key, item)).collect()
    }

    /// A whole number from `least` up.
    pub(crate) fn whole(&mut self, key: &str, least: u64, value: &Spanned<DeValue<'_>>) -> Option<Given<u64>> {
        let number = value
            .get_ref()
            .as_integer()
            .and_then(|integer| i64::from_str_radix(integer.as_str(), integer.radix()).ok())
            .and_then(|number| u64::try_from(number).ok())
            .filter(|number| *number >= least);
        let Some(number) = number else {
            self.fault(
                value.span().start,
                format!("`{key}` must be a whole number from {least} up"),
            );
            return None;
        };
        Some(self.given(value.span().start, number))
    }

    /// A number between two.
    pub(crate) fn number(
        &mut self,
        key: &str,
        (least, most): (f64, f64),
        value: &Spanned<DeValue<'_>>,
    ) -> Option<Given<f64>> {
        let text = match value.get_ref() {
            DeValue::Float(number) => number.as_str(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            _ => "",
        };
        let Some(number) = text.parse().ok().filter(|number| (least..=most).contains(number)) else {
            self.fault(
                value.span().start,
                format!("`{key}` must be a number from {least} to {most}"),
            );
            return None;
        };
        Some(self.given(value.span().start, number))
    }
}
