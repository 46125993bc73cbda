//! A TOML text read by hand, so that every complaint names its line and key, and all of them are found at once.

use kelfi::words::{did_you_mean, shown};
use std::cell::RefCell;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml_edit::{Item, TableLike, Value};

/// Something wrong with a problem file.
#[derive(Debug, Clone, PartialEq)]
pub struct Complaint {
    /// One-based line.
    pub line: usize,
    /// Dotted key.
    pub key: String,
    /// What is wrong.
    pub fact: String,
    /// What to do.
    pub advice: String,
}

/// The text being read and what was found wrong with it.
pub struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    complaints: RefCell<Vec<Complaint>>,
}

impl<'a> Reader<'a> {
    /// A text with the file it comes from.
    pub fn new(path: &'a Path, text: &'a str) -> Self {
        Self { path, text, complaints: RefCell::default() }
    }

    /// The one-based line of a place in the text.
    pub fn line(&self, span: Option<Range<usize>>) -> Option<usize> {
        span.map(|span| 1 + self.text[..span.start.min(self.text.len())].matches('\n').count())
    }

    /// Notes something wrong.
    pub fn complain(&self, line: usize, key: &str, fact: impl Into<String>, advice: impl Into<String>) {
        let complaint = Complaint { line, key: key.to_owned(), fact: fact.into(), advice: advice.into() };
        let mut complaints = self.complaints.borrow_mut();
        if !complaints.contains(&complaint) {
            complaints.push(complaint);
        }
    }

    /// Whether nothing is wrong so far.
    pub fn is_content(&self) -> bool {
        self.complaints.borrow().is_empty()
    }

    /// All complaints as one message, in the order of their lines.
    pub fn message(&self) -> String {
        let mut complaints = self.complaints.borrow().clone();
        complaints.sort_by_key(|complaint| complaint.line);
        let shown = |c: &Complaint| format!("{}:{}: `{}`: {}\n  {}", self.path.display(), c.line, shown(&c.key), c.fact, c.advice);
        complaints.iter().map(shown).collect::<Vec<_>>().join("\n")
    }

    /// The folder that relative paths count from.
    pub fn folder(&self) -> PathBuf {
        match self.path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => PathBuf::from("."),
        }
    }
}

/// A table of the text.
#[derive(Clone)]
pub struct Section<'a> {
    /// Takes the complaints.
    pub reader: &'a Reader<'a>,
    /// Dotted key of this table; empty at the top.
    pub key: String,
    /// Where it begins.
    pub line: usize,
    table: &'a dyn TableLike,
}

/// A value with where it stands.
#[derive(Debug, Clone)]
pub struct Found<T> {
    /// The value.
    pub value: T,
    /// Its line.
    pub line: usize,
    /// Its dotted key.
    pub key: String,
}

impl<'a> Section<'a> {
    /// The whole document.
    pub fn root(reader: &'a Reader<'a>, table: &'a dyn TableLike) -> Self {
        Self { reader, key: String::new(), line: 1, table }
    }

    /// The dotted key of an entry.
    pub fn path(&self, key: &str) -> String {
        if self.key.is_empty() { key.to_owned() } else { format!("{}.{key}", self.key) }
    }

    /// Whether there is an entry with this key.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// The keys in their order.
    pub fn keys(&self) -> Vec<&'a str> {
        self.table.iter().map(|(key, _)| key).collect()
    }

    /// The line of an entry.
    pub fn line_of(&self, key: &str) -> usize {
        let at_key = || self.reader.line(self.table.key(key).and_then(toml_edit::Key::span));
        let at_value = || self.reader.line(self.table.get(key).and_then(Item::span));
        at_key().or_else(at_value).unwrap_or(self.line)
    }

    /// Complains about an entry.
    pub fn complain(&self, key: &str, fact: impl Into<String>, advice: impl Into<String>) {
        self.reader.complain(self.line_of(key), &self.path(key), fact, advice);
    }

    /// Complains about every key that is not one of these.
    pub fn only(&self, known: &[&str]) {
        for key in self.keys().into_iter().filter(|key| !known.contains(key)) {
            self.complain(key, "there is no such key", did_you_mean(key, known.iter().copied(), "known here"));
        }
    }

    /// Complains that an entry is missing.
    pub fn missing(&self, key: &str, advice: &str) {
        self.reader.complain(self.line, &self.path(key), "it is missing", advice);
    }

    /// A text.
    pub fn text(&self, key: &str) -> Option<Found<String>> {
        self.convert(key, "text in quotes", |item| item.as_str().map(str::to_owned))
    }

    /// A finite number.
    pub fn number(&self, key: &str) -> Option<Found<f64>> {
        let found = self.convert(key, "a number", number_of)?;
        if found.value.is_finite() {
            return Some(found);
        }
        self.complain(key, format!("it is {}", found.value), "give a finite number");
        None
    }

    /// True or false.
    pub fn truth(&self, key: &str) -> Option<Found<bool>> {
        self.convert(key, "true or false", Item::as_bool)
    }

    /// A list of finite numbers.
    pub fn numbers(&self, key: &str) -> Option<Found<Vec<f64>>> {
        let one = |value: &Value| value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
        let found = self.convert(key, "a list of numbers", |item| item.as_array()?.iter().map(one).collect::<Option<Vec<f64>>>())?;
        if let Some(value) = found.value.iter().find(|value| !value.is_finite()) {
            self.complain(key, format!("it contains {value}"), "give finite numbers");
            return None;
        }
        Some(found)
    }

    /// A whole number of this range.
    pub fn whole(&self, key: &str, range: Range<i64>) -> Option<Found<u64>> {
        let found = self.convert(key, "a whole number", |item| item.as_integer())?;
        if range.contains(&found.value) {
            return Some(Found { value: found.value.unsigned_abs(), line: found.line, key: found.key });
        }
        self.complain(key, format!("it is {}", found.value), format!("give a whole number from {} to {}", range.start, range.end - 1));
        None
    }

    /// One of these words.
    pub fn word(&self, key: &str, words: &[&'static str]) -> Option<&'static str> {
        let found = self.text(key)?;
        let known = words.iter().find(|&&word| word == found.value);
        if known.is_none() {
            self.complain(
                key,
                format!("there is no \"{}\"", shown(&found.value)),
                did_you_mean(&found.value, words.iter().copied(), "known"),
            );
        }
        known.copied()
    }

    /// A list of texts.
    pub fn texts(&self, key: &str) -> Option<Found<Vec<String>>> {
        let list = |item: &Item| item.as_array()?.iter().map(|value| value.as_str().map(str::to_owned)).collect();
        self.convert(key, "a list of quoted text", list)
    }

    /// A table below this one.
    pub fn section(&self, key: &str) -> Option<Section<'a>> {
        let item = self.table.get(key)?;
        match item.as_table_like() {
            Some(table) => Some(Section { reader: self.reader, key: self.path(key), line: self.line_of(key), table }),
            None => {
                self.wrong_type(key, "a table", item);
                None
            }
        }
    }

    /// A list of tables below this one: `[[key]]` or a list of `{ .. }`.
    pub fn sections(&self, key: &str) -> Option<Vec<Section<'a>>> {
        let item = self.table.get(key)?;
        let below = |at: usize, table: &'a dyn TableLike, span: Option<Range<usize>>| Section {
            reader: self.reader,
            key: format!("{}[{at}]", self.path(key)),
            line: self.reader.line(span).unwrap_or_else(|| self.line_of(key)),
            table,
        };
        if let Some(tables) = item.as_array_of_tables() {
            return Some(tables.iter().enumerate().map(|(at, table)| below(at, table, table.span())).collect());
        }
        let inline = |(at, value): (usize, &'a Value)| value.as_inline_table().map(|table| below(at, table, table.span()));
        let found = item.as_array().and_then(|array| array.iter().enumerate().map(inline).collect());
        if found.is_none() {
            self.wrong_type(key, &format!("a list of tables, each begun with [[{key}]]"), item);
        }
        found
    }

    /// An entry that may be a text or a number.
    pub fn item(&self, key: &str) -> Option<&'a Item> {
        self.table.get(key)
    }

    /// Complains about the type of an entry.
    pub fn wrong_type(&self, key: &str, wanted: &str, item: &Item) {
        let advice = if item.is_str() && wanted.contains("number") { "remove the quotes" } else { "change it to that type" };
        self.complain(key, format!("expected {wanted}, found {}", article(item.type_name())), advice);
    }

    fn convert<T>(&self, key: &str, wanted: &str, convert: impl Fn(&Item) -> Option<T>) -> Option<Found<T>> {
        let item = self.table.get(key)?;
        match convert(item) {
            Some(value) => Some(Found { value, line: self.line_of(key), key: self.path(key) }),
            None => {
                self.wrong_type(key, wanted, item);
                None
            }
        }
    }
}

/// A float, or a whole number as one.
pub fn number_of(item: &Item) -> Option<f64> {
    item.as_float().or_else(|| item.as_integer().map(|whole| whole as f64))
}

fn article(kind: &str) -> String {
    let word = match kind {
        "string" => return "text in quotes".into(),
        "integer" => "whole number",
        "float" => "number",
        "inline table" => "table",
        "array" => "list",
        "boolean" => "truth value",
        other => other,
    };
    let vowel = word.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {word}", if vowel { "an" } else { "a" })
}
