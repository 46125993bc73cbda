//! How the residuals of the statistics belong together.

use super::statistic::Statistic;
use crate::linalg::Cholesky;
use crate::linalg::products::rows_dot_rows;
use crate::{Error, Points};

/// Standardised residuals, a simulation a row.
pub fn standardised(statistics: &[Statistic]) -> Points {
    let mut all = Points::zeros(statistics[0].standardised().len(), statistics.len());
    for (k, statistic) in statistics.iter().enumerate() {
        for (i, value) in statistic.standardised().iter().enumerate() {
            all.row_mut(i)[k] = *value;
        }
    }
    all
}

/// C of the standardised residuals, factored (shrunk towards the identity as far as their number demands), and C^-½ times each.
pub fn whiten(statistics: &[Statistic]) -> Result<(Cholesky, Points), Error> {
    factored(&standardised(statistics))
}

/// The same of residuals, one a row.
pub fn factored(residuals: &Points) -> Result<(Cholesky, Points), Error> {
    let (m, n) = (residuals.rows(), residuals.columns());
    let mut u = residuals.clone();
    let columns: Vec<f64> = (0..n).flat_map(|k| residuals.column(k)).collect();
    let mut correlation: Vec<f64> = rows_dot_rows(&columns, &columns, m).into_iter().map(|c| c / m as f64).collect();
    shrink(&mut correlation, &u);
    let cholesky = Cholesky::new(correlation, n).map_err(|bad| bad.error(n, 0.0))?;
    cholesky.half_solve_in_place(u.values_mut());
    Ok((cholesky, u))
}

/// Ledoit and Wolf's shrinkage of a correlation matrix towards the identity: by how much its entries are noise.
fn shrink(correlation: &mut [f64], u: &Points) {
    let (m, n) = (u.rows() as f64, u.columns());
    let mut noise = 0.0;
    for row in u.iter() {
        for i in 0..n {
            for j in 0..n {
                noise += (row[i] * row[j] - correlation[i * n + j]).powi(2);
            }
        }
    }
    noise /= m * m;
    let distance: f64 = (0..n * n).map(|k| (correlation[k] - f64::from(u8::from(k % (n + 1) == 0))).powi(2)).sum();
    let share = if distance > 0.0 { (noise / distance).clamp(1e-6, 1.0) } else { 1.0 };
    for (k, value) in correlation.iter_mut().enumerate() {
        *value = (1.0 - share) * *value + share * f64::from(u8::from(k % (n + 1) == 0));
    }
}
