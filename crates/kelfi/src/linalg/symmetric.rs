//! Eigenvalues and eigenvectors of a small symmetric matrix by Jacobi's rotations.
//!
//! Ours rather than faer's: orders are a handful, and Jacobi keeps the relative error of the small eigenvalues of a covariance small
//! (Demmel & Veselić 1992), which a reduction to three diagonals does not.

/// Sweeps over all pairs; convergence is quadratic and takes six or seven.
const SWEEPS: usize = 60;

/// Eigenvalues, largest first, and the unit eigenvector of each, of a symmetric matrix of this order given row after row.
pub fn eigen(matrix: &[f64], order: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mut a = matrix.to_vec();
    let mut vectors: Vec<Vec<f64>> = (0..order).map(|i| (0..order).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for _ in 0..SWEEPS {
        let off: f64 = pairs(order).map(|(p, q)| a[p * order + q].powi(2)).sum();
        let diagonal: f64 = (0..order).map(|p| a[p * order + p].powi(2)).sum();
        if off <= 1e-30 * diagonal {
            break;
        }
        pairs(order).for_each(|(p, q)| rotate(&mut a, &mut vectors, order, p, q));
    }
    let mut found: Vec<(f64, Vec<f64>)> = (0..order).map(|p| a[p * order + p]).zip(vectors).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().unzip()
}

fn pairs(order: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..order).flat_map(move |p| (p + 1..order).map(move |q| (p, q)))
}

/// Makes entry (p, q) zero.
fn rotate(a: &mut [f64], vectors: &mut [Vec<f64>], order: usize, p: usize, q: usize) {
    let apq = a[p * order + q];
    if apq == 0.0 {
        return;
    }
    let theta = (a[q * order + q] - a[p * order + p]) / (2.0 * apq);
    let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    for k in 0..order {
        let (akp, akq) = (a[k * order + p], a[k * order + q]);
        a[k * order + p] = c * akp - s * akq;
        a[k * order + q] = s * akp + c * akq;
    }
    for k in 0..order {
        let (apk, aqk) = (a[p * order + k], a[q * order + k]);
        a[p * order + k] = c * apk - s * aqk;
        a[q * order + k] = s * apk + c * aqk;
    }
    for k in 0..order {
        let (vp, vq) = (vectors[p][k], vectors[q][k]);
        vectors[p][k] = c * vp - s * vq;
        vectors[q][k] = s * vp + c * vq;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvectors_give_the_matrix_back() {
        let matrix = [4.0, 1.0, -2.0, 1.0, 3.0, 0.5, -2.0, 0.5, 1.0];
        let (values, vectors) = eigen(&matrix, 3);
        assert!(values[0] > values[1] && values[1] > values[2]);
        for i in 0..3 {
            for j in 0..3 {
                let back: f64 = (0..3).map(|k| values[k] * vectors[k][i] * vectors[k][j]).sum();
                let product: f64 = (0..3).map(|k| vectors[i][k] * vectors[j][k]).sum();
                assert!((back - matrix[3 * i + j]).abs() < 1e-12, "{back}");
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12, "{product}");
            }
        }
    }
}
