//! The posterior as signed weights on draws of the prior, where the surrogate has no closed form.

use crate::Error;
use crate::mixture::WeightedDraws;
use crate::model::Surrogate;
use crate::prior::LatentPrior;
use crate::random::Purpose;

/// Draws of a prior that is not given by its own.
const DRAWS: usize = 10_000;

/// Weighs draws of the prior (its own where it is given by draws); also the mean of the surrogate's relative values, the relative evidence.
pub fn prior_weighted(surrogate: &dyn Surrogate, seed: u64) -> Result<(WeightedDraws, f64), Error> {
    let latent = surrogate.prior().latent();
    let z = match latent {
        LatentPrior::Draws(points) => points,
        LatentPrior::Gaussians(_) => latent.draws(DRAWS, seed, Purpose::Integration),
    };
    let values = surrogate.relative_values(&z);
    let total: f64 = values.iter().sum();
    if !(total > 0.0 && total.is_finite()) {
        return Err(Error::EvidenceNotPositive { value: total / z.rows() as f64, simulations: surrogate.promising(usize::MAX).rows() });
    }
    let mean_value = total / z.rows() as f64;
    Ok((WeightedDraws::signed(z, values.into_iter().map(|value| value / total).collect()), mean_value))
}
