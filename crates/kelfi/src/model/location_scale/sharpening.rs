//! The hyperparameters of a regression once more, from thousands of simulations: what bends little is a plane to the few hundred that a search
//! with dense matrices can afford, and the error of that plane would not shrink however many simulations there are.
//!
//! Few points stand for all. With features φ = (those of pivots, 1, z/β) times g = (a, …, a, 1, b, …, b), relative noise W and noise s²,
//! G = φᵀW⁻¹φ and c = φᵀW⁻¹t are summed once, O(m r²), for each set of length scales. Then, with B = I + g G g/s² and w = B⁻¹ g c/s²,
//!
//! ln p(t) = -½ (tᵀW⁻¹t - w·gc)/s² - ½ ln|B| - ½ m ln s² + const
//!
//! and its slopes Σ_k w_k² - (1 - (B⁻¹)_kk) in ln a and ln b cost O(r³), whatever m.

use super::constants::regression::MOST_PIVOTS;
use super::constants::regression_search::{CURVED, GAIN, LENGTHS, LINEAR, MARGIN, NOISE};
use super::constants::sharpening::{AS_NEEDED, FROM, MISSED, STEPS, STRETCHES};
use super::curve::Bend;
use super::regression::{RegressionHyperparameters, Standard};
use super::regression_search::{is_straight, ln_prior_of_lengths, start, straight};
use crate::Points;
use crate::linalg::Cholesky;
use crate::linalg::products::{combine_rows, transpose};
use crate::linalg::vector::dot;
use crate::optimise::{StopRule, maximise};
use crate::solver::Pivots;

/// What was found, and ln p(t) with the prior of the length scales there.
type Found = (RegressionHyperparameters, f64);

/// What was found by few simulations as many see it: longer or shorter length scales, a bend where there was none, or none where there was
/// one.
pub fn sharpened(z: &Points, targets: &[f64], relative_noise: &[f64], found: &RegressionHyperparameters) -> Found {
    let count = z.rows().min(FROM);
    let z = &z.select(&(0..count).collect::<Vec<_>>());
    let (targets, relative_noise) = (Standard::of(&targets[..count]).apply(&targets[..count]), &relative_noise[..count]);
    let look = |from: &RegressionHyperparameters| Sums::new(z, &targets, relative_noise, from).best();
    let flat = look(&RegressionHyperparameters { linear: found.linear, noise: found.noise, ..straight(z.columns()) });
    let usual = start(Bend::Bumps, z.columns());
    let begin = if is_straight(found) { RegressionHyperparameters { noise: found.noise, ..usual } } else { found.clone() };
    let bent = stretched(&begin, look);
    if bent.1 > flat.1 + MARGIN { bent } else { flat }
}

/// The best found with all length scales longer or shorter by some factor, then with all but that of the direction, the last coordinate.
fn stretched(begin: &RegressionHyperparameters, look: impl Fn(&RegressionHyperparameters) -> Found) -> Found {
    let all = begin.length_scales.len();
    let mut best = look(begin);
    for count in [all, all - 1] {
        for stretch in STRETCHES {
            best = stretched_by(stretch, count, best, &look);
        }
    }
    best
}

/// The first `count` length scales longer by this factor as long as it gains, or shorter where longer ones do not.
fn stretched_by(stretch: f64, count: usize, mut best: Found, look: &impl Fn(&RegressionHyperparameters) -> Found) -> Found {
    for factor in [stretch, 1.0 / stretch] {
        let before = best.1;
        loop {
            let mut next = best.0.clone();
            next.length_scales[..count].iter_mut().for_each(|beta| *beta = (*beta * factor).clamp(LENGTHS.0, LENGTHS.1));
            if next.length_scales == best.0.length_scales {
                break;
            }
            let next = look(&next);
            if next.1 < best.1 + GAIN {
                break;
            }
            best = next;
        }
        if best.1 > before {
            break;
        }
    }
    best
}

/// Everything of the simulations that ln p(t) needs at these length scales.
struct Sums {
    begin: RegressionHyperparameters,
    /// G.
    products: Vec<f64>,
    /// c.
    of_targets: Vec<f64>,
    /// tᵀW⁻¹t.
    squares: f64,
    count: f64,
    pivots: usize,
}

impl Sums {
    fn new(z: &Points, targets: &[f64], relative_noise: &[f64], begin: &RegressionHyperparameters) -> Self {
        let curve = begin.curve();
        let missed = (MISSED * (begin.noise / begin.curved).powi(2)).clamp(AS_NEEDED.0, AS_NEEDED.1);
        let pivots = if is_straight(begin) { Pivots::none() } else { Pivots::new(&curve.between(&curve.points(z)), missed, MOST_PIVOTS) };
        let (r, size) = (pivots.rank(), pivots.rank() + 1 + z.columns());
        let mut rows = Vec::with_capacity(z.rows() * size);
        let mut weighted = Vec::with_capacity(targets.len());
        for (i, z) in z.iter().enumerate() {
            let root = relative_noise[i].sqrt().recip();
            rows.extend(pivots.factor[i * r..(i + 1) * r].iter().map(|phi| root * phi));
            rows.push(root);
            rows.extend(z.iter().zip(&begin.length_scales).map(|(z, beta)| root * z / beta));
            weighted.push(root * targets[i]);
        }
        let columns = transpose(&rows, size);
        let products = combine_rows(&columns, &rows, z.rows());
        let of_targets = combine_rows(&columns, &weighted, z.rows());
        Self { begin: begin.clone(), products, of_targets, squares: dot(&weighted, &weighted), count: z.rows() as f64, pivots: r }
    }

    /// ln p(t) and its slopes in ln a, ln b and ln s.
    fn evidence(&self, p: &[f64]) -> (f64, Vec<f64>) {
        let failed = (f64::NAN, vec![f64::NAN; 3]);
        let (size, noise) = (self.of_targets.len(), (2.0 * p[2]).exp());
        let factor = |k: usize| if k == self.pivots { 1.0 } else { p[usize::from(k > self.pivots)].exp() };
        let g: Vec<f64> = (0..size).map(factor).collect();
        let entry = |(k, product): (usize, &f64)| product * g[k / size] * g[k % size] / noise + f64::from(u8::from(k / size == k % size));
        let Ok(cholesky) = Cholesky::new(self.products.iter().enumerate().map(entry).collect(), size) else { return failed };
        let image: Vec<f64> = self.of_targets.iter().zip(&g).map(|(c, g)| g * c / noise).collect();
        let (w, unknown) = (cholesky.solve(&image), cholesky.inverse_diagonal());
        let explained = noise * dot(&w, &image);
        let value = -0.5 * (self.squares - explained) / noise - 0.5 * cholesky.ln_determinant() - self.count * p[2];
        let known = |k: usize| 1.0 - unknown[k];
        let slope = |from: usize, to: usize| (from..to).map(|k| w[k] * w[k] - known(k)).sum::<f64>();
        // t - φ g w has the square |t|² - 2 w·gc + wᵀ(g G g)w, and g G g w = s² (image - w).
        let left = self.squares - explained - noise * dot(&w, &w);
        let of_noise = left / noise - (self.count - (0..size).map(known).sum::<f64>());
        (value, vec![slope(0, self.pivots), slope(self.pivots + 1, size), of_noise])
    }

    /// The best a, b and s.
    fn best(&self) -> Found {
        let straight = is_straight(&self.begin);
        let begin = [self.begin.curved, self.begin.linear, self.begin.noise].map(f64::ln);
        let bounds = [if straight { (self.begin.curved, self.begin.curved) } else { CURVED }, LINEAR, NOISE];
        let settings = StopRule { steps: STEPS, gradient: 1e-2, gain: GAIN, longest: 1.0, first: 0.0 };
        let found = maximise(|p| self.evidence(p), &begin, &bounds.map(|b| b.0.ln()), &bounds.map(|b| b.1.ln()), settings);
        if !found.value.is_finite() {
            return (self.begin.clone(), f64::NEG_INFINITY);
        }
        let at = |k: usize| found.at[k].exp();
        let chosen = RegressionHyperparameters { curved: at(0), linear: at(1), noise: at(2), ..self.begin.clone() };
        let prior = ln_prior_of_lengths(&chosen);
        (chosen, found.value + prior)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::location_scale::regression_search::ln_evidence;
    use crate::random::{Purpose, standard_normal, stream};
    use crate::testing::check_gradient;

    /// z ~ N(0, I) in the plane and what bends a little along the diagonal, with noise of 0.3.
    fn data(m: usize, bend: f64) -> (Points, Vec<f64>) {
        let mut rng = stream(5, Purpose::Experiment, 0);
        let rows: Vec<[f64; 2]> = (0..m).map(|_| [standard_normal(&mut rng), standard_normal(&mut rng)]).collect();
        let of_row = |z: &[f64; 2]| {
            let t = (z[0] + z[1]) / 2.0_f64.sqrt();
            t + bend * t * t
        };
        let targets = rows.iter().map(|z| of_row(z) + 0.3 * standard_normal(&mut rng)).collect();
        (Points::from_rows(&rows).unwrap(), targets)
    }

    fn some(form: Bend) -> RegressionHyperparameters {
        RegressionHyperparameters { form, curved: 0.8, linear: 0.6, noise: 0.4, length_scales: vec![2.0, 3.0] }
    }

    #[test]
    fn the_evidence_is_that_of_the_dense_matrix_and_its_slopes_are_derivatives() {
        let (z, t) = data(200, 0.3);
        for form in [Bend::Bumps, Bend::Sigmoids] {
            let h = some(form);
            let standardised = Standard::of(&t).apply(&t);
            let sums = Sums::new(&z, &standardised, &vec![1.0; 200], &h);
            let at = [h.curved, h.linear, h.noise].map(f64::ln);
            let found = sums.evidence(&at).0 + ln_prior_of_lengths(&h);
            // Pivots may miss a thousandth of the noise of each target, and the dense matrix has a jitter.
            assert!((found - ln_evidence(&z, &t, &h)).abs() < 0.1, "{form:?}: {found} {}", ln_evidence(&z, &t, &h));
            check_gradient(|p| sums.evidence(p), &at, 1e-4).unwrap();
        }
    }

    #[test]
    fn thousands_show_a_bend_that_hundreds_take_for_a_plane_and_none_where_there_is_none() {
        let plane = straight(2);
        let curved = |m: usize, bend: f64| {
            let (z, t) = data(m, bend);
            !is_straight(&sharpened(&z, &t, &vec![1.0; m], &plane).0)
        };
        assert_eq!([curved(200, 0.02), curved(4_000, 0.02), curved(4_000, 0.0)], [false, true, false]);
    }
}
