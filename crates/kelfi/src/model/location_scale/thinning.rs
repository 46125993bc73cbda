//! Which simulations enter a fit where a region holds more of them than it needs: a choice by parameters alone, never by outputs, so that the
//! likelihood stays what it is.

use super::frame::Frame;
use crate::Points;
use crate::random::{Purpose, stream};
use rand::RngExt;

impl Frame {
    /// Which of the simulations enter a fit, given their parameters and what regressions see of them.
    pub fn chosen(&self, theta: &Points, seen: &Points) -> Vec<usize> {
        let held = self.holds(seen);
        let enters = |&j: &usize| held[j] && self.cutoff.is_none_or(|cutoff| self.key(theta.row(j), seen.row(j)) <= cutoff);
        (0..seen.rows()).filter(enters).collect()
    }

    /// The same frame with a cutoff such that in every region `most` simulations enter a fit, as if drawn from N(c, A²) where there are enough
    /// of them: many where the posterior is, fewer far out.
    pub fn thinned(&self, most: usize, theta: &Points, seen: &Points) -> Self {
        let thin = |region: Self| {
            let mut keys: Vec<f64> = Self { cutoff: None, ..region.clone() }
                .chosen(theta, seen)
                .iter()
                .map(|&j| region.key(theta.row(j), seen.row(j)))
                .collect();
            keys.sort_by(f64::total_cmp);
            Self { cutoff: (keys.len() > most).then(|| keys[most - 1]), others: vec![], ..region }
        };
        let thinned: Vec<Self> = self.regions().into_iter().map(thin).collect();
        Self { others: thinned[1..].to_vec(), ..thinned[0].clone() }
    }

    /// ln of an exponential waiting time with rate exp(-½ distance²): the simulations with the k lowest keys are k drawn without replacement,
    /// the rate of each its weight (Efraimidis & Spirakis 2006). It depends on θ alone, so that parts of the simulations, and
    /// these with others added, keep what was chosen.
    pub fn key(&self, theta: &[f64], seen: &[f64]) -> f64 {
        // -0 and 0 are the same number.
        let index = theta.iter().fold(0_u64, |hash, value| mixed(hash ^ (value + 0.0).to_bits()));
        let uniform: f64 = stream(0, Purpose::Parts, index).random();
        (-(1.0 - uniform).ln()).max(f64::MIN_POSITIVE).ln() + 0.5 * self.distance(seen).powi(2)
    }
}

/// Bits well mixed (the finaliser of splitmix64).
fn mixed(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (bits ^ (bits >> 31)).wrapping_add(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::standard_normal;

    /// Simulations spread evenly over [-1, 1]² and a frame of a posterior in the middle, a tenth as wide.
    fn simulated() -> (Points, Frame) {
        let mut rng = stream(3, Purpose::Experiment, 0);
        let theta: Vec<[f64; 2]> = (0..20_000).map(|_| [2.0 * rng.random::<f64>() - 1.0, 2.0 * rng.random::<f64>() - 1.0]).collect();
        let draws: Vec<[f64; 2]> = (0..2_000).map(|_| [0.03 * standard_normal(&mut rng), 0.03 * standard_normal(&mut rng)]).collect();
        (Points::from_rows(&theta).unwrap(), Frame::around(&Points::from_rows(&draws).unwrap()))
    }

    #[test]
    fn what_enters_is_spread_like_the_frame_and_has_the_number_asked_for() {
        let (theta, frame) = simulated();
        let chosen = frame.thinned(300, &theta, &theta).chosen(&theta, &theta);
        assert_eq!(chosen.len(), 300);
        // Distances from the middle in lengths of the axes: of N(0, I) in the plane 39 % are below one and 86 % below two. About 1,000 lie
        // inside three, so that taking 300 of them flattens that a little; four standard errors are 11 %.
        let within = |r: f64| chosen.iter().filter(|&&j| frame.distance(theta.row(j)) < r).count() as f64 / 300.0;
        assert!((0.25..0.5).contains(&within(1.0)) && within(2.0) > 0.7, "{} {}", within(1.0), within(2.0));
    }

    #[test]
    fn a_part_of_the_simulations_keeps_what_was_chosen_of_it() {
        let (theta, frame) = simulated();
        let thinned = frame.thinned(300, &theta, &theta);
        let odd: Vec<usize> = (0..theta.rows()).filter(|j| j % 2 == 1).collect();
        let part = theta.select(&odd);
        let of_part: Vec<usize> = thinned.chosen(&part, &part).into_iter().map(|k| odd[k]).collect();
        let wanted: Vec<usize> = thinned.chosen(&theta, &theta).into_iter().filter(|j| j % 2 == 1).collect();
        assert_eq!(of_part, wanted);
    }

    #[test]
    fn no_more_are_left_out_than_there_are_too_many() {
        let (theta, frame) = simulated();
        let held = frame.holds(&theta).into_iter().filter(|held| *held).count();
        let thinned = frame.thinned(held, &theta, &theta);
        assert_eq!((thinned.cutoff, thinned.chosen(&theta, &theta).len()), (None, held));
    }
}
