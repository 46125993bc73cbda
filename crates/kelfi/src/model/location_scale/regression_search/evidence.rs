//! ln p(t) = -½ tᵀ A⁻¹ t - ½ ln|A| + const of a regression, with gradient ½ Σ_ij M_ij ∂A_ij, M = α αᵀ - A⁻¹.

use crate::Points;
use crate::linalg::products::{combine_rows, transpose};
use crate::linalg::vector::{affine_row, dot, pulled_row};
use crate::linalg::{Cholesky, spare};
use crate::model::location_scale::curve::{Bend, CurvePoints};
use crate::model::location_scale::features::RegressionFeatures;
use crate::model::location_scale::regression::{RegressionHyperparameters, covariance};
use crate::solver::Pivots;

/// ln p(t) and its gradient without the curved part, in O(m D²).
pub fn of_a_plane(z: &Points, t: &[f64], relative_noise: &[f64], h: &RegressionHyperparameters) -> (f64, Vec<f64>) {
    let noise: Vec<f64> = relative_noise.iter().map(|&w| h.noise_variance(w)).collect();
    let noisy_part: Vec<f64> = relative_noise.iter().map(|w| h.noise.powi(2) * w).collect();
    let Some(features) = RegressionFeatures::new(Pivots::none(), z, noise, h) else {
        return failed(h);
    };
    let (value, slopes, of_noise) = features.process.evidence(t, &noisy_part);
    // The first feature is the constant.
    let tilts = &slopes[1..];
    let mut gradient = vec![0.0, tilts.iter().sum(), of_noise];
    gradient.extend(tilts.iter().map(|tilt| -tilt));
    (value, gradient)
}

/// ln p(t) and its gradient.
pub fn value_and_gradient(z: &Points, t: &[f64], relative_noise: &[f64], h: &RegressionHyperparameters) -> (f64, Vec<f64>) {
    match h.form {
        Bend::Bumps => of_bumps(z, t, relative_noise, h),
        Bend::Sigmoids => of_any(z, t, relative_noise, h),
    }
}

/// ln p(t) alone; -∞ where A cannot be factored.
pub fn value(z: &Points, t: &[f64], relative_noise: &[f64], h: &RegressionHyperparameters) -> f64 {
    let Some(Factored { gram, cholesky, .. }) = factored(z, relative_noise, h) else { return f64::NEG_INFINITY };
    let value = -0.5 * dot(t, &cholesky.solve(t)) - 0.5 * cholesky.ln_determinant();
    [gram, cholesky.into_values()].into_iter().for_each(spare::give);
    value
}

fn failed(h: &RegressionHyperparameters) -> (f64, Vec<f64>) {
    (f64::NAN, vec![f64::NAN; 3 + h.length_scales.len()])
}

/// A, factored, with the ℓ it has on and above its diagonal.
struct Factored {
    points: CurvePoints,
    gram: Vec<f64>,
    cholesky: Cholesky,
}

fn factored(z: &Points, relative_noise: &[f64], h: &RegressionHyperparameters) -> Option<Factored> {
    let (m, curve) = (z.rows(), h.curve());
    let points = curve.points(z);
    let mut gram = spare::zeros(m * m);
    curve.upper(&points, &mut gram);
    let slopes = h.slopes();
    let tilted = z.map_rows(z.columns(), |z| z.iter().zip(&slopes).map(|(z, slope)| z * slope).collect());
    let (columns, mut values) = (transpose(tilted.values(), z.columns()), spare::zeros(m * m));
    for (j, row) in values.chunks_mut(m).enumerate() {
        affine_row(&columns, j, tilted.row(j), h.curved.powi(2), &gram[j * m + j..(j + 1) * m], &mut row[j..]);
        row[j] += h.noise_variance(relative_noise[j]);
    }
    Some(Factored { points, gram, cholesky: Cholesky::new(values, m).ok()? })
}

/// The same where bumps bend, from the tables on and above the diagonal alone:
///
/// ½ Σ_ij M_ij ∂A_ij/∂ ln a = a² (Σ_i M_ii + 2 Σ_{i<j} M_ij ℓ_ij), in ln s² half of Σ_i M_ii s² w_i, of the slope along d, with c = z/β,
/// b² ((α·c_d)² - |C⁻¹ c_d|²), C Cᵀ = A.
fn of_bumps(z: &Points, t: &[f64], relative_noise: &[f64], h: &RegressionHyperparameters) -> (f64, Vec<f64>) {
    let Some(Factored { points, gram, cholesky }) = factored(z, relative_noise, h) else { return failed(h) };
    let (m, columns, a2, b2) = (z.rows(), z.columns(), h.curved.powi(2), h.linear.powi(2));
    let alpha = cholesky.solve(t);
    let value = -0.5 * dot(t, &alpha) - 0.5 * cholesky.ln_determinant();
    let mut halves = points.columns().to_vec();
    cholesky.half_solve_in_place(&mut halves);
    let tilt = |(c, half): (&[f64], &[f64])| b2 * (dot(&alpha, c).powi(2) - dot(half, half));
    let tilts: Vec<f64> = points.columns().chunks(m).zip(halves.chunks(m)).map(tilt).collect();
    let mut pulls = spare::zeros(m * m);
    cholesky.inverse_into(&mut pulls);
    let (mut noise, mut bends) = (0.0, 0.0);
    for (i, row) in pulls.chunks_mut(m).enumerate() {
        let own = alpha[i] * alpha[i] - row[i];
        noise += own * h.noise.powi(2) * relative_noise[i];
        bends += own + 2.0 * pulled_row(alpha[i], &alpha[i + 1..], &gram[i * m + i + 1..(i + 1) * m], &mut row[i + 1..]);
    }
    let mut gradient = Vec::with_capacity(3 + columns);
    gradient.extend([a2 * bends, tilts.iter().sum(), noise]);
    gradient.extend(h.curve().slopes_of_bumps(&points, &pulls).into_iter().zip(tilts).map(|(bend, tilt)| a2 * bend - tilt));
    [gram, pulls, cholesky.into_values()].into_iter().for_each(spare::give);
    (value, gradient)
}

/// The same for any kernel.
fn of_any(z: &Points, t: &[f64], relative_noise: &[f64], h: &RegressionHyperparameters) -> (f64, Vec<f64>) {
    let m = z.rows();
    let curve = h.curve();
    let points = curve.points(z);
    let matrices = curve.matrices(&points);
    let Ok(cholesky) = Cholesky::new(covariance(h, &matrices.gram, z, relative_noise), m) else { return failed(h) };
    let alpha = cholesky.solve(t);
    let value = -0.5 * dot(t, &alpha) - 0.5 * cholesky.ln_determinant();
    let mut m_matrix = cholesky.inverse();
    let (a2, b2) = (h.curved.powi(2), h.linear.powi(2));
    let mut noise = 0.0;
    for (i, row) in m_matrix.chunks_mut(m).enumerate() {
        for (j, p) in row.iter_mut().enumerate() {
            *p = alpha[i] * alpha[j] - *p;
        }
        noise += row[i] * h.noise.powi(2) * relative_noise[i];
    }
    let columns = z.columns();
    let zm = combine_rows(&m_matrix, z.values(), m);
    let tilt = |d: usize| b2 / h.length_scales[d].powi(2) * (0..m).map(|i| z.row(i)[d] * zm[i * columns + d]).sum::<f64>();
    let tilts: Vec<f64> = (0..columns).map(tilt).collect();
    let mut gradient = vec![a2 * dot(&m_matrix, &matrices.gram), tilts.iter().sum(), noise];
    gradient.extend(curve.slopes(&points, &matrices, &m_matrix).into_iter().zip(tilts).map(|(bend, tilt)| a2 * bend - tilt));
    (value, gradient)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_tables_says_of_bumps_what_all_of_them_say() {
        let rows: Vec<Vec<f64>> = (0..70).map(|i| vec![(i as f64 * 0.7).sin() * 2.0, (i as f64 * 0.37).cos(), i as f64 * 0.03]).collect();
        let z = Points::from_rows(&rows).unwrap();
        let t: Vec<f64> = rows.iter().map(|r| r[0].sin() + 0.3 * r[1]).collect();
        let w: Vec<f64> = (0..70).map(|i| 0.5 + (i % 3) as f64).collect();
        let h = RegressionHyperparameters { form: Bend::Bumps, curved: 0.8, linear: 0.4, noise: 0.3, length_scales: vec![0.9, 1.7, 3.0] };
        let (half, all) = (value_and_gradient(&z, &t, &w, &h), of_any(&z, &t, &w, &h));
        assert!((half.0 - all.0).abs() < 1e-10 && (value(&z, &t, &w, &h) - all.0).abs() < 1e-10, "{} {}", half.0, all.0);
        assert!(half.1.iter().zip(&all.1).all(|(a, b)| (a - b).abs() < 1e-8 * (1.0 + b.abs())), "{:?} {:?}", half.1, all.1);
    }
}
