//! What every search starts from: simulations in z coordinates, units, bounds tied to the data, and the operator at (β, λ).

use crate::kernel::Kernel;
use crate::model::kernel_means::constants::embedding::PRIOR_DRAWS_OF_A_SEARCH;
use crate::model::kernel_means::constants::learning::{
    LONGEST, LOOKED_AT, NEIGHBOURS, OF_SIMULATIONS, ROUNDING, SPREADS, TIED_REGULARIZATION,
};
use crate::model::kernel_means::learning::choices::{EpsilonChoice, KernelMeansOptions, LengthScaleChoice, RegularizationChoice, Units};
use crate::model::statistic_report::LEFT_OUT;
use crate::model::{Operator, PriorEmbedding};
use crate::prior::quadrature::PriorPoints;
use crate::question::Question;
use crate::simulations::Discrepancies;
use crate::simulations::Recorded;
use crate::simulations::lattice::lattice_step;
use crate::simulations::local_set::LocalSet;
use crate::simulations::prior_draws::PriorDraws;
use crate::simulations::same_theta::SameTheta;
use crate::simulations::scales::{StatisticScale, statistic_scales};
use crate::solver::Accuracy;
use crate::{Error, Points};

fn round(fixed: bool, ln: f64) -> f64 {
    if fixed { ln } else { (ln * ROUNDING).round() / ROUNDING }
}

/// The data of one learning problem.
pub struct LearningProblem<'a> {
    /// What is asked.
    pub question: &'a Question,
    /// What to learn and how.
    pub settings: &'a KernelMeansOptions,
    /// Simulated parameters in z coordinates.
    pub z: Points,
    /// Squared differences to the observation.
    pub discrepancies: Discrepancies,
    /// Scale of every statistic.
    pub scales: Vec<StatisticScale>,
    /// What a common tolerance is multiplied with, per statistic.
    pub units: Vec<f64>,
    /// No learned tolerance is smaller, per statistic: half the step of counts, whose neighbours it could not tell apart else; 0 for others.
    pub floors: Vec<f64>,
    /// Common tolerances are sought between these.
    pub epsilons: (f64, f64),
    /// Length scales are sought between these, in prior standard deviations.
    pub lengths: (f64, f64),
    embedding: PriorEmbedding,
    /// Whether the simulated parameters can be draws of the prior.
    pub prior_draws: bool,
}

impl<'a> LearningProblem<'a> {
    /// Prepares a learning problem.
    pub fn new(question: &'a Question, settings: &'a KernelMeansOptions) -> Result<Self, Error> {
        let Question { prior, recorded, observation } = question;
        let z = prior.to_latent_points(recorded.theta())?;
        let discrepancies = recorded.discrepancies(observation)?;
        let scales = match recorded {
            Recorded::Statistics(simulations) => statistic_scales(simulations),
            Recorded::DataSets(_) => vec![StatisticScale { scale: 1.0, dropped: None }],
        };
        let unit = |s: &StatisticScale| match (&s.dropped, settings.units) {
            (Some(_), _) => LEFT_OUT * s.scale,
            (None, Units::Robust) => s.scale,
            (None, Units::Raw) => 1.0,
        };
        let units: Vec<f64> = scales.iter().map(unit).collect();
        let epsilons = common_tolerances(&discrepancies, &scales, &units);
        require_measurable(&units, epsilons)?;
        if let EpsilonChoice::Fixed(epsilon) = &settings.epsilon {
            discrepancies.tolerances(epsilon)?;
        }
        let floors = floors(recorded, settings, scales.len());
        let embedding = PriorEmbedding::new(&prior.latent(), settings.family, PRIOR_DRAWS_OF_A_SEARCH, settings.seed)?;
        let lengths = (shortest_length(&z), LONGEST);
        let prior_draws = PriorDraws::of(&z, prior).plausible();
        Ok(Self { question, settings, z, discrepancies, scales, units, floors, epsilons, lengths, embedding, prior_draws })
    }

    /// Points for integrals over what simulations were drawn from: the prior, or `z` of the simulations where it was not the prior.
    pub fn points(&self, z: &Points, local: &LocalSet, count: usize) -> PriorPoints {
        if self.prior_draws {
            let (mean, std) = local.spread(z);
            return PriorPoints::new(&self.question.prior.latent(), &mean, &std, count, self.settings.seed);
        }
        PriorPoints::of_simulations(&z.select(&SameTheta::new(z).firsts()), OF_SIMULATIONS)
    }

    /// The first `count` simulations, or all if there are no more, and their parameters in z coordinates.
    pub fn head(&self, count: usize) -> Result<(Recorded, Points), Error> {
        if count >= self.len() {
            return Ok((self.question.recorded.clone(), self.z.clone()));
        }
        let indices: Vec<usize> = (0..count).collect();
        let recorded = self.question.recorded.select(&indices)?;
        Ok((recorded, self.z.select(&indices)))
    }

    /// Number of simulations m.
    pub fn len(&self) -> usize {
        self.z.rows()
    }

    /// Never: there is at least one simulation.
    pub fn is_empty(&self) -> bool {
        self.z.is_empty()
    }

    /// Number of parameters D.
    pub fn dimension(&self) -> usize {
        self.z.columns()
    }

    /// ε for every statistic from a common one.
    pub fn tolerances(&self, common: f64) -> Vec<f64> {
        self.units.iter().zip(&self.floors).map(|(unit, floor)| (common * unit).max(*floor)).collect()
    }

    /// ln ε, none below the floors.
    pub fn floored(&self, ln_epsilon: &[f64]) -> Vec<f64> {
        ln_epsilon.iter().zip(&self.floors).map(|(ln, floor)| ln.max(floor.ln())).collect()
    }

    /// ε for every statistic where it is fixed.
    pub fn fixed_epsilon(&self) -> Option<Vec<f64>> {
        let EpsilonChoice::Fixed(fixed) = &self.settings.epsilon else { return None };
        Some(if fixed.len() == self.units.len() { fixed.clone() } else { vec![fixed[0]; self.units.len()] })
    }

    /// Which statistics take part.
    pub fn active(&self) -> Vec<usize> {
        (0..self.scales.len()).filter(|&i| self.scales[i].dropped.is_none()).collect()
    }

    /// β for every parameter from a common one, or as fixed.
    pub fn length_scales(&self, common: f64) -> Vec<f64> {
        match &self.settings.length_scale {
            LengthScaleChoice::Fixed(fixed) if fixed.len() == self.dimension() => fixed.clone(),
            LengthScaleChoice::Fixed(fixed) => vec![fixed.first().copied().unwrap_or(common); self.dimension()],
            _ => vec![common; self.dimension()],
        }
    }

    /// ln ε rounded in units of each statistic's spread, unless fixed.
    pub fn rounded_epsilon(&self, ln_epsilon: &[f64]) -> Vec<f64> {
        let fixed = self.fixed_epsilon().is_some();
        let rounded: Vec<f64> = ln_epsilon.iter().zip(&self.scales).map(|(e, s)| s.scale.ln() + round(fixed, e - s.scale.ln())).collect();
        self.floored(&rounded)
    }

    /// ln β rounded, unless fixed.
    pub fn rounded_length_scales(&self, ln_length_scales: &[f64]) -> Vec<f64> {
        let fixed = matches!(self.settings.length_scale, LengthScaleChoice::Fixed(_));
        ln_length_scales.iter().map(|&b| round(fixed, b)).collect()
    }

    /// ln λ or ln mλ rounded.
    pub fn rounded(&self, ln: f64) -> f64 {
        round(false, ln)
    }

    /// λ where it is not free: fixed, or tied to the geometric mean of the length scales.
    pub fn bound_regularization(&self, length_scales: &[f64]) -> Option<f64> {
        match self.settings.regularization {
            RegularizationChoice::Fixed(value) => Some(value),
            RegularizationChoice::Tied => {
                let ln_mean = length_scales.iter().map(|b| b.ln()).sum::<f64>() / length_scales.len() as f64;
                Some(TIED_REGULARIZATION * ln_mean.exp())
            }
            RegularizationChoice::Free => None,
        }
    }

    /// The operator at (β, λ) on all simulations, to the accuracy of an answer.
    pub fn answer(&self, length_scales: Vec<f64>, regularization: f64) -> Result<Operator, Error> {
        self.solved(self.z.clone(), length_scales, regularization, Accuracy::ANSWER)
    }

    /// The operator at (β, λ) on all simulations, to the accuracy of a search.
    pub fn operator(&self, length_scales: Vec<f64>, regularization: f64) -> Result<Operator, Error> {
        self.operator_on(self.z.clone(), length_scales, regularization)
    }

    /// The operator at (β, λ) on some points, to the accuracy of a search.
    pub fn operator_on(&self, z: Points, length_scales: Vec<f64>, regularization: f64) -> Result<Operator, Error> {
        self.solved(z, length_scales, regularization, Accuracy::SEARCH)
    }

    fn solved(&self, z: Points, length_scales: Vec<f64>, regularization: f64, accuracy: Accuracy) -> Result<Operator, Error> {
        let kernel = Kernel::new(self.settings.family, length_scales)?;
        Operator::with_solver(z, kernel, regularization, self.embedding.clone(), self.settings.solver, accuracy)
    }
}

/// Half the step of statistics whose values lie on a lattice, as counts do: with a smaller tolerance only simulations with the very same
/// count are like the observation, and the density q(y) of that count grows without bound as 1/ε. Raw units are the paper's own, without floors.
fn floors(recorded: &Recorded, settings: &KernelMeansOptions, statistics: usize) -> Vec<f64> {
    match recorded {
        Recorded::Statistics(simulations) if settings.units == Units::Robust && !matches!(settings.epsilon, EpsilonChoice::Fixed(_)) => {
            (0..statistics).map(|i| lattice_step(&simulations.successful_values(i)).map_or(0.0, |step| 0.5 * step)).collect()
        }
        _ => vec![0.0; statistics],
    }
}

/// An error for statistics whose squares or tolerances would leave the range of doubles.
fn require_measurable(units: &[f64], epsilons: (f64, f64)) -> Result<(), Error> {
    let inside = |value: f64| (SPREADS.0..=SPREADS.1).contains(&value);
    let reach = |unit: f64| [unit, unit * epsilons.0, unit * epsilons.1];
    match units.iter().position(|&unit| !reach(unit).into_iter().all(inside)) {
        None => Ok(()),
        Some(i) => Err(Error::invalid(
            format!("spread of statistic {i}"),
            units[i],
            "its tolerance must lie between 1e-100 and 1e100; rescale the statistic, and check that the observation has the same units",
        )),
    }
}

/// Bounds for a common tolerance: from half the third smallest distance to the observation that is not zero
/// (repeated values of a discrete statistic must not drive ε to 0) to twice the distance nine in ten stay below.
fn common_tolerances(discrepancies: &Discrepancies, scales: &[StatisticScale], units: &[f64]) -> (f64, f64) {
    let n = scales.iter().filter(|s| s.dropped.is_none()).count().max(1) as f64;
    let mut distances: Vec<f64> = discrepancies.distances(units).into_iter().map(|d| d / n.sqrt()).filter(|d| *d > 1e-7).collect();
    distances.sort_by(f64::total_cmp);
    let Some(&far) = distances.get(distances.len().saturating_sub(1) * 9 / 10) else { return (0.01, 10.0) };
    let near = distances[2.min(distances.len() - 1)];
    let high = 2.0 * far;
    ((0.5 * near).clamp(1e-6 * high, 0.2 * high), high)
}

/// The median distance of a simulation to its fifth neighbour, per √D, in z coordinates.
fn shortest_length(z: &Points) -> f64 {
    let m = z.rows();
    let looked_at = m.min(LOOKED_AT);
    let neighbour = |i: usize| -> f64 {
        let distance = |j: usize| z.row(i).iter().zip(z.row(j)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        let mut distances: Vec<f64> = (0..m).filter(|&j| j != i).map(distance).collect();
        let wanted = (NEIGHBOURS - 1).min(distances.len().saturating_sub(1));
        if distances.is_empty() { 1.0 } else { *distances.select_nth_unstable_by(wanted, f64::total_cmp).1 }
    };
    let typical = crate::simulations::scales::median((0..looked_at).map(|k| neighbour(k * m / looked_at)).collect()).unwrap_or(1.0);
    (typical / (z.columns() as f64).sqrt()).clamp(1e-3, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prior;
    use crate::prior::Marginal;
    use crate::simulations::{Observation, Simulations};
    use std::sync::Arc;

    #[test]
    fn statistics_beyond_the_range_of_doubles_and_impossible_tolerances_are_refused() {
        let prior = Prior::independent(vec![("a".into(), Marginal::Normal { mean: 0.0, std: 1.0 })]).unwrap();
        let theta = Points::from_column(vec![-1.0, 0.0, 1.0, 2.0]);
        let refused = |stretch: f64, observed: f64, settings: &KernelMeansOptions| {
            let x = Points::from_column([-1.1, 0.1, 0.9, 2.2].map(|value| value * stretch).to_vec());
            let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta.clone(), x).unwrap()));
            let observation = Observation::Statistics(vec![observed]);
            matches!(LearningProblem::new(&Question::new(&prior, &recorded, &observation), settings), Err(Error::Invalid { .. }))
        };
        let free = KernelMeansOptions::default();
        assert!(!refused(1.0, 0.5, &free) && !refused(1e40, 0.5e40, &free));
        assert!(refused(1e300, 0.5, &free) && refused(1.0, 1e300, &free) && refused(1e-300, 0.0, &free));
        assert!(refused(1.0, 0.5, &KernelMeansOptions { epsilon: EpsilonChoice::Fixed(vec![0.0]), ..free }));
    }
}
