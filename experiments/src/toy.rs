//! The paper's Figure 1: the exponential-gamma toy with m = 100, posteriors by several choices of hyperparameters, and the surface.

use crate::exactness::Exact;
use crate::figure::{Axes, HeatMap, Line, heat_map, lines};
use crate::study::{Study, StudyOptions};
use crate::table::Table;
use anyhow::Result;
use kelfi::axis::log_spaced;
use kelfi::learning::surface::surface;
use kelfi::learning::{EpsilonChoice, KernelMeansOptions, Learned, Objective, RegularizationChoice, learn, problem::LearningProblem};
use kelfi::{Hyperparameters, KernelMeansLikelihood, Observation, Points, Posterior, Question, Recorded, Simulations};
use kelfi_problems::exponential_gamma::ExponentialGamma;
use kelfi_problems::{BenchmarkProblem, simulate_many};
use serde_json::json;
use std::sync::Arc;

/// Options of the experiment.
#[derive(clap::Args)]
pub struct Options {
    /// Seed of the simulations.
    #[arg(long, default_value_t = 4)]
    seed: u64,
    /// Number of simulations.
    #[arg(short = 'n', long, default_value_t = 100)]
    simulations: usize,
    #[command(flatten)]
    study: StudyOptions,
}

/// Runs the experiment.
pub fn run(options: &Options) -> Result<()> {
    // A matter of seconds: quick or not, and whole or not at all.
    let study = Study::open(
        &options.study,
        "toy",
        json!({ "seed": options.seed, "simulations": options.simulations, "prior": "Gamma(2, rate 0.5)", "n": 15, "observed_mean": 0.25 }),
        json!({}),
    )?;
    let problem = ExponentialGamma::standard();
    let simulated = simulate_many(&problem, options.simulations, options.seed);
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(simulated.theta, simulated.x)?));
    let y = problem.observation().to_vec();
    let observation = Observation::Statistics(y.clone());
    let exact = Exact::new(&problem, &y);
    let question = Question::new(problem.prior(), &recorded, &observation);
    let Choices { scales, tied, choices } = Choices::learned(&question)?;

    let grid: Vec<f64> = (1..=400).map(|k| 10.0 * f64::from(k) / 400.0).collect();
    let mut curves = vec![Line::plain("exact", &grid, grid.iter().map(|&t| problem.ln_posterior_density(t, &y).exp()).collect())];
    study.say(&format!("{} choices of hyperparameters", choices.len()));
    let mut table = Table::new(&["choice", "epsilon", "length scale", "lambda", "ln q(y)", "negative mass", "total variation"]);
    for (name, hyperparameters) in &choices {
        let model = KernelMeansLikelihood::new(&Question::new(problem.prior(), &recorded, &observation), hyperparameters)?;
        let ln_evidence = model.log_marginal_likelihood()?;
        let distance = exact.total_variation(&model);
        let posterior = Posterior::new(Arc::new(model), 1)?;
        curves.push(Line::plain(name, &grid, posterior.pdf(&Points::from_column(grid.clone()))?));
        table.row(vec![
            name.replace(',', ";"),
            format!("{:.4}", hyperparameters.epsilon[0]),
            format!("{:.3}", hyperparameters.length_scale[0]),
            format!("{:.2e}", hyperparameters.regularization),
            format!("{ln_evidence:.3}"),
            format!("{:.3}", posterior.negative_mass().ratio),
            format!("{distance:.3}"),
        ]);
    }
    table.print(&format!("Exponential-gamma toy, m = {}, seed {}", options.simulations, options.seed));
    table.write(&study.path("posteriors.csv"))?;
    let title = format!("Exponential-gamma toy: posteriors from {} simulations", options.simulations);
    let axes = Axes { title: &title, x: "θ (events per unit of time)", y: "posterior density", log_x: false, log_y: false };
    lines(&study.path("posteriors.svg"), &axes, &curves)?;
    draw_surface(&recorded, &observation, &problem, &scales, &tied, &study)
}

/// The paper's choices of hyperparameters, and ours.
pub struct Choices {
    /// How its scales are learned.
    pub scales: KernelMeansOptions,
    /// What came of that.
    pub tied: Learned,
    /// Every choice with its name.
    pub choices: Vec<(&'static str, Hyperparameters)>,
}

impl Choices {
    /// Learns them.
    pub fn learned(question: &Question) -> Result<Self> {
        let evidence =
            KernelMeansOptions { objective: Objective::Evidence, epsilon: EpsilonChoice::Isotropic, ..KernelMeansOptions::default() };
        let scales = KernelMeansOptions { regularization: RegularizationChoice::Tied, ..evidence.clone() };
        let choose = |settings: &KernelMeansOptions| -> Result<Learned> { Ok(learn(question, settings, &mut |_| true)?.1) };
        let (all, tied, ours) = (choose(&evidence)?, choose(&scales)?, choose(&KernelMeansOptions::default())?);
        // The paper's "scale-local": the best local optimum of the scales that is not the global one.
        let local =
            tied.optima.iter().find(|o| (o.hyperparameters.length_scale[0] / tied.hyperparameters.length_scale[0]).ln().abs() > 0.3);
        let spread = kelfi::simulations::scales::robust_scale(&recorded_values(&question.recorded)).unwrap_or(1.0);
        let mut choices = vec![
            ("all-opt (mkml: ε, β, λ)", all.hyperparameters.clone()),
            ("scale-global (mkml: ε, β; λ = 0.001 β)", tied.hyperparameters.clone()),
        ];
        choices.extend(local.map(|local| ("scale-local", local.hyperparameters.clone())));
        choices.push(("non-opt (ε = spread, β = 1, λ = 0.001)", Hyperparameters::isotropic(spread, 1.0, 1e-3)));
        choices.push(("loo (ours)", ours.hyperparameters));
        Ok(Self { scales, tied, choices })
    }
}

fn recorded_values(recorded: &Recorded) -> Vec<f64> {
    match recorded {
        Recorded::Statistics(simulations) => simulations.successful_values(0),
        Recorded::DataSets(_) => vec![],
    }
}

fn draw_surface(
    recorded: &Recorded,
    observation: &Observation,
    problem: &ExponentialGamma,
    settings: &KernelMeansOptions,
    learned: &Learned,
    study: &Study,
) -> Result<()> {
    let question = Question::new(problem.prior(), recorded, observation);
    let setting = LearningProblem::new(&question, settings)?;
    let (epsilons, lengths) = (log_spaced(setting.epsilons, 100), log_spaced(setting.lengths, 100));
    let data = surface(&Question::new(problem.prior(), recorded, observation), settings, &epsilons, &lengths, &mut |_| true)?;
    study.say(&format!("surface of 100 × 100 values from {} factorisations", data.factorisations));
    let mut table = Table::new(&["epsilon", "length_scale", "log_marginal_likelihood"]);
    for (row, &length) in lengths.iter().enumerate() {
        for (column, &epsilon) in epsilons.iter().enumerate() {
            let value = data.log_marginal_likelihood.row(row)[column];
            table.row(vec![format!("{:.6}", epsilon * setting.units[0]), format!("{length:.6}"), format!("{value:.6}")]);
        }
    }
    table.write(&study.path("surface.csv"))?;
    let marks = learned
        .optima
        .iter()
        .enumerate()
        .map(|(k, o)| (o.hyperparameters.epsilon[0], o.hyperparameters.length_scale[0], format!("{}", k + 1)));
    let raw: Vec<f64> = epsilons.iter().map(|e| e * setting.units[0]).collect();
    let axes = Axes {
        title: "ln q(y) over (ε, β₀), λ = 0.001 β₀; crosses: local optima, best first",
        x: "ε (units of ȳ)",
        y: "β₀ (prior standard deviations)",
        log_x: true,
        log_y: true,
    };
    let map = HeatMap {
        axes,
        x: &raw,
        y: &lengths,
        values: data.log_marginal_likelihood.values(),
        unit: "ln q(y)",
        depth: 3.0,
        marks: marks.collect(),
    };
    heat_map(&study.path("surface.svg"), &map)
}
