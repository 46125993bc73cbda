//! What a low-rank solver reached.

use super::KernelMeansLikelihood;
use serde::{Deserialize, Serialize};

/// What a low-rank solver reached.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SolverReport {
    /// Simulated parameters that stand for all.
    pub rank: usize,
    /// Trace of what is missed of L, as a share of the ridge mλ.
    pub error: f64,
    /// ln q(y) is not further than this from the exact solver's; `None` where q(y) ≤ 0.
    pub evidence_error: Option<f64>,
}

impl std::fmt::Display for SolverReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "low rank, {} simulations stand for all; what they miss is {:.0e} of the ridge", self.rank, self.error)?;
        self.evidence_error.map_or(Ok(()), |error| write!(f, ", ln q(y) is within {error:.0e} of the exact solver's"))
    }
}

impl KernelMeansLikelihood {
    /// Rank and error of a low-rank solver, and how far ln q(y) may be off for it.
    pub fn solver_report(&self) -> Option<SolverReport> {
        let approximation = self.operator.solver().approximation()?;
        let missed = self.operator.solver().missed(&self.weights, self.operator.marginal_weights());
        let evidence_error = (self.relative_evidence > 0.0).then(|| missed / self.relative_evidence);
        Some(SolverReport { rank: approximation.rank, error: approximation.error, evidence_error })
    }
}
