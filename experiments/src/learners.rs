//! How far each way of choosing hyperparameters is from exact posteriors, over many data sets, beside the best possible choice.

use crate::exactness::Exact;
use crate::table::{Spread, Table};
use anyhow::Result;
use kelfi::learning::problem::LearningProblem;
use kelfi::learning::{EpsilonChoice, KernelMeansOptions, Objective, RegularizationChoice, grid_axes, learn, surface::surface};
use kelfi::{Error, Hyperparameters, KernelMeansLikelihood, Observation, Question, Recorded, Simulations};
use kelfi_problems::exponential_gamma::{ExponentialGamma, Statistic};
use kelfi_problems::{BenchmarkProblem, banana::Banana, bimodal::Bimodal, data_set, simulate_many};
use rayon::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// Options of the experiment.
#[derive(clap::Args)]
pub struct Options {
    /// A tenth of the data sets.
    #[arg(long)]
    quick: bool,
    /// Only this part: toy, noise, banana, bimodal or grid.
    #[arg(long)]
    only: Option<String>,
    /// Only learners whose name starts with this; leaves the oracle out.
    #[arg(long)]
    learner: Option<String>,
    /// First seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where the CSV files go.
    #[arg(long, default_value = "experiments/results/learners")]
    out: PathBuf,
}

/// Runs the experiment.
pub fn run(options: &Options) -> Result<()> {
    let sets = |full: usize| if options.quick { full / 10 } else { full };
    let wanted = |part: &str| options.only.as_deref().is_none_or(|only| only == part);
    let toy = |noise: usize| ExponentialGamma::new(2.0, 0.5, 15, 0.25, Statistic::LogMean, noise);
    if wanted("toy") {
        compare("toy", "exponential-gamma, ln mean, m = 100", &toy(0)?, 100, sets(200), true, options)?;
    }
    if wanted("noise") {
        compare("noise", "exponential-gamma with three noise statistics, m = 200", &toy(3)?, 200, sets(60), false, options)?;
    }
    if wanted("banana") {
        compare("banana", "banana, two parameters, m = 300", &Banana::default(), 300, sets(60), false, options)?;
    }
    if wanted("bimodal") {
        compare("bimodal", "bimodal (θ² observed), m = 200", &Bimodal::default(), 200, sets(60), true, options)?;
    }
    if wanted("grid") {
        against_grid(&toy(0)?, sets(100), options)?;
    }
    Ok(())
}

struct DataSet {
    recorded: Recorded,
    observation: Observation,
    y: Vec<f64>,
}

fn make(problem: &dyn BenchmarkProblem, m: usize, seed: u64) -> Result<DataSet> {
    let (_, y) = data_set(problem, seed)?;
    let simulated = simulate_many(problem, m, seed);
    let simulations = Simulations::new(simulated.theta, simulated.x)?;
    Ok(DataSet { recorded: Recorded::Statistics(Arc::new(simulations)), observation: Observation::Statistics(y.clone()), y })
}

fn learners(options: &Options) -> Vec<(&'static str, KernelMeansOptions)> {
    let wanted = |name: &str| options.learner.as_deref().is_none_or(|start| name.starts_with(start));
    all_learners().into_iter().filter(|(name, _)| wanted(name)).collect()
}

fn all_learners() -> Vec<(&'static str, KernelMeansOptions)> {
    let evidence =
        KernelMeansOptions { objective: Objective::Evidence, epsilon: EpsilonChoice::Isotropic, ..KernelMeansOptions::default() };
    vec![
        ("mkml scales", KernelMeansOptions { regularization: RegularizationChoice::Tied, ..evidence.clone() }),
        ("mkml all", evidence.clone()),
        ("mkml ard", KernelMeansOptions { epsilon: EpsilonChoice::PerStatistic, ..evidence }),
        ("loo isotropic", KernelMeansOptions { epsilon: EpsilonChoice::Isotropic, ..KernelMeansOptions::default() }),
        ("loo", KernelMeansOptions::default()),
    ]
}

/// What one data set gave.
struct Outcome {
    /// Total variation by learner; 1 where a learner found no positive evidence.
    distances: Vec<f64>,
    oracle: f64,
    /// Whether the first statistic was ranked first, by learner.
    ranked: Vec<bool>,
}

fn compare(
    name: &str,
    title: &str,
    problem: &(dyn BenchmarkProblem + Sync),
    m: usize,
    sets: usize,
    with_oracle: bool,
    options: &Options,
) -> Result<()> {
    let with_oracle = with_oracle && options.learner.is_none();
    let outcomes: Vec<Outcome> =
        (0..sets as u64).into_par_iter().map(|set| one_set(problem, m, options.seed + set, with_oracle, options)).collect::<Result<_>>()?;
    let mut table = Table::new(&["learner", "mean", "median", "decile", "worst", "first statistic ranked first"]);
    let names = learners(options);
    for (index, (learner, _)) in names.iter().enumerate() {
        let values: Vec<f64> = outcomes.iter().map(|o| o.distances[index]).collect();
        let ranked = outcomes.iter().filter(|o| o.ranked[index]).count() as f64 / sets as f64;
        let mut cells = vec![(*learner).to_string()];
        cells.extend(Spread::of(&values).cells());
        cells.push(format!("{:.0} %", 100.0 * ranked));
        table.row(cells);
    }
    if with_oracle {
        let mut cells = vec!["oracle grid".to_string()];
        cells.extend(Spread::of(&outcomes.iter().map(|o| o.oracle).collect::<Vec<f64>>()).cells());
        cells.push(String::new());
        table.row(cells);
    }
    table.print(&format!("{title}: total variation to the exact posterior over {sets} data sets"));
    if options.learner.is_none() {
        for (mkml, name) in names.iter().enumerate().filter(|(_, (name, _))| name.starts_with("mkml")) {
            let better = outcomes.iter().filter(|o| o.distances[names.len() - 1] <= o.distances[mkml]).count();
            println!("loo at least as good as {} in {:.0} % of the sets", name.0, 100.0 * better as f64 / sets as f64);
        }
    }
    table.write(&options.out.join(format!("{name}.csv")))
}

fn one_set(problem: &dyn BenchmarkProblem, m: usize, seed: u64, with_oracle: bool, options: &Options) -> Result<Outcome> {
    let data = make(problem, m, seed)?;
    let exact = Exact::new(problem, &data.y);
    let mut outcome = Outcome { distances: vec![], oracle: f64::NAN, ranked: vec![] };
    for (_, settings) in learners(options) {
        let settings = KernelMeansOptions { seed, ..settings };
        match learn(&Question::new(problem.prior(), &data.recorded, &data.observation), &settings, &mut |_| true) {
            Ok((model, learned)) => {
                outcome.distances.push(exact.total_variation(&model));
                outcome.ranked.push(learned.ranking()[0] == 0);
            }
            Err(Error::EvidenceNotPositive { .. }) => {
                outcome.distances.push(1.0);
                outcome.ranked.push(false);
            }
            Err(error) => return Err(error.into()),
        }
    }
    if with_oracle {
        outcome.oracle = oracle(problem, &data, &exact)?;
    }
    Ok(outcome)
}

/// The smallest total variation over the grid the leave-one-out search starts from: what a learner that knew the truth would pick there.
fn oracle(problem: &dyn BenchmarkProblem, data: &DataSet, exact: &Exact) -> Result<f64> {
    let settings = KernelMeansOptions::default();
    let question = Question::new(problem.prior(), &data.recorded, &data.observation);
    let setting = LearningProblem::new(&question, &settings)?;
    let (lengths, ridges, tolerances) = grid_axes(&setting);
    let mut best = 1.0_f64;
    for length in &lengths {
        for ridge in &ridges {
            let lambda = ridge.exp() / setting.len() as f64;
            let start = Hyperparameters { epsilon: setting.tolerances(1.0), ..Hyperparameters::isotropic(1.0, length.exp(), lambda) };
            let Ok(model) = KernelMeansLikelihood::new(&Question::new(problem.prior(), &data.recorded, &data.observation), &start) else {
                continue;
            };
            for tolerance in &tolerances {
                best = best.min(exact.total_variation(&model.with_epsilon(&setting.tolerances(tolerance.exp()))?));
            }
        }
    }
    Ok(best)
}

/// The evidence search beside the best of a 100 × 100 grid over (ε, β₀), λ = 10⁻³ β₀.
fn against_grid(problem: &(dyn BenchmarkProblem + Sync), sets: usize, options: &Options) -> Result<()> {
    let settings = KernelMeansOptions {
        objective: Objective::Evidence,
        epsilon: EpsilonChoice::Isotropic,
        regularization: RegularizationChoice::Tied,
        ..KernelMeansOptions::default()
    };
    let results: Vec<(f64, usize, usize)> = (0..sets as u64)
        .into_par_iter()
        .map(|set| -> Result<(f64, usize, usize)> {
            let data = make(problem, 100, options.seed + set)?;
            let (_, learned) = learn(&Question::new(problem.prior(), &data.recorded, &data.observation), &settings, &mut |_| true)?;
            let question = Question::new(problem.prior(), &data.recorded, &data.observation);
            let setting = LearningProblem::new(&question, &settings)?;
            let spaced =
                |range: (f64, f64)| -> Vec<f64> { (0..100).map(|k| range.0 * (range.1 / range.0).powf(f64::from(k) / 99.0)).collect() };
            let epsilons = spaced(setting.epsilons);
            let lengths = spaced(setting.lengths);
            let grid =
                surface(&Question::new(problem.prior(), &data.recorded, &data.observation), &settings, &epsilons, &lengths, &mut |_| true)?;
            let best = grid.log_marginal_likelihood.values().iter().copied().fold(f64::NEG_INFINITY, f64::max);
            Ok((learned.optima[0].objective - best, learned.factorisations, grid.factorisations))
        })
        .collect::<Result<_>>()?;
    let reached = results.iter().filter(|r| r.0 >= -1e-3).count();
    let mean = |f: &dyn Fn(&(f64, usize, usize)) -> f64| results.iter().map(f).sum::<f64>() / results.len() as f64;
    let mut table = Table::new(&[
        "data sets",
        "search reaches the grid's best",
        "worst shortfall (nats)",
        "factorisations of the search",
        "of the grid",
    ]);
    let worst = results.iter().map(|r| r.0).fold(f64::INFINITY, f64::min);
    table.row(vec![
        sets.to_string(),
        format!("{reached}"),
        format!("{:.4}", (-worst).max(0.0)),
        format!("{:.1}", mean(&|r| r.1 as f64)),
        format!("{:.0}", mean(&|r| r.2 as f64)),
    ]);
    table.print("mkml search beside a 100 × 100 grid over (ε, β₀)");
    table.write(&options.out.join("grid.csv"))
}
