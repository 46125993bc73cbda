//! Small tables on the terminal and as CSV files.

use anyhow::{Context, Result, ensure};
use std::fmt::Write as _;
use std::path::Path;

/// Column names and rows of text.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new(columns: &[&str]) -> Self {
        Self { columns: columns.iter().map(|c| (*c).to_string()).collect(), rows: vec![] }
    }

    /// Reads a CSV file as [`Table::write`] makes it. A last line that was cut off while it was written is left out.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))?;
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let split = |line: &str| line.split(',').map(String::from).collect::<Vec<String>>();
        let mut lines = whole.lines();
        let columns = split(lines.next().unwrap_or(""));
        let rows: Vec<Vec<String>> = lines.map(split).collect();
        for (index, row) in rows.iter().enumerate() {
            let (line, cells, expected) = (index + 2, row.len(), columns.len());
            ensure!(cells == expected, "{}, line {line}: {cells} cells under {expected} column names", path.display());
        }
        Ok(Self { columns, rows })
    }

    /// Names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The rows.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// The rows whose cells under these names are these.
    pub fn matching(&self, wanted: &[(&str, &str)]) -> Result<Self> {
        let places: Vec<(usize, &str)> = wanted.iter().map(|(name, cell)| Ok((self.place(name)?, *cell))).collect::<Result<_>>()?;
        let rows = self.rows.iter().filter(|row| places.iter().all(|(c, cell)| row[*c] == *cell)).cloned().collect();
        Ok(Self { columns: self.columns.clone(), rows })
    }

    /// A column as numbers.
    pub fn numbers(&self, column: &str) -> Result<Vec<f64>> {
        let place = self.place(column)?;
        let number = |row: &Vec<String>| row[place].parse().with_context(|| format!("{:?} under {column} is not a number", row[place]));
        self.rows.iter().map(number).collect()
    }

    fn place(&self, column: &str) -> Result<usize> {
        self.columns.iter().position(|name| name == column).with_context(|| format!("there is no column {column}"))
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
