//! One more coordinate: z along the direction in which a statistic rises.

use super::regression::Standard;
use crate::Points;
use crate::linalg::Cholesky;
use crate::linalg::vector::dot;

/// The unit vector along which the least-squares plane through the targets rises.
pub fn steepest(z: &Points, targets: &[f64]) -> Option<Vec<f64>> {
    let (m, dimension) = (z.rows(), z.columns());
    if dimension < 2 {
        return None;
    }
    let centred = Standard::of(targets).apply(targets);
    let means: Vec<f64> = (0..dimension).map(|d| z.iter().map(|z| z[d]).sum::<f64>() / m as f64).collect();
    let mut normal = vec![0.0; dimension * dimension];
    let mut slope = vec![0.0; dimension];
    for (z, t) in z.iter().zip(&centred) {
        for d in 0..dimension {
            slope[d] += (z[d] - means[d]) * t;
            for e in 0..dimension {
                normal[d * dimension + e] += (z[d] - means[d]) * (z[e] - means[e]);
            }
        }
    }
    // A ridge of one simulation's weight keeps few or repeated simulations solvable.
    (0..dimension).for_each(|d| normal[d * dimension + d] += 1.0);
    Cholesky::new(normal, dimension).ok()?.solve_in_place(&mut slope);
    let length = dot(&slope, &slope).sqrt();
    (length > 0.0).then(|| slope.into_iter().map(|s| s / length).collect())
}

/// z with its component along the direction as last coordinate.
pub fn along(z: &Points, direction: Option<&[f64]>) -> Points {
    match direction {
        Some(direction) => z.map_rows(z.columns() + 1, |z| z.iter().copied().chain([dot(z, direction)]).collect()),
        None => z.clone(),
    }
}
