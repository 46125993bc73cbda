//! A posterior with separate modes has a model of each, in local coordinates of its own. At θ that of the nearest region speaks: all are densities
//! of the same statistics, so that the modes' weights come out right.

use super::LocationScaleLikelihood;
use super::inputs::seen;
use crate::{Error, Points};
use std::sync::Arc;

impl LocationScaleLikelihood {
    /// This model with those of other regions.
    pub(super) fn with_elsewhere(mut self, elsewhere: Vec<Self>) -> Result<Self, Error> {
        if elsewhere.is_empty() {
            return Ok(self);
        }
        let which = |model: &Self| model.statistics().iter().map(|s| s.hyperparameters().index).collect::<Vec<_>>();
        let atoms = |model: &Self| !model.hyperparameters().atoms.is_empty();
        if atoms(&self) || elsewhere.iter().any(|model| which(model) != which(&self) || atoms(model)) {
            return Err(Error::Unavailable {
                what: "a location-scale likelihood of several regions".into(),
                reason: "statistics that vary in one of them do not vary in another; use one region for all".into(),
            });
        }
        if let Some(fitted) = Arc::get_mut(&mut self.fitted) {
            fitted.hyperparameters.elsewhere = elsewhere.iter().map(|model| model.hyperparameters().clone()).collect();
        }
        let all: Vec<Points> = std::iter::once(&self).chain(&elsewhere).map(|model| model.promising.clone()).collect();
        self.elsewhere = elsewhere.into_iter().map(Arc::new).collect();
        let rows: Vec<&[f64]> = all.iter().flat_map(|points| points.iter()).collect();
        let points = Points::from_rows(&rows)?;
        let values = self.ln_values(&points);
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&i, &j| values[j].total_cmp(&values[i]).then(i.cmp(&j)));
        self.ln_scale = values[order[0]];
        self.promising = points.select(&order);
        Ok(self)
    }

    /// The models of all regions, this one first.
    pub(super) fn regions(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(self.elsewhere.iter().map(Arc::as_ref))
    }

    /// Which region each point belongs to, in z coordinates: the nearest in units of its frame.
    pub(super) fn nearest_regions(&self, z: &Points) -> Vec<usize> {
        if self.elsewhere.is_empty() {
            return vec![0; z.rows()];
        }
        let frames: Vec<_> = self.regions().filter_map(|model| model.hyperparameters().frame.as_ref()).collect();
        let nearest = |v: &[f64]| {
            let distances: Vec<f64> = frames.iter().map(|frame| frame.distance(v)).collect();
            (0..frames.len()).min_by(|&i, &j| distances[i].total_cmp(&distances[j])).unwrap_or(0)
        };
        seen(&self.fitted.hyperparameters.inputs, z).iter().map(nearest).collect()
    }

    /// What the model of each point's region says of it.
    pub(super) fn by_region<T: Clone>(&self, z: &Points, of: impl Fn(&Self, &Points) -> Vec<T>) -> Vec<T> {
        if self.elsewhere.is_empty() {
            return of(self, z);
        }
        let nearest = self.nearest_regions(z);
        let mut found: Vec<Option<T>> = vec![None; z.rows()];
        for (region, model) in self.regions().enumerate() {
            let rows: Vec<usize> = (0..z.rows()).filter(|&row| nearest[row] == region).collect();
            if !rows.is_empty() {
                rows.iter().zip(of(model, &z.select(&rows))).for_each(|(&row, value)| found[row] = Some(value));
            }
        }
        found.into_iter().map(|value| value.expect("every point belongs to a region")).collect()
    }

    /// The points that belong to the region of this model itself.
    pub(super) fn own_points(&self, z: &Points) -> Points {
        let nearest = self.nearest_regions(z);
        z.select(&(0..z.rows()).filter(|&row| nearest[row] == 0).collect::<Vec<_>>())
    }

    /// All regions with these simulations only, of all that were recorded.
    pub fn on_part(&self, indices: &[usize]) -> Result<Self, Error> {
        let part = self.question.of_part(indices)?;
        let mut hyperparameters = self.part_hyperparameters(indices);
        hyperparameters.elsewhere = self.elsewhere.iter().map(|model| model.part_hyperparameters(indices)).collect();
        Self::new(&part, &hyperparameters)
    }
}
