//! The model without the simulations at one θ, at the output of one of them.

use super::constants::leave_one_out::{NEIGHBOURS, PROPOSALS, SHARES};
use super::regression::MeanWeights;
use super::shape::Omissions;
use super::statistic::Statistic;
use super::{LocationScaleLikelihood, repeats_of};
use crate::chains::reference::Reference;
use crate::prior::LatentPrior;
use crate::{Error, Points};
use rand_chacha::ChaCha8Rng;

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
    pub fn score(&self, chain: &Points, wide: &Reference, rng: &mut ChaCha8Rng) -> Result<f64, Error> {
        let latent = self.model.question.prior.latent();
        let fitted = Reference::fitted(chain);
        let proposals = [wide.around(fitted.centre()), fitted];
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

/// ln q₋ᵢ(x_i|θ) of the model of each row at its z, up to a constant of the observation. Rows of one model stand together.
pub(super) fn ln_values(models: &[&Without<'_>], z: &Points) -> Vec<f64> {
    let model = models[0].model;
    let seen = &model.seen(z);
    let columns = z.columns();
    let repeats = model.repeats();
    let mut u = Points::zeros(z.rows() * repeats, model.fitted.residuals.statistics.len());
    let mut ln = Vec::with_capacity(z.rows());
    let mut first = 0;
    for same in models.chunk_by(|a, b| std::ptr::eq(*a, *b)) {
        let rows = same.len();
        let part = Points::new(seen.values()[first * columns..(first + rows) * columns].to_vec(), rows, columns).expect("whole rows");
        let (residuals, rest) = model.residuals_with(Some(&same[0].weights), &same[0].transformed, &part);
        residuals.iter().enumerate().for_each(|(row, residual)| u.row_mut(first * repeats + row).copy_from_slice(residual));
        ln.extend(rest);
        first += rows;
    }
    let omitted: Vec<&Omissions> = models.iter().map(|without| &without.omitted).collect();
    model.add_repeats(&mut ln, &model.fitted.residuals.shape.ln_densities_without(&omitted, seen, &u));
    ln
}
