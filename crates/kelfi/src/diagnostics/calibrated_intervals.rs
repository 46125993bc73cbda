//! Intervals and samples for where the posterior is too sure: ends are then where leave-one-out shares put them.
//!
//! The shares below the true values of n simulations near the observation, and that below the unknown truth, are n + 1 numbers of which
//! each is as likely to be the smallest, the second smallest and so on, whatever the shape of the posterior. Between the k-th smallest
//! and the k-th largest share lies the truth with a probability of 1 - 2k/(n + 1): conformal prediction, by leaving out
//! (Vovk, Gammerman & Shafer 2005); with weights w the k-th smallest counts for Σ w up to it, n = 1/Σw². It holds as far as simulations near
//! the observation are like it. Only what is too narrow or shifted is corrected, and no end is moved inwards: that would add noise
//! where intervals hold the truth already.

use super::{Calibration, Verdict};
use crate::{Error, Points, Posterior};

impl Calibration {
    /// The central interval of parameter `d` that is to cover this share: the posterior's own, or a wider one where leaving out finds
    /// its intervals too narrow or shifted.
    pub fn interval(&self, posterior: &Posterior, d: usize, share: f64) -> Result<(f64, f64), Error> {
        if !(self.corrects(d) && share > 0.0 && share < 1.0) {
            return posterior.interval(d, share);
        }
        let steps = self.steps(d);
        let levels = [0.5 * (1.0 - share), 0.5 * (1.0 + share)].map(|level| outwards(level, along(&steps, level)));
        let ends = posterior.quantile(d, &levels)?;
        Ok((ends[0], ends[1]))
    }

    /// Samples of the posterior, each parameter moved so that its quantiles are the ends of these intervals. Ranks stay as they are,
    /// and with them how parameters depend on one another.
    pub fn samples(&self, posterior: &Posterior, samples: &Points) -> Result<Points, Error> {
        let mut moved = samples.clone();
        for d in (0..samples.columns()).filter(|&d| self.corrects(d)) {
            let steps = self.steps(d);
            let below = posterior.cdf(d, &samples.column(d))?;
            let levels: Vec<f64> = below.into_iter().map(|u| outwards(u, along(&steps, u)).clamp(SMALLEST, 1.0 - SMALLEST)).collect();
            for (row, value) in posterior.quantile(d, &levels)?.into_iter().enumerate() {
                moved.row_mut(row)[d] = value;
            }
        }
        Ok(moved)
    }

    /// The level of these intervals that ends where a share `share` of the posterior of parameter `d` lies below: from 0 to 1, rising.
    pub fn recalibrated(&self, d: usize, share: f64) -> f64 {
        if !self.corrects(d) {
            return share;
        }
        let turned: Vec<(f64, f64)> = self.steps(d).into_iter().map(|(level, share)| (share, level)).collect();
        let level = along(&turned, share);
        if share < 0.5 { level.max(share).min(0.5) } else { level.min(share).max(0.5) }
    }

    /// Whether intervals of parameter `d` differ from the posterior's.
    pub fn corrects(&self, d: usize) -> bool {
        matches!(self.verdict(d), Verdict::TooNarrow | Verdict::Shifted)
    }

    /// Levels with the share of the posterior at each: (0, 0), every share in order, (1, 1).
    fn steps(&self, d: usize) -> Vec<(f64, f64)> {
        let mut weighted: Vec<(f64, f64)> = self.shares.iter().zip(&self.weights).map(|(row, w)| (row[d], *w)).collect();
        weighted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (n, mut sum, mut steps) = (self.effective(), 0.0, vec![(0.0, 0.0)]);
        for (share, weight) in weighted {
            sum += weight;
            steps.push((sum * n / (n + 1.0), share));
        }
        steps.push((1.0, 1.0));
        steps
    }
}

/// Quantiles are asked for at no less than this from either end.
const SMALLEST: f64 = 1e-9;

/// The share farther from the middle, on the side of the level.
fn outwards(level: f64, share: f64) -> f64 {
    if level < 0.5 { share.min(level) } else { share.max(level) }
}

/// The second number of the steps where the first is this, by straight lines; where the first stands still, its last.
fn along(steps: &[(f64, f64)], at: f64) -> f64 {
    let k = steps.partition_point(|step| step.0 <= at).clamp(1, steps.len() - 1);
    let ((x0, y0), (x1, y1)) = (steps[k - 1], steps[k]);
    if x1 > x0 { y0 + ((at - x0) / (x1 - x0)).clamp(0.0, 1.0) * (y1 - y0) } else { y1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kernel_means::shares;
    use crate::random::{Purpose, standard_normal, stream};
    use crate::{Hyperparameters, KernelMeansLikelihood, Marginal, Observation, Points, Prior, Question, Recorded, Simulations};
    use std::sync::Arc;

    const REPEATS: u64 = 100;

    /// 100 simulations of x = θ + 0.3 N(0, 1), θ ~ N(0, 1), and one more as truth and observation.
    fn case(seed: u64, epsilon: f64, length_scale: f64) -> (KernelMeansLikelihood, Posterior, f64, Observation) {
        let prior = Prior::independent(vec![("a".into(), Marginal::Normal { mean: 0.0, std: 1.0 })]).unwrap();
        let theta = prior.draw(101, seed);
        let noisy = |i: usize| theta.row(i)[0] + 0.3 * standard_normal(&mut stream(seed, Purpose::Experiment, i as u64));
        let x = Points::from_column((0..100).map(noisy).collect());
        let simulated = Simulations::new(theta.select(&(0..100).collect::<Vec<_>>()), x).unwrap();
        let y = Observation::Statistics(vec![noisy(100)]);
        let hyperparameters = Hyperparameters::isotropic(epsilon, length_scale, 1e-3);
        let model =
            KernelMeansLikelihood::new(&Question::new(&prior, &Recorded::Statistics(Arc::new(simulated)), &y), &hyperparameters).unwrap();
        let posterior = Posterior::new(Arc::new(model.clone()), 0).unwrap();
        (model, posterior, theta.row(100)[0], y)
    }

    #[test]
    fn levels_count_the_weights_of_the_shares_below_and_shares_undo_them() {
        // 0, ¼, ½, ¾ and 1 of the steps.
        let steps = [(0.0, 0.0), (0.25, 0.2), (0.5, 0.6), (0.75, 0.9), (1.0, 1.0)];
        let turned = steps.map(|(level, share)| (share, level));
        for (share, level) in [(0.0, 0.0), (0.1, 0.125), (0.2, 0.25), (0.4, 0.375), (0.75, 0.625), (1.0, 1.0)] {
            assert!((along(&turned, share) - level).abs() < 1e-12 && (along(&steps, level) - share).abs() < 1e-12, "{share}");
        }
        // Weights of 1/2, 1/4 and 1/4 amount to 8/3 simulations: (8/3)/(8/3 + 1) of them lie below the last.
        let weighted = Calibration::weighted(Points::from_column(vec![0.9, 0.3, 0.6]), vec![], vec![0.25, 0.5, 0.25]);
        let steps = weighted.steps(0);
        assert!((steps[1].0 - 0.5 * 8.0 / 11.0).abs() < 1e-12 && steps[1].1 == 0.3 && (steps[3].0 - 8.0 / 11.0).abs() < 1e-12, "{steps:?}");
    }

    #[test]
    fn only_what_is_too_narrow_is_changed_and_only_outwards() {
        let posterior = case(1, 0.3, 1.5).1;
        let even: Vec<f64> = (0..200).map(|i| (f64::from(i) + 0.5) / 200.0).collect();
        let fine = Calibration::of_shares(Points::from_column(even.clone()));
        assert_eq!(fine.interval(&posterior, 0, 0.9).unwrap(), posterior.interval(0, 0.9).unwrap());
        assert_eq!(fine.recalibrated(0, 0.123), 0.123);
        let wide = Calibration::of_shares(Points::from_column(even.iter().map(|u| 0.3 + 0.4 * u).collect()));
        assert_eq!((wide.verdict(0), wide.recalibrated(0, 0.123)), (Verdict::TooWide, 0.123));
        // Half of the true values in each tail of a twentieth: 90 % need nearly all of the posterior.
        let narrow = Calibration::of_shares(Points::from_column(
            even.iter().map(|u| if *u < 0.5 { 0.1 * u } else { 1.0 - 0.1 * (1.0 - u) }).collect(),
        ));
        let (low, high) = narrow.interval(&posterior, 0, 0.9).unwrap();
        let back = posterior.cdf(0, &[low, high]).unwrap();
        assert!((back[0] - 0.005).abs() < 1e-3 && (back[1] - 0.995).abs() < 1e-3, "{back:?}");
        assert!((narrow.recalibrated(0, back[0]) - 0.05).abs() < 1e-3 && (narrow.recalibrated(0, back[1]) - 0.95).abs() < 1e-3);
        assert!(narrow.interval(&posterior, 0, 1.0).is_err() && fine.interval(&posterior, 0, 0.0).is_err());
        // Samples whose quantiles are the posterior's become samples whose quantiles are the ends of these intervals.
        let ends = posterior.quantile(0, &[0.05, 0.5, 0.95]).unwrap();
        let moved = narrow.samples(&posterior, &Points::from_column(ends.clone())).unwrap().column(0);
        assert!((moved[0] - low).abs() < 1e-6 && (moved[2] - high).abs() < 1e-6, "{moved:?} {low} {high}");
        assert_eq!(fine.samples(&posterior, &Points::from_column(ends.clone())).unwrap().column(0), ends);
    }

    #[test]
    fn calibrated_intervals_cover_what_they_say_where_the_posterior_is_far_too_narrow() {
        for (epsilon, length_scale) in [(0.02, 0.1), (0.05, 0.2)] {
            let (mut own, mut calibrated) = (0, 0);
            for repeat in 0..REPEATS {
                let (model, posterior, truth, _) = case(100 + repeat, epsilon, length_scale);
                let inside = |(low, high): (f64, f64)| usize::from(low <= truth && truth <= high);
                own += inside(posterior.interval(0, 0.8).unwrap());
                calibrated += inside(Calibration::of_left_out(&shares(&model).unwrap()).interval(&posterior, 0, 0.8).unwrap());
            }
            let rates = [own, calibrated].map(|count| count as f64 / REPEATS as f64);
            println!("tolerance {epsilon}: {rates:?}");
            // Four standard errors of 100 repeats are 0.16.
            assert!((rates[1] - 0.8).abs() < 0.16, "{epsilon}: {rates:?}");
            assert!((rates[0] - 0.8).abs() > 0.1, "{epsilon}: {rates:?}");
        }
    }
}
