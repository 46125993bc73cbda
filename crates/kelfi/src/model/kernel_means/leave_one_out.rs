//! Every simulation as the observation of a model without it, in closed form.

use super::{KernelMeansLikelihood, times_exp};
use crate::Error;
use crate::simulations::Observation;

/// Rows of A⁻¹ held at the same time.
const ROWS_AT_ONCE: usize = 256;

/// Likelihood and marginal likelihood of each successful simulation as observation, under the model without it.
#[derive(Debug, Clone, PartialEq)]
pub struct LeaveOneOut {
    /// Which simulations: the successful ones.
    pub indices: Vec<usize>,
    /// q₋ᵢ(x_i | θ_i).
    pub likelihood: Vec<f64>,
    /// q₋ᵢ(x_i).
    pub marginal_likelihood: Vec<f64>,
}

impl KernelMeansLikelihood {
    /// Each successful simulation as the observation of a model without it, the ridge mλ kept:
    /// with P = A⁻¹ and a_ij = -P_ij/P_ii, q₋ᵢ(x_i|θ_i) = Σ_{j≠i} a_ij K_ij and q₋ᵢ(x_i) = Σ_{j≠i} (w_j + w_i a_ij) K_ij.
    /// Costs O(m³).
    pub fn leave_one_out(&self) -> Result<LeaveOneOut, Error> {
        let m = self.operator.len();
        let observed: Vec<(usize, Observation)> = (0..m).filter_map(|i| Some((i, self.recorded().as_observation(i)?))).collect();
        let indices: Vec<usize> = observed.iter().map(|(i, _)| *i).collect();
        let w = self.operator.marginal_weights();
        let inverse_rows = |some: &[usize]| self.operator.solver().inverse_rows(some);
        let inverse = indices.chunks(ROWS_AT_ONCE).flat_map(|some| inverse_rows(some).chunks(m).map(<[f64]>::to_vec).collect::<Vec<_>>());
        let mut result = LeaveOneOut { indices: indices.clone(), likelihood: vec![], marginal_likelihood: vec![] };
        for ((i, x), p) in observed.iter().zip(inverse) {
            let kappa = self.recorded().discrepancies(x)?.kappa(&self.epsilon);
            let (mut likelihood, mut marginal) = (0.0, 0.0);
            for j in (0..m).filter(|j| j != i) {
                let a = -p[j] / p[*i];
                likelihood += a * kappa.relative[j];
                marginal += (w[j] + w[*i] * a) * kappa.relative[j];
            }
            result.likelihood.push(times_exp(likelihood, kappa.ln_scale));
            result.marginal_likelihood.push(times_exp(marginal, kappa.ln_scale));
        }
        Ok(result)
    }
}
