//! Can samples be told from those of the exact posterior? A classifier two-sample test (Lopez-Paz & Oquab, ICLR 2017) with nearest
//! neighbours: nothing to train, nothing to tune, the same answer each time.

use kelfi::Points;
use rayon::prelude::*;

/// Share of held-out samples that their neighbours assign to the right of two sets: 0.5 where the sets cannot be told apart, 1 where
/// they do not overlap.
///
/// Every coordinate is in units of `exact`'s standard deviation. The first half of each set is learned from, the second half is
/// assigned by the majority of its k = ⌊√m⌋ neighbours (an odd number), m samples being learned from. Costs O(m² D).
pub fn told_apart(samples: &Points, exact: &Points) -> f64 {
    let scales: Vec<f64> = (0..exact.columns()).map(|d| spread(&exact.column(d))).collect();
    let scaled = |points: &Points| points.map_rows(points.columns(), |row| row.iter().zip(&scales).map(|(v, s)| v / s).collect());
    let sets = [scaled(samples), scaled(exact)];
    let half = sets[0].rows().min(sets[1].rows()) / 2;
    if half == 0 {
        return 0.5;
    }
    let learned: Vec<(&[f64], usize)> =
        (0..2).flat_map(|set| (0..half).map(move |i| (set, i))).map(|(set, i)| (sets[set].row(i), set)).collect();
    let k = (((learned.len() as f64).sqrt() as usize).max(1) - 1) | 1;
    let right = |set: usize, point: &[f64]| -> usize {
        let mut distances: Vec<(f64, usize)> = learned.iter().map(|(other, of)| (squared_distance(point, other), *of)).collect();
        distances.select_nth_unstable_by(k - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let votes = distances[..k].iter().filter(|(_, of)| *of == set).count();
        usize::from(2 * votes > k)
    };
    let held_out: Vec<(usize, usize)> = (0..2).flat_map(|set| (half..2 * half).map(move |i| (set, i))).collect();
    let correct: usize = held_out.par_iter().map(|&(set, i)| right(set, sets[set].row(i))).sum();
    correct as f64 / held_out.len() as f64
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

fn spread(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64;
    if variance > 0.0 { variance.sqrt() } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kelfi::random::{Purpose, standard_normal, stream};

    fn normal(shift: f64, scale: f64, seed: u64) -> Points {
        let draw = |i: u64| {
            let mut rng = stream(seed, Purpose::Experiment, i);
            vec![shift + scale * standard_normal(&mut rng), scale * standard_normal(&mut rng)]
        };
        Points::from_rows(&(0..2_000).map(draw).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn equal_sets_are_not_told_apart_and_distant_ones_always() {
        let same = told_apart(&normal(0.0, 1.0, 1), &normal(0.0, 1.0, 2));
        assert!((same - 0.5).abs() < 0.04, "{same}");
        assert!(told_apart(&normal(50.0, 1.0, 1), &normal(0.0, 1.0, 2)) > 0.999);
    }

    #[test]
    fn a_shift_of_one_standard_deviation_is_told_as_often_as_the_best_rule_tells_it() {
        // Two unit normals whose means are 1 apart: the best rule is right with probability Φ(½) = 0.691.
        let found = told_apart(&normal(1.0, 1.0, 3), &normal(0.0, 1.0, 4));
        assert!((found - 0.691).abs() < 0.035, "{found}");
    }

    #[test]
    fn a_posterior_twice_too_wide_is_seen() {
        let found = told_apart(&normal(0.0, 2.0, 5), &normal(0.0, 1.0, 6));
        // The densities cross at r² = (8/3) ln 4; the best rule is right with probability ½ (1 − e^(−r²/2) + e^(−r²/8)) = 0.736.
        assert!((found - 0.736).abs() < 0.04, "{found}");
    }
}
