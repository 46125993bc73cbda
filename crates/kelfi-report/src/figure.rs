//! A figure: a drawing with a title, a description for those who do not see it, and its numbers.

use crate::error::Error;
use crate::picture;
use crate::svg::{Svg, escape};
use serde::Serialize;
use std::fmt::Write;

/// Rules for drawings; colours are variables, so that the page can change them.
pub(crate) const STYLE: &str = include_str!("page/figure.css");
/// Colours of a drawing that stands alone: those of the light page.
const LIGHT: [(&str, &str); 11] = [
    ("ink", "#1c2128"),
    ("muted", "#57606a"),
    ("line", "#d0d7de"),
    ("paper", "#ffffff"),
    ("posterior", "#0a5cad"),
    ("prior", "#6e7781"),
    ("truth", "#b0420a"),
    ("fail", "#b3151d"),
    ("band", "#dbe9f7"),
    ("ok", "#1a6b34"),
    ("warn", "#855600"),
];

/// The numbers of a figure, as a CSV file.
#[derive(Debug, Clone, Default)]
pub struct Numbers {
    text: String,
}

impl Numbers {
    /// An empty table with these columns.
    pub fn new<S: AsRef<str>>(columns: &[S]) -> Self {
        let mut table = Self::default();
        table.row(&columns.iter().map(|c| c.as_ref().to_string()).collect::<Vec<_>>());
        table
    }

    /// Adds a row of cells.
    pub fn row(&mut self, cells: &[String]) {
        let quoted: Vec<String> = cells.iter().map(|cell| quote(cell)).collect();
        self.text.push_str(&quoted.join(","));
        self.text.push_str("\r\n");
    }

    /// Adds a row of a name and numbers.
    pub fn named(&mut self, name: &str, values: &[f64]) {
        let mut cells = vec![name.to_string()];
        cells.extend(values.iter().map(|v| full(*v)));
        self.row(&cells);
    }

    /// Adds a row of numbers.
    pub fn values(&mut self, values: &[f64]) {
        self.row(&values.iter().map(|v| full(*v)).collect::<Vec<_>>());
    }

    /// The file.
    pub fn csv(&self) -> &str {
        &self.text
    }
}

/// All digits; nothing where there is no number.
pub(crate) fn full(value: f64) -> String {
    if value.is_finite() { format!("{value}") } else { String::new() }
}

fn quote(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_string() }
}

/// A figure of the report.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    /// Name of the file and anchor in the page.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// What a listener is told instead of the drawing.
    pub description: String,
    /// Whether it takes the whole width of the page.
    pub wide: bool,
    /// The drawing as it stands in the page.
    pub svg: String,
    /// The numbers, as a CSV file.
    pub csv: String,
}

impl Figure {
    /// Wraps a drawing.
    pub fn new(id: &str, title: &str, caption: &str, description: String, wide: bool, drawing: &Svg, numbers: &Numbers) -> Self {
        let mut svg = String::new();
        let _ = write!(
            svg,
            r#"<svg class="figure" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w:.0} {h:.0}" width="{w:.0}" height="{h:.0}" role="img" aria-labelledby="{id}-title {id}-description"><title id="{id}-title">{}</title><desc id="{id}-description">{}</desc>{}</svg>"#,
            escape(title),
            escape(&description),
            drawing.body(),
            w = drawing.width,
            h = drawing.height,
        );
        Self { id: id.into(), title: title.into(), caption: caption.into(), description, wide, svg, csv: numbers.csv().into() }
    }

    /// The drawing as a PNG file for papers: light colours, 300 dots per inch.
    pub fn png(&self) -> Result<Vec<u8>, Error> {
        picture::png(&self.standalone())
    }

    /// The drawing as a file of its own, with its colours.
    pub fn standalone(&self) -> String {
        self.svg.replacen("><title", &format!("><style>{}</style><title", standalone_style()), 1)
    }
}

/// The rules with the light colours filled in.
pub(crate) fn standalone_style() -> String {
    LIGHT.iter().fold(STYLE.to_string(), |style, (name, colour)| style.replace(&format!("var(--{name})"), colour))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_commas_and_quotes_are_quoted() {
        let mut numbers = Numbers::new(&["a,b", "say \"x\""]);
        numbers.named("n", &[1.5, f64::NAN]);
        assert_eq!(numbers.csv(), "\"a,b\",\"say \"\"x\"\"\"\r\nn,1.5,\r\n");
    }

    #[test]
    fn a_figure_of_its_own_has_all_its_colours() {
        let figure = Figure::new("f", "t", "c", "d".into(), false, &Svg::new(10.0, 10.0), &Numbers::default());
        assert!(!figure.standalone().contains("var("), "{}", figure.standalone());
        assert!(figure.standalone().contains("<style>"));
    }
}
