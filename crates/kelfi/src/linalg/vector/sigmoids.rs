//! The kernel of sums of sigmoids: the first terms of an arcsine.

use super::fused;

vectorised! {
    /// Replaces each q by f(q) = (2/π) (q + q³/6 + 3q⁵/40 + 5q⁷/112) and writes f'(q) to `slopes`.
    pub fn sigmoid_kernel(values: &mut [f64], slopes: &mut [f64]) = sigmoid_kernel_body
}

vectorised! {
    /// out_j = f(Σ_d columns_d[j] query_d), f as in [`sigmoid_kernel`].
    pub fn sigmoid_kernel_row(columns: &[f64], query: &[f64], out: &mut [f64]) = sigmoid_kernel_row_body
}

/// The first Taylor coefficients of (2/π) arcsin q: of q, q³, q⁵, q⁷.
const ARCSINE: [f64; 4] = [
    std::f64::consts::FRAC_2_PI,
    std::f64::consts::FRAC_2_PI / 6.0,
    std::f64::consts::FRAC_2_PI * 3.0 / 40.0,
    std::f64::consts::FRAC_2_PI * 5.0 / 112.0,
];

#[inline(always)]
fn sigmoid_kernel_one<const FMA: bool>(q: f64) -> f64 {
    let square = q * q;
    let cubic = fused::<FMA>(square, fused::<FMA>(square, fused::<FMA>(square, ARCSINE[3], ARCSINE[2]), ARCSINE[1]), ARCSINE[0]);
    q * cubic
}

#[inline(always)]
fn sigmoid_kernel_body<const FMA: bool>(values: &mut [f64], slopes: &mut [f64]) {
    for (value, slope) in values.iter_mut().zip(slopes) {
        let square = *value * *value;
        let inner = fused::<FMA>(square, fused::<FMA>(square, 7.0 * ARCSINE[3], 5.0 * ARCSINE[2]), 3.0 * ARCSINE[1]);
        *slope = fused::<FMA>(square, inner, ARCSINE[0]);
        *value = sigmoid_kernel_one::<FMA>(*value);
    }
}

#[inline(always)]
fn sigmoid_kernel_row_body<const FMA: bool>(columns: &[f64], query: &[f64], out: &mut [f64]) {
    const WIDTH: usize = 32; // four registers of eight: sums stay in them over all coordinates
    let m = out.len();
    let mut start = 0;
    for block in out.chunks_mut(WIDTH) {
        let mut sums = [0.0; WIDTH];
        for (d, &q) in query.iter().enumerate() {
            let column = &columns[d * m + start..d * m + start + block.len()];
            match <&[f64; WIDTH]>::try_from(column) {
                Ok(column) => (0..WIDTH).for_each(|lane| sums[lane] = fused::<FMA>(column[lane], q, sums[lane])),
                Err(_) => sums.iter_mut().zip(column).for_each(|(sum, c)| *sum = fused::<FMA>(*c, q, *sum)),
            }
        }
        block.iter_mut().zip(&sums).for_each(|(value, sum)| *value = sigmoid_kernel_one::<FMA>(*sum));
        start += block.len();
    }
}
