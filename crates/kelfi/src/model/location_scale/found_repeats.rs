//! Outputs that are independent repeats though nobody said so: what the tests of [`crate::simulations`] let pass is learned as such too, and
//! the model that predicts left-out outputs better, ln q₋ᵢ(x_i|θ_i), is kept.

use super::at_once::each;
use super::regression::MeanWeights;
use super::statistic::Statistic;
use super::without::{Tried, Without, ln_values};
use super::{LocationScaleHyperparameters, LocationScaleLikelihood, repeats_of};
use crate::chains::hamiltonian::FEWEST_PARAMETERS;
use crate::question::Question;
use crate::{Error, Points};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The question with the repeats that were found when the model was learned.
pub fn told(question: &Question, hyperparameters: &LocationScaleHyperparameters) -> Result<Question, Error> {
    match hyperparameters.found_repeats {
        Some(repeats) => question.with_repeats(repeats),
        _ => Ok(question.clone()),
    }
}

impl LocationScaleLikelihood {
    /// This, or the model of independent repeats where outputs look like that and left-out ones are then likelier. Such a model learns each
    /// regression from all repeats; one of values in a row learns the same regression as often as there are repeats.
    pub(super) fn or_of_repeats(self, learn: impl Fn(&Question) -> Result<Self, Error>) -> Result<Self, Error> {
        // With many parameters chains need gradients, which repeats have not.
        if self.question.prior.dimension() >= FEWEST_PARAMETERS {
            return Ok(self);
        }
        let Some(repeats) = self.simulations.repeats_that_fit(&self.question.prior)? else { return Ok(self) };
        let mut other = match learn(&self.question.with_repeats(repeats)?) {
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(_) => return Ok(self),
            Ok(other) => other,
        };
        let tried = self.nearest(&self.simulations, &self.observation)?.0;
        let (own, others) = (self.left_out_densities(&tried)?, other.left_out_densities(&tried)?);
        let gain: f64 = own.iter().filter_map(|(simulation, ln)| Some(others.get(simulation)? - ln)).sum();
        if gain <= 0.0 {
            return Ok(self);
        }
        if let Some(fitted) = Arc::get_mut(&mut other.fitted) {
            fitted.hyperparameters.found_repeats = Some(repeats);
        }
        Ok(other)
    }

    /// ln q₋ᵢ(x_i|θ_i) of these simulations, in the units of the outputs.
    fn left_out_densities(&self, tried: &[Tried]) -> Result<BTreeMap<usize, f64>, Error> {
        let groups: Vec<Vec<usize>> = tried.iter().map(|t| t.together.clone()).collect();
        let statistics: Vec<&Statistic> = self.fitted.residuals.statistics.iter().collect();
        let weights: Vec<Vec<MeanWeights>> =
            each(statistics, self.fitted.seen.rows(), |statistic| statistic.without(&self.fitted.seen, &groups))?;
        let without: Vec<Without<'_>> =
            tried.iter().enumerate().map(|(k, tried)| Without::new(self, tried, weights.iter().map(|w| &w[k]).collect())).collect();
        let z = Points::from_rows(&without.iter().map(Without::own).collect::<Vec<_>>())?;
        let ln = ln_values(&without.iter().collect::<Vec<_>>(), &z);
        Ok(tried.iter().zip(ln).map(|(tried, ln)| (tried.simulation, ln + self.ln_slopes(tried.output))).collect())
    }

    /// Σ ln |T'(x)| of a simulated output.
    fn ln_slopes(&self, output: usize) -> f64 {
        let x = self.simulations.outputs().row(output);
        let of_statistic = |statistic: &Statistic| -> f64 {
            let h = statistic.hyperparameters();
            repeats_of(x, h.index, self.repeats()).map(|value| h.transform.scale.ln_slope(value)).sum()
        };
        self.fitted.residuals.statistics.iter().map(of_statistic).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, standard_normal, stream};
    use crate::simulations::{Observation, Recorded, Simulations};
    use crate::{Marginal, Prior};

    /// k values with mean θ₁ and spread e^(θ₂/2), which share some noise.
    fn question(shared: f64, seed: u64) -> Question {
        let marginals = ["mean", "ln_variance"].map(|name| (name.into(), Marginal::Normal { mean: 0.0, std: 1.0 })).to_vec();
        let prior = Prior::independent(marginals).unwrap();
        let theta = prior.draw(120, seed);
        let output = |j: usize| {
            let mut rng = stream(seed, Purpose::Simulator, j as u64);
            let together = shared * standard_normal(&mut rng);
            (0..5).map(|_| theta.row(j)[0] + (0.5 * theta.row(j)[1]).exp() * (together + standard_normal(&mut rng))).collect::<Vec<f64>>()
        };
        let x = Points::from_rows(&(0..120).map(output).collect::<Vec<_>>()).unwrap();
        let y = Observation::Statistics(vec![0.3, -0.2, 1.1, 0.4, -0.9]);
        let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta, x).unwrap()));
        Question::new(&prior, &recorded, &y)
    }

    fn learned(question: &Question) -> LocationScaleLikelihood {
        LocationScaleLikelihood::learn(question, 1, &|| true).unwrap()
    }

    #[test]
    fn draws_are_found_to_be_repeats_and_remembered_as_such() {
        let model = learned(&question(0.0, 3));
        assert_eq!((model.repeats(), model.hyperparameters().found_repeats), (5, Some(5)));
        let told_of_none = learned(&question(0.0, 3).with_repeats(1).unwrap());
        assert_eq!((told_of_none.repeats(), told_of_none.hyperparameters().found_repeats), (1, None));
        let again = LocationScaleLikelihood::new(&question(0.0, 3), model.hyperparameters()).unwrap();
        let z = Points::from_rows(&[[0.1, -0.3], [1.0, 0.5]]).unwrap();
        assert_eq!(again.ln_values(&z), model.ln_values(&z));
    }

    #[test]
    fn values_that_can_change_places_but_share_noise_are_not_independent() {
        // No test of exchangeability can see the noise that all five share; densities of left-out outputs do.
        let model = learned(&question(1.0, 3));
        assert_eq!((model.repeats(), model.hyperparameters().found_repeats), (1, None));
    }
}
