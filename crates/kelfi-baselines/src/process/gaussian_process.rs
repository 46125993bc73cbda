//! Gaussian process regression: A = s² K + σ² I, mean A⁻¹-weighted around a constant, hyperparameters by the marginal likelihood.

use kelfi::kernel::{Family, Kernel, ScaledPoints};
use kelfi::linalg::Cholesky;
use kelfi::linalg::vector::{dot, weighted_squares};
use kelfi::optimise::{StopRule, maximise};
use kelfi::{Error, Points};

/// Hyperparameters are searched for on so many points at most: their uncertainty falls slowly, the cost grows with the cube.
const SEARCHED: usize = 200;
/// Bounds of ln length scales, of ln s² and of ln σ² in units of the targets' variance.
const LENGTHS: (f64, f64) = (-3.0, 4.0);
const AMPLITUDES: (f64, f64) = (-6.0, 6.0);
const NOISES: (f64, f64) = (-14.0, 2.0);

/// What a process is like.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessHyperparameters {
    /// The kernel K.
    pub kernel: Kernel,
    /// s².
    pub amplitude: f64,
    /// σ².
    pub noise: f64,
}

/// A process that has seen its data.
#[derive(Debug, Clone)]
pub struct GaussianProcess {
    hyperparameters: ProcessHyperparameters,
    mean: f64,
    points: ScaledPoints,
    factor: Cholesky,
    weights: Vec<f64>,
}

/// Two values of the function, jointly Gaussian.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Joint {
    /// Means at both points.
    pub means: [f64; 2],
    /// Variances at both points.
    pub variances: [f64; 2],
    /// Covariance between them.
    pub covariance: f64,
}

impl GaussianProcess {
    /// Conditions on `values` at `z`. Costs O(m³).
    pub fn new(z: &Points, values: &[f64], hyperparameters: ProcessHyperparameters) -> Result<Self, Error> {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let points = hyperparameters.kernel.scale(z);
        let factor = factor(&points, &hyperparameters)?;
        let weights = factor.solve(&values.iter().map(|v| v - mean).collect::<Vec<_>>());
        Ok(Self { hyperparameters, mean, points, factor, weights })
    }

    /// The hyperparameters.
    pub fn hyperparameters(&self) -> &ProcessHyperparameters {
        &self.hyperparameters
    }

    /// Mean and variance of the function (without noise) at each query. Costs O(m²) each.
    pub fn predict(&self, queries: &Points) -> (Vec<f64>, Vec<f64>) {
        let m = self.points.rows();
        let mut cross = self.hyperparameters.kernel.cross(&self.points, queries);
        cross.iter_mut().for_each(|k| *k *= self.hyperparameters.amplitude);
        let means = cross.chunks(m).map(|k| self.mean + dot(k, &self.weights)).collect();
        self.factor.half_solve_in_place(&mut cross);
        let variances = cross.chunks(m).map(|k| (self.hyperparameters.amplitude - dot(k, k)).max(0.0)).collect();
        (means, variances)
    }

    /// The function at two points together.
    pub fn joint(&self, a: &[f64], b: &[f64]) -> Result<Joint, Error> {
        let m = self.points.rows();
        let queries = Points::from_rows(&[a, b])?;
        let h = &self.hyperparameters;
        let mut cross = h.kernel.cross(&self.points, &queries);
        cross.iter_mut().for_each(|k| *k *= h.amplitude);
        let means = [0, 1].map(|i| self.mean + dot(&cross[i * m..(i + 1) * m], &self.weights));
        self.factor.half_solve_in_place(&mut cross);
        let (ka, kb) = cross.split_at(m);
        let variances = [(h.amplitude - dot(ka, ka)).max(0.0), (h.amplitude - dot(kb, kb)).max(0.0)];
        Ok(Joint { means, variances, covariance: h.amplitude * h.kernel.value(a, b) - dot(ka, kb) })
    }
}

/// s² K + σ² I, factored.
fn factor(points: &ScaledPoints, h: &ProcessHyperparameters) -> Result<Cholesky, Error> {
    let m = points.rows();
    let mut matrix = h.kernel.gram(points, 0.0);
    matrix.iter_mut().for_each(|k| *k *= h.amplitude);
    (0..m).for_each(|i| matrix[i * m + i] += h.noise);
    crate::kernel::kernel_abc::factored(matrix, m, h.noise)
}

/// ln N(values | mean, A) and its gradient in (ln s², ln σ², ln β_1, …). Costs O(m³ + m² D).
pub fn ln_evidence(z: &Points, values: &[f64], h: &ProcessHyperparameters) -> Result<(f64, Vec<f64>), Error> {
    let m = z.rows();
    let mean = values.iter().sum::<f64>() / m as f64;
    let centred: Vec<f64> = values.iter().map(|v| v - mean).collect();
    let points = h.kernel.scale(z);
    let factor = factor(&points, h)?;
    let alpha = factor.solve(&centred);
    let value = -0.5 * (dot(&centred, &alpha) + factor.ln_determinant() + m as f64 * std::f64::consts::TAU.ln());
    // ∂ = ½ tr[(ααᵀ − A⁻¹) ∂A]; Q_ij = α_i α_j − (A⁻¹)_ij.
    let inverse = factor.inverse();
    let trace: f64 = (0..m).map(|i| alpha[i] * alpha[i] - inverse[i * m + i]).sum();
    let noise = 0.5 * h.noise * trace;
    // Σ Q_ij A_ij = αᵀAα − m, of which σ² tr Q is the noise's part.
    let amplitude = 0.5 * (dot(&alpha, &centred) - m as f64) - noise;
    let mut lengths = vec![0.0; z.columns()];
    let mut slopes = vec![0.0; m];
    for j in 0..m {
        let point = points.point(j);
        h.kernel.slope_row(&points, &point, &mut slopes);
        for i in 0..m {
            slopes[i] *= alpha[i] * alpha[j] - inverse[j * m + i];
        }
        for (d, length) in lengths.iter_mut().enumerate() {
            *length += 0.5 * h.amplitude * weighted_squares(&slopes, points.column(d), point[d]);
        }
    }
    Ok((value, [vec![amplitude, noise], lengths].concat()))
}

/// The hyperparameters of largest evidence, from a start of one prior standard deviation as length scale and a tenth of the variance as noise.
pub fn learn(z: &Points, values: &[f64], family: Family) -> Result<ProcessHyperparameters, Error> {
    let some: Vec<usize> = (0..z.rows().min(SEARCHED)).collect();
    let (part, targets) = (z.select(&some), some.iter().map(|&i| values[i]).collect::<Vec<_>>());
    let mean = targets.iter().sum::<f64>() / targets.len() as f64;
    let variance = (targets.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / targets.len() as f64).max(f64::MIN_POSITIVE);
    let dimension = z.columns();
    let at = |x: &[f64]| -> Result<ProcessHyperparameters, Error> {
        Ok(ProcessHyperparameters {
            kernel: Kernel::new(family, x[2..].iter().map(|l| l.exp()).collect())?,
            amplitude: variance * x[0].exp(),
            noise: variance * x[1].exp(),
        })
    };
    let objective = |x: &[f64]| match at(x).and_then(|h| ln_evidence(&part, &targets, &h)) {
        Ok(found) => found,
        Err(_) => (f64::NAN, vec![0.0; x.len()]),
    };
    let bounds = |which: fn((f64, f64)) -> f64| -> Vec<f64> {
        [AMPLITUDES, NOISES].into_iter().chain(std::iter::repeat_n(LENGTHS, dimension)).map(which).collect()
    };
    let start = [vec![0.0, 0.1_f64.ln()], vec![0.0; dimension]].concat();
    let settings = StopRule { steps: 60, gain: 1e-4, gradient: 1e-4, ..StopRule::default() };
    at(&maximise(objective, &start, &bounds(|b| b.0), &bounds(|b| b.1), settings).at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kelfi::random::{Purpose, standard_normal, stream};

    fn data(count: usize) -> (Points, Vec<f64>) {
        let mut rng = stream(3, Purpose::Experiment, 0);
        let rows: Vec<Vec<f64>> = (0..count).map(|_| vec![standard_normal(&mut rng), standard_normal(&mut rng)]).collect();
        let values = rows.iter().map(|z| (1.5 * z[0]).sin() + 0.1 * standard_normal(&mut rng)).collect();
        (Points::from_rows(&rows).unwrap(), values)
    }

    #[test]
    fn the_gradient_of_the_evidence_is_its_derivative() {
        let (z, values) = data(25);
        for &family in Family::ALL {
            let at = |x: &[f64]| ProcessHyperparameters {
                kernel: Kernel::new(family, vec![x[2].exp(), x[3].exp()]).unwrap(),
                amplitude: x[0].exp(),
                noise: x[1].exp(),
            };
            let x = [0.2, -2.0, 0.1, 0.7];
            let gradient = ln_evidence(&z, &values, &at(&x)).unwrap().1;
            for k in 0..4 {
                let moved = |by: f64| {
                    let mut x = x;
                    x[k] += by;
                    ln_evidence(&z, &values, &at(&x)).unwrap().0
                };
                let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!((gradient[k] - difference).abs() < 1e-5 * (1.0 + difference.abs()), "{family:?} {k}: {} {difference}", gradient[k]);
            }
        }
    }

    #[test]
    fn what_is_learned_predicts_a_curve_and_knows_its_noise() {
        let (z, values) = data(150);
        let h = learn(&z, &values, Family::Gaussian).unwrap();
        assert!((h.noise.sqrt() - 0.1).abs() < 0.03, "{h:?}");
        assert!(h.kernel.length_scales()[1] > 3.0 * h.kernel.length_scales()[0], "the second coordinate does not matter: {h:?}");
        let process = GaussianProcess::new(&z, &values, h).unwrap();
        let (means, variances) = process.predict(&Points::from_rows(&[[0.5, 0.0]]).unwrap());
        assert!((means[0] - 0.75_f64.sin()).abs() < 0.08 && variances[0] < 0.01, "{means:?} {variances:?}");
        let joint = process.joint(&[0.5, 0.0], &[0.5, 0.0]).unwrap();
        assert!((joint.covariance - joint.variances[0]).abs() < 1e-9 && (joint.means[0] - means[0]).abs() < 1e-12);
    }
}
