//! Rows of the tables that regressions, solvers and herding make, in one pass each.

use super::{fused, gaussian_row_body, lane_sum};

vectorised! {
    /// sums_k += exp(-½ Σ_d (columns_d[k] - query_d)²).
    pub fn add_gaussian_row(columns: &[f64], query: &[f64], sums: &mut [f64]) = add_gaussian_row_body
}

#[inline(always)]
fn add_gaussian_row_body<const FMA: bool>(columns: &[f64], query: &[f64], sums: &mut [f64]) {
    const BLOCK: usize = 64;
    let mut start = 0;
    for sums in sums.chunks_mut(BLOCK) {
        let mut row = [0.0; BLOCK];
        let row = &mut row[..sums.len()];
        gaussian_row_body::<FMA>(columns, start, query, row);
        sums.iter_mut().zip(&*row).for_each(|(sum, value)| *sum += value);
        start += sums.len();
    }
}

vectorised! {
    /// out_k = 1 + scale · gram_k + Σ_d columns_d[start + k] query_d.
    pub fn affine_row(columns: &[f64], start: usize, query: &[f64], scale: f64, gram: &[f64], out: &mut [f64]) = affine_row_body
}

#[inline(always)]
fn affine_row_body<const FMA: bool>(columns: &[f64], start: usize, query: &[f64], scale: f64, gram: &[f64], out: &mut [f64]) {
    let m = if query.is_empty() { out.len() } else { columns.len() / query.len() };
    out.iter_mut().zip(gram).for_each(|(out, gram)| *out = fused::<FMA>(scale, *gram, 1.0));
    for (d, &q) in query.iter().enumerate() {
        let column = &columns[d * m + start..d * m + start + out.len()];
        out.iter_mut().zip(column).for_each(|(out, c)| *out = fused::<FMA>(*c, q, *out));
    }
}

vectorised! {
    /// out_k *= v_k w + v w_k, for the `v_own` and `w_own` of another.
    pub fn scale_by_pairs(out: &mut [f64], v: &[f64], w: &[f64], v_own: f64, w_own: f64) = scale_by_pairs_body
}

#[inline(always)]
fn scale_by_pairs_body<const FMA: bool>(out: &mut [f64], v: &[f64], w: &[f64], v_own: f64, w_own: f64) {
    let length = out.len();
    let (v, w) = (&v[..length], &w[..length]);
    for k in 0..length {
        out[k] *= fused::<FMA>(v[k], w_own, v_own * w[k]);
    }
}

vectorised! {
    /// Replaces p_k by (scale · a_k - p_k) b_k and gives the sum of these.
    pub fn pulled_row(scale: f64, a: &[f64], b: &[f64], p: &mut [f64]) -> f64 = pulled_row_body
}

#[inline(always)]
fn pulled_row_body<const FMA: bool>(scale: f64, a: &[f64], b: &[f64], p: &mut [f64]) -> f64 {
    let length = p.len();
    let (a, b) = (&a[..length], &b[..length]);
    for k in 0..length {
        p[k] = fused::<FMA>(scale, a[k], -p[k]) * b[k];
    }
    let p = &*p;
    lane_sum::<FMA>(length, |i, sum| sum + p[i])
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOSE: f64 = 1e-13;

    fn numbers(count: usize, step: f64) -> Vec<f64> {
        (0..count).map(|i| (i as f64 * step).sin()).collect()
    }

    #[test]
    fn rows_are_those_of_plain_loops() {
        let (m, start) = (83, 5);
        let (columns, query, a, b) = (numbers(2 * m, 0.7), [0.3, -0.2], numbers(m, 0.31), numbers(m, 1.3));
        let mut affine = vec![0.0; m - start];
        affine_row(&columns, start, &query, 0.6, &a[start..], &mut affine);
        let (mut pulled, mut pairs, mut sums) = (b.clone(), b.clone(), b.clone());
        let total = pulled_row(0.4, &a, &columns[..m], &mut pulled);
        scale_by_pairs(&mut pairs, &a, &columns[..m], 0.4, -1.1);
        add_gaussian_row(&columns, &query, &mut sums);
        for k in 0..m {
            let of_query = columns[k] * query[0] + columns[m + k] * query[1];
            assert!(k < start || (affine[k - start] - (1.0 + 0.6 * a[k] + of_query)).abs() < CLOSE);
            assert!((pulled[k] - (0.4 * a[k] - b[k]) * columns[k]).abs() < CLOSE);
            assert!((pairs[k] - b[k] * (a[k] * -1.1 + 0.4 * columns[k])).abs() < CLOSE);
            let squared = (columns[k] - query[0]).powi(2) + (columns[m + k] - query[1]).powi(2);
            assert!((sums[k] - b[k] - (-0.5 * squared).exp()).abs() < CLOSE);
        }
        assert!((total - pulled.iter().sum::<f64>()).abs() < CLOSE);
    }
}
