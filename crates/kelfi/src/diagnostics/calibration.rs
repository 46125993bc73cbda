//! Leave-one-out calibration: where do the parameters of each simulation near the observation fall in the posterior made without it?
//!
//! If simulations were drawn from the prior and the posterior is right, the share of the posterior below the true value is uniform,
//! whatever the outputs: also for those near y only. Too narrow a posterior piles shares up at 0 and 1, too wide a one in the middle,
//! a shifted one on one side. Two pictures, each with a band: the histogram of the shares, and how often central intervals
//! of every size cover the truth.

use super::bands::{CountBand, CurveBand};
use super::leave_one_out_shares::shares;
use crate::model::location_scale::leave_one_out::LeftOut;
use crate::model::{KernelMeansLikelihood, Likelihood};
use crate::posterior::Form;
use crate::posterior::checks::{Check, Status};
use crate::simulations::Observation;
use crate::{Error, Points, Posterior};

/// All bands of all parameters together hold for a calibrated posterior with this probability.
pub const PROBABILITY: f64 = 0.95;
/// Bins of the histogram.
pub const BINS: usize = 10;
/// Central intervals of 5 %, 10 %, …, 95 %.
const SIZES: usize = 19;
/// Fewer simulations than this cannot tell a posterior from one half as wide.
const FEWEST: usize = 20;
/// A posterior whose 95 % intervals cover less than this is not to be used.
const LEAST_COVERAGE: f64 = 0.75;

/// What the shares of one parameter say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Inside both bands.
    Calibrated,
    /// Intervals cover less than they say: overconfident.
    TooNarrow,
    /// Intervals cover more than they say: cautious.
    TooWide,
    /// Intervals cover what they say, but values fall unevenly inside.
    Uneven,
}

/// Leave-one-out calibration of every parameter.
#[derive(Debug, Clone)]
pub struct Calibration {
    /// The simulations that played the observation, nearest first.
    pub indices: Vec<usize>,
    /// How many more could not be judged, for want of a positive evidence without them.
    pub skipped: usize,
    /// Share of the posterior below the true value: a row per simulation, a column per parameter.
    pub shares: Points,
    /// Where the counts of the histograms belong.
    pub histogram_band: CountBand,
    /// Where the counts of covered values belong, for intervals of every size.
    pub coverage_band: CurveBand,
}

impl Calibration {
    /// Looks at up to 200 simulations nearest to the observation. Valid where the simulations were drawn from the prior.
    pub fn new(model: &KernelMeansLikelihood, observation: &Observation) -> Result<Self, Error> {
        let found = shares(model, observation)?;
        Ok(Self { indices: found.indices, skipped: found.skipped, ..Self::of_shares(found.shares) })
    }

    /// Of the location-scale model, from what leaving out gave.
    pub fn of_left_out(left_out: &LeftOut) -> Self {
        Self { indices: left_out.indices.clone(), ..Self::of_shares(left_out.shares.clone()) }
    }

    /// Of either model at its observation. Leaving out of the location-scale model is done anew, with chains of this seed.
    pub fn of_posterior(likelihood: &Likelihood, posterior: &Posterior, observation: &Observation, seed: u64) -> Result<Self, Error> {
        match (likelihood, posterior.form()) {
            (Likelihood::KernelMeans(model), _) => Self::new(model, observation),
            (Likelihood::LocationScale(model), Form::Chained(chained)) => {
                Ok(Self::of_left_out(&model.leave_one_out(chained.draws().z(), seed)?))
            }
            (Likelihood::LocationScale(model), _) => Ok(Self::of_left_out(&model.leave_one_out(&Points::zeros(0, 0), seed)?)),
        }
    }

    /// From shares made elsewhere, a row per data set, a column per parameter.
    pub fn of_shares(shares: Points) -> Self {
        let (count, dimension) = (shares.rows(), shares.columns());
        // Two bands per parameter share what may go wrong by chance.
        let each = 1.0 - (1.0 - PROBABILITY) / (2 * dimension.max(1)) as f64;
        let sizes = (1..=SIZES).map(|k| k as f64 / (SIZES + 1) as f64).collect();
        Self {
            indices: (0..count).collect(),
            skipped: 0,
            histogram_band: CountBand::new(count, BINS, each),
            coverage_band: CurveBand::new(count, sizes, each),
            shares,
        }
    }

    /// How many shares of parameter `d` fall into each bin.
    pub fn histogram(&self, d: usize) -> Vec<usize> {
        let mut counts = vec![0; BINS];
        for row in self.shares.iter() {
            counts[((row[d] * BINS as f64) as usize).min(BINS - 1)] += 1;
        }
        counts
    }

    /// How many true values of parameter `d` lie in the central interval of each size of the band.
    pub fn covered(&self, d: usize) -> Vec<usize> {
        let within = |size: &f64| self.shares.iter().filter(|row| (2.0 * row[d] - 1.0).abs() <= *size).count();
        self.coverage_band.points.iter().map(within).collect()
    }

    /// What the shares of parameter `d` say.
    pub fn verdict(&self, d: usize) -> Verdict {
        let band = &self.coverage_band;
        let covered = self.covered(d);
        let (below, above) = (0..covered.len())
            .fold((0, 0), |(b, a), k| (b + usize::from(covered[k] < band.low[k]), a + usize::from(covered[k] > band.high[k])));
        if below > 0 && below >= above {
            return Verdict::TooNarrow;
        }
        if above > 0 {
            return Verdict::TooWide;
        }
        let band = self.histogram_band;
        if self.histogram(d).iter().all(|&count| band.low <= count && count <= band.high) { Verdict::Calibrated } else { Verdict::Uneven }
    }

    /// How often the 95 % intervals of parameter `d` cover the truth.
    pub fn coverage_of_95(&self, d: usize) -> f64 {
        self.covered(d)[SIZES - 1] as f64 / self.shares.rows().max(1) as f64
    }

    /// The worst parameter, in words.
    pub fn check(&self, names: &[String]) -> Check {
        let count = self.shares.rows();
        // The number that stands for the rest is that of the parameters complained about, if there are any.
        let narrowest = |among: &dyn Fn(usize) -> bool| {
            (0..self.shares.columns()).filter(|&d| among(d)).map(|d| self.coverage_of_95(d)).fold(f64::INFINITY, f64::min)
        };
        let of_narrow = narrowest(&|d| self.verdict(d) == Verdict::TooNarrow);
        let worst = if of_narrow.is_finite() { of_narrow } else { narrowest(&|_| true).min(1.0) };
        let named = |wanted: Verdict| -> Vec<&str> {
            (0..self.shares.columns()).filter(|&d| self.verdict(d) == wanted).map(|d| names.get(d).map_or("?", String::as_str)).collect()
        };
        let (narrow, wide, uneven) = (named(Verdict::TooNarrow), named(Verdict::TooWide), named(Verdict::Uneven));
        let (status, message) = if count < FEWEST {
            (
                Status::Warn,
                format!(
                    "only {count} simulations near the observation could be tried as observations; too few to judge calibration: simulate more"
                ),
            )
        } else if !narrow.is_empty() {
            let status = if worst < LEAST_COVERAGE { Status::Fail } else { Status::Warn };
            (
                status,
                format!(
                    "intervals of {} are too narrow: those that say 95 % cover {:.0} % of {count} simulations near the observation; simulate more, or use calibrated intervals",
                    list(&narrow),
                    100.0 * worst
                ),
            )
        } else if !wide.is_empty() {
            (
                Status::Warn,
                format!(
                    "intervals of {} are wider than they need to be; they are safe to use, and more simulations would narrow them",
                    list(&wide)
                ),
            )
        } else if !uneven.is_empty() {
            (
                Status::Warn,
                format!(
                    "true values of {} fall unevenly inside their posteriors; means may be off by part of a standard deviation: simulate more",
                    list(&uneven)
                ),
            )
        } else {
            (Status::Ok, format!("intervals cover what they say, as far as {count} simulations near the observation can tell"))
        };
        Check { name: "calibration".into(), status, value: worst, limit: 0.95, message }
    }
}

/// The first names, and how many more.
fn list(names: &[&str]) -> String {
    const SHOWN: usize = 3;
    let first = names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{first} and {} more", names.len() - SHOWN) } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, standard_normal, stream};
    use crate::special::normal::{cdf, quantile_of};
    use crate::{Hyperparameters, Marginal, Prior, Recorded, Simulations};
    use std::sync::Arc;

    const REPEATS: u64 = 200;
    /// The shares come from one set of simulations and are not quite independent; 0.95 less three standard errors of 200 repeats.
    const LEAST_RATE: f64 = 0.90;

    /// θ ~ N(0, 1), x = θ + N(0, 1): the posterior is N(x/2, 1/2).
    fn problem(seed: u64) -> (Recorded, Observation, Prior) {
        let prior = Prior::independent(vec![("a".into(), Marginal::Normal { mean: 0.0, std: 1.0 })]).unwrap();
        let theta = prior.draw(200, seed);
        let noisy = |i: usize| theta.row(i)[0] + standard_normal(&mut stream(seed, Purpose::Experiment, i as u64));
        let x = Points::from_column((0..200).map(noisy).collect());
        (Recorded::Statistics(Arc::new(Simulations::new(theta, x).unwrap())), Observation::Statistics(vec![0.5]), prior)
    }

    /// With these hyperparameters the kernel model comes close with 200 simulations.
    fn calibration(seed: u64) -> Calibration {
        let (recorded, y, prior) = problem(seed);
        let model = KernelMeansLikelihood::new(recorded, &y, &prior, &Hyperparameters::isotropic(0.3, 1.5, 1e-3)).unwrap();
        Calibration::new(&model, &y).unwrap()
    }

    /// The same posteriors, all `factor` times narrower around their medians: Φ(factor Φ⁻¹(u)), exact for normal ones.
    fn narrowed(calibration: &Calibration, factor: f64) -> Calibration {
        let narrow = |u: f64| cdf(factor * quantile_of(u.clamp(1e-12, 1.0 - 1e-12)));
        Calibration { shares: calibration.shares.map_rows(1, |row| vec![narrow(row[0])]), ..calibration.clone() }
    }

    #[test]
    fn a_well_specified_problem_stays_inside_the_bands_and_a_posterior_1_3_times_too_narrow_does_not() {
        let all: Vec<Calibration> = (0..REPEATS).map(calibration).collect();
        let rate = |factor: f64, verdict: Verdict| {
            all.iter().filter(|c| narrowed(c, factor).verdict(0) == verdict).count() as f64 / REPEATS as f64
        };
        let calm = rate(1.0, Verdict::Calibrated);
        println!("calibrated {calm}");
        assert!(calm >= LEAST_RATE, "{calm}");
        let flagged = rate(1.3, Verdict::TooNarrow);
        println!("1.3 times too narrow is flagged {flagged}");
        assert!(flagged >= 0.95, "{flagged}");
        let wide = rate(1.0 / 1.5, Verdict::TooWide);
        assert!(wide >= 0.95, "{wide}");
    }

    #[test]
    #[ignore = "learns 60 times: minutes"]
    fn learned_hyperparameters_keep_a_well_specified_problem_inside_the_bands() {
        let calm = |seed: &u64| {
            let (recorded, y, prior) = problem(*seed);
            let learned = crate::Inference::new(&recorded, &y, &prior, &crate::learning::LearnSettings::default(), &mut |_| true).unwrap();
            Calibration::new(&learned.model, &y).unwrap().verdict(0) == Verdict::Calibrated
        };
        let rate = (0..60).filter(calm).count() as f64 / 60.0;
        println!("calibrated with learned hyperparameters {rate}");
        // 0.95 less four standard errors of 60 repeats: learning looks at the same simulations.
        assert!(rate >= 0.84, "{rate}");
    }

    #[test]
    fn exact_posteriors_hold_the_stated_rate() {
        let bands = Calibration::of_shares(Points::zeros(150, 1));
        let inside = |repeat: &u64| {
            let mut rng = stream(9, Purpose::Experiment, *repeat);
            let shares = Points::from_column((0..150).map(|_| cdf(standard_normal(&mut rng))).collect());
            Calibration { shares, ..bands.clone() }.verdict(0) == Verdict::Calibrated
        };
        let rate = (0..2_000).filter(inside).count() as f64 / 2_000.0;
        // The stated 95 %, less four standard errors; whole numbers and the two overlapping bands make it somewhat safer.
        println!("exact posteriors {rate}");
        assert!((0.93..0.99).contains(&rate), "{rate}");
    }

    #[test]
    fn the_check_says_which_way_and_what_to_do() {
        let even: Vec<f64> = (0..200).map(|i| (f64::from(i) + 0.5) / 200.0).collect();
        let check = |factor: f64| {
            let shares = even.iter().map(|&u| cdf(factor * quantile_of(u))).collect();
            Calibration::of_shares(Points::from_column(shares)).check(&["rate".to_string()])
        };
        assert_eq!(check(1.0).status, Status::Ok);
        assert_eq!(check(1.3).status, Status::Warn);
        assert!(check(1.3).message.contains("rate are too narrow"), "{}", check(1.3).message);
        assert_eq!(check(2.5).status, Status::Fail);
        assert!(check(0.6).message.contains("wider than they need"), "{}", check(0.6).message);
        let lopsided = Calibration::of_shares(Points::from_column(even.iter().map(|u| u * u).collect()));
        assert_ne!(lopsided.verdict(0), Verdict::Calibrated);
        assert!(Calibration::of_shares(Points::from_column(vec![0.5; 5])).check(&[]).message.contains("too few"));
    }
}
