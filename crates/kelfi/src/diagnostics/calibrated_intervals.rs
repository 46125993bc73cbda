//! Intervals that cover what they say, also where the posterior's own do not: ends where leave-one-out shares put them.
//!
//! The shares below the true values of n simulations near the observation, and that below the unknown truth, are n + 1 numbers of which
//! each is as likely to be the smallest, the second smallest and so on, whatever the shape of the posterior. Between the k-th smallest
//! and the k-th largest share lies the truth with a probability of 1 - 2k/(n + 1): conformal prediction, by leaving out
//! (Vovk, Gammerman & Shafer 2005). It holds where simulations were drawn from the prior, and as far as those near the observation are like it.

use super::Calibration;
use crate::{Error, Posterior};

impl Calibration {
    /// Which share of the shares of parameter `d` lies below `share`, that of the observation itself among them: how far down its posterior
    /// a value lies once the posterior is taken at the word of the simulations near the observation. From 0 to 1, rising.
    pub fn recalibrated(&self, d: usize, share: f64) -> f64 {
        let steps = self.steps(d);
        let k = steps.partition_point(|&s| s <= share).clamp(1, steps.len() - 1);
        let width = steps[k] - steps[k - 1];
        let part = if width > 0.0 { ((share - steps[k - 1]) / width).clamp(0.0, 1.0) } else { 1.0 };
        (k as f64 - 1.0 + part) / (steps.len() - 1) as f64
    }

    /// The central interval of parameter `d` that holds the truth for this share of the simulations near the observation:
    /// the posterior's quantiles at the k-th smallest and largest share, k = (count + 1) (1 - share)/2, in between by straight lines.
    /// If simulations were drawn from the prior and the nearby ones are like the observation, it covers as often as it says, even where
    /// the posterior's own interval does not.
    pub fn interval(&self, posterior: &Posterior, d: usize, share: f64) -> Result<(f64, f64), Error> {
        if !(share > 0.0 && share < 1.0) {
            return Err(Error::invalid("share of an interval", share, "it must lie between 0 and 1"));
        }
        let steps = self.steps(d);
        let at = |probability: f64| {
            let place = probability * (steps.len() - 1) as f64;
            let k = (place as usize).min(steps.len() - 2);
            steps[k] + (place - k as f64) * (steps[k + 1] - steps[k])
        };
        let ends = posterior.quantile(d, &[at(0.5 * (1.0 - share)), at(0.5 * (1.0 + share))])?;
        Ok((ends[0], ends[1]))
    }

    /// 0, the shares of parameter `d` in order, 1.
    fn steps(&self, d: usize) -> Vec<f64> {
        let mut steps: Vec<f64> = self.shares.iter().map(|row| row[d]).chain([0.0, 1.0]).collect();
        steps.sort_by(f64::total_cmp);
        steps
    }
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
    fn recalibrated_shares_count_the_shares_below_and_intervals_undo_them() {
        let calibration = Calibration::of_shares(Points::from_column(vec![0.6, 0.2, 0.9]));
        // 0, 0.2, 0.6, 0.9, 1 stand for 0, ¼, ½, ¾, 1.
        for (share, wanted) in [(0.0, 0.0), (0.1, 0.125), (0.2, 0.25), (0.4, 0.375), (0.75, 0.625), (1.0, 1.0)] {
            assert!((calibration.recalibrated(0, share) - wanted).abs() < 1e-12, "{share}");
        }
        let posterior = case(1, 0.7, 1.5).1;
        for share in [0.3, 0.5, 0.95] {
            let (low, high) = calibration.interval(&posterior, 0, share).unwrap();
            let back = posterior.cdf(0, &[low, high]).unwrap().iter().map(|&s| calibration.recalibrated(0, s)).collect::<Vec<_>>();
            assert!((back[0] - 0.5 * (1.0 - share)).abs() < 1e-6 && (back[1] - 0.5 * (1.0 + share)).abs() < 1e-6, "{share}: {back:?}");
        }
        assert!(calibration.interval(&posterior, 0, 1.0).is_err());
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
