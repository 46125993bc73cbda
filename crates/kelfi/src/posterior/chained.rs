//! A posterior known by draws of slice sampling; its evidence by importance sampling from the prior and from where chains jump.

use super::proposals::Proposals;
use crate::chains::slice_chains::{Chains, Drawn};
use crate::mixture::WeightedDraws;
use crate::model::Surrogate;
use crate::{Error, Points};

/// Draws that summaries rest on.
const DRAWS: usize = 4_000;
/// Draws of the evidence.
const PROPOSALS: usize = 2_000;

/// Draws of the posterior, the chains they come from, and the evidence.
#[derive(Debug, Clone)]
pub struct Chained {
    chains: Chains,
    draws: WeightedDraws,
    r_hat: Vec<f64>,
    effective: Vec<f64>,
    ln_relative_evidence: f64,
    log_evidence_error: f64,
    cut_off: f64,
}

impl Chained {
    /// Runs chains on the positive part of the surrogate.
    pub fn new(surrogate: &dyn Surrogate, seed: u64, go_on: &mut dyn FnMut() -> bool) -> Result<Self, Error> {
        let (drawn, chains) = Chains::new(surrogate, seed, go_on)?.draw_and_learn(surrogate, DRAWS, seed, go_on)?;
        let Evidence { ln_relative_evidence, log_evidence_error, cut_off } = evidence(surrogate, &chains, seed)?;
        let draws = WeightedDraws::equal(drawn.z);
        Ok(Self { chains, draws, r_hat: drawn.r_hat, effective: drawn.effective, ln_relative_evidence, log_evidence_error, cut_off })
    }

    /// The draws that summaries rest on.
    pub fn draws(&self) -> &WeightedDraws {
        &self.draws
    }

    /// New draws; the same for the same seed. `go_on` is asked after every step.
    pub fn draw(&self, surrogate: &dyn Surrogate, count: usize, seed: u64, go_on: &mut dyn FnMut() -> bool) -> Result<Drawn, Error> {
        self.chains.draw(surrogate, count, seed, go_on)
    }

    /// Split R-hat of each z coordinate.
    pub fn r_hat(&self) -> &[f64] {
        &self.r_hat
    }

    /// Effective sample size of each z coordinate.
    pub fn effective(&self) -> &[f64] {
        &self.effective
    }

    /// The largest R-hat.
    pub fn worst_r_hat(&self) -> f64 {
        self.r_hat.iter().copied().fold(1.0, f64::max)
    }

    /// The smallest effective sample size.
    pub fn least_effective(&self) -> f64 {
        self.effective.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// ln of q(y) / exp(ln_scale).
    pub fn ln_relative_evidence(&self) -> f64 {
        self.ln_relative_evidence
    }

    /// What the surrogate cut off at zero, over what it kept.
    pub fn cut_off(&self) -> f64 {
        self.cut_off
    }

    /// Standard error of ln q(y): of its estimate by importance sampling, and of having these simulations and no others.
    pub fn log_evidence_error(&self) -> f64 {
        self.log_evidence_error
    }
}

struct Evidence {
    ln_relative_evidence: f64,
    log_evidence_error: f64,
    cut_off: f64,
}

/// E_proposal[q p / proposal].
fn evidence(surrogate: &dyn Surrogate, chains: &Chains, seed: u64) -> Result<Evidence, Error> {
    let proposals = Proposals::new(surrogate, chains, PROPOSALS, seed)?;
    let Proposals { z, ln_importances, largest, .. } = &proposals;
    let weights = proposals.weights();
    let count = weights.len() as f64;
    let mean = weights.iter().sum::<f64>() / count;
    let variance = weights.iter().map(|w| (w - mean).powi(2)).sum::<f64>() / (count * count);
    let cut_off: f64 = surrogate
        .ln_cut_off(z)
        .map_or(0.0, |ln_values| ln_values.iter().zip(ln_importances).map(|(ln_q, ln_w)| (ln_q + ln_w - largest).exp()).sum());
    Ok(Evidence {
        ln_relative_evidence: largest + mean.ln(),
        log_evidence_error: (variance / (mean * mean) + between_parts(surrogate, z, ln_importances)).sqrt(),
        cut_off: cut_off / (count * mean),
    })
}

/// Variance of ln q(y) from having these simulations and no others: that between K disjoint parts of them, divided by K. The same draws
/// serve all parts.
fn between_parts(surrogate: &dyn Surrogate, z: &Points, ln_importances: &[f64]) -> f64 {
    let ln_evidence = |part: &dyn Surrogate| {
        let ln_weights: Vec<f64> = part.ln_relative_values(z).iter().zip(ln_importances).map(|(q, w)| q + w).collect();
        let largest = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        part.ln_scale() + largest + ln_weights.iter().map(|ln| (ln - largest).exp()).sum::<f64>().ln()
    };
    let found: Vec<f64> = surrogate.on_parts().iter().map(|part| ln_evidence(part.as_ref())).filter(|ln| ln.is_finite()).collect();
    if found.len() < 2 {
        return 0.0;
    }
    let count = found.len() as f64;
    let mean = found.iter().sum::<f64>() / count;
    found.iter().map(|ln| (ln - mean).powi(2)).sum::<f64>() / ((count - 1.0) * count)
}
