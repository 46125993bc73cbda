//! The tables of all cases and whether the bars are met.

use super::cell::{Cell, ENOUGH};
use super::verdict::{Outcome, Verdict};
use crate::table::Table;
use std::collections::BTreeMap;

/// Shares of fits that may be silently wrong, and of right ones that may raise an alarm.
const SILENT: f64 = 0.04;
const ALARMS: f64 = 0.02;

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

/// The same by family: a row for each family and number of simulations.
pub fn families(cells: &[Cell<'_>]) -> Table {
    let mut table = Table::new(&["family", "problems", "m", "fits", "silent wrong", "flagged wrong", "fair", "right", "false alarms"]);
    let mut groups: BTreeMap<(usize, &str), Vec<&Cell<'_>>> = BTreeMap::new();
    cells.iter().for_each(|cell| groups.entry((cell.simulations, cell.case.family)).or_default().push(cell));
    for ((simulations, family), group) in groups {
        let count = |which: &dyn Fn(&Cell<'_>, &Outcome) -> bool| -> String {
            group.iter().map(|cell| cell.fits.iter().filter(|fit| which(cell, fit)).count()).sum::<usize>().to_string()
        };
        table.row(vec![
            family.into(),
            group.len().to_string(),
            simulations.to_string(),
            count(&|_, _| true),
            count(&|_, fit| fit.silently_wrong()),
            count(&|_, fit| fit.verdict == Verdict::Wrong && !fit.silent()),
            count(&|_, fit| fit.verdict == Verdict::Fair),
            count(&|_, fit| fit.verdict == Verdict::Right),
            count(&|cell, fit| !cell.case.odd && fit.alarmed()),
        ]);
    }
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
    plain().flat_map(|(_, fit)| fit.faults()).for_each(|name| *by_name.entry(name.replace(':', " ")).or_default() += 1);
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
            "{} coverage of 90 % intervals between 86 and 95 % in fits that are not flagged, m ≥ {ENOUGH}: {} of {checked} rows miss it",
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
