//! Nicholson's blowflies: 180 real counts, a delayed population model with 6 parameters, 10 statistics.
//!
//! Nicholson (1954, 1957), table in Brillinger, Guckenheimer, Guttorp & Oster (1980); model of Wood, Nature 466 (2010),
//! doi:10.1038/nature09319; statistics of Meeds & Welling, UAI 2014.

/// The score by which answers are compared: normalised mean squared error of the statistics.
pub mod nmse;
/// The population model.
pub mod series;
/// The ten statistics of a series of counts.
pub mod statistics;

pub use nmse::{nmse, nmse_of};

use crate::problem::{BenchmarkProblem, Facts, Reference, SimulationFailure, finite, names, take};
use kelfi::prior::{Marginal, Prior};
use rand::Rng;
use rand_distr::{Distribution, Gamma};
use series::Parameters;

const OBSERVED: &str = include_str!("../../data/blowfly_observed.csv");

/// Nicholson's blowfly culture, two-day counts of adults. Parameters are logarithms.
#[derive(Debug, Clone)]
pub struct Blowfly {
    facts: Facts,
}

impl Blowfly {
    /// The problem with the observed series of Nicholson's population I and the prior of the KELFI paper.
    pub fn new() -> Self {
        Self {
            facts: Facts {
                name: "blowfly",
                description: "population cycles of blowflies in a laboratory culture: real counts, six log parameters, ten statistics",
                prior: prior(),
                statistic_names: names(&[
                    "log_quarter_1",
                    "log_quarter_2",
                    "log_quarter_3",
                    "log_quarter_4",
                    "difference_quarter_1",
                    "difference_quarter_2",
                    "difference_quarter_3",
                    "difference_quarter_4",
                    "maxima_0.5",
                    "maxima_1.5",
                ]),
                observation: statistics::statistics(&observed_series()).to_vec(),
                truth: None,
            },
        }
    }
}

impl Default for Blowfly {
    fn default() -> Self {
        Self::new()
    }
}

impl BenchmarkProblem for Blowfly {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
        let parameters = Parameters::from_logs(take(theta)?);
        let births = unit_mean_gamma(parameters.birth_noise, 4)?;
        let deaths = unit_mean_gamma(parameters.death_noise, 3)?;
        let series = series::series(&parameters, || (births.sample(rng), deaths.sample(rng)));
        finite(statistics::statistics(&series).to_vec())
    }

    fn reference(&self) -> Reference {
        Reference::Unknown("real data; answers are judged by `blowfly::nmse` at a point estimate")
    }
}

/// The 180 observed counts (days 2, 4, …, 360).
pub fn observed_series() -> Vec<f64> {
    OBSERVED.lines().skip(1).filter_map(|line| line.rsplit(',').next()?.trim().parse().ok()).collect()
}

/// Independent Gaussians on the logarithms (KELFI paper).
fn prior() -> Prior {
    let normal = |name: &str, mean: f64, std: f64| (name.to_owned(), Marginal::Normal { mean, std });
    Prior::independent(vec![
        normal("log_P", 2.0, 2.0),
        normal("log_delta", -1.5, 0.5),
        normal("log_N0", 6.0, 0.5),
        normal("log_sigma_d", -1.0, 1.0),
        normal("log_sigma_p", -1.0, 1.0),
        normal("log_tau", 15_f64.ln(), 5_f64.ln()),
    ])
    .expect("six names and positive standard deviations")
}

/// Gamma with mean 1 and variance sd²: shape 1/sd², scale sd².
fn unit_mean_gamma(sd: f64, index: usize) -> Result<Gamma<f64>, SimulationFailure> {
    let variance = sd * sd;
    Gamma::new(variance.recip(), variance).map_err(|_| SimulationFailure::OutsideDomain {
        index,
        value: sd.ln(),
        requirement: "the logarithm of a noise whose square and its inverse are finite",
    })
}
