//! Intervals that cover what they say, also where the posterior's own do not: ends are then where leave-one-out shares put them.
//!
//! The shares below the true values of n simulations near the observation, and that below the unknown truth, are n + 1 numbers of which
//! each is as likely to be the smallest, the second smallest and so on, whatever the shape of the posterior. Between the k-th smallest
//! and the k-th largest share lies the truth with a probability of 1 - 2k/(n + 1): conformal prediction, by leaving out
//! (Vovk, Gammerman & Shafer 2005). It holds where simulations were drawn from the prior, and as far as those near the observation are like it.

use super::{Calibration, Verdict};
use crate::{Error, Posterior};

impl Calibration {
    /// The central interval of parameter `d` that is to cover this share: the posterior's own where its shares stay inside their bands,
    /// since correcting what is right only adds noise; else the one between the quantiles at the k-th smallest and largest share,
    /// k = (count + 1) (1 - share)/2, in between by straight lines.
    pub fn interval(&self, posterior: &Posterior, d: usize, share: f64) -> Result<(f64, f64), Error> {
        if self.verdict(d) == Verdict::Calibrated || !(share > 0.0 && share < 1.0) {
            return posterior.interval(d, share);
        }
        let steps = self.steps(d);
        let levels = [0.5 * (1.0 - share), 0.5 * (1.0 + share)].map(|level| share_at(&steps, level));
        let ends = posterior.quantile(d, &levels)?;
        Ok((ends[0], ends[1]))
    }

    /// The level of these intervals that ends where a share `share` of the posterior of parameter `d` lies below: from 0 to 1, rising.
    pub fn recalibrated(&self, d: usize, share: f64) -> f64 {
        if self.verdict(d) == Verdict::Calibrated { share } else { level_at(&self.steps(d), share) }
    }

    /// 0, the shares of parameter `d` in order, 1.
    fn steps(&self, d: usize) -> Vec<f64> {
        let mut steps: Vec<f64> = self.shares.iter().map(|row| row[d]).chain([0.0, 1.0]).collect();
        steps.sort_by(f64::total_cmp);
        steps
    }
}

/// The share that this part of the steps lies below.
fn share_at(steps: &[f64], level: f64) -> f64 {
    let place = level * (steps.len() - 1) as f64;
    let k = (place as usize).min(steps.len() - 2);
    steps[k] + (place - k as f64) * (steps[k + 1] - steps[k])
}

/// The part of the steps below a share: the inverse of [`share_at`].
fn level_at(steps: &[f64], share: f64) -> f64 {
    let k = steps.partition_point(|&s| s <= share).clamp(1, steps.len() - 1);
    let width = steps[k] - steps[k - 1];
    let part = if width > 0.0 { ((share - steps[k - 1]) / width).clamp(0.0, 1.0) } else { 1.0 };
    (k as f64 - 1.0 + part) / (steps.len() - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, standard_normal, stream};
    use crate::{Hyperparameters, KernelMeansLikelihood, Marginal, Observation, Points, Prior, Recorded, Simulations};
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
        let model = KernelMeansLikelihood::new(Recorded::Statistics(Arc::new(simulated)), &y, &prior, &hyperparameters).unwrap();
        let posterior = Posterior::new(Arc::new(model.clone()), 0).unwrap();
        (model, posterior, theta.row(100)[0], y)
    }

    #[test]
    fn levels_count_the_shares_below_and_shares_undo_them() {
        // 0, ¼, ½, ¾ and 1 of the steps.
        let steps = [0.0, 0.2, 0.6, 0.9, 1.0];
        for (share, level) in [(0.0, 0.0), (0.1, 0.125), (0.2, 0.25), (0.4, 0.375), (0.75, 0.625), (1.0, 1.0)] {
            assert!((level_at(&steps, share) - level).abs() < 1e-12 && (share_at(&steps, level) - share).abs() < 1e-12, "{share}");
        }
    }

    #[test]
    fn only_intervals_that_leaving_out_finds_fault_with_are_changed() {
        let posterior = case(1, 0.3, 1.5).1;
        let even: Vec<f64> = (0..200).map(|i| (f64::from(i) + 0.5) / 200.0).collect();
        let fine = Calibration::of_shares(Points::from_column(even.clone()));
        assert_eq!(fine.interval(&posterior, 0, 0.9).unwrap(), posterior.interval(0, 0.9).unwrap());
        assert_eq!(fine.recalibrated(0, 0.123), 0.123);
        // Half of the true values in each tail of a twentieth: 90 % need nearly all of the posterior.
        let narrow = Calibration::of_shares(Points::from_column(
            even.iter().map(|u| if *u < 0.5 { 0.1 * u } else { 1.0 - 0.1 * (1.0 - u) }).collect(),
        ));
        let (low, high) = narrow.interval(&posterior, 0, 0.9).unwrap();
        let back = posterior.cdf(0, &[low, high]).unwrap();
        assert!((back[0] - 0.005).abs() < 1e-3 && (back[1] - 0.995).abs() < 1e-3, "{back:?}");
        assert!((narrow.recalibrated(0, back[0]) - 0.05).abs() < 1e-6 && (narrow.recalibrated(0, back[1]) - 0.95).abs() < 1e-6);
        assert!(narrow.interval(&posterior, 0, 1.0).is_err() && fine.interval(&posterior, 0, 0.0).is_err());
    }

    #[test]
    fn calibrated_intervals_cover_what_they_say_where_the_posterior_is_far_too_wide_or_too_narrow() {
        for (epsilon, length_scale) in [(0.02, 0.1), (1.0, 1.5)] {
            let (mut own, mut calibrated) = (0, 0);
            for repeat in 0..REPEATS {
                let (model, posterior, truth, y) = case(100 + repeat, epsilon, length_scale);
                let inside = |(low, high): (f64, f64)| usize::from(low <= truth && truth <= high);
                own += inside(posterior.interval(0, 0.8).unwrap());
                calibrated += inside(Calibration::new(&model, &y).unwrap().interval(&posterior, 0, 0.8).unwrap());
            }
            let rates = [own, calibrated].map(|count| count as f64 / REPEATS as f64);
            println!("tolerance {epsilon}: {rates:?}");
            // Four standard errors of 100 repeats are 0.16.
            assert!((rates[1] - 0.8).abs() < 0.16, "{epsilon}: {rates:?}");
            assert!((rates[0] - 0.8).abs() > 0.1, "{epsilon}: {rates:?}");
        }
    }
}
