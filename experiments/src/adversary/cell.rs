//! All fits of a case with one number of simulations.

use super::case::{Answer, Case};
use super::verdict::{Outcome, Verdict};
use crate::table::Table;
use anyhow::{Context, Result};
use std::collections::BTreeMap;

/// Where coverage of 90 % intervals has to lie from this many simulations on.
const COVERAGE: (f64, f64) = (0.86, 0.95);
/// That many.
pub const ENOUGH: usize = 300;

/// All fits of a case with one number of simulations.
pub struct Cell<'a> {
    /// The case.
    pub case: &'a Case,
    /// How many.
    pub simulations: usize,
    /// The fits.
    pub fits: Vec<Outcome>,
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
    pub fn quiet_coverage(&self) -> Option<f64> {
        let quiet: Vec<f64> = self.fits.iter().filter(|fit| fit.silent() && fit.covered.is_finite()).map(|fit| fit.covered).collect();
        (self.case.answer == Answer::Posterior && !quiet.is_empty()).then(|| quiet.iter().sum::<f64>() / quiet.len() as f64)
    }

    /// Whether that is too small or too large.
    pub fn misses_coverage(&self) -> bool {
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

    /// Its row of the table.
    pub fn row(&self) -> Vec<String> {
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
