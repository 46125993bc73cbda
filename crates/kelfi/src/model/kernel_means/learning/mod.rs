//! Choosing ε, β and λ.

mod between;
/// What is learned and what is fixed.
pub mod choices;
/// The paper's objective ln q(y) and its gradient.
pub mod evidence;
mod evidence_search;
mod layout;
/// What learning found.
pub mod learned;
/// Our objective: the leave-one-out posterior score.
pub mod leave_one_out;
mod leave_one_out_search;
/// κ between simulations.
pub mod pairs;
/// What every search starts from.
pub mod problem;
/// ln q(y) over (ε, β₀).
pub mod surface;
mod tolerance_scan;

use crate::model::kernel_means::constants::learning::{FEWEST, ON_A_BOUND, REGULARIZATIONS};
pub use crate::model::{Progress, StatisticReport};
pub use choices::{EpsilonChoice, KernelMeansOptions, LengthScaleChoice, Objective, RegularizationChoice, Units};
pub use learned::{Learned, LocalOptimum};
pub use leave_one_out_search::grid_axes;

use crate::model::{Hyperparameters, KernelMeansLikelihood};
use crate::model::{Model, OnProgress};
use crate::question::Question;
use crate::simulations::Recorded;
use crate::simulations::local_set::LocalSet;
use crate::simulations::same_theta;
use crate::simulations::scales::StatisticScale;
use crate::{Error, memory};
use learned::Counter;
use leave_one_out::{LeaveOneOutScore, Scored};
use problem::LearningProblem;
use std::sync::Arc;

/// Factorisations a usual search takes, for progress bars.
const EXPECTED: usize = 60;

/// Learns the hyperparameters and builds the model with them. `on_progress` is called after every factorisation and answers whether to go on.
pub fn learn(
    question: &Question,
    settings: &KernelMeansOptions,
    on_progress: OnProgress<'_>,
) -> Result<(KernelMeansLikelihood, Learned), Error> {
    let Question { prior, recorded, .. } = question;
    memory::kernel_means(recorded.theta().rows(), rayon::current_num_threads(), settings.solver.is_low_rank(recorded.theta().rows()))
        .require()?;
    let setting = LearningProblem::new(question, settings)?;
    require_enough(recorded)?;
    same_theta::require_different(recorded.theta())?;
    let mut counter = Counter::new(on_progress, EXPECTED);
    let (hyperparameters, optima, stopped, scored, operator) = match settings.objective {
        Objective::LeaveOneOut => {
            let found = leave_one_out_search::search(&setting, &mut counter)?;
            (found.hyperparameters, found.optima, found.stopped, Some(found.scored), None)
        }
        Objective::Evidence => {
            let found = evidence_search::search(&setting, &mut counter)?;
            (found.hyperparameters, found.optima, found.stopped, None, found.operator)
        }
    };
    let hyperparameters = with_fixed(hyperparameters, &setting);
    let operator = match operator {
        Some(operator) if operator.kernel().length_scales() == hyperparameters.length_scale && operator.is_exact() => operator,
        _ => {
            let scales = hyperparameters.kernel(prior.dimension())?.length_scales().to_vec();
            counter.factored()?;
            Arc::new(setting.answer(scales, hyperparameters.regularization)?)
        }
    };
    let model = KernelMeansLikelihood::from_parts(question.clone(), operator, setting.discrepancies.clone(), &hyperparameters.epsilon)?;
    let scored = match scored {
        Some(scored) => Some(scored),
        None => score(&model, settings.seed).ok(),
    };
    let at_bound = at_bound(&setting, &hyperparameters);
    let statistics = report(&setting.scales, &hyperparameters);
    let learned = Learned {
        objective: settings.objective,
        score: scored.as_ref().map(|s| s.score),
        score_standard_error: scored.as_ref().map(|s| s.standard_error),
        log_marginal_likelihood: model.log_marginal_likelihood().ok(),
        at_bound,
        statistics,
        optima,
        stopped,
        factorisations: counter.factorisations,
        evaluations: counter.evaluations,
        hyperparameters,
    };
    Ok((model.with_record(learned.clone()), learned))
}

/// The leave-one-out posterior score of any kernel means model, near its observation.
pub fn score(model: &KernelMeansLikelihood, seed: u64) -> Result<Scored, Error> {
    local_score(model, seed).map(|(_, scored)| scored)
}

/// [`score`] with the simulations that played the observation.
pub fn local_score(model: &KernelMeansLikelihood, seed: u64) -> Result<(LocalSet, Scored), Error> {
    let Question { recorded, observation, .. } = model.question();
    require_enough(recorded)?;
    let settings = KernelMeansOptions { seed, ..KernelMeansOptions::default() };
    let setting = LearningProblem::new(model.question(), &settings)?;
    let local = LocalSet::new(recorded, observation, &setting.units, setting.active().len())?;
    let pairs = pairs::Pairs::new(recorded, observation, &local)?;
    let points = setting.points(&setting.z, &local, 128);
    let scored = LeaveOneOutScore::new(model.operator(), &local, &pairs, &points)?.evaluate(&model.hyperparameters().epsilon, false);
    Ok((local, scored))
}

/// Fixed values bit for bit as given: the searches work on logarithms.
fn with_fixed(mut hyperparameters: Hyperparameters, setting: &LearningProblem<'_>) -> Hyperparameters {
    if let Some(fixed) = setting.fixed_epsilon() {
        hyperparameters.epsilon = fixed;
    }
    if let LengthScaleChoice::Fixed(_) = &setting.settings.length_scale {
        hyperparameters.length_scale = setting.length_scales(1.0);
    }
    if let RegularizationChoice::Fixed(fixed) = setting.settings.regularization {
        hyperparameters.regularization = fixed;
    }
    hyperparameters
}

fn require_enough(recorded: &Recorded) -> Result<(), Error> {
    let successful = (0..recorded.theta().rows()).filter(|&i| recorded.as_observation(i).is_some()).count();
    if successful < FEWEST {
        let requirement = format!("learning needs at least {FEWEST}; simulate more, or fix ε, β and λ");
        return Err(Error::invalid("number of successful simulations", successful as f64, requirement));
    }
    Ok(())
}

pub(super) fn report(scales: &[StatisticScale], hyperparameters: &Hyperparameters) -> Vec<StatisticReport> {
    let one = |(i, scale): (usize, &StatisticScale)| {
        let epsilon = hyperparameters.epsilon[if hyperparameters.epsilon.len() == 1 { 0 } else { i }];
        let relative_epsilon = epsilon / scale.scale;
        let relevance = if scale.dropped.is_some() { 0.0 } else { 1.0 / relative_epsilon };
        StatisticReport { epsilon, relative_epsilon, relevance, scale: scale.clone() }
    };
    scales.iter().enumerate().map(one).collect()
}

/// Names of learned hyperparameters that lie on a bound of their search.
fn at_bound(setting: &LearningProblem<'_>, hyperparameters: &Hyperparameters) -> Vec<String> {
    let near = |value: f64, bound: f64| (value / bound).ln().abs() < ON_A_BOUND;
    let mut names = Vec::new();
    if setting.settings.epsilon == EpsilonChoice::Isotropic
        && let Some(&i) = setting.active().first()
    {
        let common = hyperparameters.epsilon[i] / setting.units[i];
        if near(common, setting.epsilons.0) || near(common, setting.epsilons.1) {
            names.push("epsilon".to_string());
        }
    }
    if !matches!(setting.settings.length_scale, LengthScaleChoice::Fixed(_))
        && hyperparameters.length_scale.iter().any(|&b| near(b, setting.lengths.0) || near(b, setting.lengths.1))
    {
        names.push("length_scale".to_string());
    }
    let lambda = hyperparameters.regularization;
    if setting.settings.regularization == RegularizationChoice::Free && (near(lambda, REGULARIZATIONS.0) || near(lambda, REGULARIZATIONS.1))
    {
        names.push("regularization".to_string());
    }
    names
}
