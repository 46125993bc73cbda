//! The conformance kit of kernels: symmetry, unit diagonal, positive definiteness, and agreement of its different forms.

use crate::Points;
use crate::kernel::Kernel;
use crate::random::{Purpose, standard_normal, stream};

/// Points the kernel is asked about, spread over a few of its length scales.
const POINTS: usize = 25;
/// Rounding of one kernel value.
const ROUNDING: f64 = 1e-14;
/// Error of the differences the slopes are compared with.
const SLOPE: f64 = 1e-6;

/// Whether `kernel` keeps the promises the rest of the library relies on; the message says which one it breaks and where:
/// ℓ(a, b) = ℓ(b, a) in [0, 1], ℓ(a, a) = 1, Gram matrices without negative eigenvalues, rows equal to single values,
/// slopes equal to the derivative in ln β.
pub fn check_kernel(kernel: &Kernel) -> Result<(), String> {
    let points = points(kernel);
    let scaled = kernel.scale(&points);
    let gram = kernel.gram(&scaled, 0.0);
    let mut row = vec![0.0; POINTS];
    for (i, a) in points.iter().enumerate() {
        kernel.row(&scaled, &kernel.scale_query(a), &mut row);
        for (j, b) in points.iter().enumerate() {
            let value = kernel.value(a, b);
            let pair = format!("at {a:?} and {b:?}");
            require((0.0..=1.0).contains(&value), || format!("ℓ = {value} {pair} is outside [0, 1]"))?;
            require(value == kernel.value(b, a), || format!("ℓ is not symmetric {pair}"))?;
            require(i != j || value == 1.0, || format!("ℓ = {value} {pair}, a point and itself, is not 1"))?;
            require((row[j] - value).abs() <= ROUNDING, || format!("the row gives {} and the value {value} {pair}", row[j]))?;
            require((gram[i * POINTS + j] - value).abs() <= ROUNDING, || format!("the Gram matrix disagrees with {value} {pair}"))?;
        }
    }
    check_definite(gram)?;
    (0..POINTS).try_for_each(|i| check_slopes(kernel, &points, i))
}

fn require(holds: bool, message: impl Fn() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

fn points(kernel: &Kernel) -> Points {
    let mut rng = stream(0, Purpose::Experiment, 0);
    let mut points = Points::zeros(POINTS, kernel.dimension());
    for i in 0..POINTS {
        for (z, scale) in points.row_mut(i).iter_mut().zip(kernel.length_scales()) {
            *z = 1.5 * scale * standard_normal(&mut rng);
        }
    }
    points
}

/// Positive semi-definite: L + ridge · I has a Cholesky factor for a ridge of the size of rounding.
fn check_definite(mut gram: Vec<f64>) -> Result<(), String> {
    for i in 0..POINTS {
        gram[i * POINTS + i] += ROUNDING * POINTS as f64;
    }
    let factor = crate::linalg::Cholesky::new(gram, POINTS);
    factor.map(|_| ()).map_err(|bad| format!("a Gram matrix is not positive semi-definite: pivot {} is {:e}", bad.index, bad.value))
}

/// ∂ℓ/∂ ln β_d = s (a_d - b_d)²/β_d² against central differences.
fn check_slopes(kernel: &Kernel, points: &Points, i: usize) -> Result<(), String> {
    const STEP: f64 = 1e-4;
    let mut slopes = vec![0.0; POINTS];
    kernel.slope_row(&kernel.scale(points), &kernel.scale_query(points.row(i)), &mut slopes);
    for d in 0..kernel.dimension() {
        let stretched = |by: f64| {
            let mut scales = kernel.length_scales().to_vec();
            scales[d] *= by.exp();
            Kernel::new(kernel.family(), scales).map_err(|error| error.to_string())
        };
        let (longer, shorter) = (stretched(STEP)?, stretched(-STEP)?);
        for (j, b) in points.iter().enumerate() {
            let a = points.row(i);
            let expected = (longer.value(a, b) - shorter.value(a, b)) / (2.0 * STEP);
            let found = slopes[j] * ((a[d] - b[d]) / kernel.length_scales()[d]).powi(2);
            require((found - expected).abs() <= SLOPE, || {
                format!("∂ℓ/∂ ln β_{d} is {found:e} at {a:?} and {b:?}, differences give {expected:e}")
            })?;
        }
    }
    Ok(())
}
