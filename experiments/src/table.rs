//! Small tables on the terminal and as CSV files.

use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::path::Path;

/// Column names and rows of text.
pub struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new(columns: &[&str]) -> Self {
        Self { columns: columns.iter().map(|c| (*c).to_string()).collect(), rows: vec![] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    /// Prints it aligned.
    pub fn print(&self, title: &str) {
        let width = |c: usize| self.rows.iter().map(|r| r[c].chars().count()).chain([self.columns[c].chars().count()]).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let line = |cells: &[String]| {
            let mut text = String::new();
            for (cell, width) in cells.iter().zip(&widths) {
                let _ = write!(text, "{cell:<width$}  ", width = width);
            }
            text.trim_end().to_string()
        };
        println!("\n{title}\n{}", line(&self.columns));
        self.rows.iter().for_each(|row| println!("{}", line(row)));
    }

    /// Writes it as CSV; no cell holds a comma or a quote.
    pub fn write(&self, path: &Path) -> Result<()> {
        let mut text = self.columns.join(",") + "\n";
        for row in &self.rows {
            text += &(row.join(",") + "\n");
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, text).with_context(|| format!("could not write {}", path.display()))
    }
}

/// Mean, median, 90 % quantile and largest.
pub struct Spread {
    /// Arithmetic mean.
    pub mean: f64,
    /// Middle value.
    pub median: f64,
    /// Nine in ten are below.
    pub decile: f64,
    /// The largest.
    pub worst: f64,
}

impl Spread {
    /// Of some values, at least one.
    pub fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |p: f64| sorted[((sorted.len() - 1) as f64 * p).round() as usize];
        Self { mean: sorted.iter().sum::<f64>() / sorted.len() as f64, median: at(0.5), decile: at(0.9), worst: at(1.0) }
    }

    /// As cells with three digits.
    pub fn cells(&self) -> Vec<String> {
        [self.mean, self.median, self.decile, self.worst].iter().map(|v| format!("{v:.3}")).collect()
    }
}
