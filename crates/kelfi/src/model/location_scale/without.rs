//! The model without the simulations at one θ, at the output of one of them.

use super::constants::leave_one_out::{NEIGHBOURS, PROPOSALS, SHARES, WIDER};
use super::regression::MeanWeights;
use super::shape::Omissions;
use super::statistic::Statistic;
use super::{LocationScaleLikelihood, repeats_of};
use crate::chains::reference::Reference;
use crate::prior::LatentPrior;
use crate::{Error, Points};
use rand_chacha::ChaCha8Rng;

/// Around the mean of a chain.
pub(super) struct Proposals([Reference; 2]);

impl Proposals {
    /// As wide as the posterior at the observation, and as wide as the chain.
    pub fn of_few(chain: &Points, wide: &Reference) -> Self {
        let fitted = Reference::fitted(chain);
        Self([wide.around(fitted.centre()), fitted])
    }

    /// With many parameters a chain is too short for a covariance, and a distribution with wide tails hardly ever falls where the posterior
    /// is: normal ones with the covariance of the posterior at the observation, and a little wider.
    pub fn of_many(chain: &Points, draws: &Points) -> Self {
        let centre = Reference::gaussian_of(chain).centre().to_vec();
        let wider = draws.map_rows(draws.columns(), |z| z.iter().map(|z| WIDER * z).collect());
        Self([draws, &wider].map(|draws| Reference::gaussian_of(draws).around(&centre)))
    }
}

/// A simulation that plays the observation.
pub(super) struct Tried {
    /// Which one.
    pub simulation: usize,
    /// The output that is taken for observed.
    pub output: usize,
    /// Its row among the successful outputs.
    pub row: usize,
    /// The rows of all successful outputs at the same θ.
    pub together: Vec<usize>,
}

/// The model without one θ.
pub(super) struct Without<'a> {
    pub model: &'a LocationScaleLikelihood,
    pub tried: &'a Tried,
    weights: Vec<&'a MeanWeights>,
    omitted: Omissions,
    /// The output, transformed.
    transformed: Vec<f64>,
}

impl<'a> Without<'a> {
    pub fn new(model: &'a LocationScaleLikelihood, tried: &'a Tried, weights: Vec<&'a MeanWeights>) -> Self {
        let x = model.simulations.outputs().row(tried.output);
        let of_statistic = |s: &Statistic| -> Vec<f64> {
            let h = s.hyperparameters();
            repeats_of(x, h.index, s.repeats()).map(|value| h.transform.scale.apply(value)).collect()
        };
        let transformed = model.fitted.residuals.statistics.iter().flat_map(of_statistic).collect();
        let omitted = model.fitted.residuals.shape.omit(&tried.together, model.fitted.seen.row(tried.row));
        Self { model, tried, weights, omitted, transformed }
    }

    /// z of the simulation left out.
    pub fn own(&self) -> &[f64] {
        self.model.fitted.z.row(self.tried.row)
    }

    /// Where the posterior may be, by simulations with similar outputs and not by θ_i: their parameters, and the mean of these in proportion
    /// to what they give to this output.
    pub fn whereabouts(&self, standardised: &Points) -> (Points, Vec<f64>) {
        let own = standardised.row(self.tried.row);
        let distance = |row: usize| standardised.row(row).iter().zip(own).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let mut others: Vec<(f64, usize)> =
            (0..standardised.rows()).filter(|row| !self.tried.together.contains(row)).map(|row| (distance(row), row)).collect();
        others.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let near: Vec<usize> = others.iter().take(NEIGHBOURS).map(|other| other.1).collect();
        let z = self.model.fitted.z.select(&near);
        let weights = relative(&ln_values(&vec![self; z.rows()], &z));
        let total: f64 = weights.iter().sum();
        let centre = (0..z.columns()).map(|d| z.iter().zip(&weights).map(|(z, w)| w * z[d]).sum::<f64>() / total).collect();
        (z, centre)
    }

    /// ln q₋ᵢ(x_i|θ_i) - ln q₋ᵢ(x_i), the evidence by importance sampling.
    pub fn score(&self, Proposals(proposals): &Proposals, rng: &mut ChaCha8Rng) -> Result<f64, Error> {
        let latent = self.model.question.prior.latent();
        let mut rows = vec![self.own().to_vec()];
        rows.extend((0..PROPOSALS).map(|k| {
            let place = (k as f64 + 0.5) / PROPOSALS as f64;
            if place < SHARES[0] { latent.draw_with(rng) } else { proposals[usize::from(place >= SHARES[0] + SHARES[1])].draw(rng) }
        }));
        let z = Points::from_rows(&rows)?;
        let ln_values = ln_values(&vec![self; z.rows()], &z);
        let ln_weight = |k: usize| {
            let (z, ln_prior) = (z.row(k), ln_prior(&latent, z.row(k)));
            let gaussians = SHARES[1] * proposals[0].ln_density(z).exp() + SHARES[2] * proposals[1].ln_density(z).exp();
            let proposal = SHARES[0] * ln_prior.exp() + gaussians;
            if proposal > 0.0 { ln_values[k] + ln_prior - proposal.ln() } else { f64::NEG_INFINITY }
        };
        let ln_weights: Vec<f64> = (1..=PROPOSALS).map(ln_weight).collect();
        let largest = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = ln_weights.iter().map(|w| (w - largest).exp()).sum();
        Ok(ln_values[0] - largest - (total / PROPOSALS as f64).ln())
    }
}

/// exp of each less the largest.
pub(super) fn relative(ln: &[f64]) -> Vec<f64> {
    let largest = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    ln.iter().map(|ln| (ln - largest).exp()).collect()
}

pub(super) fn ln_prior(latent: &LatentPrior, z: &[f64]) -> f64 {
    latent.ln_density(z).unwrap_or(f64::NEG_INFINITY)
}

/// The weights of the mean of statistic `k` in each model.
pub(super) fn mean_weights<'a>(models: &[&Without<'a>], k: usize) -> Vec<&'a MeanWeights> {
    models.iter().map(|without| without.weights[k]).collect()
}

/// The transformed values of statistic `k`, one of each repeat, that each model takes for observed.
pub(super) fn transformed<'a>(models: &[&'a Without<'_>], k: usize) -> Vec<&'a [f64]> {
    let of_one = |without: &&'a Without<'_>| -> &'a [f64] {
        let repeats = without.model.repeats();
        &without.transformed[k * repeats..(k + 1) * repeats]
    };
    models.iter().map(of_one).collect()
}

/// What each model takes from the shape.
pub(super) fn omissions<'a>(models: &[&'a Without<'_>]) -> Vec<&'a Omissions> {
    models.iter().map(|without| &without.omitted).collect()
}

/// ln q₋ᵢ(x_i|θ) of the model of each row at its z, up to a constant of the observation.
pub(super) fn ln_values(models: &[&Without<'_>], z: &Points) -> Vec<f64> {
    let model = models[0].model;
    let seen = &model.seen(z);
    let (u, mut ln) = model.residuals_with(Some(models), seen);
    model.add_repeats(&mut ln, &model.fitted.residuals.shape.ln_densities_without(&omissions(models), seen, &u));
    ln
}

/// ln q₋ᵢ(x_i|θ) p(θ) of the model of each row at its z, with gradients.
pub(super) fn ln_values_and_gradients(models: &[&Without<'_>], latent: &LatentPrior, z: &Points) -> (Vec<f64>, Points) {
    let (mut ln, gradients) = models[0].model.values_and_gradients_of(Some(models), z);
    let mut all = Points::from_rows(&gradients).expect("every gradient has the same number of coordinates");
    for (q, z) in z.iter().enumerate() {
        ln[q] += ln_prior(latent, z);
        all.row_mut(q).iter_mut().zip(latent.ln_gradient(z).unwrap_or_default()).for_each(|(g, p)| *g += p);
    }
    (ln, all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::Question;
    use crate::random::{Purpose, standard_normal, stream};
    use crate::simulations::{Observation, Recorded, Simulations};
    use crate::{Marginal, Prior};
    use std::sync::Arc;

    /// x = f(θ) + noise, θ ~ N(0, I).
    fn learned(m: usize, dimension: usize, f: impl Fn(&[f64], &mut ChaCha8Rng) -> Vec<f64>) -> LocationScaleLikelihood {
        let marginals = (0..dimension).map(|d| (format!("t{d}"), Marginal::Normal { mean: 0.0, std: 1.0 })).collect();
        let prior = Prior::independent(marginals).unwrap();
        let theta = prior.draw(m, 1);
        let output = |j: usize| f(theta.row(j), &mut stream(1, Purpose::Simulator, j as u64));
        let x = Points::from_rows(&(0..m).map(output).collect::<Vec<_>>()).unwrap();
        let y = Observation::Statistics(vec![0.3; x.columns()]);
        let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta, x).unwrap()));
        LocationScaleLikelihood::learn(&Question::new(&prior, &recorded, &y), 1, &|| true).unwrap()
    }

    #[test]
    fn gradients_without_a_simulation_are_those_of_its_values() {
        // Bends, a spread that moves, skewed residuals: every part of the model has a gradient.
        let model = learned(150, 2, |theta, rng| {
            let skewed = standard_normal(rng).powi(2) - 1.0;
            vec![theta[0].sin() + 0.3 * skewed, theta[1] * theta[1] + (0.6 * theta[0]).exp() * 0.3 * standard_normal(rng)]
        });
        let tried = [4, 77].map(|row| Tried { simulation: row, output: row, row, together: vec![row] });
        let groups = vec![vec![4], vec![77]];
        let weights: Vec<Vec<MeanWeights>> =
            model.fitted.residuals.statistics.iter().map(|s| s.without(&model.fitted.seen, &groups).unwrap()).collect();
        let without = [0, 1].map(|k| Without::new(&model, &tried[k], weights.iter().map(|w| &w[k]).collect()));
        let models = [&without[0], &without[1], &without[0]];
        let latent = model.question.prior.latent();
        let z = Points::from_rows(&[[0.2, -0.4], [0.5, 0.9], [-0.8, 0.1]]).unwrap();
        let (values, gradients) = ln_values_and_gradients(&models, &latent, &z);
        let target =
            |z: &Points| -> Vec<f64> { ln_values(&models, z).iter().zip(z.iter()).map(|(ln, z)| ln + ln_prior(&latent, z)).collect() };
        for (found, value) in values.iter().zip(target(&z)) {
            assert!((found - value).abs() < 1e-7, "{found} {value}");
        }
        // Differences over 1e-3 of values with errors of 1e-9, and of their third derivatives.
        const STEP: f64 = 1e-3;
        for d in 0..2 {
            let moved = |by: f64| target(&z.map_rows(2, |z| (0..2).map(|e| z[e] + if e == d { by } else { 0.0 }).collect()));
            let differences = moved(STEP).iter().zip(moved(-STEP)).map(|(up, down)| (up - down) / (2.0 * STEP)).collect::<Vec<_>>();
            for (q, expected) in differences.into_iter().enumerate() {
                let found = gradients.row(q)[d];
                assert!((found - expected).abs() < 1e-3 * (1.0 + expected.abs()), "{q}, {d}: {found} {expected}");
            }
        }
    }

    #[test]
    fn scores_of_many_parameters_are_what_a_linear_model_tells() {
        // x = θ + N(0, 1): of every parameter the posterior is N(x/2, 1/2), ½ ln 2 nats of density over the prior's at the truth on average.
        let model = learned(300, 14, |theta, rng| theta.iter().map(|t| t + standard_normal(rng)).collect());
        let posterior = crate::Posterior::new(Arc::new(model.clone()), 1).unwrap();
        let crate::posterior::Representation::Chained(chained) = posterior.form() else { panic!("it has no closed form") };
        let (score, error) = model.leave_one_out(chained.draws().z(), 1).unwrap().scores.mean();
        let exact = 7.0 * 2.0_f64.ln();
        println!("{score} ± {error}, exactly {exact}");
        // Outputs near the observation are nearer to the middle than most, and slopes are learned from 300 simulations.
        assert!((score - exact).abs() < 0.6 + 4.0 * error, "{score} ± {error}, exactly {exact}");
    }
}
