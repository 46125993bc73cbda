//! `ignore` under `[observation]`: statistics that are simulated and kept but not used.

use super::reader::Section;
use super::{Column, ProblemFile};
use kelfi::Observation;
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

impl ProblemFile {
    /// The columns of the statistics that are used, in order.
    pub fn used(&self) -> Vec<usize> {
        (0..self.statistics.len()).filter(|&at| !self.ignored.contains(&self.statistics[at])).collect()
    }

    /// The names of the statistics that are used.
    pub fn used_statistics(&self) -> Vec<String> {
        self.used().into_iter().map(|at| self.statistics[at].clone()).collect()
    }

    /// The used columns of numbers that stand row after row.
    pub fn used_of(&self, numbers: &[f64]) -> Vec<f64> {
        let used = self.used();
        numbers.chunks(self.statistics.len().max(1)).flat_map(|row| used.iter().filter_map(|&at| row.get(at).copied())).collect()
    }

    /// What was observed of the statistics that are used.
    pub fn used_observation(&self) -> Vec<f64> {
        self.used_of(&self.observation)
    }

    /// The same as inference takes it.
    pub fn observed(&self) -> Result<Observation, kelfi::Error> {
        self.outputs.observation(&self.used_observation(), self.used().len())
    }

    /// What was observed of every column, ignored ones included: one value of a statistic, or one for each row.
    pub fn observed_columns(&self) -> Vec<Column> {
        let width = self.statistics.len().max(1);
        let column = |at: usize| self.observation.iter().skip(at).step_by(width).copied().collect();
        self.statistics.iter().enumerate().map(|(at, name)| (name.clone(), column(at))).collect()
    }

    /// How many rows were observed; 1 of statistics.
    pub fn observed_rows(&self) -> usize {
        self.observation.len() / self.statistics.len().max(1)
    }
}
