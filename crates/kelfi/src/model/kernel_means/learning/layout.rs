//! Which entries of a joint search over (ε, β, λ) mean what.

use crate::model::kernel_means::constants::learning::REGULARIZATIONS;
use crate::model::kernel_means::learning::evidence_search::{Profile, Search};

/// Which entries of a joint search mean what: own tolerances (or a common shift), own length scales (or a common shift), λ.
pub(super) struct Layout {
    active: Vec<usize>,
    own_epsilon: bool,
    own_length: bool,
    free_length: bool,
    free_regularization: bool,
    pub(super) start: Vec<f64>,
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
}

impl Layout {
    pub(super) fn new(search: &Search<'_>, start: &Profile, own_epsilon: bool, own_length: bool) -> Self {
        let setting = search.setting;
        let active = setting.active();
        let mut layout = Self {
            active: active.clone(),
            own_epsilon,
            own_length,
            free_length: search.free_length(),
            free_regularization: search.free_regularization(),
            start: vec![],
            low: vec![],
            high: vec![],
        };
        if own_epsilon {
            for &i in &active {
                let unit = setting.units[i].ln();
                let least = (setting.epsilons.0.ln() + unit).max(setting.floors[i].ln());
                layout.add(start.ln_epsilon[i], (least, setting.epsilons.1.ln() + unit + 5.0));
            }
        } else {
            let first = active.first().copied().unwrap_or(0);
            let unit = setting.units[first].ln();
            layout.add(
                0.0,
                (setting.epsilons.0.ln() + unit - start.ln_epsilon[first], setting.epsilons.1.ln() + unit - start.ln_epsilon[first]),
            );
        }
        let lengths = (setting.lengths.0.ln(), setting.lengths.1.ln());
        if own_length {
            start.ln_length_scales.iter().for_each(|&b| layout.add(b, lengths));
        } else if layout.free_length {
            layout.add(0.0, (lengths.0 - start.ln_length_scales[0], lengths.1 - start.ln_length_scales[0]));
        }
        if layout.free_regularization {
            layout.add(start.ln_regularization, (REGULARIZATIONS.0.ln(), REGULARIZATIONS.1.ln()));
        }
        layout
    }

    fn add(&mut self, start: f64, bounds: (f64, f64)) {
        self.start.push(start);
        self.low.push(bounds.0.min(start));
        self.high.push(bounds.1.max(start));
    }

    pub(super) fn unpack(&self, x: &[f64], start: &Profile) -> (Vec<f64>, Vec<f64>, f64) {
        let mut entries = x.iter().copied();
        let mut next = || entries.next().unwrap_or(0.0);
        let mut ln_epsilon = start.ln_epsilon.clone();
        if self.own_epsilon {
            self.active.iter().for_each(|&i| ln_epsilon[i] = next());
        } else {
            let shift = next();
            self.active.iter().for_each(|&i| ln_epsilon[i] += shift);
        }
        let mut lengths = start.ln_length_scales.clone();
        if self.own_length {
            lengths.iter_mut().for_each(|b| *b = next());
        } else if self.free_length {
            let shift = next();
            lengths.iter_mut().for_each(|b| *b += shift);
        }
        let ln_regularization = if self.free_regularization { next() } else { start.ln_regularization };
        (ln_epsilon, lengths, ln_regularization)
    }

    pub(super) fn gradient(&self, p: &Profile, tied: f64) -> Vec<f64> {
        let mut gradient = Vec::with_capacity(self.start.len());
        if self.own_epsilon {
            gradient.extend(self.active.iter().map(|&i| p.epsilon_gradient[i]));
        } else {
            gradient.push(self.active.iter().map(|&i| p.epsilon_gradient[i]).sum());
        }
        if self.own_length {
            let share = tied / p.length_gradient.len() as f64; // λ is tied to the geometric mean
            gradient.extend(p.length_gradient.iter().map(|g| g + share));
        } else if self.free_length {
            gradient.push(p.length_gradient.iter().sum::<f64>() + tied);
        }
        if self.free_regularization {
            gradient.push(p.regularization_gradient);
        }
        gradient
    }
}
