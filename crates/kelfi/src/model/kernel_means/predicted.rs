//! The recorded outputs, weighed so that they stand for new runs at posterior parameters.
//!
//! E[f(X)|y] = Σ_j α_j f(x_j) with α = A⁻¹ h/q(y), h_j = Σ_k v_k h(z_k, z_j). Failed simulations have no statistics: the predictive is that
//! of runs that succeed. Weights may be negative; their positive part, normalised, makes a distribution. Costs O(m²).

use super::KernelMeansLikelihood;
use crate::Error;
use crate::model::PredictedOutputs;
use crate::simulations::Recorded;

impl KernelMeansLikelihood {
    pub(super) fn predicted_outputs(&self) -> Result<PredictedOutputs, Error> {
        self.require_evidence()?;
        let Recorded::Statistics(simulations) = self.recorded() else {
            return Err(Error::Unavailable {
                what: "the predictive distribution of statistics".into(),
                reason: "these simulations are raw data sets; compare them with the observation by their own summaries".into(),
            });
        };
        let operator = self.operator();
        let h = operator.product_sums(operator.kernel(), &self.on_support, operator.z());
        let alpha: Vec<f64> = operator.solver().solve(&h).into_iter().map(|a| a / self.relative_evidence).collect();
        let (mut rows, mut weights) = (vec![], vec![]);
        for (j, range) in simulations.offsets().windows(2).enumerate() {
            for row in (range[0]..range[1]).filter(|&row| !simulations.failed()[row] && alpha[j] > 0.0) {
                rows.push(row);
                weights.push(alpha[j] / (range[1] - range[0]) as f64);
            }
        }
        let total: f64 = weights.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            return Err(Error::Unavailable {
                what: "the predictive distribution".into(),
                reason: "no successful simulation has a positive weight; simulate more near the observation".into(),
            });
        }
        weights.iter_mut().for_each(|w| *w /= total);
        Ok(PredictedOutputs { outputs: simulations.outputs().select(&rows), weights })
    }
}
