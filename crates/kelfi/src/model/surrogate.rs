//! What every surrogate likelihood offers: posterior and samples are written against this and nothing else.

use crate::chains::target::Target;
use crate::checks::Check;
use crate::kernel::Kernel;
use crate::mixture::signed::SignedMixture;
use crate::mixture::weighted::WeightedDraws;
use crate::prior::LatentPrior;
use crate::{Error, Points, Prior};
use std::fmt::Debug;

/// Step of central differences, in prior standard deviations.
const DIFFERENCE: f64 = 1e-5;

/// A surrogate q(y|θ) of the likelihood at one observation. It is not a density and may be negative.
///
/// Values are relative: divided by exp([`Surrogate::ln_scale`]), so that a far observation does not underflow.
pub trait Surrogate: Debug + Send + Sync {
    /// The prior it is combined with.
    fn prior(&self) -> &Prior;

    /// ln of what relative values are to be multiplied with.
    fn ln_scale(&self) -> f64 {
        0.0
    }

    /// q(y|θ) / exp(ln_scale) at points in z coordinates.
    fn relative_values(&self, z: &Points) -> Vec<f64>;

    /// ln of the positive part of the relative values; -∞ where there is none.
    fn ln_relative_values(&self, z: &Points) -> Vec<f64> {
        self.relative_values(z).into_iter().map(|q| q.max(0.0).ln()).collect()
    }

    /// What was cut off where the surrogate clips itself at zero: ln of the relative values of its negative part. `None`: nothing.
    fn ln_cut_off(&self, _z: &Points) -> Option<Vec<f64>> {
        None
    }

    /// The gradient of ln q(y|θ) in z, where q is positive: by central differences unless there is a direct form.
    fn ln_gradient(&self, z: &[f64]) -> Vec<f64> {
        let moved = |d: usize, by: f64| {
            let mut z = z.to_vec();
            z[d] += by;
            z
        };
        let rows: Vec<Vec<f64>> = (0..z.len()).flat_map(|d| [moved(d, DIFFERENCE), moved(d, -DIFFERENCE)]).collect();
        let points = Points::from_rows(&rows).expect("every point has the same number of coordinates");
        self.ln_relative_values(&points).chunks(2).map(|pair| (pair[0] - pair[1]) / (2.0 * DIFFERENCE)).collect()
    }

    /// [`Surrogate::ln_relative_values`] with their gradients, one a row, where there is a closed form of both.
    fn ln_relative_gradients(&self, _z: &Points) -> Option<(Vec<f64>, Points)> {
        None
    }

    /// q(y) / exp(ln_scale) where it has a closed form; may be zero or negative. `None`: the posterior estimates it.
    fn relative_evidence(&self) -> Option<f64> {
        None
    }

    /// Points in z coordinates near which the posterior may be large, best first: where to start looking for the mode.
    fn promising(&self, count: usize) -> Points;

    /// The posterior in z coordinates as a signed Gaussian mixture, where that is exact.
    fn signed_mixture(&self) -> Option<SignedMixture> {
        None
    }

    /// The embedding ∫ ℓ'(θ, θ*) q(θ|y) dθ at queries in z coordinates, where it has a direct form; ℓ' = the model's kernel if `None`.
    fn embedding(&self, _kernel: Option<&Kernel>, _queries: &Points) -> Option<Vec<f64>> {
        None
    }

    /// The kernel samples are herded with unless another is given.
    fn herding_kernel(&self) -> Kernel {
        Kernel::gaussian(vec![1.0; self.prior().dimension()]).expect("ones are positive")
    }

    /// Posterior mean of an output f recorded with every simulation: its regression on θ averaged over weighted draws of the posterior, or
    /// in closed form without any. A constant is predicted as itself.
    fn predictive(&self, _recorded: &[f64], _draws: Option<&WeightedDraws>) -> Result<f64, Error> {
        Err(Error::Unavailable {
            what: "the predictive mean of a recorded output".into(),
            reason: "this kind of model has no regression of it; predict by running the simulator at posterior samples".into(),
        })
    }

    /// The simulated parameters in z coordinates, where it was made from simulations.
    fn simulated(&self) -> Option<Points> {
        None
    }

    /// What this surrogate knows about its own health; `draws` are of the posterior, in z coordinates, where it is known by draws.
    fn checks(&self, _draws: &Points) -> Vec<Check> {
        vec![]
    }

    /// Standard error of ln q(y) from having these simulations and no others, where it has a closed form.
    fn log_evidence_error(&self) -> Option<f64> {
        None
    }

    /// The same model on disjoint parts of the simulations: how far they differ tells how sure its evidence is. Empty where that is not known.
    fn on_parts(&self) -> Vec<Box<dyn Surrogate>> {
        vec![]
    }
}

/// Chains draw from the positive part times the prior.
impl<S: Surrogate + ?Sized> Target for S {
    fn latent(&self) -> LatentPrior {
        self.prior().latent()
    }

    fn ln_likelihoods(&self, z: &Points) -> Vec<f64> {
        self.ln_relative_values(z)
    }

    fn most_promising(&self, count: usize) -> Points {
        self.promising(count)
    }

    fn ln_gradients(&self, z: &Points) -> Option<(Vec<f64>, Points)> {
        self.ln_relative_gradients(z)
    }
}
