//! A spread that all statistics share: the size of whitened residuals, regressed on θ.
//!
//! Noise that grows for all statistics at once may grow too little in each of them to be seen there. With n residuals of unit variance,
//! s_i = |u_i|²/n has mean 1 wherever θ_i is. ln s_i is regressed on θ, and the regression is used where it gives the residuals, each spread
//! predicted without itself, enough more density under N(0, v I) than one v for all:
//!
//! Σ_i ½ n [ ln v̄/v_i + s_i (1/v̄ - 1/v_i) ].

use super::choice::{may_move, plane_or_bumps};
use super::constants::common_spread::{ERRORS, MARGIN, SEARCHED, SEEN};
use super::regression::{Regression, RegressionHyperparameters, Traced};
use super::regression_search::search;
use super::spread::Spread;
use crate::linalg::vector::dot;
use crate::{Error, Points};

/// The fitted spread.
#[derive(Debug)]
pub struct CommonSpread {
    regression: RegressionHyperparameters,
    spread: Spread,
    /// The mean of s_i/w_i, which makes the variance 1.
    level: f64,
    /// Variances at the simulations, each without itself.
    left_out: Vec<f64>,
}

impl CommonSpread {
    /// `None` where the residuals u vary alike at every θ; z has a row for each simulation, u one for each of its repeats.
    pub fn learn(z: &Points, u: &Points) -> Result<Option<Self>, Error> {
        if u.columns() < 2 {
            return Ok(None);
        }
        let sizes = sizes(z, u);
        let targets = ln_sizes(&sizes);
        let rows: Vec<usize> = (0..z.rows()).step_by(z.rows().div_ceil(SEARCHED)).collect();
        let (part, ones) = (z.select(&rows), vec![1.0; rows.len()]);
        let some: Vec<f64> = rows.iter().map(|&row| targets[row]).collect();
        if !may_move(&part, &some, SEEN) {
            return Ok(None);
        }
        let chosen = plane_or_bumps(z.columns(), |begin| search(&part, &some, &ones, begin)).0;
        let found = Self::new(z, u, &chosen)?;
        let degrees = (u.values().len() / z.rows()) as f64;
        Ok(found.is_clear(&sizes, degrees).then_some(found))
    }

    /// With a regression chosen before.
    pub fn new(z: &Points, u: &Points, regression: &RegressionHyperparameters) -> Result<Self, Error> {
        let sizes = sizes(z, u);
        let targets = ln_sizes(&sizes);
        let fitted = Regression::new(z, &targets, &vec![1.0; targets.len()], regression, false)?;
        let (spread, relative) = Spread::new(fitted, &targets);
        let level = sizes.iter().zip(&relative).map(|(s, w)| s / w).sum::<f64>() / sizes.len() as f64;
        let left_out = relative.iter().map(|w| level * w).collect();
        Ok(Self { regression: regression.clone(), spread, level, left_out })
    }

    /// Whether it gains more than chance, by all residuals and not by a few.
    fn is_clear(&self, sizes: &[f64], degrees: f64) -> bool {
        let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
        let gains: Vec<f64> =
            sizes.iter().zip(&self.left_out).map(|(s, v)| 0.5 * degrees * ((mean / v).ln() + s * (1.0 / mean - 1.0 / v))).collect();
        let (gain, error) = (gains.iter().sum::<f64>(), gains.iter().map(|gain| gain * gain).sum::<f64>().sqrt());
        gain > MARGIN && gain > ERRORS * error
    }

    /// What was chosen.
    pub fn hyperparameters(&self) -> &RegressionHyperparameters {
        &self.regression
    }

    /// The simulations' own residuals with unit variance.
    pub fn divide_own(&self, u: &mut Points) {
        divide(u, &self.left_out);
    }

    /// Residuals at each z with unit variance, in place, and ln of the root of what they were divided by, of all statistics and repeats.
    pub fn divide_at(&self, z: &Points, u: &mut Points) -> Vec<f64> {
        let variances = self.variances(z);
        divide(u, &variances);
        let degrees = u.values().len() as f64 / z.rows().max(1) as f64;
        variances.into_iter().map(|v| 0.5 * degrees * v.ln()).collect()
    }

    /// The variance at each z.
    pub fn variances(&self, z: &Points) -> Vec<f64> {
        self.spread.relative_noise(z).into_iter().map(|w| self.level * w).collect()
    }

    /// [`CommonSpread::variances`], ready for gradients.
    pub fn trace(&self, z: &Points) -> (Vec<f64>, Traced<'_>) {
        let (relative, traced) = self.spread.trace(z);
        (relative.into_iter().map(|w| self.level * w).collect(), traced)
    }

    /// ∂/∂z of `of_ln` times ln of the variance at each query.
    pub fn pulls(&self, traced: &Traced<'_>, variances: &[f64], of_ln: &[f64]) -> Points {
        let of_noise: Vec<f64> = of_ln.iter().zip(variances).map(|(of_ln, v)| of_ln * self.level / v).collect();
        self.spread.pulls(traced, &of_noise)
    }
}

/// |u|²/n of each simulation, over all its repeats.
fn sizes(z: &Points, u: &Points) -> Vec<f64> {
    let together = u.values().len() / z.rows();
    u.values().chunks(together).map(|u| dot(u, u) / together as f64).collect()
}

fn ln_sizes(sizes: &[f64]) -> Vec<f64> {
    let tiny = (1e-12 * sizes.iter().sum::<f64>() / sizes.len() as f64).max(f64::MIN_POSITIVE);
    sizes.iter().map(|s| (s + tiny).ln()).collect()
}

/// Divides the rows of each simulation by the root of its variance.
fn divide(u: &mut Points, variances: &[f64]) {
    let together = u.values().len() / variances.len().max(1);
    for (u, variance) in u.values_mut().chunks_mut(together.max(1)).zip(variances) {
        let scale = 1.0 / variance.sqrt();
        u.iter_mut().for_each(|u| *u *= scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, standard_normal, stream};

    /// Six residuals at each of m points, with standard deviation exp(slope z/2).
    fn data(m: usize, slope: f64) -> (Points, Points) {
        let mut rng = stream(5, Purpose::Experiment, 0);
        let mut one = || {
            let z = standard_normal(&mut rng);
            (vec![z], (0..6).map(|_| (0.5 * slope * z).exp() * standard_normal(&mut rng)).collect::<Vec<_>>())
        };
        let (z, u): (Vec<_>, Vec<_>) = (0..m).map(|_| one()).unzip();
        (Points::from_rows(&z).unwrap(), Points::from_rows(&u).unwrap())
    }

    #[test]
    fn a_spread_that_all_share_is_found_and_none_where_there_is_none() {
        let (z, u) = data(400, 0.5);
        let found = CommonSpread::learn(&z, &u).unwrap().unwrap();
        let at = Points::from_column(vec![-1.0, 0.0, 1.0]);
        for (variance, z) in found.variances(&at).iter().zip([-1.0f64, 0.0, 1.0]) {
            assert!((variance.ln() - 0.5 * z).abs() < 0.15, "{variance} at {z}");
        }
        let (still, alike) = data(400, 0.0);
        assert!(CommonSpread::learn(&still, &alike).unwrap().is_none());
    }

    #[test]
    fn a_few_wild_simulations_are_no_common_spread() {
        let (z, mut u) = data(400, 0.0);
        for row in 0..4 {
            u.row_mut(row).iter_mut().for_each(|u| *u *= 12.0);
        }
        assert!(CommonSpread::learn(&z, &u).unwrap().is_none());
    }

    #[test]
    fn divided_residuals_have_unit_variance_and_the_logarithm_is_that_of_the_density() {
        let (z, u) = data(400, 0.5);
        let found = CommonSpread::learn(&z, &u).unwrap().unwrap();
        let mut own = u.clone();
        found.divide_own(&mut own);
        assert!((dot(own.values(), own.values()) / own.values().len() as f64 - 1.0).abs() < 1e-9);
        let (at, mut one) = (Points::from_column(vec![0.8]), Points::from_rows(&[vec![1.0, -2.0, 0.5, 0.0, 1.0, 1.0]]).unwrap());
        let ln = found.divide_at(&at, &mut one)[0];
        let variance = found.variances(&at)[0];
        assert!((one.row(0)[1] + 2.0 / variance.sqrt()).abs() < 1e-12 && (ln - 3.0 * variance.ln()).abs() < 1e-12);
    }

    #[test]
    fn slopes_are_those_of_the_logarithm() {
        let (z, u) = data(400, 0.5);
        let found = CommonSpread::learn(&z, &u).unwrap().unwrap();
        let ln = |z: f64| found.variances(&Points::from_column(vec![z]))[0].ln();
        let at = Points::from_column(vec![0.4]);
        let (variances, traced) = found.trace(&at);
        let slope = found.pulls(&traced, &variances, &[3.0]).row(0)[0];
        assert!((slope - 3.0 * (ln(0.4 + 1e-5) - ln(0.4 - 1e-5)) / 2e-5).abs() < 1e-5);
    }
}
