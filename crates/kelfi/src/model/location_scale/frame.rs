//! Local coordinates: regressions see u = A⁻¹ (v - c), v the parameters as [`super::inputs`] has them, so that length scales, planes and
//! bends are learned at the scale of the posterior and not of the prior.
//!
//! c is the mean of posterior draws and A the symmetric root of nine times their covariance, no principal axis longer than the prior's. Along
//! an axis as long as the prior's nothing is cut off; along the others only simulations inside the region enter the fit, and the surrogate is
//! zero outside it: what lies there was found to carry no posterior mass, and a check says whether the region's edge does.

use super::constants::frame::{NEAR, OVERLAP, REACH, SHORTEST, SIMILAR};
use super::inputs::{inputs, seen};
use super::validity::{require_length, require_positive};
use crate::linalg::symmetric::eigen;
use crate::linalg::vector::dot;
use crate::{Error, Points, Prior};
use serde::{Deserialize, Serialize};

/// Where and how large the local coordinates are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// c, in the coordinates that regressions see.
    pub centre: Vec<f64>,
    /// Principal axes, unit vectors one after the other.
    pub axes: Vec<Vec<f64>>,
    /// Their lengths, at most 1.
    pub lengths: Vec<f64>,
    /// The region: the largest distance from c over the axes shorter than the prior's, in their lengths.
    pub radius: f64,
    /// Where there are more simulations in the region than a fit needs: those with a [`Frame::key`] up to this one enter it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cutoff: Option<f64>,
    /// Frames of the other regions, where there are several: simulations nearer to one of them are left to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Frame>,
}

impl Frame {
    /// All of the prior.
    pub fn everywhere(dimension: usize) -> Self {
        let axis = |d: usize| (0..dimension).map(|e| f64::from(u8::from(d == e))).collect();
        let axes = (0..dimension).map(axis).collect();
        Self { centre: vec![0.0; dimension], axes, lengths: vec![1.0; dimension], radius: 0.0, cutoff: None, others: vec![] }
    }

    /// One frame for each of several modes.
    pub fn of_several(frames: &[Self]) -> Option<Self> {
        let (first, others) = frames.split_first()?;
        Some(Self { others: others.to_vec(), ..first.clone() })
    }

    /// The frame of each region, which knows the others.
    pub fn regions(&self) -> Vec<Self> {
        let alone: Vec<Self> = std::iter::once(self).chain(&self.others).map(|frame| Self { others: vec![], ..frame.clone() }).collect();
        let but = |k: usize| alone.iter().enumerate().filter(|(j, _)| *j != k).map(|(_, frame)| frame.clone()).collect();
        alone.iter().enumerate().map(|(k, frame)| Self { others: but(k), ..frame.clone() }).collect()
    }

    /// Around draws of a posterior in z coordinates. Where it moved away from an earlier frame, it may move on: the frame is longer that way.
    pub fn of_posterior(z: &Points, prior: &Prior, earlier: Option<&Self>) -> Self {
        Self::with_earlier(&seen(&inputs(prior), z), earlier)
    }

    /// Around draws of a posterior, in the coordinates that regressions see. Distances within the region are at most √(k + 3√(2k)), k the number of axes
    /// shorter than the prior's: for parameters of N(c, A²) all but a few in a thousand.
    pub fn around(draws: &Points) -> Self {
        Self::with_earlier(draws, None)
    }

    fn with_earlier(draws: &Points, earlier: Option<&Self>) -> Self {
        let dimension = draws.columns();
        let (centre, mut covariance) = moments(draws);
        if let Some(earlier) = earlier {
            let moved: Vec<f64> = centre.iter().zip(&earlier.centre).map(|(now, before)| now - before).collect();
            for (i, j) in (0..dimension).flat_map(|i| (0..dimension).map(move |j| (i, j))) {
                covariance[i * dimension + j] += moved[i] * moved[j] / (REACH * REACH);
            }
        }
        let (variances, axes) = eigen(&covariance, dimension);
        let lengths: Vec<f64> = variances.iter().map(|v| (REACH * v.max(0.0).sqrt()).clamp(SHORTEST, 1.0)).collect();
        let short = lengths.iter().filter(|length| **length < 1.0).count() as f64;
        Self { centre, axes, lengths, radius: (short + 3.0 * (2.0 * short).sqrt()).sqrt(), cutoff: None, others: vec![] }
    }

    /// The same with a region that holds at least so many of the points, given in z coordinates.
    pub fn holding(self, at_least: usize, z: &Points, prior: &Prior) -> Self {
        self.reaching(at_least, &seen(&inputs(prior), z))
    }

    /// The same for points as regressions see them.
    pub fn reaching(mut self, at_least: usize, seen: &Points) -> Self {
        let mut distances: Vec<f64> = seen.iter().map(|v| self.distance(v)).collect();
        distances.sort_by(f64::total_cmp);
        let needed = distances.get(at_least.min(distances.len()).saturating_sub(1)).copied().unwrap_or(0.0);
        self.radius = self.radius.max(needed);
        self
    }

    /// How many of the points, in z coordinates, lie inside the region.
    pub fn held(&self, z: &Points, prior: &Prior) -> usize {
        self.holds(&seen(&inputs(prior), z)).into_iter().filter(|held| *held).count()
    }

    /// Whether it is about where another one is and as large: then a fit in either learns the same.
    pub fn is_like(&self, other: &Self) -> bool {
        if self.others.len() != other.others.len() {
            return false;
        }
        let size = |frame: &Self| frame.lengths.iter().map(|length| length.ln()).sum::<f64>();
        let alike = |there: &Self| {
            let ratio = (size(self) - size(there)).abs() / self.lengths.len() as f64;
            there.along(&self.centre).iter().all(|t| t.abs() < NEAR) && ratio < SIMILAR
        };
        alike(other) || other.others.iter().any(alike)
    }

    /// u of each point.
    pub fn local(&self, seen: &Points) -> Points {
        seen.map_rows(seen.columns(), |v| {
            let along = self.along(v);
            (0..v.len()).map(|d| self.axes.iter().zip(&along).map(|(axis, t)| axis[d] * t).sum()).collect()
        })
    }

    /// A gradient in u as one in v: A is symmetric.
    pub fn pull(&self, gradient: &[f64]) -> Vec<f64> {
        let along: Vec<f64> = self.axes.iter().zip(&self.lengths).map(|(axis, length)| dot(axis, gradient) / length).collect();
        (0..gradient.len()).map(|d| self.axes.iter().zip(&along).map(|(axis, t)| axis[d] * t).sum()).collect()
    }

    /// Whether each point lies inside the region.
    pub fn holds(&self, seen: &Points) -> Vec<bool> {
        let left_to_others = |v: &[f64], own: f64| self.others.iter().any(|other| OVERLAP * other.distance(v) < own);
        let held = |v: &[f64]| {
            let own = self.distance(v);
            own <= self.radius && !left_to_others(v, own)
        };
        seen.iter().map(held).collect()
    }

    /// Distance from c over the axes shorter than the prior's, in their lengths.
    pub fn distance(&self, v: &[f64]) -> f64 {
        let along = self.along(v);
        let short = along.iter().zip(&self.lengths).filter(|(_, length)| **length < 1.0);
        short.map(|(t, _)| t * t).sum::<f64>().sqrt()
    }

    /// Whether some axis is shorter than the prior's.
    pub fn is_local(&self) -> bool {
        self.lengths.iter().any(|length| *length < 1.0)
    }

    /// Places along the axes, in their lengths.
    fn along(&self, v: &[f64]) -> Vec<f64> {
        let from_centre: Vec<f64> = v.iter().zip(&self.centre).map(|(v, c)| v - c).collect();
        self.axes.iter().zip(&self.lengths).map(|(axis, length)| dot(axis, &from_centre) / length).collect()
    }

    /// An error for a frame, as read from a file, that does not fit this many parameters.
    pub(super) fn require_fitting(&self, parameters: usize) -> Result<(), Error> {
        require_length("centre of the frame", self.centre.len(), parameters)?;
        require_length("axes of the frame", self.axes.len(), parameters)?;
        require_length("lengths of the frame's axes", self.lengths.len(), parameters)?;
        self.axes.iter().try_for_each(|axis| require_length("axis of the frame", axis.len(), parameters))?;
        let finite = self.axes.iter().flatten().chain(&self.centre).chain([&self.radius]).chain(&self.cutoff);
        finite.into_iter().try_for_each(|&value| Error::require_finite("frame", value).map(|_| ()))?;
        self.lengths.iter().try_for_each(|&length| require_positive("length of the frame's axis", length))?;
        self.others.iter().try_for_each(|other| other.require_fitting(parameters))
    }
}

/// Mean and covariance, row after row.
fn moments(draws: &Points) -> (Vec<f64>, Vec<f64>) {
    let (count, dimension) = (draws.rows() as f64, draws.columns());
    let centre: Vec<f64> = (0..dimension).map(|d| draws.iter().map(|v| v[d]).sum::<f64>() / count).collect();
    let mut covariance = vec![0.0; dimension * dimension];
    for v in draws.iter() {
        for i in 0..dimension {
            for j in 0..dimension {
                covariance[i * dimension + j] += (v[i] - centre[i]) * (v[j] - centre[j]) / count;
            }
        }
    }
    (centre, covariance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, standard_normal, stream};

    /// Draws around (1, -2, 0) that are narrow along (1, 1, 0)/√2 and as wide as the prior elsewhere.
    fn draws() -> Points {
        let mut rng = stream(3, Purpose::Experiment, 0);
        let mut one = || {
            let (narrow, wide, other) = (0.01 * standard_normal(&mut rng), standard_normal(&mut rng), standard_normal(&mut rng));
            let half = std::f64::consts::FRAC_1_SQRT_2;
            vec![1.0 + half * (narrow + wide), -2.0 + half * (narrow - wide), other]
        };
        Points::from_rows(&(0..4_000).map(|_| one()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_frame_stretches_what_is_narrow_and_leaves_the_rest_as_it_is() {
        let frame = Frame::around(&draws());
        assert_eq!(frame.lengths.iter().filter(|length| **length == 1.0).count(), 2);
        assert!((frame.lengths[2] - 0.03).abs() < 0.002, "{:?}", frame.lengths);
        let at = |along: f64, across: f64| {
            let half = std::f64::consts::FRAC_1_SQRT_2;
            Points::from_rows(&[vec![1.0 + half * (along + across), -2.0 + half * (along - across), 0.5]]).unwrap()
        };
        let [near, far] = [at(0.03, 0.0), at(0.0, 5.0)].map(|v| frame.local(&v));
        // A third of the draws' standard deviation is a unit; the mean of 4,000 draws of a wide coordinate is known to 0.016.
        assert!((near.row(0)[0] - near.row(0)[1].abs()).abs() < 0.1 && (near.row(0)[0].hypot(near.row(0)[1]) - 1.0).abs() < 0.1);
        assert!((far.row(0)[0] - far.row(0)[1] - 5.0 * std::f64::consts::SQRT_2).abs() < 0.1, "{far:?}");
        assert_eq!(frame.holds(&at(0.0, 50.0)), [true]);
        assert_eq!(frame.holds(&at(0.1, 0.0)), [false]);
    }

    #[test]
    fn draws_as_wide_as_the_prior_cut_nothing_off() {
        let mut rng = stream(4, Purpose::Experiment, 0);
        let wide =
            Points::from_rows(&(0..500).map(|_| [standard_normal(&mut rng), standard_normal(&mut rng)]).collect::<Vec<_>>()).unwrap();
        let frame = Frame::around(&wide);
        assert!(!frame.is_local());
        assert_eq!(frame.holds(&Points::from_rows(&[[40.0, -9.0]]).unwrap()), [true]);
    }
}
