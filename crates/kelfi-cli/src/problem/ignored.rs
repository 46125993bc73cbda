//! `ignore` under `[observation]`: statistics that are simulated and kept but not used.

use super::Problem;
use super::reader::Section;
use kelfi::words::did_you_mean;

/// The names that are ignored, all of them names of statistics, and not all of these.
pub fn read(root: &Section<'_>, statistics: &[String]) -> Vec<String> {
    let Some(section) = root.section("observation") else { return vec![] };
    let Some(found) = section.texts("ignore") else { return vec![] };
    for name in found.value.iter().filter(|name| !statistics.contains(name)) {
        let advice = did_you_mean(name, statistics.iter().map(String::as_str), "the statistics are");
        section.complain("ignore", format!("there is no statistic {name:?}"), advice);
    }
    if statistics.iter().all(|name| found.value.contains(name)) {
        section.complain("ignore", "no statistic is left", "use at least one");
    }
    found.value
}

impl Problem {
    /// The columns of the statistics that are used, in order.
    pub fn used(&self) -> Vec<usize> {
        (0..self.statistics.len()).filter(|&at| !self.ignored.contains(&self.statistics[at])).collect()
    }

    /// The names of the statistics that are used.
    pub fn used_statistics(&self) -> Vec<String> {
        self.used().into_iter().map(|at| self.statistics[at].clone()).collect()
    }

    /// What was observed of the statistics that are used.
    pub fn used_observation(&self) -> Vec<f64> {
        self.used().into_iter().map(|at| self.observation[at]).collect()
    }
}
