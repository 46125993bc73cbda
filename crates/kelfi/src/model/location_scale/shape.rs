//! The distribution of standardised residuals u given θ: a mixture centred on the simulated ones, weights from the conditional embedding.
//!
//! q(u|θ) = Σ_j a_j(θ) N(u | s u_j, e² I), s = √(1 - e²). The weights a(θ) = Fᵀ-regression on features f(θ) = (1, φ(θ)) of the kernel with
//! ridge ρ on φ only, so they sum to one: a(θ) = F (FᵀF + ρ I₀)⁻¹ f(θ). Leaving simulation i out, a_ij = H_ij / (1 - H_ii), H = F (FᵀF + ρ I₀)⁻¹ Fᵀ.
//! A small share of a wide Gaussian keeps the logarithm finite everywhere.

use super::curve::{Curve, CurvePoints, Form};
use super::pivots::Pivots;
use crate::linalg::Cholesky;
use crate::linalg::products::{combine_rows, rows_dot_rows, transpose};
use crate::linalg::vector::{dot, gaussian_row};
use crate::{Error, Points};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

const MOST_PIVOTS: usize = 150;
const MISSED: f64 = 1e-4;
/// Share and standard deviation of the wide Gaussian.
const WIDE_SHARE: f64 = 0.01;
const WIDE: f64 = 2.0;
/// 1 - H_ii is at least this: a simulation that alone decides its own shape hands nothing on.
const LEAST_FREEDOM: f64 = 1e-6;
/// What is tried.
const LENGTHS: [f64; 5] = [0.35, 0.7, 1.4, 2.8, 5.6];
const RIDGES: [f64; 6] = [0.3, 1.0, 3.0, 10.0, 30.0, 100.0];
const TOLERANCES: [f64; 12] = [0.04, 0.06, 0.09, 0.13, 0.18, 0.25, 0.35, 0.45, 0.6, 0.75, 0.9, 1.0];
/// Simulations the choice rests on.
const SEARCHED: usize = 600;

/// β, ρ and e.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ShapeHyperparameters {
    /// β in prior standard deviations; `None` where the shape does not depend on θ.
    pub length_scale: Option<f64>,
    /// ρ.
    pub ridge: f64,
    /// e: 1 is Gaussian noise.
    pub tolerance: f64,
}

/// The fitted shape.
#[derive(Debug, Clone)]
pub struct Shape {
    hyperparameters: ShapeHyperparameters,
    components: usize,
    /// s u_j / e, one coordinate after the other.
    centres: Vec<f64>,
    count: usize,
    weights: Option<Weights>,
}

/// A simulation that plays no part.
#[derive(Debug, Clone)]
pub struct Omitted {
    index: usize,
    /// H_ij / (1 - H_ii): where its weight goes.
    handed_on: Option<Vec<f64>>,
}

#[derive(Debug, Clone)]
struct Weights {
    curve: Curve,
    pivots: CurvePoints,
    /// (1 + r) × m: a(θ) = (1, kernel values with the pivots) times it.
    table: Vec<f64>,
}

impl Shape {
    /// The shape at given hyperparameters from residuals `u` (m × n) at `z`.
    pub fn new(z: &Points, u: &Points, hyperparameters: ShapeHyperparameters) -> Result<Self, Error> {
        let (m, n, e) = (u.rows(), u.columns(), hyperparameters.tolerance);
        let shrink = (1.0 - e * e).max(0.0).sqrt();
        let centres = transpose(u.values(), n).into_iter().map(|value| shrink * value / e).collect();
        let weights = match hyperparameters.length_scale {
            Some(length) if e < 1.0 => Some(Weights::new(z, length, hyperparameters.ridge)?),
            _ => None,
        };
        Ok(Self { hyperparameters, components: n, centres, count: m, weights })
    }

    /// β, ρ and e.
    pub fn hyperparameters(&self) -> ShapeHyperparameters {
        self.hyperparameters
    }

    /// The signed mixture and the wide Gaussian at each (z, u): (Σ_j a_j N / e^n-free scale, ln of the density with its positive part).
    pub fn ln_densities(&self, z: &Points, u: &Points) -> Vec<f64> {
        self.signed(z, u).into_iter().zip(u.iter()).map(|(signed, u)| self.ln_positive(signed, u)).collect()
    }

    /// Σ_j a_j(θ) exp(-|u - s u_j|² / 2e²) at each (z, u): may be negative.
    pub fn signed(&self, z: &Points, u: &Points) -> Vec<f64> {
        let e = self.hyperparameters.tolerance;
        if e >= 1.0 {
            return u.iter().map(|u| (-0.5 * dot(u, u)).exp()).collect();
        }
        let table = self.weights.as_ref().map(|weights| weights.at(z));
        let mut row = vec![0.0; self.count];
        let mut out = Vec::with_capacity(u.rows());
        for (q, u) in u.iter().enumerate() {
            let scaled: Vec<f64> = u.iter().map(|v| v / e).collect();
            gaussian_row(&self.centres, 0, &scaled, &mut row);
            out.push(match &table {
                Some(table) => dot(&table[q * self.count..(q + 1) * self.count], &row),
                None => row.iter().sum::<f64>() / self.count as f64,
            });
        }
        out
    }

    /// What leaving simulation `i`, whose coordinates are `own`, takes from every density.
    pub fn omit(&self, i: usize, own: &[f64]) -> Omitted {
        let point = Points::new(own.to_vec(), 1, own.len()).expect("one row");
        let handed_on = self.weights_at(&point).map(|h| {
            let freedom = (1.0 - h[i]).max(LEAST_FREEDOM);
            h.into_iter().map(|h| h / freedom).collect()
        });
        Omitted { index: i, handed_on }
    }

    /// [`Shape::ln_densities`], each without a simulation: a_j(θ) + a_i(θ) H_ij / (1 - H_ii).
    pub fn ln_densities_without(&self, omitted: &[&Omitted], z: &Points, u: &Points) -> Vec<f64> {
        let e = self.hyperparameters.tolerance;
        if e >= 1.0 {
            return self.ln_densities(z, u);
        }
        let m = self.count;
        let table = self.weights_at(z);
        let mut row = vec![0.0; m];
        let one = |(q, u): (usize, &[f64])| {
            let scaled: Vec<f64> = u.iter().map(|v| v / e).collect();
            gaussian_row(&self.centres, 0, &scaled, &mut row);
            let i = omitted[q].index;
            row[i] = 0.0;
            let signed = match (&table, &omitted[q].handed_on) {
                (Some(table), Some(handed_on)) => {
                    let a = &table[q * m..(q + 1) * m];
                    dot(a, &row) + a[i] * dot(handed_on, &row)
                }
                _ => row.iter().sum::<f64>() / (m - 1) as f64,
            };
            self.ln_positive(signed, u)
        };
        u.iter().enumerate().map(one).collect()
    }

    fn ln_positive(&self, signed: f64, u: &[f64]) -> f64 {
        let n = self.components as f64;
        let half_log = 0.5 * (2.0 * std::f64::consts::PI).ln();
        let e = self.hyperparameters.tolerance;
        let radius2 = dot(u, u);
        // Gaussian noise stays exact where the exponential underflows.
        let main = if e >= 1.0 { -0.5 * radius2 } else { signed.max(0.0).ln() - n * e.ln() } - n * half_log + (1.0 - WIDE_SHARE).ln();
        ln_sum(main, ln_wide(radius2, n))
    }

    /// What clipping takes off the density at each (z, u).
    pub fn cut_off(&self, z: &Points, u: &Points) -> Vec<f64> {
        let (n, e) = (self.components as f64, self.hyperparameters.tolerance);
        let factor = (1.0 - WIDE_SHARE) * (-n * (e.ln() + 0.5 * std::f64::consts::TAU.ln())).exp();
        self.signed(z, u).into_iter().map(|signed| factor * (-signed).max(0.0)).collect()
    }

    /// The centre s u_j of a component drawn at one z in proportion to the positive weights. `uniform` draws from [0, 1).
    pub fn draw(&self, z: &Points, u: &Points, mut uniform: impl FnMut() -> f64) -> Vec<f64> {
        let shrink = (1.0 - self.hyperparameters.tolerance.powi(2)).max(0.0).sqrt();
        let j = match self.weights_at(z) {
            None => (uniform() * self.count as f64) as usize,
            Some(weights) => {
                let total: f64 = weights.iter().map(|a| a.max(0.0)).sum();
                let mut left = uniform() * total;
                weights
                    .iter()
                    .position(|a| {
                        left -= a.max(0.0);
                        left < 0.0
                    })
                    .unwrap_or(self.count - 1)
            }
        };
        u.row(j.min(self.count - 1)).iter().map(|u| shrink * u).collect()
    }

    /// a(θ) at each z, row after row; `None` where the weights are all 1/m.
    pub fn weights_at(&self, z: &Points) -> Option<Vec<f64>> {
        self.weights.as_ref().map(|weights| weights.at(z))
    }
}

fn ln_wide(radius2: f64, n: f64) -> f64 {
    WIDE_SHARE.ln() - 0.5 * radius2 / (WIDE * WIDE) - n * (WIDE.ln() + 0.5 * (2.0 * std::f64::consts::PI).ln())
}

fn ln_sum(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    high + (low - high).exp().ln_1p()
}

impl Weights {
    fn new(z: &Points, length: f64, ridge: f64) -> Result<Self, Error> {
        let curve = Curve::new(Form::Bumps, &vec![length; z.columns()]);
        let pivots = Pivots::new(&curve, z, MISSED, MOST_PIVOTS);
        let features = with_one(&pivots);
        let size = pivots.rank() + 1;
        let solved = solve(&features, size, ridge)?;
        // a(θ) = solved · (1, L⁻¹ k): fold L⁻¹ into the table.
        let (r, to_features) = (pivots.rank(), pivots.to_features());
        let mut fold = vec![0.0; size * size];
        fold[0] = 1.0;
        for i in 0..r {
            for j in 0..=i {
                fold[(j + 1) * size + i + 1] = to_features[i * r + j];
            }
        }
        let columns = transpose(&solved, size);
        Ok(Self { pivots: curve.points(&z.select(&pivots.chosen)), table: combine_rows(&fold, &columns, size), curve })
    }

    fn at(&self, z: &Points) -> Vec<f64> {
        let r = self.pivots.count();
        let mut rows = vec![1.0; z.rows() * (r + 1)];
        for (row, z) in rows.chunks_mut(r + 1).zip(z.iter()) {
            self.curve.row(&self.pivots, &self.curve.coordinates(z), &mut row[1..]);
        }
        combine_rows(&rows, &self.table, r + 1)
    }
}

/// F: (1, φ) of every simulation.
fn with_one(pivots: &Pivots) -> Vec<f64> {
    let r = pivots.rank();
    if r == 0 {
        return vec![];
    }
    pivots.factor.chunks(r).flat_map(|row| std::iter::once(1.0).chain(row.iter().copied()).collect::<Vec<_>>()).collect()
}

/// F (FᵀF + ρ I₀)⁻¹, one row per simulation.
fn solve(features: &[f64], size: usize, ridge: f64) -> Result<Vec<f64>, Error> {
    let m = features.len() / size;
    let mut normal = combine_rows(&transpose(features, size), features, m);
    (1..size).for_each(|k| normal[k * size + k] += ridge);
    let cholesky = Cholesky::new(normal, size).map_err(|bad| Error::NotPositiveDefinite {
        pivot: bad.index,
        order: size,
        value: bad.value,
        regularization: ridge / m as f64,
    })?;
    let mut solved = features.to_vec();
    cholesky.solve_in_place(&mut solved);
    Ok(solved)
}

/// The (β, ρ, e) with the largest mean leave-one-out log density of the residuals, and that mean.
pub fn search(z: &Points, u: &Points) -> Result<(ShapeHyperparameters, f64), Error> {
    let chosen: Vec<usize> = (0..u.rows().min(SEARCHED)).collect();
    let (z, u) = (z.select(&chosen), u.select(&chosen));
    let (m, n) = (u.rows(), u.columns() as f64);
    let products = rows_dot_rows(u.values(), u.values(), u.columns());
    let radii: Vec<f64> = (0..m).map(|i| products[i * m + i]).collect();
    let wide: Vec<f64> = radii.iter().map(|r2| ln_wide(*r2, n)).collect();
    let half_log = 0.5 * (2.0 * std::f64::consts::PI).ln();
    let smoothers = smoothers(&z)?;
    let gaussian =
        radii.iter().zip(&wide).map(|(r2, w)| ln_sum(-0.5 * r2 - n * half_log + (1.0 - WIDE_SHARE).ln(), *w)).sum::<f64>() / m as f64;
    let mut best = (ShapeHyperparameters { length_scale: None, ridge: 1.0, tolerance: 1.0 }, gaussian);
    let rest: Vec<Vec<(ShapeHyperparameters, f64)>> = TOLERANCES[..TOLERANCES.len() - 1]
        .par_iter()
        .map(|&e| {
            let shrink = (1.0 - e * e).sqrt();
            let mut kappa = vec![0.0; m * m];
            for i in 0..m {
                for j in 0..m {
                    let squared = radii[i] + shrink * shrink * radii[j] - 2.0 * shrink * products[i * m + j];
                    kappa[i * m + j] = -0.5 * squared.max(0.0) / (e * e);
                }
                crate::linalg::vector::exp_in_place(&mut kappa[i * m..(i + 1) * m]);
            }
            let ln_scale = (1.0 - WIDE_SHARE).ln() - n * (e.ln() + half_log);
            let one = |smoother: &Smoother| {
                let total: f64 = (0..m)
                    .map(|i| {
                        let row = &kappa[i * m..(i + 1) * m];
                        let signed = match &smoother.table {
                            None => (row.iter().sum::<f64>() - row[i]) / (m - 1) as f64,
                            Some(h) => {
                                let own = h[i * m + i];
                                (dot(row, &h[i * m..(i + 1) * m]) - own * row[i]) / (1.0 - own).max(LEAST_FREEDOM)
                            }
                        };
                        ln_sum(signed.max(0.0).ln() + ln_scale, wide[i])
                    })
                    .sum();
                let found = ShapeHyperparameters { length_scale: smoother.length, ridge: smoother.ridge, tolerance: e };
                (found, total / m as f64)
            };
            smoothers.iter().map(one).collect()
        })
        .collect();
    for candidate in rest.into_iter().flatten() {
        if candidate.1 > best.1 {
            best = candidate;
        }
    }
    Ok(best)
}

/// H for one (β, ρ).
struct Smoother {
    length: Option<f64>,
    ridge: f64,
    table: Option<Vec<f64>>,
}

fn smoothers(z: &Points) -> Result<Vec<Smoother>, Error> {
    let mut all = vec![Smoother { length: None, ridge: 1.0, table: None }];
    let of_length = |&length: &f64| -> Result<Vec<Smoother>, Error> {
        let length = length * (z.columns() as f64).sqrt();
        let curve = Curve::new(Form::Bumps, &vec![length; z.columns()]);
        let pivots = Pivots::new(&curve, z, MISSED, MOST_PIVOTS);
        let features = with_one(&pivots);
        let size = pivots.rank() + 1;
        let of_ridge = |&ridge: &f64| -> Result<Smoother, Error> {
            let solved = solve(&features, size, ridge)?;
            Ok(Smoother { length: Some(length), ridge, table: Some(rows_dot_rows(&solved, &features, size)) })
        };
        RIDGES.iter().map(of_ridge).collect()
    };
    let found: Result<Vec<Vec<Smoother>>, Error> = LENGTHS.par_iter().map(of_length).collect();
    all.extend(found?.into_iter().flatten());
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, standard_normal, stream};

    fn data() -> (Points, Points) {
        let mut rng = stream(5, Purpose::Experiment, 0);
        let z: Vec<Vec<f64>> = (0..50).map(|_| vec![standard_normal(&mut rng)]).collect();
        let u = z.iter().map(|z| vec![(1.0 + 0.3 * z[0]) * standard_normal(&mut rng), standard_normal(&mut rng)]).collect::<Vec<_>>();
        (Points::from_rows(&z).unwrap(), Points::from_rows(&u).unwrap())
    }

    #[test]
    fn leaving_a_simulation_out_is_the_shape_made_without_it() {
        let (z, u) = data();
        for length_scale in [None, Some(1.2)] {
            let h = ShapeHyperparameters { length_scale, ridge: 0.7, tolerance: 0.4 };
            let others: Vec<usize> = (0..50).filter(|&j| j != 9).collect();
            let shape = Shape::new(&z, &u, h).unwrap();
            let refit = Shape::new(&z.select(&others), &u.select(&others), h).unwrap();
            let (at, of) = (z.select(&[9, 3]), u.select(&[9, 3]));
            let omitted = shape.omit(9, z.row(9));
            let found = shape.ln_densities_without(&[&omitted, &omitted], &at, &of);
            for (found, wanted) in found.iter().zip(refit.ln_densities(&at, &of)) {
                // Pivots of the two fits differ by what they may miss.
                assert!((found - wanted).abs() < 1e-2, "{length_scale:?}: {found} {wanted}");
            }
        }
    }

    #[test]
    fn weights_sum_to_one_and_the_density_integrates_to_one() {
        let (z, u) = data();
        let first = u.map_rows(1, |u| vec![u[0]]);
        let shape = Shape::new(&z, &first, ShapeHyperparameters { length_scale: Some(1.2), ridge: 3.0, tolerance: 0.5 }).unwrap();
        let weights = shape.weights_at(&z.select(&[4])).unwrap();
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let grid: Vec<f64> = (0..2_001).map(|k| -10.0 + 0.01 * k as f64).collect();
        let at = z.select(&vec![4; grid.len()]);
        let total: f64 = shape.ln_densities(&at, &Points::from_column(grid)).iter().map(|ln| 0.01 * ln.exp()).sum();
        // Negative parts are clipped, so a little more than one.
        assert!(total > 0.999 && total < 1.1, "{total}");
    }
}
