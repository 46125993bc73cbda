//! The distribution of standardised residuals u given θ: a mixture centred on the simulated ones, weights from the conditional embedding.
//!
//! q(u|θ) = Σ_j a_j(θ) N(u | s M_j, e_j² I), with tolerances e_j and the shrinkage s of [`components`], M_j the residual itself or a mean of
//! [`local_means`], and the weights of [`weights`].
//! A small share of one more Gaussian keeps the logarithm finite everywhere: see [`tail`].
//!
//! Where outputs are repeats, k residuals stand at each θ: they share its weight, are left out together, and as many are asked about at a time.

mod components;
mod factors;
mod local_means;
mod search;
mod slopes;
mod tail;
mod weights;

use crate::model::location_scale::constants::shape::{LEAST_FREEDOM, MOST};
pub use factors::{Omissions, Shapes, search_apart};
pub use search::search;
pub use tail::Tail;

use crate::linalg::vector::{dot, sum};
use crate::{Error, Points};
use components::Components;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use weights::Weights;

/// Where components stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Centres {
    /// At the residuals.
    #[default]
    Residuals,
    /// At the mean of the residuals around each.
    LocalMeans,
}

/// β, ρ, e, c and where components stand.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ShapeHyperparameters {
    /// β in prior standard deviations; `None` where the shape does not depend on θ.
    pub length_scale: Option<f64>,
    /// ρ.
    pub ridge: f64,
    /// e, the tolerance in the middle: 1 is Gaussian noise.
    pub tolerance: f64,
    /// c, how tolerances grow outwards; 0 in files from before they did.
    #[serde(default)]
    pub growth: f64,
    /// Where components stand; at the residuals in files from before there was a choice.
    #[serde(default)]
    pub centres: Centres,
    /// The Gaussian beside the components.
    #[serde(default)]
    pub tail: Tail,
}

impl ShapeHyperparameters {
    /// Gaussian noise, whatever θ.
    pub const GAUSSIAN: Self =
        Self { length_scale: None, ridge: 1.0, tolerance: 1.0, growth: 0.0, centres: Centres::Residuals, tail: Tail::NONE };
}

/// The fitted shape.
#[derive(Debug, Clone)]
pub struct Shape {
    hyperparameters: ShapeHyperparameters,
    components: Components,
    weights: Option<Weights>,
    /// Residuals at each simulated θ.
    repeats: usize,
}

/// Simulations at one θ that play no part.
#[derive(Debug, Clone)]
pub struct Omitted {
    group: Vec<usize>,
    /// Centres of the components without them.
    centres: Vec<f64>,
    /// H_ij / (1 - Σ_g H_ig): where their weight goes.
    handed_on: Option<Vec<f64>>,
}

impl Shape {
    /// The shape at given hyperparameters from residuals `u` (m × n) at `z`, or from several at each.
    pub fn new(z: &Points, u: &Points, hyperparameters: ShapeHyperparameters) -> Result<Self, Error> {
        let repeats = u.rows() / z.rows();
        if z.rows() > MOST {
            let head = |points: &Points, count: usize| points.select(&(0..count).collect::<Vec<_>>());
            return Self::new(&head(z, MOST), &head(u, MOST * repeats), hyperparameters);
        }
        let components = Components::new(u, hyperparameters.tolerance, hyperparameters.growth, hyperparameters.centres);
        let weights = match hyperparameters.length_scale {
            Some(length) if !components.is_gaussian() => Some(Weights::new(z, length, hyperparameters.ridge)?),
            _ => None,
        };
        Ok(Self { hyperparameters, components, weights, repeats })
    }

    /// β, ρ, e and c.
    pub fn hyperparameters(&self) -> ShapeHyperparameters {
        self.hyperparameters
    }

    /// Root mean square of the tolerances of all residuals.
    pub fn typical_tolerance(&self) -> f64 {
        self.components.typical_tolerance()
    }

    /// ln of the density at each (z, u), the mixture clipped at zero. Several u that stand together may share a z.
    pub fn ln_densities(&self, z: &Points, u: &Points) -> Vec<f64> {
        self.signed(z, u).into_iter().zip(u.iter()).map(|(signed, u)| self.ln_positive(signed, u)).collect()
    }

    /// The mixture at each (z, u) up to its normaliser: may be negative.
    fn signed(&self, z: &Points, u: &Points) -> Vec<f64> {
        if self.components.is_gaussian() {
            return u.iter().map(|u| (-0.5 * dot(u, u)).exp()).collect();
        }
        let (table, m) = (self.weights_at(z), self.components.count());
        let (simulations, asked) = (m / self.repeats, u.rows() / z.rows().max(1));
        let mut row = vec![0.0; m];
        let one = |(q, u): (usize, &[f64])| {
            self.components.at(u, &mut row);
            match &table {
                Some(table) => dot(&table[q / asked * simulations..][..simulations], shared(&mut row, self.repeats)),
                None => sum(&row) / m as f64,
            }
        };
        u.iter().enumerate().map(one).collect()
    }

    /// What leaving out simulations `group`, all with the coordinates `own`, takes from every density.
    pub fn omit(&self, group: &[usize], own: &[f64]) -> Omitted {
        // Of many simulations some are no components.
        let group: Vec<usize> = group.iter().copied().filter(|g| g * self.repeats < self.components.count()).collect();
        let point = Points::new(own.to_vec(), 1, own.len()).expect("one row");
        let handed_on = self.weights_at(&point).map(|h| {
            let freedom = (1.0 - group.iter().map(|&g| h[g]).sum::<f64>()).max(LEAST_FREEDOM);
            h.into_iter().map(|h| h / freedom).collect()
        });
        let residuals: Vec<usize> = group.iter().flat_map(|&g| g * self.repeats..(g + 1) * self.repeats).collect();
        Omitted { group, centres: self.components.centres_without(&residuals), handed_on }
    }

    /// [`Shape::ln_densities`], each without simulations g at one θ: a_j(θ) + Σ_g a_g(θ) H_gj / (1 - Σ_h H_gh).
    pub fn ln_densities_without(&self, omitted: &[&Omitted], z: &Points, u: &Points) -> Vec<f64> {
        if self.components.is_gaussian() {
            return self.ln_densities(z, u);
        }
        let (table, mut row) = (self.weights_at(z), vec![0.0; self.components.count()]);
        let (m, asked) = (row.len() / self.repeats, u.rows() / z.rows().max(1));
        let one = |(k, u): (usize, &[f64])| {
            let q = k / asked;
            self.components.around(&omitted[q].centres, u, &mut row);
            let (group, row) = (&omitted[q].group, shared(&mut row, self.repeats));
            group.iter().for_each(|&g| row[g] = 0.0);
            let signed = match (&table, &omitted[q].handed_on) {
                (Some(table), Some(handed_on)) => {
                    let a = &table[q * m..(q + 1) * m];
                    dot(a, row) + group.iter().map(|&g| a[g]).sum::<f64>() * dot(handed_on, row)
                }
                _ => sum(row) / (m - group.len()).max(1) as f64,
            };
            self.ln_positive(signed, u)
        };
        u.iter().enumerate().map(one).collect()
    }

    fn ln_positive(&self, signed: f64, u: &[f64]) -> f64 {
        let radius2 = dot(u, u);
        self.hyperparameters.tail.ln_mixed(self.ln_components(signed, radius2), radius2, self.components.statistics())
    }

    /// ln of the components' sum from its signed value.
    fn ln_components(&self, signed: f64, radius2: f64) -> f64 {
        // Gaussian noise stays exact where the exponential underflows.
        let main = if self.components.is_gaussian() { -0.5 * radius2 } else { signed.max(0.0).ln() };
        main + self.components.ln_normaliser()
    }

    /// The share of the density at each (z, u) that is the tail's.
    pub fn tail_shares(&self, z: &Points, u: &Points) -> Vec<f64> {
        let (tail, n) = (self.hyperparameters.tail, self.components.statistics());
        if tail.share == 0.0 {
            return vec![0.0; u.rows()];
        }
        let of_one = |(ln, u): (f64, &[f64])| (tail.ln_part(dot(u, u), n) - ln).exp().min(1.0);
        self.ln_densities(z, u).into_iter().zip(u.iter()).map(of_one).collect()
    }

    /// What clipping takes off the density at each (z, u).
    pub fn cut_off(&self, z: &Points, u: &Points) -> Vec<f64> {
        let factor = (1.0 - self.hyperparameters.tail.share) * self.components.ln_normaliser().exp();
        self.signed(z, u).into_iter().map(|signed| factor * (-signed).max(0.0)).collect()
    }

    /// A residual at one z, from a component drawn in proportion to the positive weights.
    pub fn draw(&self, z: &Points, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let (m, uniform) = (self.components.count(), rng.random::<f64>());
        let j = match self.weights_at(z) {
            None => (uniform * m as f64) as usize,
            Some(weights) => {
                let total: f64 = weights.iter().map(|a| a.max(0.0)).sum();
                let mut left = uniform * total;
                let simulation = weights
                    .iter()
                    .position(|a| {
                        left -= a.max(0.0);
                        left < 0.0
                    })
                    .unwrap_or(weights.len() - 1);
                simulation * self.repeats + if self.repeats > 1 { rng.random_range(0..self.repeats) } else { 0 }
            }
        };
        self.components.draw(j.min(m - 1), rng)
    }

    /// a(θ) at each z, row after row; `None` where the weights are all 1/m.
    pub fn weights_at(&self, z: &Points) -> Option<Vec<f64>> {
        self.weights.as_ref().map(|weights| weights.at(z))
    }
}

/// The mean of every so many numbers, in place at the front.
pub(super) fn shared(row: &mut [f64], repeats: usize) -> &mut [f64] {
    if repeats == 1 {
        return row;
    }
    let count = row.len() / repeats;
    for i in 0..count {
        row[i] = row[i * repeats..(i + 1) * repeats].iter().sum::<f64>() / repeats as f64;
    }
    &mut row[..count]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, standard_normal, stream};

    fn data() -> (Points, Points) {
        let mut rng = stream(5, Purpose::Experiment, 0);
        let z: Vec<Vec<f64>> = (0..50).map(|_| vec![standard_normal(&mut rng)]).collect();
        let u = z.iter().map(|z| vec![(1.0 + 0.3 * z[0]) * standard_normal(&mut rng), standard_normal(&mut rng)]).collect::<Vec<_>>();
        (Points::from_rows(&z).unwrap(), Points::from_rows(&u).unwrap())
    }

    #[test]
    fn leaving_a_simulation_out_is_the_shape_made_without_it() {
        let (z, u) = data();
        let (own, means) = (Centres::Residuals, Centres::LocalMeans);
        for (length_scale, growth, centres) in [(None, 0.0, own), (Some(1.2), 0.0, own), (Some(1.2), 0.2, own), (Some(1.2), 0.2, means)] {
            let h = ShapeHyperparameters { length_scale, ridge: 0.7, tolerance: 0.4, growth, centres, tail: Tail::default() };
            let others: Vec<usize> = (0..50).filter(|&j| j != 9).collect();
            let shape = Shape::new(&z, &u, h).unwrap();
            let refit = Shape::new(&z.select(&others), &u.select(&others), h).unwrap();
            let (at, of) = (z.select(&[9, 3]), u.select(&[9, 3]));
            let omitted = shape.omit(&[9], z.row(9));
            let found = shape.ln_densities_without(&[&omitted, &omitted], &at, &of);
            for (found, wanted) in found.iter().zip(refit.ln_densities(&at, &of)) {
                // Pivots of the two fits differ by what they may miss.
                assert!((found - wanted).abs() < 1e-2, "{length_scale:?}: {found} {wanted}");
            }
        }
    }

    #[test]
    fn leaving_simulations_at_one_theta_out_is_the_shape_made_without_them() {
        let (z, u) = data();
        let group = [9, 17, 30];
        let mut rows: Vec<Vec<f64>> = z.iter().map(<[f64]>::to_vec).collect();
        group.iter().for_each(|&g| rows[g] = rows[9].clone());
        let z = Points::from_rows(&rows).unwrap();
        let others: Vec<usize> = (0..50).filter(|j| !group.contains(j)).collect();
        for (length_scale, centres) in [(None, Centres::Residuals), (Some(1.2), Centres::Residuals), (Some(1.2), Centres::LocalMeans)] {
            let h = ShapeHyperparameters { length_scale, ridge: 0.7, tolerance: 0.4, growth: 0.0, centres, tail: Tail::default() };
            let shape = Shape::new(&z, &u, h).unwrap();
            let refit = Shape::new(&z.select(&others), &u.select(&others), h).unwrap();
            let (at, of) = (z.select(&[9, 3]), u.select(&[17, 3]));
            let omitted = shape.omit(&group, z.row(9));
            let found = shape.ln_densities_without(&[&omitted, &omitted], &at, &of);
            for (found, wanted) in found.iter().zip(refit.ln_densities(&at, &of)) {
                // The shrinkage is that of all simulations; pivots of the two fits differ by what they may miss.
                assert!((found - wanted).abs() < 3e-2, "{length_scale:?}: {found} {wanted}");
            }
        }
    }

    #[test]
    fn weights_sum_to_one_and_the_density_integrates_to_one() {
        let (z, u) = data();
        let first = u.map_rows(1, |u| vec![u[0]]);
        for (growth, centres) in [(0.0, Centres::Residuals), (0.3, Centres::Residuals), (0.0, Centres::LocalMeans)] {
            let h = ShapeHyperparameters { length_scale: Some(1.2), ridge: 3.0, tolerance: 0.2, growth, centres, tail: Tail::default() };
            let shape = Shape::new(&z, &first, h).unwrap();
            let weights = shape.weights_at(&z.select(&[4])).unwrap();
            assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            let grid: Vec<f64> = (0..2_001).map(|k| -10.0 + 0.01 * k as f64).collect();
            let at = z.select(&vec![4; grid.len()]);
            let total: f64 = shape.ln_densities(&at, &Points::from_column(grid)).iter().map(|ln| 0.01 * ln.exp()).sum();
            // Negative parts are clipped, so a little more than one.
            assert!(total > 0.999 && total < 1.1, "{growth}: {total}");
        }
    }

    #[test]
    fn draws_have_the_variance_of_the_residuals_whatever_the_tolerance() {
        let (z, u) = data();
        let first = u.map_rows(1, |u| vec![u[0]]);
        let squares = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64;
        let scale = squares(first.values()).sqrt();
        let standard = first.map_rows(1, |u| vec![u[0] / scale]);
        let (own, means) = (Centres::Residuals, Centres::LocalMeans);
        for (tolerance, growth, centres) in
            [(0.1, 0.0, own), (0.1, 0.4, own), (0.7, 0.2, own), (1.0, 0.0, own), (0.5, 0.0, means), (0.1, 0.4, means)]
        {
            let h = ShapeHyperparameters { length_scale: None, ridge: 1.0, tolerance, growth, centres, tail: Tail::default() };
            let shape = Shape::new(&z, &standard, h).unwrap();
            let mut rng = stream(7, Purpose::Experiment, 0);
            let drawn: Vec<f64> = (0..20_000).map(|_| shape.draw(&z.select(&[0]), &mut rng)[0]).collect();
            // The square of a Gaussian has a standard deviation of √2: four standard errors of the mean are 0.04, heavier tails a little more.
            assert!((squares(&drawn) - 1.0).abs() < 0.06, "{tolerance} {growth}: {}", squares(&drawn));
        }
    }
}
