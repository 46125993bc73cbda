//! The tables as pages of Markdown, which the book shows.

use super::case::Case;
use crate::study::Study;
use crate::table::Table;
use anyhow::{Context, Result};
use std::fmt::Write as _;

/// Writes the bars with the table of families, the table of all problems, and what they are.
pub fn write(study: &Study, bars: &[String], families: &Table, table: &Table, cases: &[Case]) -> Result<()> {
    let mut summary = String::new();
    bars.iter().for_each(|bar| {
        let _ = writeln!(summary, "- {}", bar.trim());
    });
    save(study, "summary.md", &(summary + "\n" + &markdown(families)))?;
    save(study, "table.md", &markdown(table))?;
    save(study, "problems.md", &markdown(&problems(cases)))
}

fn problems(cases: &[Case]) -> Table {
    let mut table = Table::new(&["problem", "family", "kind", "parameters", "what is simulated"]);
    for case in cases {
        let kind = if case.usual { "usual" } else { "unusual" };
        let parameters = case.prior.dimension().to_string();
        table.row(vec![case.name.into(), case.family.into(), kind.into(), parameters, case.about.into()]);
    }
    table
}

fn save(study: &Study, name: &str, text: &str) -> Result<()> {
    let path = study.path(name);
    std::fs::write(&path, text).with_context(|| format!("could not write {}", path.display()))
}

fn markdown(table: &Table) -> String {
    let mut text = format!("| {} |\n|{}\n", table.columns().join(" | "), "---|".repeat(table.columns().len()));
    table.rows().iter().for_each(|row| {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    });
    text
}
