//! A normal prior with any covariance: z = C⁻¹(θ − mean), C the lower Cholesky factor of the covariance.

use crate::{Error, Points};

/// N(mean, covariance).
#[derive(Debug, Clone, PartialEq)]
pub struct MultivariateNormal {
    pub(super) names: Vec<String>,
    pub(super) mean: Vec<f64>,
    pub(super) covariance: Points,
    factor: Points,
}

impl MultivariateNormal {
    /// From a symmetric positive definite covariance.
    pub(super) fn new(names: Vec<String>, mean: Vec<f64>, covariance: &Points) -> Result<Self, Error> {
        let dimension = names.len();
        if mean.len() != dimension || covariance.rows() != dimension || covariance.columns() != dimension {
            return Err(Error::Shape {
                left: "the covariance".into(),
                left_rows: covariance.rows(),
                left_columns: covariance.columns(),
                right: "the mean".into(),
                right_rows: mean.len(),
                right_columns: 1,
                advice: format!("{dimension} names need {dimension} means and a {dimension} × {dimension} covariance"),
            });
        }
        for (name, &value) in names.iter().zip(&mean) {
            Error::require_finite(&format!("mean of {name}"), value)?;
        }
        covariance.require_finite("the covariance")?;
        require_symmetric(covariance)?;
        Ok(Self { factor: cholesky(covariance)?, names, mean, covariance: covariance.clone() })
    }

    /// Mean of θ.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Covariance of θ.
    pub fn covariance(&self) -> &Points {
        &self.covariance
    }

    /// C, lower triangular, with C Cᵀ = covariance and θ = mean + C z.
    pub fn factor(&self) -> &Points {
        &self.factor
    }

    /// ln N(z | 0, I) − ln det C.
    pub(super) fn ln_density(&self, theta: &[f64]) -> f64 {
        let z = self.to_latent(theta);
        let term = |d: usize| crate::special::normal::ln_density(z[d]) - self.factor.row(d)[d].ln();
        (0..z.len()).map(term).sum()
    }

    /// Forward substitution: z_i = (θ_i − mean_i − Σ_{j<i} C_ij z_j) / C_ii.
    pub(super) fn to_latent(&self, theta: &[f64]) -> Vec<f64> {
        let mut z = Vec::with_capacity(theta.len());
        for i in 0..theta.len() {
            let row = self.factor.row(i);
            let explained: f64 = z.iter().zip(row).map(|(z_j, c_ij)| z_j * c_ij).sum();
            z.push((theta[i] - self.mean[i] - explained) / row[i]);
        }
        z
    }

    pub(super) fn from_latent(&self, z: &[f64]) -> Vec<f64> {
        let of_coordinate = |i: usize| self.mean[i] + self.factor.row(i).iter().zip(z).map(|(c, z_j)| c * z_j).sum::<f64>();
        (0..z.len()).map(of_coordinate).collect()
    }
}

/// An error naming the first pair that differs by more than rounding.
fn require_symmetric(matrix: &Points) -> Result<(), Error> {
    const ROUNDING: f64 = 1e-12;
    for i in 0..matrix.rows() {
        for j in 0..i {
            let (lower, upper) = (matrix.row(i)[j], matrix.row(j)[i]);
            if (lower - upper).abs() > ROUNDING * (lower.abs() + upper.abs()) {
                return Err(Error::invalid(
                    format!("covariance[{i}][{j}]"),
                    lower,
                    format!("it must equal covariance[{j}][{i}] = {upper}"),
                ));
            }
        }
    }
    Ok(())
}

/// The lower triangular C with C Cᵀ = matrix, column after column.
fn cholesky(matrix: &Points) -> Result<Points, Error> {
    let order = matrix.rows();
    let mut c = Points::zeros(order, order);
    for j in 0..order {
        let pivot = matrix.row(j)[j] - c.row(j)[..j].iter().map(|value| value * value).sum::<f64>();
        // Below the rounding of the diagonal a pivot has no correct digit.
        if pivot.is_nan() || pivot <= f64::EPSILON * order as f64 * matrix.row(j)[j] {
            return Err(Error::invalid(format!("pivot {j} of the prior's covariance"), pivot, "the covariance must be positive definite"));
        }
        c.row_mut(j)[j] = pivot.sqrt();
        for i in j + 1..order {
            let explained: f64 = (0..j).map(|k| c.row(i)[k] * c.row(j)[k]).sum();
            c.row_mut(i)[j] = (matrix.row(i)[j] - explained) / c.row(j)[j];
        }
    }
    Ok(c)
}
