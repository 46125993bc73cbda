//! Residuals that belong together more at some θ than at others: a regression of their correlation.
//!
//! The correlation R(θ) = L(θ) L(θ)ᵀ is built from partial correlations p_kl, of residuals k and l given those before l:
//!
//! L_kl = p_kl √(1 - Σ_{j<l} L_kj²),   L_kk = √(1 - Σ_{j<k} L_kj²),
//!
//! positive definite for any p in (-1, 1). Most p are those of the constant C. The product of residuals k and l, both whitened by what stands
//! before l, has mean p_kl(θ): where its regression on θ gives the residuals, each predicted without itself, enough more density, p_kl moves.
//! Where several residuals stand at one θ, repeats, the mean of their products is regressed, and none is predicted with the others.

use super::choice::{moves, plane_or_bumps, with_squares};
use super::constants::moving::{ERRORS, LARGEST, MARGIN, MOST, SEARCHED};
use super::regression::{Regression, RegressionHyperparameters};
use super::regression_search::search;
use crate::linalg::Cholesky;
use crate::{Error, Points};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// A pair of residuals whose correlation moves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MovingPair {
    /// Which, among the statistics that take part; the second stands before the first.
    pub of: (usize, usize),
    /// The regression of their product.
    pub regression: RegressionHyperparameters,
}

/// Fitted correlations.
#[derive(Debug)]
pub struct Moving {
    order: usize,
    /// p of the constant C, row after row.
    constant: Vec<f64>,
    pairs: Vec<Pair>,
}

#[derive(Debug)]
struct Pair {
    of: (usize, usize),
    regression: Regression,
    /// What it is at the simulations, each without itself.
    left_out: Vec<f64>,
    low: f64,
    high: f64,
}

impl Moving {
    /// Looks at every pair of standardised residuals, C their factored correlation and u = C^-½ times them.
    pub fn learn(z: &Points, standardised: &Points, factor: &Cholesky, u: &Points) -> Result<Option<Self>, Error> {
        let n = u.columns();
        if n > MOST {
            return Ok(None);
        }
        let rows: Vec<usize> = (0..z.rows()).step_by(z.rows().div_ceil(SEARCHED)).collect();
        let (part, ones) = (z.select(&rows), vec![1.0; rows.len()]);
        let squared = with_squares(&part);
        let all: Vec<(usize, usize)> = (1..n).flat_map(|k| (0..k).map(move |l| (k, l))).collect();
        let look = |&of: &(usize, usize)| -> Option<Pair> {
            let (first, second) = partial(of, standardised, factor, u);
            let products = mean_products(&first, &second, z.rows());
            let some: Vec<f64> = rows.iter().map(|&row| products[row]).collect();
            if !moves(&squared, &some, MARGIN) {
                return None;
            }
            let chosen = plane_or_bumps(z.columns(), |begin| search(&part, &some, &ones, begin)).0;
            let pair = Pair::new(z, &products, &MovingPair { of, regression: chosen }).ok()?;
            let before = clamped(products.iter().sum::<f64>() / products.len() as f64);
            let each = first.len() / products.len();
            let gains: Vec<f64> = (0..first.len())
                .map(|i| ln_density(pair.left_out[i / each], first[i], second[i]) - ln_density(before, first[i], second[i]))
                .collect();
            let gain: f64 = gains.iter().sum();
            let error = gains.iter().map(|g| g * g).sum::<f64>().sqrt();
            (gain > MARGIN && gain > ERRORS * error).then_some(pair)
        };
        let pairs: Vec<Pair> = all.par_iter().filter_map(look).collect();
        Ok((!pairs.is_empty()).then(|| Self { order: n, constant: partials(factor, n), pairs }))
    }

    /// With pairs chosen before; `None` without any.
    pub fn new(z: &Points, standardised: &Points, factor: &Cholesky, u: &Points, chosen: &[MovingPair]) -> Result<Option<Self>, Error> {
        let fit = |chosen: &MovingPair| {
            let (first, second) = partial(chosen.of, standardised, factor, u);
            Pair::new(z, &mean_products(&first, &second, z.rows()), chosen)
        };
        let pairs: Vec<Pair> = chosen.par_iter().map(fit).collect::<Result<_, Error>>()?;
        let n = u.columns();
        Ok((!pairs.is_empty()).then(|| Self { order: n, constant: partials(factor, n), pairs }))
    }

    /// What was chosen.
    pub fn hyperparameters(&self) -> Vec<MovingPair> {
        self.pairs.iter().map(|pair| MovingPair { of: pair.of, regression: pair.regression.hyperparameters().clone() }).collect()
    }

    /// L(θ) at each z, row after row.
    pub fn factors(&self, z: &Points) -> Vec<Vec<f64>> {
        let moved: Vec<Vec<f64>> = self.pairs.iter().map(|pair| pair.at(z)).collect();
        (0..z.rows()).map(|q| self.factor(|pair| moved[pair][q])).collect()
    }

    /// L(θ)^-1 times standardised residuals at each z, in place, and ln |L(θ)| of all of them.
    pub fn whiten(&self, z: &Points, residuals: &mut Points) -> Vec<f64> {
        let (factors, each) = (self.factors(z), residuals.rows() / z.rows().max(1));
        (0..z.rows()).map(|q| (q * each..(q + 1) * each).map(|row| solve(&factors[q], residuals.row_mut(row))).sum()).collect()
    }

    /// The same of the simulations' own residuals, their correlation predicted without each.
    pub fn whiten_own(&self, standardised: &mut Points) {
        let simulations = self.pairs.first().map_or(standardised.rows(), |pair| pair.left_out.len());
        let each = standardised.rows() / simulations;
        for i in 0..standardised.rows() {
            let factor = self.factor(|pair| self.pairs[pair].left_out[i / each]);
            solve(&factor, standardised.row_mut(i));
        }
    }

    fn factor(&self, moved: impl Fn(usize) -> f64) -> Vec<f64> {
        let n = self.order;
        let mut p = self.constant.clone();
        for (k, pair) in self.pairs.iter().enumerate() {
            p[pair.of.0 * n + pair.of.1] = moved(k);
        }
        let mut factor = vec![0.0; n * n];
        for k in 0..n {
            let mut left: f64 = 1.0;
            for l in 0..k {
                let value = p[k * n + l] * left.sqrt();
                factor[k * n + l] = value;
                left -= value * value;
            }
            factor[k * n + k] = left.sqrt();
        }
        factor
    }
}

impl Pair {
    fn new(z: &Points, products: &[f64], chosen: &MovingPair) -> Result<Self, Error> {
        let regression = Regression::new(z, products, &vec![1.0; products.len()], &chosen.regression, false)?;
        let left_out: Vec<f64> = products.iter().zip(regression.residuals()).map(|(t, r)| clamped(t - r)).collect();
        let (low, high) = left_out.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| (low.min(*p), high.max(*p)));
        Ok(Self { of: chosen.of, regression, left_out, low, high })
    }

    fn at(&self, z: &Points) -> Vec<f64> {
        self.regression.predict(z).0.into_iter().map(|p| p.clamp(self.low, self.high)).collect()
    }
}

/// Products of two residuals, averaged over those of each of `simulations`.
fn mean_products(first: &[f64], second: &[f64], simulations: usize) -> Vec<f64> {
    let each = first.len() / simulations;
    let mean = |(a, b): (&[f64], &[f64])| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / each as f64;
    first.chunks(each).zip(second.chunks(each)).map(mean).collect()
}

fn clamped(p: f64) -> f64 {
    p.clamp(-LARGEST, LARGEST)
}

/// ln N of two numbers of unit variance with this correlation, up to a constant.
fn ln_density(p: f64, a: f64, b: f64) -> f64 {
    let rest = 1.0 - p * p;
    -0.5 * rest.ln() - 0.5 * (a * a + b * b - 2.0 * p * a * b) / rest
}

/// p of C = L Lᵀ.
fn partials(factor: &Cholesky, n: usize) -> Vec<f64> {
    let mut p = vec![0.0; n * n];
    for k in 0..n {
        let mut left: f64 = (0..=k).map(|l| factor.entry(k, l).powi(2)).sum();
        for l in 0..k {
            p[k * n + l] = factor.entry(k, l) / left.sqrt();
            left -= factor.entry(k, l).powi(2);
        }
    }
    p
}

/// Residuals k and l, of unit variance, less what those before l say of them.
fn partial((k, l): (usize, usize), standardised: &Points, factor: &Cholesky, u: &Points) -> (Vec<f64>, Vec<f64>) {
    let scale = (l..=k).map(|j| factor.entry(k, j).powi(2)).sum::<f64>().sqrt();
    let of = |(r, u): (&[f64], &[f64])| (r[k] - (0..l).map(|j| factor.entry(k, j) * u[j]).sum::<f64>()) / scale;
    (standardised.iter().zip(u.iter()).map(of).collect(), u.column(l))
}

/// L^-1 r in place for a lower triangular L, row after row; ln |L|.
fn solve(factor: &[f64], r: &mut [f64]) -> f64 {
    let n = r.len();
    let mut ln = 0.0;
    for k in 0..n {
        let before: f64 = (0..k).map(|l| factor[k * n + l] * r[l]).sum();
        r[k] = (r[k] - before) / factor[k * n + k];
        ln += factor[k * n + k].ln();
    }
    ln
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::location_scale::correlation::factored;
    use crate::random::{Purpose, standard_normal, stream};

    /// Three residuals at m points: the second follows the first with correlation tanh z, the third follows the first with 0.6.
    fn data(m: usize, moves: bool) -> (Points, Points) {
        let mut rng = stream(4, Purpose::Experiment, 0);
        let mut one = || {
            let z = standard_normal(&mut rng);
            let (a, b, c) = (standard_normal(&mut rng), standard_normal(&mut rng), standard_normal(&mut rng));
            let p = if moves { z.tanh() } else { 0.0 };
            (vec![z], vec![a, p * a + (1.0 - p * p).sqrt() * b, 0.6 * a + 0.8 * c])
        };
        let (z, r): (Vec<_>, Vec<_>) = (0..m).map(|_| one()).unzip();
        (Points::from_rows(&z).unwrap(), Points::from_rows(&r).unwrap())
    }

    #[test]
    fn a_correlation_that_moves_is_found_and_no_other() {
        let (z, r) = data(400, true);
        let (factor, u) = factored(&r).unwrap();
        let moving = Moving::learn(&z, &r, &factor, &u).unwrap().unwrap();
        assert_eq!(moving.hyperparameters().iter().map(|pair| pair.of).collect::<Vec<_>>(), [(1, 0)]);
        let at = Points::from_column(vec![-1.2, 0.0, 1.2]);
        for (q, factor) in moving.factors(&at).iter().enumerate() {
            let entry = |k: usize, l: usize| (0..3).map(|j| factor[k * 3 + j] * factor[l * 3 + j]).sum::<f64>();
            assert!((entry(1, 0) - at.row(q)[0].tanh()).abs() < 0.2, "{q}: {}", entry(1, 0));
            assert!((entry(2, 0) - 0.6).abs() < 0.1 && (0..3).all(|k| (entry(k, k) - 1.0).abs() < 1e-9));
        }
        let (still, residuals) = data(400, false);
        let (factor, u) = factored(&residuals).unwrap();
        assert!(Moving::learn(&still, &residuals, &factor, &u).unwrap().is_none());
    }

    #[test]
    fn it_is_positive_definite_wherever_it_is_asked_and_constant_pairs_stay_as_they_were() {
        let (z, r) = data(400, true);
        let (factor, u) = factored(&r).unwrap();
        let moving = Moving::learn(&z, &r, &factor, &u).unwrap().unwrap();
        let far = Points::from_column(vec![-50.0, 50.0, 1e6]);
        assert!(moving.factors(&far).iter().all(|l| (0..3).all(|k| l[k * 4] > 0.0)));
        // With nothing moved the factor is that of C, up to the diagonal of C, which is 1 to within the inflation.
        let none = Moving { order: 3, constant: partials(&factor, 3), pairs: vec![] };
        let again = none.factor(|_| 0.0);
        assert!((0..3).all(|k| (0..=k).all(|l| (again[k * 3 + l] - factor.entry(k, l)).abs() < 0.1)));
    }

    #[test]
    fn whitening_gives_back_what_was_put_together() {
        let (z, r) = data(400, true);
        let (factor, u) = factored(&r).unwrap();
        let moving = Moving::learn(&z, &r, &factor, &u).unwrap().unwrap();
        let (at, e) = (Points::from_column(vec![0.7]), [0.3, -1.1, 0.4]);
        let l = &moving.factors(&at)[0];
        let together: Vec<f64> = (0..3).map(|k| (0..=k).map(|j| l[k * 3 + j] * e[j]).sum()).collect();
        let mut back = Points::from_rows(&[together]).unwrap();
        let ln = moving.whiten(&at, &mut back);
        assert!(back.row(0).iter().zip(e).all(|(a, b)| (a - b).abs() < 1e-12));
        assert!((ln[0] - (0..3).map(|k| l[k * 4].ln()).sum::<f64>()).abs() < 1e-12);
    }
}
