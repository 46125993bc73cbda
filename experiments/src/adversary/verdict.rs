//! Right, wrong or in between; silent or not.

/// Beyond any of these a fit is wrong: mean off in exact standard deviations, ratio of standard deviations, total variation.
const WRONG: Limits = Limits { mean_off: 0.6, sd_ratio: (0.6, 1.7), total_variation: 0.25 };
/// Within all of these it is right.
const RIGHT: Limits = Limits { mean_off: 0.3, sd_ratio: (0.8, 1.25), total_variation: 0.15 };
/// The check that says how the search ended rather than how good the posterior is.
const AT_BOUND: &str = "hyperparameter_at_bound";
/// The check that says that a posterior has several modes, which is a remark on a right one and no excuse for a wrong one.
const MODES: &str = "modes";

struct Limits {
    mean_off: f64,
    sd_ratio: (f64, f64),
    total_variation: f64,
}

impl Limits {
    /// Whether all numbers are inside; what is not a number is not.
    fn hold(&self, mean_off: f64, sd_ratio: f64, total_variation: f64) -> bool {
        mean_off <= self.mean_off && (self.sd_ratio.0..=self.sd_ratio.1).contains(&sd_ratio) && total_variation <= self.total_variation
    }
}

/// How close a fit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Close enough for everything.
    Right,
    /// In between.
    Fair,
    /// Misleading.
    Wrong,
}

impl Verdict {
    /// By the three numbers of a fit.
    pub fn of(mean_off: f64, sd_ratio: f64, total_variation: f64) -> Self {
        if RIGHT.hold(mean_off, sd_ratio, total_variation) {
            Self::Right
        } else if WRONG.hold(mean_off, sd_ratio, total_variation) {
            Self::Fair
        } else {
            Self::Wrong
        }
    }
}

/// What a row of the file of runs says.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// How close.
    pub verdict: Verdict,
    /// Checks that spoke, as name:status.
    pub raised: Vec<String>,
    /// Coverage of 90 % intervals given y.
    pub covered: f64,
    /// Mean off, ratio, total variation.
    pub numbers: [f64; 3],
    /// Seconds.
    pub seconds: f64,
}

impl Outcome {
    /// Checks that find fault, as name:status.
    pub fn faults(&self) -> impl Iterator<Item = &String> {
        self.raised.iter().filter(|check| !check.starts_with(MODES))
    }

    /// Whether no check found fault.
    pub fn silent(&self) -> bool {
        self.faults().next().is_none()
    }

    /// Wrong without a word.
    pub fn silently_wrong(&self) -> bool {
        self.verdict == Verdict::Wrong && self.silent()
    }

    /// Right, and a check spoke.
    pub fn alarmed(&self) -> bool {
        self.verdict == Verdict::Right && !self.silent()
    }

    /// The same, if a hyperparameter at a bound is no alarm.
    pub fn alarmed_about_the_posterior(&self) -> bool {
        self.alarmed() && self.faults().any(|check| !check.starts_with(AT_BOUND))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_modes_are_neither_an_excuse_nor_an_alarm() {
        let outcome = |verdict, raised: &[&str]| Outcome {
            verdict,
            raised: raised.iter().map(|check| (*check).to_string()).collect(),
            covered: 0.9,
            numbers: [0.0, 1.0, 0.0],
            seconds: 1.0,
        };
        assert!(outcome(Verdict::Wrong, &["modes:warn"]).silently_wrong());
        assert!(!outcome(Verdict::Wrong, &["modes:warn", "calibration:warn"]).silently_wrong());
        assert!(!outcome(Verdict::Right, &["modes:warn"]).alarmed());
        let at_bound = outcome(Verdict::Right, &["hyperparameter_at_bound:warn"]);
        assert!(at_bound.alarmed() && !at_bound.alarmed_about_the_posterior());
    }

    #[test]
    fn each_number_alone_makes_a_fit_wrong_and_what_is_not_a_number_does_too() {
        assert_eq!(Verdict::of(0.2, 1.1, 0.1), Verdict::Right);
        assert_eq!(Verdict::of(0.4, 1.1, 0.1), Verdict::Fair);
        for (off, ratio, tv) in
            [(0.61, 1.0, 0.0), (0.0, 0.59, 0.0), (0.0, 1.71, 0.0), (0.0, 1.0, 0.26), (f64::NAN, 1.0, 0.0), (0.0, f64::NAN, 0.0)]
        {
            assert_eq!(Verdict::of(off, ratio, tv), Verdict::Wrong, "{off} {ratio} {tv}");
        }
    }
}
