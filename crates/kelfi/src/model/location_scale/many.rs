//! Many simulations. A fit needs some thousands, if they are the right ones: those where the posterior is.
//!
//! A few of them, spread over the prior, say roughly where that is; then a few of those in that region, and so on, until the region does not
//! change. The model is of those in the last region, in its local coordinates, many near the middle and fewer far out. What more there are
//! would change little: the means' errors are then a small part of the noise, and the fit costs the same whatever their number.

use super::LocationScaleLikelihood;
pub use super::constants::many::ALL_AT_ONCE;
use super::constants::many::{DRAWS, FEWEST, IN_A_PASS, IN_THE_LAST, PASSES};
use super::frame::Frame;
use super::frames::around_modes;
use super::inputs::{inputs, seen};
use crate::chains::slice_chains::Chains;
use crate::question::Question;
use crate::{Error, Points};

impl LocationScaleLikelihood {
    /// Learns from more simulations than are fitted to at once.
    pub(super) fn learn_from_many(question: &Question, seed: u64, go_on: &(dyn Fn() -> bool + Sync)) -> Result<Self, Error> {
        let prior = &question.prior;
        let theta = question.recorded.theta();
        let z = prior.to_latent_points(theta)?;
        let points = seen(&inputs(prior), &z);
        let (mut frame, mut around_all) = (Frame::everywhere(prior.dimension()), None);
        let learn_in = |frame: &Frame, around_all: Option<&Frame>, most: usize| {
            let thinned = frame.thinned(most / (1 + frame.others.len()), theta, &points);
            match (Self::learn_in(Some(&thinned), question, seed, go_on), around_all) {
                (Err(error), Some(all)) if !frame.others.is_empty() && error != Error::Interrupted => {
                    Self::learn_in(Some(&all.thinned(most, theta, &points)), question, seed, go_on)
                }
                (found, _) => found,
            }
        };
        for _ in 0..PASSES {
            let draws = learn_in(&frame, around_all.as_ref(), IN_A_PASS)?.whereabouts(seed, go_on)?;
            let earlier = Some(&frame).filter(|frame| frame.is_local());
            let next = holding_enough(around_modes(&draws, prior, &z, earlier), &points);
            around_all = Some(holding_enough(Frame::of_posterior(&draws, prior, None), &points));
            let settled = next.is_like(&frame);
            frame = next;
            if settled {
                break;
            }
        }
        learn_in(&frame, around_all.as_ref(), IN_THE_LAST)
    }

    /// Whether it is of the region of one observation, of more simulations than are fitted to at once.
    pub(super) fn is_of_many(&self) -> bool {
        self.hyperparameters().frame.is_some() && self.question.recorded.theta().rows() > ALL_AT_ONCE
    }

    /// Whether it is of some of the simulations in its regions.
    pub(super) fn is_thinned(&self) -> bool {
        self.regions().any(|model| model.hyperparameters().frame.as_ref().is_some_and(|frame| frame.cutoff.is_some()))
    }

    /// Draws of the posterior, in z coordinates.
    fn whereabouts(&self, seed: u64, go_on: &(dyn Fn() -> bool + Sync)) -> Result<Points, Error> {
        Ok(Chains::new(self, seed, &mut || go_on())?.draw(self, DRAWS, seed, &mut || go_on())?.z)
    }
}

/// The same frame, its region so large that it holds enough simulations.
fn holding_enough(frame: Frame, seen: &Points) -> Frame {
    if !frame.others.is_empty() {
        return frame;
    }
    frame.reaching(FEWEST, seen)
}
