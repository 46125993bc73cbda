//! A problem file: read, checked, and ready to be run.

mod as_run;
pub mod identity;
mod ignored;
mod names;
mod observation;
mod outputs;
mod priors;
mod reader;
mod simulator;

pub use as_run::values_of;
pub use observation::Column;
pub use simulator::{OnFailure, Program, SimulatorSource};

use crate::failure::Failure;
use crate::reading;
use kelfi::words::{did_you_mean, shown};
use kelfi::{Marginal, Outputs, Prior};
use kelfi_problems::BenchmarkProblem as Builtin;
use priors::Parameter;
use reader::{Found, Reader, Section};
use std::path::{Path, PathBuf};

/// Simulations where the file does not say.
const SIMULATIONS: u64 = 1000;
/// Seed where the file does not say.
const SEED: u64 = 1;

/// A problem that can be run.
#[derive(Debug, Clone)]
pub struct ProblemFile {
    /// The file it was read from.
    pub path: PathBuf,
    /// The file's text.
    pub text: String,
    /// What it is called.
    pub name: String,
    /// Seed of the run.
    pub seed: u64,
    /// How many simulations are wanted.
    pub simulations: u64,
    /// What makes them; without one they are made elsewhere.
    pub simulator: Option<SimulatorSource>,
    /// What becomes of failures.
    pub on_failure: OnFailure,
    /// The prior.
    pub prior: Prior,
    /// What one simulation gives.
    pub outputs: Outputs,
    /// Names of the statistics, or of the columns of rows.
    pub statistics: Vec<String>,
    /// What was observed, row after row.
    pub observation: Vec<f64>,
    /// Statistics that are not used.
    pub ignored: Vec<String>,
}

impl ProblemFile {
    /// Reads and checks a problem file, or says everything that is wrong with it.
    pub fn load(path: &Path) -> Result<Self, Failure> {
        Self::parse(path, &reading::text(path, reading::WRITTEN_BY_HAND)?)
    }

    /// The same of its text; `path` is the file it comes from, which relative names count from.
    pub fn parse(path: &Path, text: &str) -> Result<Self, Failure> {
        let reader = Reader::new(path, text);
        let document = parsed(&reader, path, text)?;
        let root = Section::root(&reader, document.as_table());
        match Self::from_root(&root, path, text) {
            Some(problem) if reader.is_content() => Ok(problem),
            _ => Err(Failure::input(reader.message())),
        }
    }

    fn from_root(root: &Section<'_>, path: &Path, text: &str) -> Option<Self> {
        root.only(&["name", "seed", "simulations", "simulator", "parameter", "observation", "outputs"]);
        let name = root.text("name").map(|found| found.value);
        if name.as_ref().is_some_and(|name| name.trim().is_empty() || name.chars().any(char::is_control)) {
            root.complain("name", "it is empty or has a control character", "give the problem another name");
        }
        let seed = root.whole("seed", 0..i64::MAX).map_or(SEED, |found| found.value);
        let simulations = root.whole("simulations", 1..10_000_001).map_or(SIMULATIONS, |found| found.value);
        let (simulator, on_failure) = simulator::read(root);
        let parameters = priors::read(root);
        let outputs = outputs::read(root);
        let observed = observation::read(root, outputs);
        let (prior, statistics, observation) = match &simulator {
            Some(SimulatorSource::Builtin(name)) => {
                let builtin = kelfi_problems::by_name(name).ok()?;
                if outputs.in_rows() {
                    root.complain("outputs", format!("{name} gives statistics"), "leave the section out");
                }
                let prior = builtin_prior(root, &*builtin, &parameters);
                let observation = builtin_observation(root, &*builtin, observed);
                (prior?, builtin.statistic_names().to_vec(), observation?)
            }
            _ => own(root, simulator.as_ref(), parameters, observed)?,
        };
        let stem = || path.file_stem().map_or_else(|| "problem".to_owned(), |stem| stem.to_string_lossy().into_owned());
        let ignored = ignored::read(root, &statistics);
        outputs::require_whole(root, outputs, &statistics, &ignored);
        let (path, text, name) = (path.to_path_buf(), text.to_owned(), name.unwrap_or_else(stem));
        Some(Self { path, text, name, seed, simulations, simulator, on_failure, prior, outputs, statistics, observation, ignored })
    }

    /// θ of simulation `index`: a pure function of (seed, index).
    pub fn theta(&self, index: u64) -> Vec<f64> {
        self.prior.draw_with(&mut kelfi::random::stream(self.seed, kelfi::random::Purpose::Parameters, index))
    }
}

/// The names of the parameters of a text with sections `[[parameter]]`, or everything that is wrong with these.
pub fn parameter_names(path: &Path, text: &str) -> Result<Vec<String>, Failure> {
    let reader = Reader::new(path, text);
    let document = parsed(&reader, path, text)?;
    let root = Section::root(&reader, document.as_table());
    let parameters = priors::read(&root);
    if reader.is_content() {
        Ok(parameters.into_iter().map(|parameter| parameter.name.value).collect())
    } else {
        Err(Failure::input(reader.message()))
    }
}

fn parsed<'a>(reader: &Reader<'_>, path: &Path, text: &'a str) -> Result<toml_edit::Document<&'a str>, Failure> {
    toml_edit::Document::parse(text).map_err(|error| {
        let line = reader.line(error.span()).unwrap_or(1);
        let read = text.lines().nth(line - 1).unwrap_or_default().trim();
        let fact = error.message().trim().replace('\n', "; ");
        Failure::input(format!("{}:{line}: this is not valid TOML: {}\n  look at `{}`", path.display(), shown(&fact), shown(read)))
    })
}

/// Prior, names of statistics and observation of a problem with its own simulator, or with none.
fn own(
    root: &Section<'_>,
    simulator: Option<&SimulatorSource>,
    parameters: Vec<Parameter>,
    observed: Option<Vec<Found<Column>>>,
) -> Option<(Prior, Vec<String>, Vec<f64>)> {
    if !root.has("parameter") {
        root.missing("parameter", "describe each parameter in a section [[parameter]] with name and prior");
    }
    if !root.has("observation") {
        root.missing("observation", "give the observed statistics in a section [observation]");
    }
    let names: Vec<String> = parameters.iter().map(|parameter| parameter.name.value.clone()).collect();
    if let (Some(SimulatorSource::Program(program)), true) = (simulator, root.reader.is_content()) {
        simulator::check_placeholders(root, program, &names);
    }
    let observed = observed?;
    for found in observed.iter().filter(|found| names.contains(&found.value.0)) {
        root.reader.complain(found.line, &found.key, "a parameter has the same name", "parameters and statistics need different names");
    }
    repeated(root, &observed);
    let (statistics, columns): (Vec<String>, Vec<Vec<f64>>) = observed.into_iter().map(|found| found.value).unzip();
    let rows = columns.first().map_or(0, Vec::len);
    let observation = (0..rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
    Some((independent(root, parameters)?, statistics, observation))
}

/// Complains about a statistic that stands twice in a CSV; TOML itself refuses a repeated key.
fn repeated(root: &Section<'_>, observed: &[Found<Column>]) {
    for (at, found) in observed.iter().enumerate() {
        if observed[..at].iter().any(|other| other.value.0 == found.value.0) {
            root.reader.complain(
                found.line,
                &found.key,
                format!("the statistic {:?} appears twice", found.value.0),
                "give each its own name",
            );
        }
    }
}

fn independent(root: &Section<'_>, parameters: Vec<Parameter>) -> Option<Prior> {
    let marginals: Vec<(String, Marginal)> = parameters.into_iter().map(|parameter| (parameter.name.value, parameter.prior)).collect();
    match Prior::independent(marginals) {
        Ok(prior) => Some(prior),
        Err(error) => {
            // Whatever is wrong with a single parameter has been said already.
            if root.reader.is_content() {
                root.complain("parameter", error.to_string(), "give at least one parameter");
            }
            None
        }
    }
}

/// The built-in prior, with the marginals the file gives in place of its own.
fn builtin_prior(root: &Section<'_>, builtin: &dyn Builtin, parameters: &[Parameter]) -> Option<Prior> {
    if parameters.is_empty() {
        return Some(builtin.prior().clone());
    }
    let names = builtin.parameter_names();
    for parameter in parameters.iter().filter(|parameter| !names.contains(&parameter.name.value)) {
        let known = format!("the parameters of {} are", builtin.name());
        let advice = did_you_mean(&parameter.name.value, names.iter().map(String::as_str), &known);
        root.reader.complain(parameter.name.line, &parameter.name.key, format!("there is no parameter {:?}", parameter.name.value), advice);
    }
    let given = |name: &String| parameters.iter().find(|parameter| parameter.name.value == *name).map(|parameter| parameter.prior.clone());
    let own = |d: usize| if let Prior::Independent(prior) = builtin.prior() { prior.marginals().get(d).cloned() } else { None };
    let marginals: Option<Vec<_>> =
        names.iter().enumerate().map(|(d, name)| Some((name.clone(), given(name).or_else(|| own(d))?))).collect();
    if marginals.is_none() {
        root.complain("parameter", "some parameters are missing", format!("{} needs priors for {}", builtin.name(), names.join(", ")));
    }
    Prior::independent(marginals?).ok()
}

/// The built-in observation, or the file's in the order of the built-in statistics.
fn builtin_observation(root: &Section<'_>, builtin: &dyn Builtin, observed: Option<Vec<Found<Column>>>) -> Option<Vec<f64>> {
    if !root.has("observation") {
        return Some(builtin.observation().to_vec());
    }
    let observed = observed?;
    let names = builtin.statistic_names();
    for found in observed.iter().filter(|found| !names.contains(&found.value.0)) {
        let advice = did_you_mean(&found.value.0, names.iter().map(String::as_str), &format!("the statistics of {} are", builtin.name()));
        root.reader.complain(found.line, &found.key, format!("there is no statistic {:?}", found.value.0), advice);
    }
    let value = |name: &String| {
        let found = observed.iter().find(|found| found.value.0 == *name).and_then(|found| found.value.1.first().copied());
        if found.is_none() {
            root.complain("observation", format!("the statistic `{name}` is missing"), format!("give all of {}", names.join(", ")));
        }
        found
    };
    let values: Vec<Option<f64>> = names.iter().map(value).collect();
    values.into_iter().collect()
}
