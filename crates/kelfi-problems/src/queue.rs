//! The M/G/1 queue: one server, Poisson arrivals, uniform service times, only departures seen (Heggland & Frigessi 2004).

use crate::moments::quantile;
use crate::problem::{BenchmarkProblem, Facts, Reference, SimulationFailure, finite, names, positive, require_data, take};
use kelfi::Error;
use kelfi::prior::{Marginal, Prior};
use kelfi::random::{Purpose, stream};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1};

/// Customers served.
const CUSTOMERS: usize = 50;
/// Shortest service 1, longest 5, arrival rate 0.2.
const TRUTH: [f64; 3] = [1.0, 4.0, 0.2];
/// Seed of the observed departures.
const SEED: u64 = 2004;

/// Service ~ U(a, a + w), arrivals with rate r; statistics are five quantiles of the 50 times between departures.
///
/// The customary prior has the longest service minus the shortest uniform on (0, 10), so the width w is the parameter here.
#[derive(Debug, Clone)]
pub struct Queue {
    facts: Facts,
}

impl Queue {
    /// The problem with departures simulated at (1, 4, 0.2) with a fixed seed.
    pub fn new() -> Self {
        let mut rng = stream(SEED, Purpose::Experiment, 0);
        let times = departures(TRUTH, &mut rng);
        Self::with_intervals(times, Some(TRUTH.to_vec())).expect("fifty finite times")
    }

    /// The problem with other observed times between departures, and the parameters that made them if known.
    pub fn with_intervals(intervals: Vec<f64>, truth: Option<Vec<f64>>) -> Result<Self, Error> {
        require_data("the times between departures", &intervals, 5)?;
        let uniform = |name: &str, high: f64| (name.to_owned(), Marginal::Uniform { low: 0.0, high });
        let prior =
            Prior::independent(vec![uniform("shortest_service", 10.0), uniform("service_width", 10.0), uniform("arrival_rate", 1.0 / 3.0)])
                .expect("three names and intervals that are not empty");
        let facts = Facts {
            name: "queue",
            description: "single-server queue, service times and arrival rate from quantiles of the times between departures",
            prior,
            statistic_names: names(&["minimum", "quartile_1", "median", "quartile_3", "maximum"]),
            observation: statistics(intervals),
            truth,
        };
        Ok(Self { facts })
    }
}

impl Default for Queue {
    fn default() -> Self {
        Self::new()
    }
}

impl BenchmarkProblem for Queue {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
        let parameters = take(theta)?;
        positive(theta, 2)?;
        finite(statistics(departures(parameters, rng)))
    }

    fn reference(&self) -> Reference {
        Reference::TruthOnly("the likelihood of departures integrates over all unseen arrivals")
    }
}

/// Times between departures: d_i − d_{i−1} = s_i + max(0, v_i − d_{i−1}), v the arrivals, s the services, d₀ = 0.
fn departures([shortest, width, rate]: [f64; 3], rng: &mut dyn Rng) -> Vec<f64> {
    let (mut arrival, mut departure) = (0.0_f64, 0.0_f64);
    (0..CUSTOMERS)
        .map(|_| {
            let wait: f64 = Exp1.sample(rng);
            arrival += wait / rate;
            let interval = shortest + width * rng.random::<f64>() + (arrival - departure).max(0.0);
            departure += interval;
            interval
        })
        .collect()
}

fn statistics(mut intervals: Vec<f64>) -> Vec<f64> {
    intervals.sort_unstable_by(f64::total_cmp);
    (0..5).map(|quarter| quantile(&intervals, f64::from(quarter) / 4.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moments::mean;

    #[test]
    fn a_busy_server_departs_at_the_pace_of_service_and_an_idle_one_at_that_of_arrivals() {
        let mut rng = stream(1, Purpose::Experiment, 0);
        let runs = 400;
        let mut average = |theta: [f64; 3]| (0..runs).map(|_| mean(&departures(theta, &mut rng))).sum::<f64>() / f64::from(runs);
        // Mean service 3 against mean gap 0.1; then mean service 0.15 against mean gap 5 (last departure ends the count).
        assert!((average([1.0, 4.0, 10.0]) - 3.0).abs() < 0.05);
        assert!((average([0.1, 0.1, 0.2]) - 5.0).abs() < 0.2);
    }
}
