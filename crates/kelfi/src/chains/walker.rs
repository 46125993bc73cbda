//! One chain as a machine that asks for the target at one point at a time: points of many chains are evaluated together, and no chain
//! waits for another.
//!
//! Two kinds of moves keep the target. A slide draws a level ln t below the target and a second point of a Gaussian N(c, S), and looks
//! on the ellipse through both for a point above the level, shrinking the arc towards the state: nothing to tune, every slide moves
//! (Murray, Adams & MacKay 2010; with a fitted distribution and the target divided by it Nishihara, Murray & Adams 2014). A jump goes
//! anywhere chains have been, taken with the probability of independence Metropolis.

use super::jumps::Jumps;
use super::reference::Reference;
use crate::Points;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::f64::consts::TAU;

/// An arc shrunk this often has become a point.
const MOST_SHRINKS: usize = 60;

/// What a chain does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// A step along an ellipse: several evaluations.
    Slide,
    /// A jump, if there is where to: one evaluation.
    Jump,
    /// The state is kept.
    Keep,
}

/// A chain: where it is and what it is about to try.
pub(crate) struct Walker<'a> {
    reference: &'a Reference,
    jumps: Option<&'a Jumps>,
    state: Vec<f64>,
    value: f64,
    /// ln of the density of jumps at the state, once it was asked for.
    ln_jump: Option<f64>,
    rng: ChaCha8Rng,
    /// Place in the pattern of acts.
    place: usize,
    proposal: Vec<f64>,
    attempt: Attempt,
}

enum Attempt {
    Slide(Arc),
    Jump { ln_density: f64 },
}

/// States a chain kept, one after the other, and ln of the target at each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    pub states: Vec<f64>,
    pub values: Vec<f64>,
}

/// The part of an ellipse still looked at.
struct Arc {
    level: f64,
    direction: Vec<f64>,
    angle: f64,
    low: f64,
    high: f64,
    shrinks: usize,
}

impl<'a> Walker<'a> {
    /// At a state with its ln target.
    pub fn new(state: &[f64], value: f64, reference: &'a Reference, jumps: Option<&'a Jumps>, rng: ChaCha8Rng) -> Self {
        let attempt = Attempt::Jump { ln_density: f64::NAN };
        Self { reference, jumps, state: state.to_vec(), value, ln_jump: None, rng, place: 0, proposal: state.to_vec(), attempt }
    }

    /// Follows the pattern up to the next point to be evaluated; false once `wanted` states are kept.
    fn proceed(&mut self, pattern: &[Act], wanted: usize, kept: &mut Kept) -> bool {
        while kept.values.len() < wanted {
            let act = pattern[self.place % pattern.len()];
            self.place += 1;
            match (act, self.jumps) {
                (Act::Keep, _) => {
                    kept.states.extend_from_slice(&self.state);
                    kept.values.push(self.value);
                }
                (Act::Slide, _) => {
                    self.begin_slide();
                    return true;
                }
                (Act::Jump, Some(jumps)) => {
                    self.begin_jump(jumps);
                    return true;
                }
                (Act::Jump, None) => {}
            }
        }
        false
    }

    fn begin_slide(&mut self) {
        let now = self.value - self.reference.ln_density(&self.state);
        let arc = Arc::new(now, self.reference.axis(&self.state, &mut self.rng), &mut self.rng);
        self.proposal = arc.point(&self.state, self.reference.centre());
        self.attempt = Attempt::Slide(arc);
    }

    fn begin_jump(&mut self, jumps: &Jumps) {
        self.proposal = jumps.draw(&mut self.rng);
        self.attempt = Attempt::Jump { ln_density: jumps.ln_density(&self.proposal) };
    }

    /// Takes the ln target at the proposal; true once the move is over.
    fn receive(&mut self, value: f64) -> bool {
        match &mut self.attempt {
            Attempt::Slide(arc) => {
                if value - self.reference.ln_density(&self.proposal) > arc.level {
                    self.move_to(value, None);
                    return true;
                }
                if arc.shrinks == MOST_SHRINKS {
                    return true;
                }
                arc.shrink(&mut self.rng);
                self.proposal = arc.point(&self.state, self.reference.centre());
                false
            }
            Attempt::Jump { ln_density } => {
                let ln_density = *ln_density;
                let here = self.ln_jump.or_else(|| self.jumps.map(|jumps| jumps.ln_density(&self.state))).unwrap_or(f64::NAN);
                self.ln_jump = Some(here);
                if self.rng.random::<f64>().ln() < (value - ln_density) - (self.value - here) {
                    self.move_to(value, Some(ln_density));
                }
                true
            }
        }
    }

    fn move_to(&mut self, value: f64, ln_jump: Option<f64>) {
        self.state.copy_from_slice(&self.proposal);
        self.value = value;
        self.ln_jump = ln_jump;
    }
}

/// Lets each chain follow the pattern until it has kept as many states as wanted of it. `evaluate` gets the places of chains and
/// a point of each, and answers with ln of the target. Runs on one thread; what a chain does depends on no other.
pub(crate) fn advance(
    walkers: &mut [Walker<'_>],
    pattern: &[Act],
    wanted: &[usize],
    evaluate: impl Fn(&[usize], &Points) -> Vec<f64>,
) -> Vec<Kept> {
    let mut kept = vec![Kept::default(); walkers.len()];
    let mut active: Vec<usize> = (0..walkers.len()).filter(|&k| walkers[k].proceed(pattern, wanted[k], &mut kept[k])).collect();
    while let Some(&first) = active.first() {
        let proposals: Vec<f64> = active.iter().flat_map(|&k| walkers[k].proposal.iter().copied()).collect();
        let dimension = walkers[first].state.len();
        let points = Points::new(proposals, active.len(), dimension).expect("every proposal has the same number of coordinates");
        let values = evaluate(&active, &points);
        let mut row = 0;
        active.retain(|&k| {
            let over = walkers[k].receive(values[row]);
            row += 1;
            !over || walkers[k].proceed(pattern, wanted[k], &mut kept[k])
        });
    }
    kept
}

impl Arc {
    fn new(value: f64, direction: Vec<f64>, rng: &mut ChaCha8Rng) -> Self {
        let level = value + (1.0 - rng.random::<f64>()).ln();
        let angle = rng.random::<f64>() * TAU;
        Self { level, direction, angle, low: angle - TAU, high: angle, shrinks: 1 }
    }

    fn point(&self, state: &[f64], centre: &[f64]) -> Vec<f64> {
        let (sin, cos) = self.angle.sin_cos();
        (0..state.len()).map(|d| centre[d] + (state[d] - centre[d]) * cos + self.direction[d] * sin).collect()
    }

    fn shrink(&mut self, rng: &mut ChaCha8Rng) {
        if self.angle < 0.0 {
            self.low = self.angle
        } else {
            self.high = self.angle
        }
        self.angle = self.low + rng.random::<f64>() * (self.high - self.low);
        self.shrinks += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    /// Chains on N(1, ½²) with ellipses of N(0, 1).
    fn kept(pattern: &[Act], jumps: Option<&Jumps>, together: bool) -> Vec<Kept> {
        let reference = Reference::standard(1);
        let ln_target = |z: f64| -2.0 * (z - 1.0).powi(2);
        let evaluate = |_: &[usize], z: &Points| z.iter().map(|z| ln_target(z[0])).collect::<Vec<_>>();
        let rng = |k: u64| stream(4, Purpose::Experiment, k);
        let mut walkers: Vec<Walker<'_>> = (0..20).map(|k| Walker::new(&[0.0], ln_target(0.0), &reference, jumps, rng(k))).collect();
        if together {
            return advance(&mut walkers, pattern, &[500; 20], evaluate);
        }
        walkers.iter_mut().flat_map(|w| advance(std::slice::from_mut(w), pattern, &[500], evaluate)).collect()
    }

    fn moments(kept: &[Kept]) -> (f64, f64) {
        let values: Vec<f64> = kept.iter().flat_map(|k| k.states[50..].to_vec()).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (mean, values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64)
    }

    #[test]
    fn slides_and_jumps_keep_the_target() {
        let states = Points::from_column((0..40).map(|i| 0.3 + 0.04 * i as f64).collect());
        let values: Vec<f64> = states.iter().map(|z| -2.0 * (z[0] - 1.0).powi(2)).collect();
        let jumps = Jumps::new(&states, &values, 10, &Reference::fitted(&states));
        for pattern in [&[Act::Slide, Act::Keep][..], &[Act::Jump, Act::Jump, Act::Keep], &[Act::Jump, Act::Slide, Act::Keep]] {
            let (mean, variance) = moments(&kept(pattern, Some(&jumps), true));
            // 9,000 states worth at least 1,000: four standard errors are 0.06 and 0.045.
            assert!((mean - 1.0).abs() < 0.06 && (variance - 0.25).abs() < 0.045, "{pattern:?}: {mean} {variance}");
        }
    }

    #[test]
    fn a_chain_does_the_same_alone_as_among_others() {
        let (together, alone) = (kept(&[Act::Slide, Act::Keep], None, true), kept(&[Act::Slide, Act::Keep], None, false));
        assert!(together.iter().zip(&alone).all(|(a, b)| a.states == b.states && a.values == b.values));
    }
}
