//! Kernel herding of Σ_j w_j ℓ(z_j, ·): each sample is the candidate that the embedding misses most (Chen, Welling & Smola, UAI 2010).

use kelfi::Points;
use kelfi::kernel::Kernel;
use kelfi::linalg::vector::first_largest;

/// `count` rows of `candidates`; ties go to the lower index. Costs O(count · R · D).
pub fn herd(kernel: &Kernel, z: &Points, weights: &[f64], candidates: &Points, count: usize) -> Points {
    let target = kernel.sums(&kernel.scale(z), weights, candidates);
    let scaled = kernel.scale(candidates);
    let mut sums = vec![0.0; candidates.rows()];
    let mut row = vec![0.0; candidates.rows()];
    let picked: Vec<usize> = (1..=count)
        .map(|s| {
            let best = first_largest(&target, &sums, 1.0 / s as f64);
            kernel.row(&scaled, &kernel.scale_query(candidates.row(best)), &mut row);
            sums.iter_mut().zip(&row).for_each(|(sum, value)| *sum += value);
            best
        })
        .collect();
    candidates.select(&picked)
}
