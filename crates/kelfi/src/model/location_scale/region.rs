//! The simulations inside the region of a frame, and whether the region holds the posterior.

use super::LocationScaleLikelihood;
use super::constants::frame::EDGE;
use super::frame::Frame;
use super::inputs::{Input, seen};
use crate::checks::{self, Check};
use crate::simulations::{Recorded, Simulations};
use crate::{Error, Points, Prior};
use std::sync::Arc;

/// Which simulations inside the region enter the fit, `None` for all, and these.
#[allow(clippy::type_complexity)]
pub(super) fn inside(
    frame: Option<&Frame>,
    inputs: &[Input],
    prior: &Prior,
    all: &Arc<Simulations>,
) -> Result<(Option<Arc<Vec<usize>>>, Arc<Simulations>), Error> {
    let Some(frame) = frame else { return Ok((None, all.clone())) };
    let kept = frame.chosen(all.theta(), &seen(inputs, &prior.to_latent_points(all.theta())?));
    let some = all.select(&kept)?;
    Ok((Some(Arc::new(kept)), Arc::new(some)))
}

impl LocationScaleLikelihood {
    /// The simulations it was fitted to: all, or those inside its regions.
    pub fn used(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.regions().flat_map(Self::own_used).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn own_used(&self) -> Vec<usize> {
        self.inside.as_ref().map_or_else(|| (0..self.simulations.len()).collect(), |inside| inside.to_vec())
    }

    /// What a simulation that was used is called among all.
    pub(super) fn recorded_index(&self, place: usize) -> usize {
        self.inside.as_ref().map_or(place, |inside| inside[place])
    }

    /// The place of a simulation among those used.
    pub(super) fn place_of(&self, recorded: usize) -> Option<usize> {
        self.inside.as_ref().map_or(Some(recorded), |inside| inside.binary_search(&recorded).ok())
    }

    /// The values of all simulations at those used.
    pub(super) fn inside_of(&self, values: &[f64]) -> Vec<f64> {
        match &self.inside {
            Some(inside) if values.len() == self.question.recorded.theta().rows() => inside.iter().map(|&j| values[j]).collect(),
            _ => values.to_vec(),
        }
    }

    /// How many outputs succeeded, of the simulations used.
    pub(super) fn looked_at(&self) -> Option<usize> {
        let Recorded::Statistics(all) = &self.question.recorded else { return None };
        let succeeded = |&j: &usize| all.offsets()[j]..all.offsets()[j + 1];
        Some(self.own_used().iter().flat_map(succeeded).filter(|&row| !all.failed()[row]).count())
    }

    /// Nothing is known outside the region: the surrogate is zero there.
    pub(super) fn cut_to_region(&self, z: &Points, ln: &mut [f64]) {
        let Some(frame) = &self.fitted.hyperparameters.frame else { return };
        let held = frame.holds(&seen(&self.fitted.hyperparameters.inputs, z));
        ln.iter_mut().zip(held).filter(|(_, held)| !held).for_each(|(ln, _)| *ln = f64::NEG_INFINITY);
    }

    /// How much of the posterior lies at the edge of its region.
    pub(super) fn edge(&self, draws: &Points) -> Option<Check> {
        let local = |model: &Self| model.fitted.hyperparameters.frame.as_ref().is_some_and(Frame::is_local);
        if !self.regions().any(local) {
            return None;
        }
        let at_edge = |model: &Self, z: &Points| -> Vec<bool> {
            let Some(frame) = &model.fitted.hyperparameters.frame else { return vec![false; z.rows()] };
            let points = seen(&model.fitted.hyperparameters.inputs, z);
            points.iter().map(|v| frame.is_local() && frame.distance(v) > EDGE * frame.radius).collect()
        };
        let beyond = self.by_region(draws, at_edge).into_iter().filter(|at_edge| *at_edge).count();
        Some(checks::region(beyond as f64 / draws.rows().max(1) as f64, self.used().len(), self.question.recorded.theta().rows()))
    }
}
