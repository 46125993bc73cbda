//! A page: one HTML file with everything in it, nothing fetched from anywhere.

use crate::error::Error;
use crate::figure::{STYLE, standalone_style};
use crate::section::{Conclusion, Section};
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};

const PAGE: &str = include_str!("page/page.html");
const PAGE_STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");

/// What stands on a page.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// What kind of page it is, in two words.
    pub kind: &'a str,
    /// What it is about.
    pub title: &'a str,
    /// One sentence under the title.
    pub description: &'a str,
    /// The conclusion, before anything else.
    pub verdict: &'a Conclusion,
    /// The sections, in order.
    pub sections: &'a [Section],
}

impl Page<'_> {
    /// The file's contents.
    pub fn to_html(&self) -> Result<String, Error> {
        let mut environment = Environment::empty();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.add_filter("json", |text: String| Value::from_safe_string(script_json(&text)));
        environment.add_filter("breadth", |text: String| breadth(&text));
        environment.add_filter("raw", |text: String| Value::from_safe_string(text));
        environment.add_template("page.html", PAGE)?;
        let page = environment.get_template("page.html")?.render(context! {
            kind => self.kind,
            title => printable(self.title),
            description => printable(self.description),
            verdict => Value::from(Serde(self.verdict)),
            sections => Value::from(Serde(self.sections)),
            style => format!("{PAGE_STYLE}{STYLE}"),
            figure_style => standalone_style(),
            script => SCRIPT,
            version => env!("CARGO_PKG_VERSION"),
        })?;
        Ok(page)
    }
}

/// How a cell of text breaks: a word never, longer text only where it has room to be read.
fn breadth(text: &str) -> &'static str {
    match text.chars().count() {
        0..=12 => "word",
        13..=24 => "phrase",
        _ => "text",
    }
}

/// JSON that cannot end the script element it stands in.
fn script_json(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
