//! The table of all cases and whether the bars are met.

use super::case::{Answer, Case};
use super::verdict::{Outcome, Verdict};
use crate::table::Table;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// Where coverage of 90 % intervals has to lie from this many simulations on.
const COVERAGE: (f64, f64) = (0.86, 0.95);
const ENOUGH: usize = 300;
/// Shares of fits that may be silently wrong, and of right ones that may raise an alarm.
const SILENT: f64 = 0.04;
const ALARMS: f64 = 0.02;

/// All fits of a case with one number of simulations.
pub struct Cell<'a> {
    case: &'a Case,
    simulations: usize,
    fits: Vec<Outcome>,
}

impl<'a> Cell<'a> {
    /// From the rows of the file of runs.
    pub fn new(case: &'a Case, simulations: usize, runs: &Table) -> Result<Self> {
        let rows = runs.matching(&[("problem", case.name), ("simulations", &simulations.to_string())])?;
        let number = |column: &str| rows.numbers(column);
        let (off, ratio, apart) = (number("mean_off")?, number("sd_ratio")?, number("total_variation")?);
        let (covered, seconds) = (number("covered")?, number("seconds")?);
        let place = rows.columns().iter().position(|name| name == "raised").context("there is no column raised")?;
        let fits = (0..rows.rows().len())
            .map(|k| Outcome {
                verdict: Verdict::of(off[k], ratio[k], apart[k]),
                raised: rows.rows()[k][place].split_whitespace().map(String::from).collect(),
                covered: covered[k],
                numbers: [off[k], ratio[k], apart[k]],
                seconds: seconds[k],
            })
            .collect();
        Ok(Self { case, simulations, fits })
    }

    fn count(&self, which: impl Fn(&Outcome) -> bool) -> usize {
        self.fits.iter().filter(|fit| which(fit)).count()
    }

    /// Mean coverage of the fits that no check mentions, where the answer is a distribution.
    fn quiet_coverage(&self) -> Option<f64> {
        let quiet: Vec<f64> = self.fits.iter().filter(|fit| fit.silent() && fit.covered.is_finite()).map(|fit| fit.covered).collect();
        (self.case.answer == Answer::Posterior && !quiet.is_empty()).then(|| quiet.iter().sum::<f64>() / quiet.len() as f64)
    }

    fn misses_coverage(&self) -> bool {
        self.simulations >= ENOUGH && self.quiet_coverage().is_some_and(|covered| !(COVERAGE.0..=COVERAGE.1).contains(&covered))
    }

    fn median(&self, what: usize) -> String {
        let mut values: Vec<f64> = self.fits.iter().map(|fit| fit.numbers[what]).filter(|value| !value.is_nan()).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).map_or("-".into(), |value| format!("{value:.2}"))
    }

    /// Which checks spoke, and in how many fits.
    fn spoken(&self) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for raised in self.fits.iter().flat_map(|fit| &fit.raised) {
            *counts.entry(raised.split(':').next().unwrap_or(raised)).or_default() += 1;
        }
        counts.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join("; ")
    }

    fn row(&self) -> Vec<String> {
        let wrong = |fit: &Outcome| fit.verdict == Verdict::Wrong;
        let alarms = if self.case.odd { "-".into() } else { self.count(Outcome::alarmed).to_string() };
        let seconds = self.fits.iter().map(|fit| fit.seconds).sum::<f64>() / self.fits.len().max(1) as f64;
        vec![
            self.case.name.into(),
            if self.case.usual { "usual" } else { "unusual" }.into(),
            self.simulations.to_string(),
            self.fits.len().to_string(),
            self.count(Outcome::silently_wrong).to_string(),
            self.count(|fit| wrong(fit) && !fit.silent()).to_string(),
            self.count(|fit| fit.verdict == Verdict::Fair).to_string(),
            self.count(|fit| fit.verdict == Verdict::Right).to_string(),
            alarms,
            self.quiet_coverage().map_or("-".into(), |covered| format!("{:.0}", 100.0 * covered)),
            self.median(0),
            self.median(1),
            self.median(2),
            self.spoken(),
            format!("{seconds:.1}"),
        ]
    }
}

/// The table, a row for each cell.
pub fn table(cells: &[Cell<'_>]) -> Table {
    let mut table = Table::new(&[
        "problem",
        "kind",
        "m",
        "fits",
        "silent wrong",
        "flagged wrong",
        "fair",
        "right",
        "false alarms",
        "coverage of 90 %",
        "mean off",
        "sd ratio",
        "total variation",
        "checks that spoke",
        "seconds",
    ]);
    cells.iter().for_each(|cell| table.row(cell.row()));
    table
}

/// The bars, a line each.
pub fn bars(cells: &[Cell<'_>]) -> Vec<String> {
    let all = || cells.iter().flat_map(|cell| cell.fits.iter().map(move |fit| (cell, fit)));
    let fits = all().count();
    let usual = all().filter(|(cell, _)| cell.case.usual).count();
    let silent = all().filter(|(_, fit)| fit.silently_wrong()).count();
    let silent_usual = all().filter(|(cell, fit)| cell.case.usual && fit.silently_wrong()).count();
    let plain = || all().filter(|(cell, fit)| !cell.case.odd && fit.verdict == Verdict::Right);
    let right = plain().count();
    let alarms = plain().filter(|(_, fit)| fit.alarmed()).count();
    let serious = plain().filter(|(_, fit)| fit.alarmed_about_the_posterior()).count();
    let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
    plain().flat_map(|(_, fit)| &fit.raised).for_each(|name| *by_name.entry(name.replace(':', " ")).or_default() += 1);
    let by_name = by_name.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join("; ");
    let missed: Vec<String> = cells.iter().filter(|cell| cell.misses_coverage()).map(coverage_miss).collect();
    let checked = cells.iter().filter(|cell| cell.simulations >= ENOUGH && cell.quiet_coverage().is_some()).count();
    vec![
        format!("{} silent wrong fits in the usual problems: {silent_usual} of {usual}", met(silent_usual == 0)),
        format!("{} silent wrong fits in all: {silent} of {fits} ({})", met(share(silent, fits) <= SILENT), percent(silent, fits)),
        format!(
            "{} false alarms: {serious} of {right} right fits ({}); with hyperparameters at a bound {alarms}",
            met(share(serious, right) <= ALARMS),
            percent(serious, right)
        ),
        format!("     of those by check: {}", if by_name.is_empty() { "none" } else { &by_name }),
        format!(
            "{} coverage of 90 % intervals between 86 and 95 % where no check speaks, m ≥ {ENOUGH}: {} of {checked} rows miss it",
            met(missed.is_empty()),
            missed.len()
        ),
        format!("     these: {}", if missed.is_empty() { "none".into() } else { missed.join("; ") }),
    ]
}

fn coverage_miss(cell: &Cell<'_>) -> String {
    format!("{} at {}: {:.0} %", cell.case.name, cell.simulations, 100.0 * cell.quiet_coverage().unwrap_or(f64::NAN))
}

fn met(kept: bool) -> &'static str {
    if kept { "met  " } else { "MISSED" }
}

fn share(part: usize, all: usize) -> f64 {
    part as f64 / all.max(1) as f64
}

fn percent(part: usize, all: usize) -> String {
    format!("{:.1} %", 100.0 * share(part, all))
}

/// The bars, the table and what the problems are, as a page of Markdown.
pub fn write_markdown(path: &Path, bars: &[String], table: &Table, cases: &[Case]) -> Result<()> {
    let mut text = String::from("# Exact posteriors and what a user sees\n\n");
    bars.iter().for_each(|bar| {
        let _ = writeln!(text, "- {}", bar.trim());
    });
    text += "\n";
    text += &markdown(table);
    let mut problems = Table::new(&["problem", "kind", "parameters", "what is simulated"]);
    for case in cases {
        let kind = if case.usual { "usual" } else { "unusual" };
        problems.row(vec![case.name.into(), kind.into(), case.prior.dimension().to_string(), case.about.into()]);
    }
    text += "\n## The problems\n\n";
    text += &markdown(&problems);
    std::fs::write(path, text).with_context(|| format!("could not write {}", path.display()))
}

fn markdown(table: &Table) -> String {
    let mut text = format!("| {} |\n|{}\n", table.columns().join(" | "), "---|".repeat(table.columns().len()));
    table.rows().iter().for_each(|row| {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    });
    text
}
