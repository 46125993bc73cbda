//! The clipped, normalised density [q]⁺/∫[q]⁺ as weighted points: what moments, marginals and quantiles rest on where q has negative parts.
//!
//! One parameter: quadrature between the sign changes. Several: importance draws. The positive components of the mixture lie nowhere below
//! [q]⁺, so that their draws have weights [q]⁺/q₊ in [0, 1]; where too few of them count, chains say where to draw.

use crate::chains::slice_chains::Chains;
use crate::mixture::signed::SignedMixture;
use crate::mixture::weighted::WeightedDraws;
use crate::model::Surrogate;
use crate::posterior::negative_mass::NegativeMass;
use crate::posterior::proposals::Proposals;
use crate::posterior::{Posterior, Representation};
use crate::prior::LatentPrior;
use crate::random::{Purpose, stream};
use crate::{Error, Points};
use rand::RngExt;

/// Negative mass up to which the signed closed forms stand for the clipped density: a mean moves by less than 1e-4 of the distance of the
/// negative parts.
pub const NEGLIGIBLE: f64 = 1e-4;
/// The same for one parameter, where the clipped density costs little.
const NEGLIGIBLE_ON_THE_LINE: f64 = 1e-9;
/// Draws the answer is worth, where all goes well: errors of means of 0.008 posterior standard deviations.
const DRAWS: usize = 16_384;
/// Proposals at most.
const MOST_PROPOSALS: usize = 65_536;
/// Share of positive mass among the positive components below which chains are asked.
const LEAST_ACCEPTANCE: f64 = 0.1;

/// Weighted points of the clipped density.
#[derive(Debug, Clone)]
pub struct Clipped {
    /// Points in z coordinates with weights that are not negative and sum to one.
    pub draws: WeightedDraws,
    /// Independent draws they are worth; infinite for quadrature.
    pub effective: f64,
}

impl Clipped {
    /// Of this posterior; `None` where negative parts are negligible and the closed forms of the signed mixture hold.
    pub(super) fn of(posterior: &Posterior, seed: u64) -> Option<Self> {
        let surrogate = posterior.surrogate.as_ref();
        match &posterior.form {
            Representation::Chained(chained) => Some(Self { draws: chained.draws().clone(), effective: chained.least_effective() }),
            Representation::Mixture(mixture) if is_negligible(posterior.negative_mass, mixture.dimension()) => None,
            Representation::Mixture(mixture) if mixture.dimension() == 1 => Some(Self::on_the_line(mixture)),
            Representation::Mixture(mixture) => {
                let acceptance = posterior.negative_mass.positive_mass / mixture.positive_weight();
                let by_chains = || by_chains(surrogate, seed).ok().map(Self::drawn);
                let found = if acceptance < LEAST_ACCEPTANCE { by_chains() } else { None };
                Some(found.unwrap_or_else(|| Self::drawn(by_components(mixture, acceptance, seed))))
            }
            Representation::Draws(draws) if matches!(surrogate.prior().latent(), LatentPrior::Draws(_)) => {
                Some(Self::drawn(draws.clipped()))
            }
            Representation::Draws(draws) => Some(Self::drawn(by_chains(surrogate, seed).unwrap_or_else(|_| draws.clipped()))),
        }
    }

    fn on_the_line(mixture: &SignedMixture) -> Self {
        let (z, weights): (Vec<f64>, Vec<f64>) = mixture.marginal(&[1.0]).clip().weighted_points().into_iter().unzip();
        Self { draws: WeightedDraws::weighted(Points::from_column(z), weights), effective: f64::INFINITY }
    }

    fn drawn(draws: WeightedDraws) -> Self {
        let effective = draws.effective();
        Self { draws, effective }
    }
}

fn is_negligible(negative_mass: NegativeMass, dimension: usize) -> bool {
    let limit = if dimension == 1 { NEGLIGIBLE_ON_THE_LINE } else { NEGLIGIBLE };
    negative_mass.ratio + negative_mass.standard_error <= limit
}

/// Draws of the positive components with weights [q]⁺/q₊; components in turn, each as often as its weight says.
fn by_components(mixture: &SignedMixture, acceptance: f64, seed: u64) -> WeightedDraws {
    let count = ((DRAWS as f64 / acceptance.max(1e-3)).ceil() as usize).clamp(DRAWS, MOST_PROPOSALS);
    let offset: f64 = stream(seed, Purpose::Integration, u64::MAX).random();
    let mut rng = stream(seed, Purpose::Integration, u64::MAX - 1);
    let mut rows = Vec::with_capacity(count);
    let step = mixture.positive_weight() / count as f64;
    let mut below = 0.0;
    for part in mixture.parts() {
        for (j, weight) in part.weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            below += weight;
            while rows.len() < count && (rows.len() as f64 + offset) * step < below {
                rows.push(part.draw(j, &mut rng));
            }
        }
    }
    let z = Points::from_rows(&rows).expect("every draw has the same number of coordinates");
    let ratio = |(q, bound): (f64, f64)| if bound > 0.0 { (q / bound).clamp(0.0, 1.0) } else { 0.0 };
    let weights: Vec<f64> = mixture.values(&z).into_iter().zip(mixture.positive_values(&z)).map(ratio).collect();
    // No draw that counts: the positive components themselves are a distribution at least.
    if weights.iter().sum::<f64>() > 0.0 { WeightedDraws::weighted(z, weights) } else { WeightedDraws::equal(z) }
}

/// Draws of the prior and of where chains jump, weighted by [q]⁺ p over the density they come from: weights are at most 5 q.
fn by_chains(surrogate: &dyn Surrogate, seed: u64) -> Result<WeightedDraws, Error> {
    let chains = Chains::new(surrogate, seed, &mut || true)?;
    let proposals = Proposals::new(surrogate, &chains, DRAWS, seed)?;
    let weights = proposals.weights();
    Ok(WeightedDraws::weighted(proposals.z, weights))
}
