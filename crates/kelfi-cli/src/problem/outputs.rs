//! `[outputs]`: what one simulation gives, where it is not one value of each statistic.

use super::reader::Section;
use kelfi::Outputs;
use kelfi::words::counted;

/// What the file says, or statistics.
pub fn read(root: &Section<'_>) -> Outputs {
    let Some(section) = root.section("outputs") else { return Outputs::default() };
    section.only(&["rows", "repeats"]);
    let repeats = section.whole("repeats", 1..1_000_001).map(|found| found.value as usize);
    match section.truth("rows") {
        Some(found) if found.value => {
            if section.has("repeats") {
                section.complain("repeats", "there are `rows` too", "rows are repeats already: give only one of them");
            }
            Outputs::Rows
        }
        _ => Outputs::repeated(repeats),
    }
}

/// Complains where the statistics are not so many repeats of the same ones, all or without those that are ignored.
pub fn require_whole(root: &Section<'_>, outputs: Outputs, statistics: &[String], ignored: &[String]) {
    let repeats = outputs.repeats();
    let Some(section) = root.section("outputs").filter(|_| repeats > 1) else { return };
    if !statistics.len().is_multiple_of(repeats) {
        let fact = format!("{} are not {repeats} repeats of the same ones", counted(statistics.len() as u64, "statistic"));
        section.complain("repeats", fact, "give a divisor of the number of statistics, which stand repeat by repeat");
        return;
    }
    let each = statistics.len() / repeats;
    let is_ignored = |at: usize| ignored.contains(&statistics[at]);
    if let Some(at) = (0..statistics.len()).find(|&at| is_ignored(at) != is_ignored(at % each)) {
        let (some, other) = if is_ignored(at) { (at, at % each) } else { (at % each, at) };
        let fact = format!("`{}` is ignored and `{}`, another repeat of it, is not", statistics[some], statistics[other]);
        section.complain("repeats", fact, "ignore a statistic in all repeats or in none");
    }
}
