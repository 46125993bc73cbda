//! summary.json: the numbers, in a shape that scripts rely on.

use crate::directory::Directory;
use crate::failure::Failure;
use crate::infer::Inferred;
use crate::problem::Problem;
use kelfi::posterior::checks::Check;
use kelfi_run::store::Counts;
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// The file's name.
pub const NAME: &str = "summary.json";

/// Everything a reader of the result asks for first.
#[derive(Debug, Serialize, Deserialize)]
pub struct Summary {
    /// Version of this program.
    pub kelfi: String,
    /// Name of the problem.
    pub problem: String,
    /// Seed of the run.
    pub seed: u64,
    /// How many simulations there are.
    pub simulations: Simulations,
    /// What was learned.
    pub hyperparameters: Hyperparameters,
    /// The posterior of each parameter, in order.
    pub parameters: Ordered<Parameter>,
    /// Each statistic, in order.
    pub statistics: Ordered<Statistic>,
    /// Whether to trust it.
    pub checks: Vec<Check>,
    /// How long each stage took when it was last done.
    pub seconds: Seconds,
}

/// Counts of simulations.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Simulations {
    /// With statistics.
    pub ok: u64,
    /// Without.
    pub failed: u64,
}

impl From<&Counts> for Simulations {
    fn from(counts: &Counts) -> Self {
        Self { ok: counts.ok(), failed: counts.failed() }
    }
}

/// The learned values.
#[derive(Debug, Serialize, Deserialize)]
pub struct Hyperparameters {
    /// `loo` or `mkml`.
    pub objective: kelfi::learning::Objective,
    /// One for each statistic, in its units.
    pub epsilon: Vec<f64>,
    /// One for each parameter, in prior standard deviations.
    pub length_scale: Vec<f64>,
    /// λ.
    pub regularization: f64,
    /// Leave-one-out posterior score, nats per observation.
    pub score: Option<f64>,
    /// ln q(y).
    pub log_marginal_likelihood: Option<f64>,
    /// Those that ended on a bound of their search.
    pub at_bound: Vec<String>,
}

/// One parameter of the posterior.
#[derive(Debug, Serialize, Deserialize)]
pub struct Parameter {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
    /// Coordinate of the joint mode.
    pub mode: f64,
    /// 2.5 % quantile.
    pub q025: f64,
    /// Median.
    pub q50: f64,
    /// 97.5 % quantile.
    pub q975: f64,
}

/// One statistic.
#[derive(Debug, Serialize, Deserialize)]
pub struct Statistic {
    /// Its observed value.
    pub observed: f64,
    /// Its tolerance.
    pub epsilon: f64,
    /// Spread over tolerance: large where it decides.
    pub relevance: f64,
}

/// Seconds of each stage.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Seconds {
    /// Simulating, in the last run.
    pub simulate: Option<f64>,
    /// Learning.
    pub learn: Option<f64>,
    /// Sampling.
    pub sample: Option<f64>,
}

impl Summary {
    /// The numbers of a posterior.
    pub fn new(problem: &Problem, counts: &Counts, inferred: &Inferred, seconds: Seconds) -> Result<Self, Failure> {
        let (learned, n) = (&inferred.learned, problem.statistics.len());
        let found = kelfi::posterior::summary::summary(&inferred.posterior)?;
        let parameters = found.into_iter().map(|p| {
            let [q025, _, q50, _, q975] = p.quantiles;
            (p.name, Parameter { mean: p.mean, sd: p.sd, mode: p.mode, q025, q50, q975 })
        });
        let statistics = problem.statistics.iter().zip(&problem.observation).zip(&learned.statistics).map(|((name, &observed), report)| {
            (name.clone(), Statistic { observed, epsilon: report.epsilon, relevance: report.relevance })
        });
        let chosen = &learned.hyperparameters;
        let each = |values: &[f64], count: usize| if values.len() == 1 { vec![values[0]; count] } else { values.to_vec() };
        Ok(Self {
            kelfi: env!("CARGO_PKG_VERSION").into(),
            problem: problem.name.clone(),
            seed: problem.seed,
            simulations: counts.into(),
            hyperparameters: Hyperparameters {
                objective: learned.objective,
                epsilon: each(&chosen.epsilon, n),
                length_scale: each(&chosen.length_scale, problem.prior.dimension()),
                regularization: chosen.regularization,
                score: learned.score,
                log_marginal_likelihood: learned.log_marginal_likelihood,
                at_bound: learned.at_bound.clone(),
            },
            parameters: Ordered(parameters.collect()),
            statistics: Ordered(statistics.collect()),
            checks: inferred.checks(),
            seconds,
        })
    }

    /// As JSON for people and programs.
    pub fn json(&self) -> Result<String, Failure> {
        serde_json::to_string_pretty(self).map_err(|error| Failure::unexpected(format!("the summary cannot be written: {error}")))
    }

    /// Writes summary.json, whole or not at all.
    pub fn write(&self, directory: &Directory) -> Result<(), Failure> {
        directory.write(NAME, format!("{}\n", self.json()?).as_bytes())
    }

    /// Reads it back, if it is there and can be read.
    pub fn read(directory: &Directory) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(directory.file(NAME)).ok()?).ok()
    }
}

/// A map that keeps the order of its entries.
#[derive(Debug)]
pub struct Ordered<T>(pub Vec<(String, T)>);

impl<T: Serialize> Serialize for Ordered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Ordered<T>;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Ordered(entries))
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}
