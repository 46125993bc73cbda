//! Outputs of a network as a Gaussian mixture, and the loss of predicting a point by it.

use crate::gaussians::{Gaussian, Gaussians};
use crate::kernel::kernel_abc::factored;
use crate::weights::ln_sum_exp;
use kelfi::Error;

/// How outputs of the network become a mixture: logits, means, then upper triangles U of precisions UᵀU with ln of their diagonals.
#[derive(Debug, Clone, Copy)]
pub struct Head {
    /// Gaussians.
    pub components: usize,
    /// Coordinates of z.
    pub dimension: usize,
}

impl Head {
    fn triangle(&self) -> usize {
        self.dimension * (self.dimension + 1) / 2
    }

    /// How many outputs the network has.
    pub fn outputs(&self) -> usize {
        self.components * (1 + self.dimension + self.triangle())
    }

    fn mean<'a>(&self, output: &'a [f64], k: usize) -> &'a [f64] {
        let start = self.components + k * self.dimension;
        &output[start..start + self.dimension]
    }

    fn start_of_triangle(&self, k: usize) -> usize {
        self.components * (1 + self.dimension) + k * self.triangle()
    }

    /// U of component k, row after row.
    fn upper(&self, output: &[f64], k: usize) -> Vec<f64> {
        let d = self.dimension;
        let mut upper = vec![0.0; d * d];
        let mut at = self.start_of_triangle(k);
        for i in 0..d {
            for j in i..d {
                upper[i * d + j] = if i == j { output[at].clamp(-20.0, 20.0).exp() } else { output[at] };
                at += 1;
            }
        }
        upper
    }

    /// −ln q(z) and its slope in the outputs.
    pub fn loss(&self, output: &[f64], z: &[f64]) -> (f64, Vec<f64>) {
        let d = self.dimension;
        let total = ln_sum_exp(&output[..self.components]);
        let ln_weights: Vec<f64> = output[..self.components].iter().map(|l| l - total).collect();
        let mut terms = vec![];
        let mut slopes: Vec<Vec<f64>> = vec![];
        for k in 0..self.components {
            let upper = self.upper(output, k);
            let step: Vec<f64> = z.iter().zip(self.mean(output, k)).map(|(z, m)| z - m).collect();
            let e: Vec<f64> = (0..d).map(|i| (i..d).map(|j| upper[i * d + j] * step[j]).sum()).collect();
            let ln_diagonal: f64 = (0..d).map(|i| upper[i * d + i].ln()).sum();
            terms.push(
                ln_weights[k] - 0.5 * e.iter().map(|e| e * e).sum::<f64>() + ln_diagonal - 0.5 * d as f64 * std::f64::consts::TAU.ln(),
            );
            // Of −ln N: in the mean −Uᵀe; in U_ij e_i step_j, and for ln U_ii also −1.
            let mut slope: Vec<f64> = (0..d).map(|j| -(0..=j).map(|i| upper[i * d + j] * e[i]).sum::<f64>()).collect();
            for i in 0..d {
                for j in i..d {
                    slope.push(if i == j { e[i] * step[i] * upper[i * d + i] - 1.0 } else { e[i] * step[j] });
                }
            }
            slopes.push(slope);
        }
        let ln_density = ln_sum_exp(&terms);
        let mut out = vec![0.0; self.outputs()];
        for (k, slope) in slopes.into_iter().enumerate() {
            let share = (terms[k] - ln_density).exp();
            out[k] = ln_weights[k].exp() - share;
            let triangle = self.start_of_triangle(k);
            for (i, value) in slope.into_iter().enumerate() {
                out[if i < d { self.components + k * d + i } else { triangle + i - d }] = share * value;
            }
        }
        (-ln_density, out)
    }

    /// The mixture that an output stands for.
    pub fn gaussians(&self, output: &[f64]) -> Result<Gaussians, Error> {
        let d = self.dimension;
        let total = ln_sum_exp(&output[..self.components]);
        let one = |k: usize| {
            let upper = self.upper(output, k);
            let precision: Vec<f64> =
                (0..d * d).map(|at| (0..d).map(|i| upper[i * d + at / d] * upper[i * d + at % d]).sum::<f64>()).collect();
            let covariance = factored(precision, d, 0.0)?.inverse();
            Gaussian::new((output[k] - total).exp(), self.mean(output, k).to_vec(), covariance)
        };
        (0..self.components).map(one).collect::<Result<_, Error>>().map(Gaussians)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kelfi::method::Density;

    #[test]
    fn the_slope_of_the_loss_is_its_derivative() {
        let head = Head { components: 2, dimension: 2 };
        let output = [0.3, -0.2, 0.1, 0.5, -0.4, 0.2, 0.2, 0.3, -0.1, -0.2, 0.6, 0.1];
        let z = [0.7, -0.3];
        let slope = head.loss(&output, &z).1;
        for k in 0..output.len() {
            let moved = |by: f64| {
                let mut output = output;
                output[k] += by;
                head.loss(&output, &z).0
            };
            let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!((slope[k] - difference).abs() < 1e-7, "{k}: {} {difference}", slope[k]);
        }
        // The loss is the density of the mixture it becomes.
        assert!((head.gaussians(&output).unwrap().ln_density(&z) + head.loss(&output, &z).0).abs() < 1e-10);
    }
}
