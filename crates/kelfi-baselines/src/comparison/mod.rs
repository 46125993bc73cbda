//! Methods side by side on one problem: the same observations, the same simulations, the same budget, the same scores.

/// Can samples be told from those of the exact posterior?
pub mod classifier;
/// The exact posterior, where the problem knows it.
pub mod reference;
/// Means and standard errors over repeats.
pub mod result;
/// How good one answer is.
pub mod score;

pub use result::{Comparison, Measured, MethodFacts, Row, Run};
pub use score::{FLOOR, Score};

use kelfi::Error;
use kelfi::method::calls::PriorSimulations;
use kelfi::method::{Calls, Method, Task};
use kelfi_problems::{Problem, data_set};
use rand::Rng;
use score::Judge;
use serde::Serialize;
use std::time::Instant;

/// Name under which the exact posterior stands beside the methods, where the problem knows it.
pub const EXACT: &str = "exact";

/// Where the observations of the repeats come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Observations {
    /// A new one for each repeat: parameters from the prior, then the simulator.
    FromPrior,
    /// The problem's own each time; repeats differ in their simulations.
    Own,
}

/// What is compared.
pub struct Plan<'a> {
    /// The problem.
    pub problem: &'a dyn Problem,
    /// The methods, in the order of the table.
    pub methods: Vec<Box<dyn Method>>,
    /// Numbers of simulator calls each method may make.
    pub budgets: Vec<usize>,
    /// How often everything is repeated.
    pub repeats: usize,
    /// Where observations come from.
    pub observations: Observations,
    /// Repeat r uses seed + r.
    pub seed: u64,
}

/// How far a comparison has come.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// Answers judged.
    pub done: usize,
    /// Answers in all.
    pub expected: usize,
    /// The method at work now.
    pub method: &'a str,
}

/// Carries out the plan. Repeats follow each other, so that the seconds are those of a method alone on the machine.
/// When `go_on` says no, the repeats finished by then are the result; an error if there is none.
pub fn compare(plan: &Plan<'_>, go_on: &(dyn Fn() -> bool + Sync), tell: &mut dyn FnMut(Progress<'_>)) -> Result<Comparison, Error> {
    check(plan)?;
    let mut comparison = Comparison::new(plan);
    for repeat in 0..plan.repeats {
        match repetition(plan, repeat, go_on, tell) {
            Ok(runs) => comparison.add(runs),
            Err(Error::Interrupted) if repeat > 0 => return Ok(comparison),
            Err(error) => return Err(error),
        }
    }
    Ok(comparison)
}

fn check(plan: &Plan<'_>) -> Result<(), Error> {
    let at_least_one = |what: &str, count: usize| match count {
        0 => Err(Error::invalid(what, 0.0, "it must be at least 1")),
        _ => Ok(()),
    };
    at_least_one("number of methods", plan.methods.len())?;
    at_least_one("number of budgets", plan.budgets.len())?;
    at_least_one("number of repeats", plan.repeats)?;
    plan.budgets.iter().try_for_each(|&budget| at_least_one("budget", budget))
}

/// Every method at every budget on one observation.
fn repetition(
    plan: &Plan<'_>,
    repeat: usize,
    go_on: &(dyn Fn() -> bool + Sync),
    tell: &mut dyn FnMut(Progress<'_>),
) -> Result<Vec<Run>, Error> {
    let problem = plan.problem;
    let seed = plan.seed.wrapping_add(repeat as u64);
    let (truth, observation) = match plan.observations {
        Observations::FromPrior => data_set(problem, seed).map(|(theta, y)| (Some(theta), y))?,
        Observations::Own => (problem.truth().map(<[f64]>::to_vec), problem.observation().to_vec()),
    };
    let simulator = |theta: &[f64], rng: &mut dyn Rng| problem.simulate(theta, rng).ok();
    let ready = PriorSimulations::new(problem.prior(), &simulator, problem.statistic_names().len(), seed);
    let judge = Judge::new(problem, plan.observations, &observation, truth.as_deref(), seed);
    let a_repeat = plan.budgets.len() * plan.methods.len();
    let mut runs = vec![];
    for (round, &budget) in plan.budgets.iter().enumerate() {
        for (index, method) in plan.methods.iter().enumerate() {
            let done = repeat * a_repeat + round * plan.methods.len() + index;
            tell(Progress { done, expected: plan.repeats * a_repeat, method: method.name() });
            if !go_on() {
                return Err(Error::Interrupted);
            }
            let calls = Calls::new(&simulator, &ready, budget, seed)?;
            let question = Task { prior: problem.prior(), observation: &observation, calls: &calls, seed, go_on };
            let began = Instant::now();
            let answered = method.infer(&question).and_then(|answer| Ok((answer.samples(score::SAMPLES, seed)?, answer)));
            let seconds = began.elapsed().as_secs_f64();
            let (score, failure) = match answered.and_then(|(samples, answer)| judge.score(&samples, &answer)) {
                Ok(score) => (Some(score), None),
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) => (None, Some(error.to_string())),
            };
            runs.push(Run { method: method.name().into(), budget, repeat, calls: calls.made(), seconds, score, failure });
        }
        let exact = |score| Run { method: EXACT.into(), budget, repeat, calls: 0, seconds: 0.0, score: Some(score), failure: None };
        runs.extend(judge.exact().map(exact));
    }
    Ok(runs)
}
