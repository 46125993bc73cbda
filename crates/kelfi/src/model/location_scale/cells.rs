//! The values of a statistic as regressions take them. A count stands for its whole cell, from half a step below it to half a step above.
//!
//! A regression on T(x) sees the mean of T over the cell, without noise of any seed; the variance of T over the cell is added to the noise it
//! finds. The shape of the residuals needs values without ties: there each simulation has a place in its cell, the i-th with the same value
//! the i-th of a sequence that fills the cell evenly.

use super::constants::cells::POINTS;
use super::regression::{RegressionHyperparameters, Standard};
use super::transform::{Scale, dequantise};
use super::within::Within;
use crate::simulations::lattice::lattice_step;
use serde::{Deserialize, Serialize};

/// Steps of the golden ratio fill an interval evenly, however many there are.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// How counts are made continuous.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// By random noise of one step, as in files from before there were cells.
    #[default]
    Noise,
    /// Each stands for its cell.
    Cells,
}

/// Values of one statistic.
#[derive(Debug, Clone)]
pub struct Values {
    /// As simulated, or with noise.
    values: Vec<f64>,
    /// Width of the cells; `None` where values stand for themselves.
    cell: Option<f64>,
    /// Distance between neighbouring values if they lie on a lattice.
    pub step: Option<f64>,
    /// Each somewhere in its cell.
    pub spread_out: Vec<f64>,
    /// So many of them stand for one simulation.
    repeats: usize,
}

impl Values {
    /// Of statistic `index`; only noise depends on the seed.
    pub fn new(values: Vec<f64>, counts: Counts, index: usize, seed: u64) -> Self {
        let step = lattice_step(&values);
        match (step, counts) {
            (None, _) => Self { spread_out: values.clone(), values, cell: None, step, repeats: 1 },
            (Some(width), Counts::Noise) => {
                let noisy = dequantise(&values, width, index, seed);
                Self { spread_out: noisy.clone(), values: noisy, cell: None, step, repeats: 1 }
            }
            (Some(width), Counts::Cells) => Self { spread_out: filling(&values, width), values, cell: Some(width), step, repeats: 1 },
        }
    }

    /// Of one statistic in several repeats of every simulation, which stand together. A count has a place in its cell, as if it were a
    /// measurement: an average over repeats has no cell of its own.
    pub fn of_repeats(values: Vec<f64>, repeats: usize) -> Self {
        let step = lattice_step(&values);
        let spread_out = step.map_or_else(|| values.clone(), |width| filling(&values, width));
        Self { values: spread_out.clone(), spread_out, cell: None, step, repeats }
    }

    /// Those of the first `simulations`.
    pub fn head(&self, simulations: usize) -> Self {
        let count = simulations * self.repeats;
        Self { values: self.values[..count].to_vec(), spread_out: self.spread_out[..count].to_vec(), ..self.clone() }
    }

    /// Each at its place in its cell, as if that had been measured.
    pub fn spread_out(&self) -> Self {
        Self { values: self.spread_out.clone(), cell: None, ..self.clone() }
    }

    /// ln of the derivative of a change of scale at all values of simulation `i`.
    pub fn ln_slope(&self, scale: Scale, i: usize) -> f64 {
        self.values[i * self.repeats..(i + 1) * self.repeats].iter().map(|&x| scale.ln_slope(x)).sum()
    }

    /// On another scale.
    pub fn on(&self, scale: Scale) -> Targets {
        if self.repeats > 1 {
            return Targets::averaged(&self.values.iter().map(|&x| scale.apply(x)).collect::<Vec<_>>(), self.repeats);
        }
        let Some(width) = self.cell else {
            return Targets { means: self.values.iter().map(|&x| scale.apply(x)).collect(), cells: None, within: None };
        };
        let within = |x: f64| (0..POINTS).map(move |k| scale.apply(x + width * ((k as f64 + 0.5) / POINTS as f64 - 0.5)));
        let means: Vec<f64> = self.values.iter().map(|&x| within(x).sum::<f64>() / POINTS as f64).collect();
        let offsets: Vec<f64> = self.values.iter().zip(&means).flat_map(|(&x, mean)| within(x).map(move |t| t - mean)).collect();
        let own = self.spread_out.iter().zip(&means).map(|(&x, mean)| scale.apply(x) - mean).collect();
        let variances = offsets.chunks(POINTS).map(|cell| cell.iter().map(|o| o * o).sum::<f64>() / POINTS as f64).collect();
        Targets { means, cells: Some(Cells { offsets, own, variances }), within: None }
    }
}

/// Values on the scale they are regressed on.
#[derive(Debug, Clone)]
pub struct Targets {
    /// What regressions see.
    pub means: Vec<f64>,
    /// What they do not see of each value.
    cells: Option<Cells>,
    /// How the repeats of each simulation differ, where there are several.
    pub within: Option<Within>,
}

#[derive(Debug, Clone)]
struct Cells {
    /// Points of each cell relative to its mean, one cell after the other.
    offsets: Vec<f64>,
    /// The place of each simulation in its cell, relative to the mean.
    own: Vec<f64>,
    variances: Vec<f64>,
}

impl Targets {
    /// Averages over repeats, which stand together.
    fn averaged(values: &[f64], repeats: usize) -> Self {
        let (means, within) = Within::of(values, repeats);
        Self { means, cells: None, within: Some(within) }
    }

    /// ln of the density of what repeats differ by, all with the same Gaussian noise; 0 where there are no repeats.
    pub fn ln_density_within(&self) -> f64 {
        self.within.as_ref().map_or(0.0, Within::ln_density)
    }

    /// The first `count` of them.
    pub fn head(&self, count: usize) -> Self {
        let cells = self.cells.as_ref().map(|cells| Cells {
            offsets: cells.offsets[..count * POINTS].to_vec(),
            own: cells.own[..count].to_vec(),
            variances: cells.variances[..count].to_vec(),
        });
        Self { means: self.means[..count].to_vec(), cells, within: self.within.as_ref().map(|within| within.head(count)) }
    }

    /// Hyperparameters found for the means of these cells, with what cells vary inside added to the noise.
    pub fn with_cell_noise(&self, mut found: RegressionHyperparameters, some: &[usize]) -> RegressionHyperparameters {
        if let Some(cells) = &self.cells {
            let scale = Standard::of(&some.iter().map(|&i| self.means[i]).collect::<Vec<_>>()).scale;
            let inside = some.iter().map(|&i| cells.variances[i]).sum::<f64>() / some.len() as f64;
            found.noise = (found.noise.powi(2) + inside / scale.powi(2)).sqrt();
        }
        found
    }

    /// Mean over cell i of f(residual), the residual of the cell's mean given.
    pub fn average(&self, i: usize, residual: f64, f: impl Fn(f64) -> f64) -> f64 {
        match &self.cells {
            None => f(residual),
            Some(cells) => cells.offsets[i * POINTS..(i + 1) * POINTS].iter().map(|o| f(residual + o)).sum::<f64>() / POINTS as f64,
        }
    }

    /// The residual of value i itself, where that of its cell's mean is given.
    pub fn own(&self, i: usize, residual: f64) -> f64 {
        residual + self.cells.as_ref().map_or(0.0, |cells| cells.own[i])
    }
}

/// Every value somewhere in its cell: the i-th of equal ones at the i-th place of the sequence.
fn filling(values: &[f64], width: f64) -> Vec<f64> {
    let mut met: std::collections::HashMap<u64, usize> = std::collections::HashMap::new();
    let place = |&x: &f64| {
        let before = met.entry(x.to_bits()).or_insert(0);
        *before += 1;
        // Counts start at different places, so that cells met once are not all filled in the middle.
        let start = GOLDEN * (x / width).round().abs();
        x + width * ((start + GOLDEN * *before as f64).fract() - 0.5)
    };
    values.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts() -> Vec<f64> {
        (0..400).map(|i| f64::from(i * i % 7)).collect()
    }

    #[test]
    fn cells_are_filled_evenly_and_depend_on_no_seed() {
        let values = Values::new(counts(), Counts::Cells, 0, 1);
        assert_eq!(values.spread_out, Values::new(counts(), Counts::Cells, 0, 2).spread_out);
        assert_ne!(Values::new(counts(), Counts::Noise, 0, 1).spread_out, Values::new(counts(), Counts::Noise, 0, 2).spread_out);
        let places: Vec<f64> = values.spread_out.iter().zip(counts()).map(|(s, c)| s - c).collect();
        let mean = places.iter().sum::<f64>() / 400.0;
        let variance = places.iter().map(|p| p * p).sum::<f64>() / 400.0;
        assert!(places.iter().all(|p| p.abs() <= 0.5) && mean.abs() < 0.01 && (variance - 1.0 / 12.0).abs() < 0.002, "{mean} {variance}");
    }

    #[test]
    fn averages_over_a_cell_are_those_of_uniform_noise() {
        let values = Values::new(counts(), Counts::Cells, 0, 1);
        let targets = values.on(Scale::SquareRoot { offset: 1.0 });
        // ∫ √(x + 1) over the cell around x = 1, and E r² = r² + variance.
        let mean = 2.0 / 3.0 * (2.5_f64.powf(1.5) - 1.5_f64.powf(1.5));
        assert!((targets.means[1] - mean).abs() < 1e-4, "{}", targets.means[1]);
        let variance = 2.0 - mean * mean;
        assert!((targets.average(1, 0.7, |r| r * r) - 0.49 - variance).abs() < 5e-4);
        assert_eq!(Values::new(vec![0.3, 0.77, 1.9, -4.1], Counts::Cells, 0, 1).on(Scale::Identity).own(2, 0.7), 0.7);
    }
}
