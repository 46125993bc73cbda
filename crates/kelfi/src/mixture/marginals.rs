//! One-dimensional marginals of a signed mixture: signed density and CDF in closed form, quantiles of the positive part.

use crate::Error;
use crate::special::normal::cdf as normal_cdf;

const SQRT_2PI: f64 = 2.506_628_274_631_000_7;
/// A component has no mass to speak of beyond this many of its standard deviations (2e-19).
const REACH: f64 = 9.0;
/// Grid nodes per standard deviation of the narrowest component; a signed sum of Gaussians has no finer features.
const NODES_PER_STD: f64 = 6.0;
/// Nodes at most, for marginals that are much narrower in one place than in another.
const MOST_NODES: usize = 20_000;
const BISECTIONS: usize = 60;
/// Gauss's three points on [-1, 1] with their weights, which sum to one: exact for polynomials of degree 5.
const GAUSS: [(f64, f64); 3] = [(-0.774_596_669_241_483_4, 5.0 / 18.0), (0.0, 4.0 / 9.0), (0.774_596_669_241_483_4, 5.0 / 18.0)];

/// Σ_j ω_j N(t | c_j, s_j²) on the line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MarginalMixture {
    weights: Vec<f64>,
    centres: Vec<f64>,
    stds: Vec<f64>,
}

/// The positive part of a marginal, normalised: a distribution with a monotone CDF.
#[derive(Debug, Clone)]
pub struct ClippedMarginal {
    marginal: MarginalMixture,
    /// Nodes between which the marginal does not change sign.
    nodes: Vec<f64>,
    /// Signed CDF at the nodes.
    signed: Vec<f64>,
    /// Positive mass below each node.
    below: Vec<f64>,
    /// ∫[q]⁻ over the line.
    negative: f64,
}

impl MarginalMixture {
    /// Adds a component.
    pub fn push(&mut self, weight: f64, centre: f64, std: f64) {
        self.weights.push(weight);
        self.centres.push(centre);
        self.stds.push(std);
    }

    /// The signed density at t.
    pub fn value(&self, t: f64) -> f64 {
        self.sum(|u, s| (-0.5 * u * u).exp() / (s * SQRT_2PI), t)
    }

    /// The signed CDF at t: from 0 to 1, but not necessarily rising.
    pub fn cdf(&self, t: f64) -> f64 {
        // Most components lie far to one side; Φ of the rest is what costs.
        let share = |u: f64| if u.abs() < REACH { normal_cdf(u) } else { f64::from(u8::from(u > 0.0)) };
        self.sum(|u, _| share(u), t)
    }

    fn sum(&self, term: impl Fn(f64, f64) -> f64, t: f64) -> f64 {
        let mut sum = 0.0;
        for ((w, c), s) in self.weights.iter().zip(&self.centres).zip(&self.stds) {
            sum += w * term((t - c) / s, *s);
        }
        sum
    }

    /// The positive part as a distribution of its own.
    pub fn clip(self) -> ClippedMarginal {
        let (nodes, values): (Vec<f64>, Vec<f64>) = {
            let grid = self.grid();
            let values: Vec<f64> = grid.iter().map(|&t| self.value(t)).collect();
            self.with_sign_changes(&grid, &values)
        };
        let signed: Vec<f64> = nodes.iter().map(|&t| self.cdf(t)).collect();
        let mut below = vec![0.0];
        let mut negative = 0.0;
        for k in 1..nodes.len() {
            // Between nodes the sign is constant; a node that is a root counts as either.
            let positive = values[k - 1] + values[k] > 0.0;
            let mass = signed[k] - signed[k - 1];
            below.push(below[k - 1] + if positive { mass.max(0.0) } else { 0.0 });
            negative -= if positive { 0.0 } else { mass.min(0.0) };
        }
        ClippedMarginal { marginal: self, nodes, signed, below, negative }
    }

    /// Equally spaced nodes over the reach of all components, where a weight matters.
    fn grid(&self) -> Vec<f64> {
        let largest = self.weights.iter().fold(0.0_f64, |l, w| l.max(w.abs()));
        let (mut low, mut high, mut narrowest) = (f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY);
        for ((w, c), s) in self.weights.iter().zip(&self.centres).zip(&self.stds) {
            if w.abs() > 1e-18 * largest {
                low = low.min(c - REACH * s);
                high = high.max(c + REACH * s);
                narrowest = narrowest.min(*s);
            }
        }
        let count = ((high - low) / narrowest * NODES_PER_STD).ceil().clamp(2.0, MOST_NODES as f64) as usize;
        (0..=count).map(|k| low + (high - low) * k as f64 / count as f64).collect()
    }

    fn with_sign_changes(&self, grid: &[f64], values: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut nodes, mut at) = (vec![grid[0]], vec![values[0]]);
        for k in 1..grid.len() {
            if values[k - 1] * values[k] < 0.0 {
                let rising = values[k] > 0.0;
                nodes.push(bisect(grid[k - 1], grid[k], |t| (self.value(t) > 0.0) == rising));
                at.push(0.0);
            }
            nodes.push(grid[k]);
            at.push(values[k]);
        }
        (nodes, at)
    }
}

impl ClippedMarginal {
    /// ∫[q]⁺ over the line: at least one but for rounding, never zero.
    pub fn positive_mass(&self) -> f64 {
        self.below[self.below.len() - 1].max(f64::MIN_POSITIVE)
    }

    /// ∫[q]⁻ / ∫[q]⁺.
    pub fn negative_mass(&self) -> f64 {
        (self.negative / self.positive_mass()).min(1.0 - f64::EPSILON)
    }

    /// The density [q]⁺ / ∫[q]⁺ at t.
    pub fn density(&self, t: f64) -> f64 {
        self.marginal.value(t).max(0.0) / self.positive_mass()
    }

    /// The share of the positive mass below t.
    pub fn cdf(&self, t: f64) -> f64 {
        let last = self.nodes.len() - 1;
        if t <= self.nodes[0] {
            return 0.0;
        }
        if t >= self.nodes[last] {
            return 1.0;
        }
        let k = self.nodes.partition_point(|&node| node <= t).clamp(1, last);
        let gained = if self.below[k] > self.below[k - 1] { self.marginal.cdf(t) - self.signed[k - 1] } else { 0.0 };
        (self.below[k - 1] + gained.clamp(0.0, self.below[k] - self.below[k - 1])) / self.positive_mass()
    }

    /// The point below which a share `p` of the positive mass lies.
    pub fn quantile(&self, p: f64) -> Result<f64, Error> {
        if !(0.0..=1.0).contains(&p) {
            return Err(Error::invalid("probability", p, "it must lie between 0 and 1"));
        }
        let target = p * self.positive_mass();
        let last = self.nodes.len() - 1;
        let k = self.below.partition_point(|&mass| mass < target).clamp(1, last);
        let wanted = self.signed[k - 1] + (target - self.below[k - 1]);
        Ok(bisect(self.nodes[k - 1], self.nodes[k], |t| self.marginal.cdf(t) >= wanted))
    }

    /// Points and weights that stand for the distribution: between two nodes the mass there, shared by Gauss's three points in proportion
    /// to the density at them.
    pub fn weighted_points(&self) -> Vec<(f64, f64)> {
        let mut found = vec![];
        for k in 1..self.nodes.len() {
            let mass = (self.below[k] - self.below[k - 1]) / self.positive_mass();
            if mass > 0.0 {
                let (low, high) = (self.nodes[k - 1], self.nodes[k]);
                let at = GAUSS.map(|(place, _)| 0.5 * (low + high) + 0.5 * (high - low) * place);
                let shares = [0, 1, 2].map(|i| GAUSS[i].1 * self.marginal.value(at[i]).max(0.0));
                let total: f64 = shares.iter().sum();
                if total > 0.0 {
                    found.extend((0..3).map(|i| (at[i], mass * shares[i] / total)));
                } else {
                    found.push((at[1], mass));
                }
            }
        }
        found
    }
}

/// The point in [low, high] where `reached` turns from false to true.
fn bisect(mut low: f64, mut high: f64, reached: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if reached(middle) { high = middle } else { low = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marginal(components: &[(f64, f64, f64)]) -> MarginalMixture {
        let mut m = MarginalMixture::default();
        components.iter().for_each(|&(w, c, s)| m.push(w, c, s));
        m
    }

    #[test]
    fn quantiles_of_one_gaussian_are_its_own() {
        let clipped = marginal(&[(1.0, 2.0, 0.5)]).clip();
        assert!((clipped.quantile(0.5).unwrap() - 2.0).abs() < 1e-12);
        assert!((clipped.quantile(0.975).unwrap() - (2.0 + 0.5 * 1.959_963_984_540_054)).abs() < 1e-10);
        assert!(clipped.negative_mass() < 1e-14);
    }

    #[test]
    fn positive_mass_of_a_difference_of_gaussians_agrees_with_a_fine_sum() {
        let m = marginal(&[(2.0, 0.0, 1.0), (-1.0, 0.4, 0.3)]);
        let step = 1e-4;
        let fine: f64 = (-100_000..100_000).map(|k| m.value(k as f64 * step).max(0.0) * step).sum();
        let clipped = m.clip();
        assert!((clipped.positive_mass() - fine).abs() < 1e-6);
        assert!((clipped.negative_mass() - (fine - 1.0) / fine).abs() < 1e-6);
    }

    #[test]
    fn quantile_leaves_the_share_below_it() {
        let m = marginal(&[(1.6, 0.0, 1.0), (-0.6, 0.4, 0.3)]);
        let clipped = m.clone().clip();
        for p in [0.01, 0.3, 0.5, 0.77, 0.99] {
            let q = clipped.quantile(p).unwrap();
            let step = 1e-4;
            let below: f64 = (0..).map(|k| q - (k as f64 + 0.5) * step).take_while(|&t| t > -9.0).map(|t| clipped.density(t) * step).sum();
            assert!((below - p).abs() < 1e-6, "{p}: {below}");
        }
    }
}
