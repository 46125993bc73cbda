//! Methods side by side on one problem: the same observations, the same simulations, the same budget, the same scores.

/// Can samples be told from those of the exact posterior?
pub mod classifier;
/// Where runs are kept as they come.
pub mod ledger;
/// Simulations near the observation, each left out and asked about.
pub mod left_out;
/// Quantiles of single parameters and distances between them.
pub mod marginals;
/// Simulations at posterior samples.
pub mod predictive;
/// The exact posterior, where the problem knows it.
pub mod reference;
/// Means and standard errors over repeats.
pub mod result;
/// How good one answer is.
pub mod score;

pub use ledger::{Forgetful, Ledger};
pub use result::{Comparison, Measured, MethodFacts, Row, Run};
pub use score::{FLOOR, Score};

use kelfi::method::calls::{PriorSimulations, Simulator};
use kelfi::method::{Answer, Calls, Method, Task};
use kelfi::{Error, Points, Simulations};
use kelfi_problems::{BenchmarkProblem, data_set};
use rand::Rng;
use score::Judge;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Name under which the exact posterior stands beside the methods, where the problem knows it.
pub const EXACT: &str = "exact";

/// Where the observations of the repeats come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Observations {
    /// A new one for each repeat: parameters from the prior, then the simulator.
    FromPrior,
    /// The problem's own each time; repeats differ in their simulations.
    Own,
}

/// What is compared.
pub struct ComparisonPlan<'a> {
    /// The problem.
    pub problem: &'a dyn BenchmarkProblem,
    /// The methods, in the order of the table.
    pub methods: Vec<Box<dyn Method>>,
    /// Numbers of simulator calls each method may make.
    pub budgets: Vec<usize>,
    /// Number of repeats.
    pub repeats: usize,
    /// Where observations come from.
    pub observations: Observations,
    /// Repeat r uses seed + r.
    pub seed: u64,
}

/// How far a comparison has come.
#[derive(Debug, Clone, Copy)]
pub struct ComparisonProgress<'a> {
    /// Answers judged.
    pub done: usize,
    /// Answers in all.
    pub expected: usize,
    /// The method at work now.
    pub method: &'a str,
}

/// Carries out the plan and keeps nothing on the way.
pub fn compare(
    plan: &ComparisonPlan<'_>,
    go_on: &(dyn Fn() -> bool + Sync),
    tell: &mut dyn FnMut(ComparisonProgress<'_>),
) -> Result<Comparison, Error> {
    compare_with(plan, &Forgetful, go_on, tell)
}

/// Carries out the plan; runs that the ledger has are not made again. Repeats follow each other, so that the seconds are those of a method
/// alone on the machine. When `go_on` says no, the repeats finished by then are the result; an error if there is none.
pub fn compare_with(
    plan: &ComparisonPlan<'_>,
    ledger: &dyn Ledger,
    go_on: &(dyn Fn() -> bool + Sync),
    tell: &mut dyn FnMut(ComparisonProgress<'_>),
) -> Result<Comparison, Error> {
    check(plan)?;
    let mut comparison = Comparison::new(plan);
    for repeat in 0..plan.repeats {
        match repetition(plan, repeat, ledger, go_on, tell) {
            Ok(runs) => comparison.add(runs),
            Err(Error::Interrupted) if repeat > 0 => return Ok(comparison),
            Err(error) => return Err(error),
        }
    }
    Ok(comparison)
}

fn check(plan: &ComparisonPlan<'_>) -> Result<(), Error> {
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
    plan: &ComparisonPlan<'_>,
    repeat: usize,
    ledger: &dyn Ledger,
    go_on: &(dyn Fn() -> bool + Sync),
    tell: &mut dyn FnMut(ComparisonProgress<'_>),
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
    let bench = Bench { plan, repeat, seed, observation: &observation, simulator: &simulator, ready: &ready, judge: &judge, go_on };
    let a_repeat = plan.budgets.len() * plan.methods.len();
    let mut runs = vec![];
    for (round, &budget) in plan.budgets.iter().enumerate() {
        for (index, method) in plan.methods.iter().enumerate() {
            let done = repeat * a_repeat + round * plan.methods.len() + index;
            tell(ComparisonProgress { done, expected: plan.repeats * a_repeat, method: method.name() });
            if !go_on() {
                return Err(Error::Interrupted);
            }
            runs.push(match ledger.kept(method.name(), budget, repeat) {
                Some(run) => run,
                None => {
                    let run = bench.run(&**method, budget)?;
                    ledger.keep(&run)?;
                    run
                }
            });
        }
        runs.extend(judge.exact().map(|(score, samples)| Run {
            method: EXACT.into(),
            budget,
            repeat,
            calls: 0,
            seconds: 0.0,
            score: Some(score),
            quantiles: marginals::quantiles(samples),
            failure: None,
            remark: None,
        }));
    }
    Ok(runs)
}

/// One observation, and everything a method is run and judged with.
struct Bench<'a> {
    plan: &'a ComparisonPlan<'a>,
    repeat: usize,
    seed: u64,
    observation: &'a [f64],
    simulator: &'a Simulator<'a>,
    ready: &'a PriorSimulations<'a>,
    judge: &'a Judge<'a>,
    go_on: &'a (dyn Fn() -> bool + Sync),
}

impl Bench<'_> {
    /// One method at one budget. A failure of the method is part of the run; what was stopped is none.
    fn run(&self, method: &dyn Method, budget: usize) -> Result<Run, Error> {
        let calls = Calls::new(self.simulator, self.ready, budget, self.seed)?;
        let prior = self.plan.problem.prior();
        let task = Task { prior, observation: self.observation, calls: &calls, seed: self.seed, go_on: self.go_on };
        let began = Instant::now();
        let answered = method.infer(&task).and_then(|answer| Ok((answer.samples(score::SAMPLES, self.seed)?, answer)));
        let seconds = began.elapsed().saturating_sub(calls.simulating()).as_secs_f64();
        let judged = answered.and_then(|(samples, answer)| {
            Ok((self.judged(method, &calls, &samples, &answer)?, marginals::quantiles(&samples), answer.remark()))
        });
        // Calls that were cut short count as failed ones: what came of them says nothing about the method.
        if !(self.go_on)() {
            return Err(Error::Interrupted);
        }
        let (method, made) = (method.name().to_owned(), calls.made());
        let (score, quantiles, failure, remark) = match judged {
            Ok((score, quantiles, remark)) => (Some(score), quantiles, None, remark),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => (None, vec![], Some(error.to_string()), None),
        };
        Ok(Run { method, budget, repeat: self.repeat, calls: made, seconds, score, quantiles, failure, remark })
    }

    /// The scores, with those that stand in where nobody knows the truth.
    fn judged(&self, method: &dyn Method, calls: &Calls<'_>, samples: &Points, answer: &Answer) -> Result<Score, Error> {
        let score = self.judge.score(samples, answer)?;
        if score.gain.is_some() {
            return Ok(score);
        }
        let smallest = self.plan.budgets.iter().copied().min().unwrap_or(1);
        let (theta, x) = self.ready.first(smallest);
        let predictive = predictive::error(samples, self.observation, self.simulator, &Simulations::new(theta, x)?, self.seed);
        let left_out = match calls.made() > 0 && calls.made_elsewhere() == 0 {
            true => self.left_out(method, calls.made())?,
            false => None,
        };
        Ok(Score { predictive, left_out, ..score })
    }

    fn left_out(&self, method: &dyn Method, count: usize) -> Result<Option<f64>, Error> {
        let (theta, x) = self.ready.first(count);
        let simulations = Simulations::new(theta, x)?;
        let around = left_out::Around { prior: self.plan.problem.prior(), simulator: self.simulator, seed: self.seed, go_on: self.go_on };
        match around.score(method, &simulations, self.observation) {
            Err(Error::Interrupted) => Err(Error::Interrupted),
            // With one fewer a method may refuse: then there is no such score, and the answer stands.
            found => Ok(found.unwrap_or(None)),
        }
    }
}
