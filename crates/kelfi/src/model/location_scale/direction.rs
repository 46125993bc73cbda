//! One more coordinate: z along a direction in which a statistic rises or bends.

use super::constants::direction::{POWER_STEPS, STEP};
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
    unit(slope)
}

/// The same direction at length one; `None` of no length.
fn unit(vector: Vec<f64>) -> Option<Vec<f64>> {
    let length = dot(&vector, &vector).sqrt();
    (length > 0.0).then(|| vector.into_iter().map(|v| v / length).collect())
}

/// The unit vector along which the slope of `mean` changes most: the first principal axis of its gradients at all z.
pub fn most_bent(z: &Points, mean: impl Fn(&Points) -> Vec<f64>) -> Option<Vec<f64>> {
    let (m, dimension) = (z.rows(), z.columns());
    let shifted =
        |d: usize, by: f64| mean(&z.map_rows(dimension, |z| z.iter().enumerate().map(|(e, z)| if e == d { z + by } else { *z }).collect()));
    let slopes: Vec<Vec<f64>> = (0..dimension)
        .map(|d| {
            let slope: Vec<f64> = shifted(d, STEP).iter().zip(shifted(d, -STEP)).map(|(up, down)| (up - down) / (2.0 * STEP)).collect();
            let centre = slope.iter().sum::<f64>() / m as f64;
            slope.into_iter().map(|s| s - centre).collect()
        })
        .collect();
    let covariance: Vec<f64> = (0..dimension * dimension).map(|k| dot(&slopes[k / dimension], &slopes[k % dimension])).collect();
    let widest = (0..dimension).max_by(|&a, &b| covariance[a * dimension + a].total_cmp(&covariance[b * dimension + b]))?;
    let mut axis = unit(covariance[widest * dimension..(widest + 1) * dimension].to_vec())?;
    for _ in 0..POWER_STEPS {
        axis = unit(covariance.chunks(dimension).map(|row| dot(row, &axis)).collect())?;
    }
    Some(axis)
}

/// z with its component along the direction as last coordinate.
pub fn along(z: &Points, direction: Option<&[f64]>) -> Points {
    match direction {
        Some(direction) => {
            let mut values = Vec::with_capacity(z.rows() * (z.columns() + 1));
            for z in z.iter() {
                values.extend_from_slice(z);
                values.push(dot(z, direction));
            }
            Points::new(values, z.rows(), z.columns() + 1).expect("one more coordinate each")
        }
        None => z.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Points {
        let rows: Vec<Vec<f64>> = (0..49).map(|k| vec![(k / 7) as f64 - 3.0, (k % 7) as f64 - 3.0]).collect();
        Points::from_rows(&rows).unwrap()
    }

    #[test]
    fn the_direction_of_the_strongest_bend_does_not_see_slopes() {
        let mean = |z: &Points| z.iter().map(|z| (0.6 * z[0] - 0.8 * z[1]).powi(2) + 50.0 * z[0]).collect();
        let found = most_bent(&grid(), mean).unwrap();
        assert!(dot(&found, &[0.6, -0.8]).abs() > 1.0 - 1e-9, "{found:?}");
        assert!(most_bent(&grid(), |z| vec![1.0; z.rows()]).is_none());
    }

    #[test]
    fn the_steepest_direction_is_the_slope_of_a_plane() {
        let targets: Vec<f64> = grid().iter().map(|z| 3.0 * z[0] + 4.0 * z[1] - 2.0).collect();
        let found = steepest(&grid(), &targets).unwrap();
        assert!(dot(&found, &[0.6, 0.8]) > 1.0 - 1e-9, "{found:?}");
    }
}
