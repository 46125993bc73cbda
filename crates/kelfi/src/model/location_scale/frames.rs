//! Frames around draws of a posterior that may have several modes.

use super::constants::frame::{FEWEST_OF_SEVERAL, MORE_OF_SEVERAL, MOST_REGIONS};
use super::frame::Frame;
use crate::chains::modes;
use crate::{Points, Prior};

/// The frame around draws of a posterior: one for each mode where all are narrower than the prior and hold enough simulations of their own.
/// Draws and simulated parameters are in z coordinates; `earlier` is the frame that the posterior was found in.
pub fn around_modes(draws: &Points, prior: &Prior, simulated: &Points, earlier: Option<&Frame>) -> Frame {
    let mut parts = modes::parts(draws);
    parts.sort_by_key(|part| std::cmp::Reverse(part.rows()));
    let frames: Vec<Frame> = parts.iter().map(|part| Frame::of_posterior(part, prior, None)).collect();
    let enough = FEWEST_OF_SEVERAL + MORE_OF_SEVERAL * prior.dimension();
    let hold_enough = |several: &Frame| several.regions().iter().all(|region| region.held(simulated, prior) >= enough);
    if (2..=MOST_REGIONS).contains(&frames.len())
        && frames.iter().all(Frame::is_local)
        && let Some(several) = Frame::of_several(&frames)
        && hold_enough(&several)
    {
        return several;
    }
    Frame::of_posterior(draws, prior, earlier.filter(|frame| frame.others.is_empty()))
}
