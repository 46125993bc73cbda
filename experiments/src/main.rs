//! The paper's experiments and ours, one command each. Results go to `experiments/results/`.

mod adversary;
mod arena;
mod benchmark;
mod blowfly;
mod blur;
mod calibration;
mod exactness;
mod families;
mod field;
mod figure;
mod learners;
mod lost_modes;
mod lotka_volterra;
mod model_name;
mod rates;
mod sbibm;
mod scale;
mod study;
mod table;
mod timing;
mod toy;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// The paper's experiments and ours, one command each.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Subcommand)]
enum Experiment {
    /// Problems with exact posteriors, ordinary and hostile: is a fit right, and if not, does a check say so?
    Adversary(adversary::Options),
    /// The paper's comparisons with other methods: the toy, the blowflies, Lotka-Volterra.
    Arena(arena::Options),
    /// How far each way of choosing hyperparameters is from exact posteriors, beside the best possible choice.
    Learners(learners::Options),
    /// The paper's toy figure: posteriors by several choices of hyperparameters, and the evidence surface with its optima.
    Toy(toy::Options),
    /// The paper's blowfly figures: error against simulations, learned tolerances, relevance, the evidence surface.
    Blowfly(blowfly::Options),
    /// The paper's Lotka-Volterra figure: intervals of the log-parameters from 2,500 simulations.
    LotkaVolterra(lotka_volterra::Options),
    /// Errors of likelihood, evidence, posterior and embedding against the number of simulations, beside the theorems' rates.
    Rates(rates::Options),
    /// C2ST on tasks of sbibm beside the published scores.
    Sbibm(sbibm::Options),
    /// Do rounds keep every mode? Weights of modes over many seeds.
    LostModes(lost_modes::Options),
    /// Statistics that depend on one another, and raw draws: one round and several beside exact posteriors.
    Families(families::Options),
    /// Seconds, memory and accuracy of the default fit against the number of simulations, parameters and statistics.
    Scale(scale::Options),
    /// How often intervals cover the truth over many observations, for each model.
    Calibration(calibration::Options),
    /// How often intervals cover the truth when a tolerance is all that is wrong with them.
    Blur(blur::Options),
    /// Seconds and C2ST from simulations to samples, beside the neural estimators of sbi.
    Field(field::Options),
    /// Seconds and factorisations of learning, beside plain gradient ascent in NumPy.
    Timing(timing::Options),
}

fn main() -> Result<()> {
    match Arguments::parse().experiment {
        Experiment::Adversary(options) => adversary::run(&options),
        Experiment::Arena(options) => arena::run(&options),
        Experiment::Learners(options) => learners::run(&options),
        Experiment::Timing(options) => timing::run(&options),
        Experiment::Toy(options) => toy::run(&options),
        Experiment::Blowfly(options) => blowfly::run(&options),
        Experiment::LotkaVolterra(options) => lotka_volterra::run(&options),
        Experiment::Rates(options) => rates::run(&options),
        Experiment::Sbibm(options) => sbibm::run(&options),
        Experiment::LostModes(options) => lost_modes::run(&options),
        Experiment::Families(options) => families::run(&options),
        Experiment::Scale(options) => scale::run(&options),
        Experiment::Field(options) => field::run(&options),
        Experiment::Calibration(options) => calibration::run(&options),
        Experiment::Blur(options) => blur::run(&options),
    }
}
