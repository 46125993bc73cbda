//! Values that many simulations share exactly although the statistic is otherwise continuous: -999 for a fit that failed, 0 for nothing found.
//!
//! Such a value is an outcome of its own, not a measurement. With c(x) saying which statistics of x have such a value, and which,
//! q(y|θ) = P(c(x) = c(y) | θ) q(continuous statistics of y | c(y), θ): simulations with another pattern than the observation's take part in
//! the probability only, as failed ones do.

use super::constants::atoms::{CODE, DISTINCT, FAR, FEWEST, LEAST_OTHERS, LEAST_SHARE, MOST, OTHERS};
use crate::Error;
use crate::simulations::Simulations;
use crate::simulations::scales::{median, robust_scale};
use serde::{Deserialize, Serialize};

/// A statistic and a value that many simulations share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Atom {
    /// Which statistic.
    pub index: usize,
    /// The value.
    pub value: f64,
    /// Whether the observation has it.
    pub observed: bool,
}

/// The values of this kind among all successful outputs, and which of them the observation `y` has. Refused where outputs are repeats: some
/// repeats of one output may have such a value and others not.
pub fn atoms(simulations: &Simulations, y: &[f64]) -> Result<Vec<Atom>, Error> {
    if simulations.repeats() > 1 {
        return require_none(simulations).map(|()| vec![]);
    }
    let of_statistic = |index: usize| {
        let found = repeated(simulations.successful_values(index));
        found.into_iter().map(move |value| Atom { index, value, observed: y[index] == value })
    };
    Ok((0..y.len()).flat_map(of_statistic).collect())
}

fn require_none(simulations: &Simulations) -> Result<(), Error> {
    let each = simulations.statistics_each();
    let of_statistic = |i: usize| (i..simulations.statistics()).step_by(each).flat_map(|column| simulations.successful_values(column));
    let found = (0..each).find_map(|i| repeated(of_statistic(i).collect()).first().map(|&value| (i, value)));
    let Some((i, value)) = found else { return Ok(()) };
    Err(Error::Unavailable {
        what: "a location-scale likelihood of repeats".into(),
        reason: format!(
            "many simulations share the value {value} of statistic {} exactly, which may then stand in some repeats and not in others; leave out `repeats`, or this statistic",
            i + 1
        ),
    })
}

/// Whether an output has exactly those atoms that the observation has.
pub fn matches(atoms: &[Atom], x: &[f64]) -> bool {
    atoms.iter().all(|atom| (x[atom.index] == atom.value) == atom.observed)
}

/// The simulations with all outputs that do not match counted as failures; `None` where all match.
pub fn matching(atoms: &[Atom], simulations: &Simulations) -> Option<Simulations> {
    let other: Vec<bool> = simulations.outputs().iter().map(|x| !matches(atoms, x)).collect();
    other.contains(&true).then(|| simulations.with_failures(&other))
}

/// Codes far from everything else, then values that stand out of continuous ones.
fn repeated(mut values: Vec<f64>) -> Vec<f64> {
    let mut found = Vec::new();
    while let Some(code) = code(&values).filter(|_| found.len() < MOST) {
        values.retain(|v| *v != code);
        found.push(code);
    }
    found.extend(amid_continuous(&values));
    found
}

/// The smallest or largest value, if several share it and it is much farther from the others than these are from each other.
fn code(values: &[f64]) -> Option<f64> {
    let ends = |values: &[f64]| values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
    let (low, high) = ends(values);
    let is_code = |end: f64| {
        let others: Vec<f64> = values.iter().copied().filter(|v| *v != end).collect();
        let (low, high) = ends(&others);
        let gap = (end - low).abs().min((end - high).abs());
        values.len() - others.len() >= FEWEST && others.len() >= LEAST_OTHERS && high > low && gap > CODE * (high - low)
    };
    [low, high].into_iter().find(|&end| is_code(end))
}

/// The fewest most frequent values without which hardly any two are equal.
fn amid_continuous(values: &[f64]) -> Vec<f64> {
    let by_frequency = by_frequency(values);
    for count in 1..=MOST.min(by_frequency.len()) {
        let (atoms, others) = by_frequency.split_at(count);
        let left: usize = others.iter().map(|other| other.1).sum();
        let most = others.first().map_or(0, |other| other.1) as f64;
        if left < LEAST_OTHERS || (others.len() as f64) < DISTINCT * left as f64 || most > (OTHERS * atoms[count - 1].1 as f64).max(1.0) {
            continue;
        }
        let rest: Vec<f64> = others.iter().map(|other| other.0).collect();
        let counts =
            |&(value, count): &(f64, usize)| count >= FEWEST && (count as f64 >= LEAST_SHARE * values.len() as f64 || is_far(value, &rest));
        return if atoms.iter().all(counts) { atoms.iter().map(|atom| atom.0).collect() } else { vec![] };
    }
    vec![]
}

/// Distinct values with how often they occur, the most frequent first.
fn by_frequency(values: &[f64]) -> Vec<(f64, usize)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut found: Vec<(f64, usize)> = sorted.chunk_by(|a, b| a == b).map(|same| (same[0], same.len())).collect();
    found.sort_by_key(|value| std::cmp::Reverse(value.1));
    found
}

fn is_far(value: f64, others: &[f64]) -> bool {
    let (Some(middle), Some(scale)) = (median(others.to_vec()), robust_scale(others)) else { return false };
    let beyond = others.iter().all(|v| *v > value) || others.iter().all(|v| *v < value);
    beyond && (value - middle).abs() > FAR * scale
}

#[cfg(test)]
mod tests {
    use super::*;

    fn continuous(count: usize) -> Vec<f64> {
        (0..count).map(|i| (i as f64 * 0.7).sin() + 1e-3 * i as f64).collect()
    }

    fn with(values: &[(f64, usize)]) -> Vec<f64> {
        let shared = values.iter().flat_map(|&(value, count)| std::iter::repeat_n(value, count));
        continuous(200).into_iter().chain(shared).collect()
    }

    #[test]
    fn a_code_for_failed_fits_is_found_however_few_and_a_floor_where_many_stand() {
        assert_eq!(repeated(with(&[(-999.0, 3)])), [-999.0]);
        assert_eq!(repeated(with(&[(0.0, 60)])), [0.0]);
        assert_eq!(repeated(with(&[(-999.0, 30), (-998.0, 25), (0.0, 40)])), [0.0, -999.0, -998.0]);
        let counts = (0..200).map(|i| f64::from(i * i % 17)).chain([-999.0; 4]).collect();
        assert_eq!(repeated(counts), [-999.0]);
    }

    #[test]
    fn counts_roundings_and_measurements_have_none() {
        assert!(repeated(continuous(300)).is_empty());
        assert!(repeated(with(&[(0.5, 2)])).is_empty());
        assert!(repeated((0..300).map(|i| f64::from(i * i % 17)).collect()).is_empty());
        assert!(repeated((0..300).map(|i| ((i as f64 * 0.7).sin() * 20.0).round() / 20.0).collect()).is_empty());
        // Half of a Poisson's values may be 0.
        assert!(repeated((0..300).map(|i| [0.0, 0.0, 0.0, 1.0, 0.0, 2.0, 1.0][i % 7]).collect()).is_empty());
        assert!(repeated(vec![1.0; 50]).is_empty());
        assert!(repeated((0..300).map(|i| f64::from(i % 2)).collect()).is_empty());
    }

    #[test]
    fn only_outputs_with_the_pattern_of_the_observation_match() {
        let atoms = [Atom { index: 0, value: -999.0, observed: false }, Atom { index: 1, value: 0.0, observed: true }];
        assert!(matches(&atoms, &[1.3, 0.0]));
        assert!(!matches(&atoms, &[-999.0, 0.0]) && !matches(&atoms, &[1.3, 0.2]));
    }
}
