//! What pages are built from: sections of paragraphs, tables, figures and checks.

use crate::figure::Figure;
use serde::Serialize;

/// One section.
#[derive(Debug, Clone, Serialize)]
pub struct Section {
    /// Anchor.
    pub id: String,
    /// Heading.
    pub title: String,
    /// What stands under the heading, in order.
    pub blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Block {
    /// A paragraph.
    Text {
        /// Its words.
        text: String,
    },
    /// A paragraph on how something is computed, folded away.
    Method {
        /// Its words.
        text: String,
    },
    /// Paragraphs to copy into a paper.
    Quotation {
        /// The paragraphs.
        paragraphs: Vec<String>,
    },
    /// A text file, folded away.
    File {
        /// Its name.
        name: String,
        /// Its contents.
        text: String,
    },
    /// A table.
    Table(Table),
    /// Figures side by side where there is room.
    Figures {
        /// The figures.
        figures: Vec<Figure>,
    },
    /// Checks with what to do.
    Checks {
        /// The checks, worst first.
        checks: Vec<Explained>,
        /// The words they start folded away under; empty where they are open.
        folded: String,
    },
}

/// A check with its question and advice.
#[derive(Debug, Clone, Serialize)]
pub struct Explained {
    /// Machine-readable name.
    pub name: String,
    /// "ok", "warn" or "fail".
    pub status: String,
    /// The status as a word for people.
    pub word: String,
    /// What is asked.
    pub question: String,
    /// What was found.
    pub finding: String,
    /// What to do; empty where nothing needs doing.
    pub advice: String,
    /// The number behind it and its limit.
    pub value: String,
}

/// The conclusion of all checks.
#[derive(Debug, Clone, Serialize)]
pub struct Conclusion {
    /// "ok", "warn" or "fail"; "note" where nothing was checked.
    pub status: String,
    /// The conclusion.
    pub headline: String,
    /// The most important finding and what to do first.
    pub detail: String,
}

/// A table of the page.
#[derive(Debug, Clone, Serialize)]
pub struct Table {
    /// Name of its CSV file.
    pub id: String,
    /// What it shows.
    pub caption: String,
    /// Column headings.
    pub columns: Vec<String>,
    /// Rows; the first cell names the row.
    pub rows: Vec<Vec<Cell>>,
    /// Whether it starts folded away.
    pub folded: bool,
    /// The numbers, as a CSV file.
    pub csv: String,
}

/// A cell.
#[derive(Debug, Clone, Serialize)]
pub struct Cell {
    /// Text.
    pub text: String,
    /// A drawing instead, already safe.
    pub svg: String,
    /// Whether it holds a number.
    pub number: bool,
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), svg: String::new(), number: false }
    }

    /// A number, already written out.
    pub fn number(text: impl Into<String>) -> Self {
        Self { number: true, ..Self::text(text) }
    }

    /// A drawing.
    pub fn svg(svg: String) -> Self {
        Self { svg, ..Self::text("") }
    }
}

impl Section {
    /// An empty section.
    pub fn new(id: &str, title: &str) -> Self {
        Self { id: id.into(), title: title.into(), blocks: vec![] }
    }

    /// Adds a paragraph.
    pub fn text(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Text { text: text.into() });
    }

    /// Adds a paragraph on how something is computed, which starts folded away.
    pub fn method(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Method { text: text.into() });
    }

    /// Adds figures.
    pub fn figures(&mut self, figures: Vec<Figure>) {
        if !figures.is_empty() {
            self.blocks.push(Block::Figures { figures });
        }
    }

    /// Adds a table.
    pub fn table(&mut self, table: Table) {
        self.blocks.push(Block::Table(table));
    }

    /// All figures of the section.
    pub fn all_figures(&self) -> Vec<&Figure> {
        let figures =
            |block: &'_ Block| -> Vec<usize> { if let Block::Figures { figures } = block { (0..figures.len()).collect() } else { vec![] } };
        self.blocks
            .iter()
            .flat_map(|block| {
                figures(block).into_iter().filter_map(move |k| if let Block::Figures { figures } = block { figures.get(k) } else { None })
            })
            .collect()
    }
}
