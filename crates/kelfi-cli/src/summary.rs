//! summary.json: the numbers, in a shape that scripts rely on.

use crate::counting::{self, Work};
use crate::directory::Directory;
use crate::failure::Failure;
use crate::infer::Inferred;
use crate::problem::ProblemFile;
use crate::seal::{self, Seal};
use kelfi::checks::Check;
use kelfi::fit::ModelChoiceReport;
use kelfi::model::Chosen;
use kelfi::model::kernel_means::SolverReport;
use kelfi::posterior::summary::ParameterSummary;
use kelfi::rounds::History;
use kelfi::{Fit, Recorded};
use kelfi_run::checksum::Checksum;
use kelfi_run::store::Counts;
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
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
    /// How the model was chosen, where that was left open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<ModelChoiceReport>,
    /// The rounds the simulations came from, where there were several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<History>,
    /// What was learned.
    pub hyperparameters: Hyperparameters,
    /// The posterior of each parameter, in order.
    pub parameters: Ordered<Parameter>,
    /// Each statistic, in order; none where outputs are data sets.
    pub statistics: Ordered<Statistic>,
    /// How data sets were compared, where outputs are these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataSet>,
    /// Whether to trust it.
    pub checks: Vec<Check>,
    /// How long each stage took when it was last done.
    pub seconds: Seconds,
    /// What a complete answer was made from, so that it is not made again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchanged: Option<Unchanged>,
}

/// What tells whether an answer is still the one that would be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unchanged {
    /// Fingerprint of simulations, question and settings.
    pub made_from: String,
    /// Checksum of the page that goes with it.
    pub report: String,
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

/// The learned values. Of the location-scale model they are those of the shape of the residuals: tolerances in the units of each statistic.
#[derive(Debug, Serialize, Deserialize)]
pub struct Hyperparameters {
    /// Which model.
    pub model: String,
    /// `loo` or `mkml`.
    pub objective: kelfi::learning::Objective,
    /// One for each statistic, in its units.
    pub epsilon: Vec<f64>,
    /// One for each parameter, in prior standard deviations; null where the shape of the residuals is the same everywhere.
    pub length_scale: Vec<Option<f64>>,
    /// λ.
    pub regularization: f64,
    /// What a low-rank solver reached; absent where the solver is exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low_rank: Option<SolverReport>,
    /// Leave-one-out posterior score, nats per observation.
    pub score: Option<f64>,
    /// ln q(y).
    pub log_marginal_likelihood: Option<f64>,
    /// Its Monte Carlo error; 0 where it is exact.
    #[serde(default)]
    pub log_marginal_likelihood_error: f64,
    /// Those that ended on a bound of their search.
    pub at_bound: Vec<String>,
}

impl Hyperparameters {
    /// All but the tolerances.
    fn of(fit: &Fit) -> Self {
        let Chosen { objective, length_scale, regularization, low_rank } = fit.model.chosen();
        let evidence = fit.posterior.log_evidence();
        Self {
            model: fit.model.family().name.into(),
            objective,
            epsilon: vec![],
            length_scale,
            regularization,
            low_rank,
            score: fit.score().map(|(score, _)| score),
            log_marginal_likelihood: evidence.is_finite().then_some(evidence),
            log_marginal_likelihood_error: fit.posterior.log_evidence_error(),
            at_bound: fit.at_bound(),
        }
    }
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
    /// Ends of the 95 % interval calibrated by leaving out, where simulations were drawn from the prior.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibrated_95: Option<(f64, f64)>,
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

/// How data sets were compared.
#[derive(Debug, Serialize, Deserialize)]
pub struct DataSet {
    /// How many rows were observed.
    pub rows: usize,
    /// The length scale of the kernel between points along each column, in its units.
    pub length_scales: Ordered<f64>,
    /// The tolerance of √MMD².
    pub epsilon: Option<f64>,
}

impl DataSet {
    fn of(problem: &ProblemFile, fit: &Fit) -> Option<Self> {
        let Recorded::DataSets(sets) = &fit.question().recorded else { return None };
        let length_scales = problem.used_statistics().into_iter().zip(sets.length_scales().iter().copied()).collect();
        let epsilon = fit.statistics().first().map(|report| report.epsilon);
        Some(Self { rows: problem.observed_rows(), length_scales: Ordered(length_scales), epsilon })
    }
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
    pub fn new(
        problem: &ProblemFile,
        simulations: Simulations,
        inferred: &Inferred,
        further: Vec<Check>,
        seconds: Seconds,
    ) -> Result<Self, Failure> {
        let mut summary = Self::unexamined(problem, simulations, inferred, seconds)?;
        summary.examine(inferred, further);
        Ok(summary)
    }

    /// Adds the checks of the fit, which take a while, and others.
    pub fn examine(&mut self, inferred: &Inferred, further: Vec<Check>) {
        self.checks = inferred.fit.checks();
        self.checks.extend(further);
    }

    /// The same before anything is checked.
    pub fn unexamined(problem: &ProblemFile, simulations: Simulations, inferred: &Inferred, seconds: Seconds) -> Result<Self, Failure> {
        counting::note(Work::Summarise);
        let fit = &inferred.fit;
        // A fit that could not be calibrated says so in its checks.
        let calibration = fit.calibration().ok();
        let found = kelfi::posterior::summary::summary(&fit.posterior)?;
        let one = |(d, p): (usize, ParameterSummary)| -> Result<(String, Parameter), Failure> {
            let [q025, _, q50, _, q975] = p.quantiles;
            let calibrated_95 = calibration.as_ref().map(|calibration| calibration.interval(&fit.posterior, d, 0.95)).transpose()?;
            Ok((p.name, Parameter { mean: p.mean, sd: p.sd, mode: p.mode, q025, q50, q975, calibrated_95 }))
        };
        let parameters = found.into_iter().enumerate().map(one).collect::<Result<_, Failure>>()?;
        let reports = fit.statistics();
        let observed = problem.used_statistics().into_iter().zip(problem.used_observation()).filter(|_| !problem.outputs.in_rows());
        let statistics = observed
            .zip(&reports)
            .map(|((name, observed), report)| (name, Statistic { observed, epsilon: report.epsilon, relevance: report.relevance }));
        Ok(Self {
            kelfi: env!("CARGO_PKG_VERSION").into(),
            problem: problem.name.clone(),
            seed: problem.seed,
            simulations,
            comparison: fit.comparison.clone(),
            rounds: fit.history().cloned(),
            hyperparameters: Hyperparameters { epsilon: reports.iter().map(|report| report.epsilon).collect(), ..Hyperparameters::of(fit) },
            parameters: Ordered(parameters),
            statistics: Ordered(statistics.collect()),
            data: DataSet::of(problem, fit),
            checks: vec![],
            seconds,
            unchanged: None,
        })
    }

    /// As JSON for people and programs.
    pub fn json(&self) -> Result<String, Failure> {
        serde_json::to_string_pretty(self).map_err(|error| Failure::unexpected(format!("the summary cannot be written: {error}")))
    }

    /// Writes summary.json, whole or not at all, with the checksums of the files it goes with and its own.
    pub fn write(&self, directory: &Directory) -> Result<(), Failure> {
        let files = BESIDE.into_iter().filter_map(|name| Some((name.to_owned(), Checksum::of_file(&directory.file(name)).ok()?.hex())));
        let written = Written { summary: self, files: files.collect(), checksum: seal::BLANK };
        let text = serde_json::to_string_pretty(&written)
            .map_err(|error| Failure::unexpected(format!("the summary cannot be written: {error}")))?;
        directory.write(NAME, seal::seal(&format!("{text}\n")).as_bytes())
    }

    /// The complete answer that is there, if it was made from just this and all its files are as they were written.
    pub fn unchanged(directory: &Directory, made_from: &str) -> Option<Self> {
        let is = |name: &str, sum: &str| Checksum::of_file(&directory.file(name)).is_ok_and(|found| found.hex() == sum);
        let text = std::fs::read_to_string(directory.file(NAME)).ok().filter(|text| seal::examine(text) == Seal::Sound)?;
        let summary: Self = serde_json::from_str(&text).ok()?;
        let files = serde_json::from_str::<Files>(&text).ok()?.files;
        let unchanged = summary.unchanged.as_ref().filter(|unchanged| unchanged.made_from == made_from)?;
        let complete = is("report.html", &unchanged.report) && BESIDE.iter().all(|name| files.get(*name).is_some_and(|sum| is(name, sum)));
        complete.then_some(summary)
    }

    /// Reads it back, if it is there intact and can be read.
    pub fn read(directory: &Directory) -> Option<Self> {
        let text = std::fs::read_to_string(directory.file(NAME)).ok()?;
        if seal::examine(&text) == Seal::Broken {
            return None;
        }
        serde_json::from_str(&text).ok()
    }
}

/// The files whose checksums stand in the summary.
pub const BESIDE: [&str; 2] = ["model.json", "samples.csv"];

/// The files of a summary with their checksums.
#[derive(Deserialize)]
pub struct Files {
    /// By name.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

/// The summary as its file has it.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    files: BTreeMap<String, String>,
    checksum: &'a str,
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
