//! Do outputs look like independent repeats of the same few statistics, though nobody said so?
//!
//! Given θ, repeats can change places. Of k values of one statistic in an output, c_k their deviations from their mean and t = c/|c|,
//! whatever the noise: E[t_k | θ] = 0, E[t_k² | θ] = 1/k, and neighbours have E[Σ t_k t_k+1 | θ] = -1/k as all other pairs do. Each of the
//! three is regressed on 1, z and z²; sums over simulations of features without correlation have variances that are known or seen, so that
//! their squares add up to χ². What passes is a candidate only: whether the likelihood is a product over repeats is for densities of left-out
//! outputs to say.

use super::Simulations;
use crate::linalg::Cholesky;
use crate::special::gamma;
use crate::{Error, Points, Prior};

/// Fewer repeats cannot be told from a few statistics that happen to be alike.
const FEWEST_REPEATS: usize = 3;
/// Fewer simulations have no power against statistics that differ.
const FEWEST_SIMULATIONS: usize = 40;
/// Repeats fail one of the tests this seldom.
const LEVEL: f64 = 1e-2;

impl Simulations {
    /// The largest number of repeats that outputs look like; `None` where they look like statistics of their own, or where somebody said how
    /// many there are.
    pub fn repeats_that_fit(&self, prior: &Prior) -> Result<Option<usize>, Error> {
        let (rows, n) = (self.successful_rows(), self.statistics());
        if self.repeats.is_some() || n < FEWEST_REPEATS || rows.len() < FEWEST_SIMULATIONS {
            return Ok(None);
        }
        let owners = self.owners();
        let z = prior.to_latent_points(self.theta())?.select(&rows.iter().map(|&row| owners[row]).collect::<Vec<_>>());
        let Some(features) = Features::of(&z) else { return Ok(None) };
        let outputs = self.outputs().select(&rows);
        let candidates = (1..=n / FEWEST_REPEATS).filter(|each| n.is_multiple_of(*each));
        Ok(candidates.map(|each| n / each).find(|&repeats| features.can_change_places(&outputs, repeats)))
    }

    /// The simulation of every output.
    fn owners(&self) -> Vec<usize> {
        self.offsets().windows(2).enumerate().flat_map(|(j, range)| std::iter::repeat_n(j, range[1] - range[0])).collect()
    }
}

/// 1, z and z² of every output, made orthonormal.
struct Features(Points);

impl Features {
    /// `None` where there are too few outputs for so many, or some depend on others.
    fn of(z: &Points) -> Option<Self> {
        let (m, count) = (z.rows(), 1 + 2 * z.columns());
        let raw = z.map_rows(count, |z| std::iter::once(1.0).chain(z.iter().copied()).chain(z.iter().map(|z| z * z)).collect());
        let mut gram = vec![0.0; count * count];
        for row in raw.iter() {
            (0..count * count).for_each(|e| gram[e] += row[e / count] * row[e % count]);
        }
        if m < 3 * count {
            return None;
        }
        let factor = Cholesky::new(gram, count).ok()?;
        let mut made = raw;
        factor.half_solve_in_place(made.values_mut());
        Some(Self(made))
    }

    fn can_change_places(&self, outputs: &Points, repeats: usize) -> bool {
        let each = outputs.columns() / repeats;
        let tests = |j: usize| -> Option<[f64; 3]> {
            let directions = self.directions(outputs, j, repeats)?;
            Some([self.of_means(&directions), self.of_sizes(&directions), self.of_neighbours(&directions)])
        };
        let level = LEVEL / (3 * each) as f64;
        (0..each).all(|j| tests(j).is_some_and(|p_values| p_values.iter().all(|p| *p >= level)))
    }

    /// t of statistic `j` in every output; `None` where its repeats are all equal in a tenth of the outputs: hardly noise.
    fn directions(&self, outputs: &Points, j: usize, repeats: usize) -> Option<Vec<Vec<f64>>> {
        let each = outputs.columns() / repeats;
        let mut equal = 0;
        let of_output = |x: &[f64]| -> Vec<f64> {
            let values = || x[j..].iter().step_by(each);
            let mean = values().sum::<f64>() / repeats as f64;
            let size = values().map(|v| (v - mean).powi(2)).sum::<f64>().sqrt();
            if size <= 1e-9 * mean.abs() {
                equal += 1;
                return vec![0.0; repeats];
            }
            values().map(|v| (v - mean) / size).collect()
        };
        let found: Vec<Vec<f64>> = outputs.iter().map(of_output).collect();
        (10 * equal <= outputs.rows()).then_some(found)
    }

    /// Σ_f |Σ_i f_i v_i|² for vectors v of the same length.
    fn squares(&self, vectors: &[Vec<f64>]) -> f64 {
        let (count, length) = (self.0.columns(), vectors[0].len());
        let mut sums = vec![0.0; count * length];
        for (f, v) in self.0.iter().zip(vectors) {
            for a in 0..count {
                for b in 0..length {
                    sums[a * length + b] += f[a] * v[b];
                }
            }
        }
        sums.iter().map(|s| s * s).sum()
    }

    /// Of t: its covariance is (I - 1 1ᵀ/k)/(k - 1).
    fn of_means(&self, directions: &[Vec<f64>]) -> f64 {
        let freedom = directions[0].len() - 1;
        p_value(freedom as f64 * self.squares(directions), self.0.columns() * freedom)
    }

    /// Of t² - 1/k, whose covariance is v k/(k - 1) (I - 1 1ᵀ/k), v the variance of one.
    fn of_sizes(&self, directions: &[Vec<f64>]) -> f64 {
        let k = directions[0].len() as f64;
        let apart: Vec<Vec<f64>> = directions.iter().map(|t| t.iter().map(|t| t * t - 1.0 / k).collect()).collect();
        let v = apart.iter().flatten().map(|d| d * d).sum::<f64>() / (k * apart.len() as f64);
        p_value(self.squares(&apart) * (k - 1.0) / (v * k), self.0.columns() * (directions[0].len() - 1))
    }

    /// Of Σ t_k t_k+1 + 1/k, a number with the variance that is seen.
    fn of_neighbours(&self, directions: &[Vec<f64>]) -> f64 {
        let k = directions[0].len() as f64;
        let apart: Vec<Vec<f64>> = directions.iter().map(|t| vec![t.windows(2).map(|t| t[0] * t[1]).sum::<f64>() + 1.0 / k]).collect();
        let v = apart.iter().flatten().map(|d| d * d).sum::<f64>() / apart.len() as f64;
        p_value(self.squares(&apart) / v, self.0.columns())
    }
}

/// How often χ² of so many degrees of freedom is as large.
fn p_value(chi_square: f64, freedom: usize) -> f64 {
    if chi_square > 0.0 { gamma::ln_tails(0.5 * freedom as f64, (0.5 * chi_square).ln()).1.exp() } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Marginal;
    use crate::random::{Purpose, standard_normal, stream};

    /// Outputs at θ, given a source of standard normal noise.
    type Simulator<'a> = &'a dyn Fn(&[f64], &mut dyn FnMut() -> f64) -> Vec<f64>;

    fn found(m: usize, seed: u64, dimension: usize, f: impl Fn(&[f64], &mut dyn FnMut() -> f64) -> Vec<f64>) -> Option<usize> {
        let marginals = (0..dimension).map(|d| (format!("t{d}"), Marginal::Normal { mean: 0.0, std: 1.0 })).collect();
        let prior = Prior::independent(marginals).unwrap();
        let theta = prior.draw(m, seed);
        let output = |j: usize| {
            let mut rng = stream(seed, Purpose::Simulator, j as u64);
            f(theta.row(j), &mut || standard_normal(&mut rng))
        };
        let x = Points::from_rows(&(0..m).map(output).collect::<Vec<_>>()).unwrap();
        Simulations::new(theta, x).unwrap().repeats_that_fit(&prior).unwrap()
    }

    /// How many of twenty seeds find so many repeats.
    fn times(repeats: Option<usize>, m: usize, dimension: usize, f: impl Fn(&[f64], &mut dyn FnMut() -> f64) -> Vec<f64>) -> usize {
        (0..20).filter(|&seed| found(m, seed, dimension, &f) == repeats).count()
    }

    #[test]
    fn draws_whose_mean_and_spread_move_are_repeats() {
        let draws = |theta: &[f64], noise: &mut dyn FnMut() -> f64| (0..6).map(|_| theta[0] + (0.5 * theta[1]).exp() * noise()).collect();
        assert!(times(Some(6), 100, 2, draws) >= 18);
        // Four points in the plane whose coordinates correlate: two statistics, not eight draws of one, though these have the same prior.
        let points = |theta: &[f64], noise: &mut dyn FnMut() -> f64| {
            let point = |_| {
                let (a, b) = (noise(), noise());
                [theta[0] + theta[2].exp() * a, theta[1] + 0.8 * a + 0.6 * b]
            };
            (0..4).flat_map(point).collect()
        };
        assert!(times(Some(4), 100, 3, points) >= 18);
    }

    #[test]
    fn statistics_of_their_own_are_not() {
        // One in twenty may pass: densities of left-out outputs have the last word.
        let never = |m: usize, dimension: usize, f: Simulator<'_>| {
            assert!(times(None, m, dimension, f) >= 19);
        };
        never(100, 4, &|theta, noise| theta.iter().map(|t| t + 0.5 * noise()).collect());
        never(100, 1, &|theta, noise| (0..5).map(|k| (0.3 * k as f64 * theta[0]).exp() + 0.3 * noise()).collect());
        // The same mean, noise that grows along the output.
        never(100, 1, &|theta, noise| (0..5).map(|k| theta[0] + (1.0 + 0.5 * k as f64) * noise()).collect());
        // A series whose neighbours are more alike.
        never(200, 1, &|theta, noise| {
            let mut level = noise();
            (0..8)
                .map(|_| {
                    level = 0.7 * level + 0.71 * noise();
                    theta[0] + level
                })
                .collect()
        });
        // Equal in every repeat.
        never(100, 1, &|theta, noise| vec![theta[0] + noise(); 4]);
    }
}
