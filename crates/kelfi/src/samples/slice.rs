//! Samples by elliptical slice sampling, of any posterior with a prior density.

pub use crate::chains::slice_chains::CHAINS;
use crate::chains::slice_chains::Chains;
use crate::posterior::Representation;
use crate::{Error, Points, Posterior};

/// Samples in θ units with what the chains say about them.
#[derive(Debug, Clone)]
pub struct SliceSamples {
    /// The samples, one a row.
    pub samples: Points,
    /// Split R-hat of each z coordinate: 1 is perfect.
    pub r_hat: Vec<f64>,
    /// Independent samples they are worth, for each z coordinate.
    pub effective: Vec<f64>,
}

/// `count` samples of any posterior with a prior density: by the chains it has, or by chains of their own. `go_on` is asked now and then.
pub fn slice(posterior: &Posterior, count: usize, seed: u64, go_on: &mut dyn FnMut() -> bool) -> Result<SliceSamples, Error> {
    let surrogate = posterior.surrogate().as_ref();
    let drawn = match posterior.form() {
        Representation::Chained(chained) => chained.draw(surrogate, count, seed, go_on)?,
        _ => Chains::new(surrogate, seed, go_on)?.draw(surrogate, count, seed, go_on)?,
    };
    Ok(SliceSamples { samples: posterior.prior().from_latent_points(&drawn.z), r_hat: drawn.r_hat, effective: drawn.effective })
}
