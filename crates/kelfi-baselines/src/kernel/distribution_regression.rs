//! Distribution regression ABC (Mitrovic, Sejdinovic & Teh, ICML 2016): a kernel on embedded outputs predicts the parameters; ABC by these
//! predictions as statistics.

use super::kernel_abc::factored;
use super::median_kernel;
use crate::chains::path::go_on;
use crate::yardstick::{Units, Yardstick, squared_length};
use kelfi::kernel::Kernel;
use kelfi::method::{Answer, Method, Particles, Task};
use kelfi::{Error, Points};

/// Multiples of the median distance and ridges tried, by leave-one-out error.
const WIDTHS: [f64; 4] = [0.5, 1.0, 2.0, 4.0];
const RIDGES: [f64; 5] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2];

/// Soft ABC on predicted parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DistributionRegression {
    /// Share of the simulations within the tolerance.
    pub share: f64,
    /// Units of the statistics.
    pub units: Units,
}

impl Default for DistributionRegression {
    /// A twentieth within the tolerance.
    fn default() -> Self {
        Self { share: 0.05, units: Units::Spread }
    }
}

impl Method for DistributionRegression {
    fn name(&self) -> &'static str {
        "distribution-regression-abc"
    }

    fn description(&self) -> &'static str {
        "soft ABC on parameters predicted by kernel regression (DR-ABC; Mitrovic et al. 2016)"
    }

    fn reference(&self) -> &'static str {
        "Mitrovic, Sejdinovic & Teh, ICML 2016"
    }

    fn infer(&self, task: &Task<'_>) -> Result<Answer, Error> {
        if !(self.share > 0.0 && self.share <= 1.0) {
            return Err(Error::invalid("share within the tolerance", self.share, "it must lie in (0, 1]"));
        }
        let simulations = task.calls.all_from_prior()?;
        let yardstick = Yardstick::new(&simulations, task.observation, self.units)?;
        let good = simulations.successful_rows();
        let z = task.prior.to_latent_points(&simulations.theta().select(&good))?;
        let outputs = yardstick.differences(&simulations.outputs().select(&good));
        let (predicted, observed) = predictions(task, &z, &outputs)?;
        let distances: Vec<f64> =
            predicted.iter().map(|p| squared_length(&p.iter().zip(&observed).map(|(p, o)| p - o).collect::<Vec<_>>()).sqrt()).collect();
        let mut sorted = distances.clone();
        sorted.sort_by(f64::total_cmp);
        let kept = ((self.share * sorted.len() as f64).ceil() as usize).clamp(10.min(sorted.len()), sorted.len());
        let epsilon = sorted[kept - 1].max(f64::MIN_POSITIVE);
        let weights: Vec<f64> = distances.iter().map(|d| (-0.5 * (d / epsilon).powi(2)).exp()).collect();
        Ok(Answer::Particles(Particles::from_latent(task.prior, &z, &weights)?))
    }
}

/// Leave-one-out predictions of z for every simulation, and the prediction at the observation (the origin).
fn predictions(task: &Task<'_>, z: &Points, outputs: &Points) -> Result<(Points, Vec<f64>), Error> {
    let mut best: Option<(f64, Points, Vec<f64>)> = None;
    for width in WIDTHS {
        let kernel = median_kernel(outputs, width)?;
        for ridge in RIDGES {
            go_on(task)?;
            let (left_out, observed) = regression(&kernel, ridge, z, outputs)?;
            let error: f64 = left_out.values().iter().zip(z.values()).map(|(p, z)| (p - z).powi(2)).sum();
            if best.as_ref().is_none_or(|b| error < b.0) {
                best = Some((error, left_out, observed));
            }
        }
    }
    best.map(|(_, left_out, observed)| (left_out, observed)).ok_or_else(|| Error::Unavailable {
        what: "distribution regression".into(),
        reason: "no length scale and ridge could be tried".into(),
    })
}

/// ẑ₋ᵢ = z_i − (A⁻¹z)_i/(A⁻¹)_ii with A = G + mλI, and ẑ(y) = k(y)ᵀ A⁻¹ z.
fn regression(kernel: &Kernel, ridge: f64, z: &Points, outputs: &Points) -> Result<(Points, Vec<f64>), Error> {
    let m = z.rows();
    let scaled = kernel.scale(outputs);
    let factor = factored(kernel.gram(&scaled, m as f64 * ridge), m, ridge)?;
    let diagonal = factor.inverse_diagonal();
    let mut row = vec![0.0; m];
    kernel.row(&scaled, &vec![0.0; outputs.columns()], &mut row);
    let mut left_out = z.clone();
    let mut observed = Vec::with_capacity(z.columns());
    for d in 0..z.columns() {
        let coefficients = factor.solve(&z.column(d));
        (0..m).for_each(|i| left_out.row_mut(i)[d] -= coefficients[i] / diagonal[i]);
        observed.push(row.iter().zip(&coefficients).map(|(k, c)| k * c).sum());
    }
    Ok((left_out, observed))
}
