//! Vectorised loops over slices. Each has one body, compiled for AVX-512, for AVX2 with fused multiply-add, and portably.
//!
//! Sums run in eight fixed lanes, long ones in thirty-two, so their value depends on the data only.

/// Defines a public function whose body is compiled with AVX-512, with AVX2 and FMA, and with neither, and chosen at run time. Every value takes
/// the same fused operations in both wide ones, so that they have the same bits. `mul_add` without the instruction is a slow library call,
/// hence the const parameter.
macro_rules! vectorised {
    ($(#[$meta:meta])* pub fn $name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)? = $body:ident) => {
        $(#[$meta])*
        pub fn $name($($arg: $type),*) $(-> $out)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
                fn widest($($arg: $type),*) $(-> $out)? {
                    $body::<true>($($arg),*)
                }
                #[target_feature(enable = "avx2,fma")]
                fn wide($($arg: $type),*) $(-> $out)? {
                    $body::<true>($($arg),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
                    if std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512dq") {
                        // SAFETY: `widest` is safe code whose only demands are AVX-512 F and DQ, AVX2 and FMA, checked above.
                        return unsafe { widest($($arg),*) };
                    }
                    // SAFETY: `wide` is safe code whose only demand is that the processor has AVX2 and FMA, checked above.
                    return unsafe { wide($($arg),*) };
                }
            }
            $body::<false>($($arg),*)
        }
    };
}

mod sigmoids;
mod tables;

pub use sigmoids::{sigmoid_kernel, sigmoid_kernel_row};
pub use tables::{add_gaussian_row, affine_row, pulled_row, scale_by_pairs};

vectorised! {
    /// Replaces each value by its exponential. Relative error below 4e-16; results below 1e-307 become 0.
    pub fn exp_in_place(values: &mut [f64]) = exp_body
}

vectorised! {
    /// Σ_i a_i b_i.
    pub fn dot(a: &[f64], b: &[f64]) -> f64 = dot_body
}

vectorised! {
    /// Σ_i a_i.
    pub fn sum(a: &[f64]) -> f64 = sum_body
}

vectorised! {
    /// Σ_i w_i (u_i - c)².
    pub fn weighted_squares(w: &[f64], u: &[f64], c: f64) -> f64 = weighted_squares_body
}

vectorised! {
    /// out_k = Σ_d (columns_d[start + k] - query_d)², where `columns` holds one coordinate after the other.
    pub fn squared_distances(columns: &[f64], start: usize, query: &[f64], out: &mut [f64]) = squared_distances_body
}

vectorised! {
    /// out_k = exp(-½ Σ_d (columns_d[start + k] - query_d)²): part of a row of a Gaussian kernel matrix in scaled coordinates.
    pub fn gaussian_row(columns: &[f64], start: usize, query: &[f64], out: &mut [f64]) = gaussian_row_body
}

vectorised! {
    /// out_j = exp(-½ Σ_d scale_d (columns_d[j] - query_d)²).
    pub fn weighted_gaussian_row(columns: &[f64], query: &[f64], scale: &[f64], out: &mut [f64]) = weighted_gaussian_row_body
}

#[inline(always)]
fn weighted_gaussian_row_body<const FMA: bool>(columns: &[f64], query: &[f64], scale: &[f64], out: &mut [f64]) {
    const BLOCK: usize = 512;
    let m = out.len();
    let mut start = 0;
    for block in out.chunks_mut(BLOCK) {
        block.fill(0.0);
        for (d, (&q, &s)) in query.iter().zip(scale).enumerate() {
            let column = &columns[d * m + start..d * m + start + block.len()];
            for (sum, &u) in block.iter_mut().zip(column) {
                let difference = u - q;
                *sum = fused::<FMA>(-0.5 * s * difference, difference, *sum);
            }
        }
        exp_body::<FMA>(block);
        start += block.len();
    }
}

vectorised! {
    /// out_j = exp(offset_j - ½ precision_j Σ_d (columns_d[j] - query_d)²).
    pub fn scaled_gaussian_row(columns: &[f64], query: &[f64], precision: &[f64], offset: &[f64], out: &mut [f64]) = scaled_gaussian_row_body
}

vectorised! {
    /// The first index r with the largest a_r - scale · b_r, for slices of equal length that are not empty.
    pub fn first_largest(a: &[f64], b: &[f64], scale: f64) -> usize = first_largest_body
}

#[inline(always)]
fn first_largest_body<const FMA: bool>(a: &[f64], b: &[f64], scale: f64) -> usize {
    let length = a.len().min(b.len());
    let (a, b) = (&a[..length], &b[..length]);
    let value = |i: usize| fused::<FMA>(-scale, b[i], a[i]);
    let mut lanes = [f64::NEG_INFINITY; LANES];
    let whole = length / LANES * LANES;
    let mut start = 0;
    while start < whole {
        for (lane, best) in lanes.iter_mut().enumerate() {
            let candidate = value(start + lane);
            *best = if candidate > *best { candidate } else { *best };
        }
        start += LANES;
    }
    let rest = (whole..length).map(value).fold(f64::NEG_INFINITY, f64::max);
    let largest = lanes.iter().copied().fold(rest, f64::max);
    (0..length).find(|&i| value(i) == largest).unwrap_or(0)
}

#[inline(always)]
fn fused<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// exp(x) = 2^k exp(r), k = round(x / ln 2), |r| ≤ ½ ln 2, exp(r) by the polynomial 1 + r + r² q(r)
/// of degree 11 whose largest relative error there is least (Remez's exchange; 9e-18).
#[inline(always)]
fn exp_one<const FMA: bool>(x: f64) -> f64 {
    const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52: adding it rounds to an integer kept in the low bits
    const LN2_HIGH: f64 = 0.693_147_180_369_123_8; // ln 2 in two parts, the first with trailing zeros
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    const COEFFICIENTS: [f64; 12] = [
        1.0,
        1.0,
        0.500_000_000_000_001,
        0.166_666_666_666_666_74,
        0.041_666_666_666_522_13,
        0.008_333_333_333_322_238,
        0.001_388_888_894_778_011_2,
        0.000_198_412_698_865_076_05,
        2.480_148_737_133_508e-5,
        2.755_724_242_292_567_5e-6,
        2.763_263_887_596_904_7e-7,
        2.511_001_939_626_311_6e-8,
    ];
    let shifted = fused::<FMA>(x, std::f64::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = fused::<FMA>(-LN2_LOW, k, fused::<FMA>(-LN2_HIGH, k, x));
    let mut sum = COEFFICIENTS[11];
    for &coefficient in COEFFICIENTS[..11].iter().rev() {
        sum = fused::<FMA>(sum, r, coefficient);
    }
    let scale = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    let value = sum * scale;
    // Outside the range the bit trick would wrap: tiny results are 0, huge ones infinite, NaN stays NaN.
    let value = if x < -706.0 { 0.0 } else { value };
    let value = if x > 709.0 { f64::INFINITY } else { value };
    if x.is_nan() { x } else { value }
}

#[inline(always)]
fn exp_body<const FMA: bool>(values: &mut [f64]) {
    for value in values {
        *value = exp_one::<FMA>(*value);
    }
}

const LANES: usize = 8;
/// A processor adds to four registers at a time: one alone waits for its last sum.
const MANY_LANES: usize = 32;

#[inline(always)]
fn lane_sum<const FMA: bool>(length: usize, term: impl Fn(usize, f64) -> f64) -> f64 {
    if length < 4 * MANY_LANES {
        return of_eight(sums_in::<LANES>(0, length, &term));
    }
    let whole = length / MANY_LANES * MANY_LANES;
    let many = sums_in::<MANY_LANES>(0, whole, &term);
    let mut lanes = sums_in::<LANES>(whole, length, &term);
    for (lane, sum) in lanes.iter_mut().enumerate() {
        *sum += (many[lane] + many[lane + 16]) + (many[lane + 8] + many[lane + 24]);
    }
    of_eight(lanes)
}

/// The terms from `start` on, every `N`-th in the same lane.
#[inline(always)]
fn sums_in<const N: usize>(start: usize, end: usize, term: &impl Fn(usize, f64) -> f64) -> [f64; N] {
    let mut lanes = [0.0; N];
    let whole = start + (end - start) / N * N;
    let mut first = start;
    while first < whole {
        for (lane, sum) in lanes.iter_mut().enumerate() {
            *sum = term(first + lane, *sum);
        }
        first += N;
    }
    for i in whole..end {
        lanes[i - whole] = term(i, lanes[i - whole]);
    }
    lanes
}

#[inline(always)]
fn of_eight(lanes: [f64; LANES]) -> f64 {
    ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
}

#[inline(always)]
fn dot_body<const FMA: bool>(a: &[f64], b: &[f64]) -> f64 {
    let length = a.len().min(b.len());
    let (a, b) = (&a[..length], &b[..length]);
    lane_sum::<FMA>(length, |i, sum| fused::<FMA>(a[i], b[i], sum))
}

#[inline(always)]
fn sum_body<const FMA: bool>(a: &[f64]) -> f64 {
    lane_sum::<FMA>(a.len(), |i, sum| sum + a[i])
}

#[inline(always)]
fn weighted_squares_body<const FMA: bool>(w: &[f64], u: &[f64], c: f64) -> f64 {
    let length = w.len().min(u.len());
    let (w, u) = (&w[..length], &u[..length]);
    lane_sum::<FMA>(length, |i, sum| {
        let difference = u[i] - c;
        fused::<FMA>(w[i] * difference, difference, sum)
    })
}

#[inline(always)]
fn squared_distances_body<const FMA: bool>(columns: &[f64], start: usize, query: &[f64], out: &mut [f64]) {
    let m = if query.is_empty() { out.len() } else { columns.len() / query.len() };
    squared_distances_block::<FMA>(columns, m, start, query, out);
}

#[inline(always)]
fn squared_distances_block<const FMA: bool>(columns: &[f64], m: usize, start: usize, query: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for (d, &q) in query.iter().enumerate() {
        let column = &columns[d * m + start..d * m + start + out.len()];
        for (sum, &u) in out.iter_mut().zip(column) {
            let difference = u - q;
            *sum = fused::<FMA>(difference, difference, *sum);
        }
    }
}

#[inline(always)]
fn gaussian_row_body<const FMA: bool>(columns: &[f64], start: usize, query: &[f64], out: &mut [f64]) {
    let exponents = |_: usize, squared: &mut [f64]| squared.iter_mut().for_each(|value| *value *= -0.5);
    exp_of_squared_distances::<FMA>(columns, start, query, exponents, out);
}

#[inline(always)]
fn scaled_gaussian_row_body<const FMA: bool>(columns: &[f64], query: &[f64], precision: &[f64], offset: &[f64], out: &mut [f64]) {
    let exponents = |first: usize, squared: &mut [f64]| {
        let here = first..first + squared.len();
        for ((value, &p), &b) in squared.iter_mut().zip(&precision[here.clone()]).zip(&offset[here]) {
            *value = fused::<FMA>(-0.5 * p, *value, b);
        }
    };
    exp_of_squared_distances::<FMA>(columns, 0, query, exponents, out);
}

/// out_k = exp of what `exponents` makes of Σ_d (columns_d[start + k] - query_d)²; it gets a block of them and the index of its first.
#[inline(always)]
fn exp_of_squared_distances<const FMA: bool>(
    columns: &[f64],
    start: usize,
    query: &[f64],
    exponents: impl Fn(usize, &mut [f64]),
    out: &mut [f64],
) {
    const WIDTH: usize = 16; // four registers of four: enough independent polynomials to hide the latency of one
    let m = if query.is_empty() { out.len() } else { columns.len() / query.len() };
    let mut first = start;
    for block in out.chunks_mut(WIDTH) {
        if let Ok(block) = <&mut [f64; WIDTH]>::try_from(&mut *block) {
            let mut squared = [0.0; WIDTH];
            for (d, &q) in query.iter().enumerate() {
                let column = &columns[d * m + first..d * m + first + WIDTH];
                for lane in 0..WIDTH {
                    let difference = column[lane] - q;
                    squared[lane] = fused::<FMA>(difference, difference, squared[lane]);
                }
            }
            exponents(first, &mut squared);
            for lane in 0..WIDTH {
                block[lane] = exp_one::<FMA>(squared[lane]);
            }
        } else {
            squared_distances_block::<FMA>(columns, m, first, query, block);
            exponents(first, block);
            block.iter_mut().for_each(|value| *value = exp_one::<FMA>(*value));
        }
        first += WIDTH;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A little above one unit in the last place.
    const EXP_TOLERANCE: f64 = 4e-16;

    fn check_exp(exp: impl Fn(&mut [f64])) {
        let arguments: Vec<f64> = (0..200_000).map(|i| -705.9 + i as f64 * 0.007_057).collect();
        let mut values = arguments.clone();
        exp(&mut values);
        for (&x, &value) in arguments.iter().zip(&values) {
            let expected = x.exp();
            assert!((value / expected - 1.0).abs() < EXP_TOLERANCE, "exp({x}) = {value}, expected {expected}");
        }
    }

    #[test]
    fn exp_agrees_with_the_standard_library_over_its_range() {
        check_exp(exp_in_place);
        check_exp(exp_body::<false>);
    }

    #[test]
    fn exp_outside_its_range_is_zero_infinite_or_nan() {
        let mut values = [-706.1, -1e300, f64::NEG_INFINITY, 710.0, f64::INFINITY, f64::NAN, 0.0, -0.0];
        exp_in_place(&mut values);
        assert_eq!(&values[..5], &[0.0, 0.0, 0.0, f64::INFINITY, f64::INFINITY]);
        assert!(values[5].is_nan());
        assert_eq!(&values[6..], &[1.0, 1.0]);
    }

    #[test]
    fn sums_of_any_length_agree_with_plain_loops() {
        for length in (0..40).chain([127, 128, 129, 150, 159, 160, 1_001]) {
            let a: Vec<f64> = (0..length).map(|i| (i as f64).sin()).collect();
            let b: Vec<f64> = (0..length).map(|i| (i as f64 * 0.7).cos()).collect();
            let plain: f64 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
            assert!((dot(&a, &b) - plain).abs() < 1e-13 && (sum(&a) - a.iter().sum::<f64>()).abs() < 1e-13);
            let plain: f64 = a.iter().zip(&b).map(|(x, y)| x * (y - 0.3).powi(2)).sum();
            assert!((weighted_squares(&a, &b, 0.3) - plain).abs() < 1e-13);
        }
    }

    #[test]
    fn scaled_gaussian_row_has_a_height_and_a_width_for_each_point() {
        let (m, d) = (37, 2);
        let columns: Vec<f64> = (0..m * d).map(|i| (i as f64 * 0.7).sin()).collect();
        let precision: Vec<f64> = (0..m).map(|j| 0.5 + j as f64).collect();
        let offset: Vec<f64> = (0..m).map(|j| -0.1 * j as f64).collect();
        let query = [0.3, -0.2];
        let mut row = vec![0.0; m];
        scaled_gaussian_row(&columns, &query, &precision, &offset, &mut row);
        for j in 0..m {
            let squared: f64 = (0..d).map(|k| (columns[k * m + j] - query[k]).powi(2)).sum();
            assert!((row[j] - (offset[j] - 0.5 * precision[j] * squared).exp()).abs() < 1e-14);
        }
    }

    #[test]
    fn gaussian_row_is_the_kernel_of_each_point() {
        let (m, d) = (1_001, 3);
        let columns: Vec<f64> = (0..m * d).map(|i| ((i * 7_919) % 1_000) as f64 / 250.0 - 2.0).collect();
        let query = [0.3, -0.2, 1.1];
        let mut row = vec![0.0; m];
        gaussian_row(&columns, 0, &query, &mut row);
        let mut part = vec![0.0; 600];
        gaussian_row(&columns, 401, &query, &mut part);
        assert_eq!(part, row[401..]);
        for j in 0..m {
            let r2: f64 = (0..d).map(|k| (columns[k * m + j] - query[k]).powi(2)).sum();
            assert!((row[j] / (-0.5 * r2).exp() - 1.0).abs() < 1e-14);
        }
    }
}
