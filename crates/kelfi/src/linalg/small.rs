//! Triangular systems of a handful of rows by plain substitution: chains solve one for every point they look at, and calling on blocks and
//! threads for two rows would cost a hundred times the work.

/// Systems of at most so many rows are solved here.
pub(super) const SMALL: usize = 16;

/// b ← C⁻¹ b for the lower triangle C of the column-major matrix `factor`.
pub(super) fn forwards(factor: &[f64], b: &mut [f64]) {
    let order = b.len();
    for j in 0..order {
        let column = &factor[j * order..(j + 1) * order];
        b[j] /= column[j];
        let known = b[j];
        b[j + 1..].iter_mut().zip(&column[j + 1..]).for_each(|(b, c)| *b -= known * c);
    }
}

/// b ← C⁻ᵀ b for the same C.
pub(super) fn backwards(factor: &[f64], b: &mut [f64]) {
    let order = b.len();
    for j in (0..order).rev() {
        let column = &factor[j * order..(j + 1) * order];
        let below: f64 = column[j + 1..].iter().zip(&b[j + 1..]).map(|(c, b)| c * b).sum();
        b[j] = (b[j] - below) / column[j];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn substitution_undoes_the_product_with_the_triangle() {
        // C = (2 . .; 1 3 .; -1 0.5 4), its upper triangle of no account.
        let factor = [2.0, 1.0, -1.0, f64::NAN, 3.0, 0.5, f64::NAN, f64::NAN, 4.0];
        let (mut b, mut c) = ([2.0, 7.0, 12.0], [1.0, 7.5, 12.0]);
        forwards(&factor, &mut b);
        assert_eq!(b, [1.0, 2.0, 3.0]);
        // Cᵀ (1, 2, 3) = (2 + 2 - 3, 6 + 1.5, 12).
        backwards(&factor, &mut c);
        assert_eq!(c, [1.0, 2.0, 3.0]);
    }
}
