//! Many queries together: what they share with the points is one product of tables, which pays with many coordinates.

use super::{Bend, Curve, CurvePoints};
use crate::Points;
use crate::linalg::products::{combine_rows, rows_dot_rows};
use crate::linalg::vector::{dot, exp_in_place, sigmoid_kernel};

impl Curve {
    /// ℓ(point j, query), a row per query: for bumps exp(c·c' - ½|c|² - ½|c'|²). Costs O(r D) a query.
    pub fn rows(&self, points: &CurvePoints, queries: &Points) -> Vec<f64> {
        // A plane has no points.
        if points.count() == 0 {
            return vec![];
        }
        let coordinates = self.all_coordinates(queries);
        let mut values = rows_dot_rows(coordinates.values(), points.rows.values(), coordinates.columns());
        match self.form {
            Bend::Bumps => {
                for (row, c) in values.chunks_mut(points.count()).zip(coordinates.iter()) {
                    let own = 0.5 * dot(c, c);
                    // A distance is not negative, whatever rounding says.
                    row.iter_mut().zip(&points.half_squares).for_each(|(value, half)| *value = (*value - half - own).min(0.0));
                }
                exp_in_place(&mut values);
            }
            Bend::Sigmoids => {
                let mut slopes = vec![0.0; points.count()];
                values.chunks_mut(points.count()).for_each(|row| sigmoid_kernel(row, &mut slopes));
            }
        }
        values
    }

    /// Σ_j w_qj ∂ℓ(point j, query q)/∂z, a row per query; `kernel` is what [`Curve::rows`] gave, `weights` has as many rows. Costs O(r D) a query.
    pub fn pulls(&self, points: &CurvePoints, queries: &Points, kernel: &[f64], weights: &[f64]) -> Points {
        let (count, coordinates) = (points.count(), self.all_coordinates(queries));
        let mut pulls = Points::zeros(queries.rows(), queries.columns());
        if count == 0 {
            return pulls;
        }
        match self.form {
            Bend::Bumps => {
                // ∂ℓ/∂z = ℓ (c_j - c)/β.
                let heights: Vec<f64> = weights.iter().zip(kernel).map(|(w, l)| w * l).collect();
                let sums = combine_rows(&heights, points.rows.values(), count);
                for (q, (sums, heights)) in sums.chunks(queries.columns()).zip(heights.chunks(count)).enumerate() {
                    let (total, c) = (heights.iter().sum::<f64>(), coordinates.row(q));
                    let of_one = |d: usize| (sums[d] - c[d] * total) / self.length_scales[d];
                    pulls.row_mut(q).iter_mut().enumerate().for_each(|(d, pull)| *pull = of_one(d));
                }
            }
            Bend::Sigmoids => {
                let mut similarity = rows_dot_rows(coordinates.values(), points.rows.values(), coordinates.columns());
                let mut slopes = vec![0.0; similarity.len()];
                sigmoid_kernel(&mut similarity, &mut slopes);
                slopes.iter_mut().zip(weights).for_each(|(slope, w)| *slope *= w);
                let sums = combine_rows(&slopes, points.rows.values(), count);
                for (q, sums) in sums.chunks(coordinates.columns()).enumerate() {
                    pulls.row_mut(q).copy_from_slice(&self.through_coordinates(queries.row(q), sums));
                }
            }
        }
        pulls
    }

    /// c(z) of every row.
    pub(super) fn all_coordinates(&self, z: &Points) -> Points {
        z.map_rows(self.length_scales.len() + usize::from(self.form == Bend::Sigmoids), |z| self.coordinates(z))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_together_say_what_each_says_alone() {
        let table = |count: usize, shift: f64| {
            let rows: Vec<Vec<f64>> = (0..count).map(|i| (0..4).map(|d| ((i * 7 + d * 3) as f64 + shift).sin() * 2.0).collect()).collect();
            Points::from_rows(&rows).unwrap()
        };
        let (queries, weights) = (table(9, 0.3), (0..9 * 40).map(|k| (k as f64 * 0.7).cos()).collect::<Vec<_>>());
        for form in [Bend::Bumps, Bend::Sigmoids] {
            let curve = Curve::new(form, &[0.5, 1.5, 0.9, 3.0]);
            let points = curve.points(&table(40, 0.0));
            let kernel = curve.rows(&points, &queries);
            let pulls = curve.pulls(&points, &queries, &kernel, &weights);
            let mut row = vec![0.0; 40];
            for (q, z) in queries.iter().enumerate() {
                curve.row(&points, &curve.coordinates(z), &mut row);
                let together = &kernel[q * 40..(q + 1) * 40];
                assert!(row.iter().zip(together).all(|(alone, together)| (alone - together).abs() < 1e-13), "{form:?}");
                let alone = curve.pull(&points, z, &row, &weights[q * 40..(q + 1) * 40]);
                assert!(alone.iter().zip(pulls.row(q)).all(|(alone, together)| (alone - together).abs() < 1e-12), "{form:?}");
            }
            let none = curve.points(&Points::zeros(0, 4));
            assert!(curve.rows(&none, &queries).is_empty());
            assert_eq!(curve.pulls(&none, &queries, &[], &[]), Points::zeros(9, 4));
            // A query at a point is at no distance from it.
            assert!(curve.rows(&points, &table(40, 0.0)).iter().all(|value| *value <= 1.0));
        }
    }
}
