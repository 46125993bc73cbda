//! κ_ε between simulations: K_ij for i in the local set, for any ε.

use crate::Error;
use crate::kernel::{Kernel, ScaledPoints};
use crate::linalg::vector::{weighted_gaussian_row, weighted_squares};
use crate::simulations::Discrepancies;
use crate::simulations::discrepancies::Kappa;
use crate::simulations::local_set::LocalSet;
use crate::simulations::{DataSets, Observation, Recorded, Simulations};
use rayon::prelude::*;
use std::sync::Arc;

/// Members of the local set handled by one task.
const MEMBERS_PER_TASK: usize = 50;

/// Outputs compared with each other and with the observation. Normalisers are left out: they cancel in every score.
#[derive(Debug)]
pub struct Pairs {
    observed: Discrepancies,
    between: Between,
    /// Which simulations the rows belong to, and all others at the same θ.
    members: Vec<Vec<usize>>,
}

/// Outputs compared at some tolerances.
#[derive(Debug, Clone)]
pub struct Compared {
    /// The tolerances.
    pub epsilon: Vec<f64>,
    /// K_ij, one row of m values per member of the local set, with 0 for itself and all others at its θ.
    pub rows: Vec<f64>,
    /// κ between the observation and every simulation.
    pub observed: Kappa,
}

#[derive(Debug)]
enum Between {
    /// Statistics in units of `unit`, one coordinate after the other, and the rows of the local set.
    Statistics { columns: ScaledPoints, unit: Vec<f64>, rows: Vec<Vec<f64>>, simulations: Arc<Simulations> },
    /// √MMD² between the local set and every simulation, one row each; failed ones are infinitely far.
    DataSets { distances: Vec<Vec<f64>> },
}

impl Pairs {
    /// Prepares the local set. For raw data this computes |I| · m discrepancies.
    pub fn new(recorded: &Recorded, observation: &Observation, local: &LocalSet) -> Result<Self, Error> {
        let observed = recorded.discrepancies(observation)?;
        let between = match recorded {
            Recorded::Statistics(simulations) => Between::statistics(simulations, local),
            Recorded::DataSets(sets) => Between::data_sets(sets, local)?,
        };
        Ok(Self { observed, between, members: local.together.clone() })
    }

    /// Squared differences to the observation.
    pub fn observed(&self) -> &Discrepancies {
        &self.observed
    }

    /// The kernel between outputs at these tolerances.
    pub fn kernel(&self, epsilon: &[f64]) -> Kernel {
        Kernel::gaussian(epsilon.to_vec()).expect("tolerances inside their bounds are positive")
    }

    /// K_ij at these tolerances for every member i of the local set, one row each: what every (β, λ) shares.
    pub fn compared(&self, epsilon: &[f64]) -> Compared {
        let kernel = self.kernel(epsilon);
        let m = self.observed.simulations();
        let mut rows = vec![0.0; self.members.len() * m];
        rows.par_chunks_mut((MEMBERS_PER_TASK * m).max(1)).enumerate().for_each(|(task, part)| {
            for (row, values) in part.chunks_mut(m).enumerate() {
                let row = task * MEMBERS_PER_TASK + row;
                values.copy_from_slice(&self.grouped(&self.outputs_row(&kernel, row)));
                self.members[row].iter().for_each(|&j| values[j] = 0.0);
            }
        });
        Compared { epsilon: epsilon.to_vec(), rows, observed: self.observed.kappa(epsilon) }
    }

    /// κ between member `row` of the local set and every output; 0 for failures.
    pub fn outputs_row(&self, kernel: &Kernel, row: usize) -> Vec<f64> {
        match &self.between {
            Between::Statistics { columns, unit, rows, simulations } => {
                let mut values = vec![0.0; columns.rows()];
                scaled_gaussian_row(columns, unit, kernel, &rows[row], &mut values);
                values.iter_mut().zip(simulations.failed()).filter(|(_, failed)| **failed).for_each(|(value, _)| *value = 0.0);
                values
            }
            Between::DataSets { distances } => {
                let e = kernel.length_scales()[0];
                distances[row].iter().map(|d| (-0.5 * (d / e).powi(2)).exp()).collect()
            }
        }
    }

    /// Means over replicates: K_ij for every simulation j.
    pub fn grouped(&self, outputs: &[f64]) -> Vec<f64> {
        match &self.between {
            Between::Statistics { simulations, .. } if outputs.len() != simulations.len() => {
                let mean = |range: &[usize]| outputs[range[0]..range[1]].iter().sum::<f64>() / (range[1] - range[0]) as f64;
                simulations.offsets().windows(2).map(mean).collect()
            }
            _ => outputs.to_vec(),
        }
    }

    /// Σ_j c_j ∂K_ij/∂ ln ε_k for every k, with c_j = 0 for the member itself and all others at its θ.
    pub fn slopes(&self, compared: &Compared, row: usize, coefficients: &[f64]) -> Vec<f64> {
        let m = self.observed.simulations();
        let compared_row = &compared.rows[row * m..(row + 1) * m];
        match &self.between {
            Between::Statistics { columns, unit, rows, simulations } => {
                let outputs: Vec<f64> = if columns.rows() == m {
                    compared_row.iter().zip(coefficients).map(|(value, c)| value * c).collect()
                } else {
                    self.shared_out(simulations, self.outputs_row(&self.kernel(&compared.epsilon), row), coefficients)
                };
                let slope = |(k, (e, u)): (usize, (&f64, &f64))| {
                    let ratio = u / e;
                    weighted_squares(&outputs, columns.column(k), rows[row][k] / u) * ratio * ratio
                };
                compared.epsilon.iter().zip(unit).enumerate().map(slope).collect()
            }
            Between::DataSets { distances } => {
                let e = compared.epsilon[0];
                let term = |((d, c), value): ((&f64, &f64), &f64)| if *value > 0.0 { c * (d / e).powi(2) * value } else { 0.0 };
                vec![distances[row].iter().zip(coefficients).zip(compared_row).map(term).sum()]
            }
        }
    }

    /// Outputs times the coefficient of their simulation, shared among its replicates.
    fn shared_out(&self, simulations: &Simulations, mut outputs: Vec<f64>, coefficients: &[f64]) -> Vec<f64> {
        for (j, range) in simulations.offsets().windows(2).enumerate() {
            let share = coefficients[j] / (range[1] - range[0]) as f64;
            outputs[range[0]..range[1]].iter_mut().for_each(|value| *value *= share);
        }
        outputs
    }
}

impl Between {
    fn data_sets(sets: &DataSets, local: &LocalSet) -> Result<Self, Error> {
        let row = |&i: &usize| -> Result<Vec<f64>, Error> {
            let Some(own) = &sets.sets()[i] else { return Ok(vec![f64::INFINITY; sets.sets().len()]) };
            let squared = sets.discrepancies(own)?.into_iter().zip(sets.sets());
            Ok(squared.map(|(d2, set)| if set.is_some() { d2.sqrt() } else { f64::INFINITY }).collect())
        };
        Ok(Self::DataSets { distances: local.indices.par_iter().map(row).collect::<Result<_, _>>()? })
    }

    fn statistics(simulations: &Arc<Simulations>, local: &LocalSet) -> Self {
        // Failed outputs may hold anything: they stand at the origin and are masked.
        let n = simulations.statistics();
        let clean = simulations.outputs().map_rows(n, |row| row.iter().map(|v| if v.is_finite() { *v } else { 0.0 }).collect());
        let unit: Vec<f64> = (0..n).map(|k| clean.iter().fold(f64::MIN_POSITIVE, |l, row| l.max(row[k].abs()))).collect();
        let columns = Kernel::gaussian(unit.clone()).expect("units are positive").scale(&clean);
        let first = |i: usize| simulations.first_success(i).unwrap_or(simulations.offsets()[i]);
        let rows = local.indices.iter().map(|&i| clean.row(first(i)).to_vec()).collect();
        Self::Statistics { columns, unit, rows, simulations: simulations.clone() }
    }
}

/// exp(-½ Σ_k (x_k - x_jk)²/ε_k²) with columns kept in units: u/ε is applied to the differences.
fn scaled_gaussian_row(columns: &ScaledPoints, unit: &[f64], kernel: &Kernel, x: &[f64], out: &mut [f64]) {
    weighted_gaussian_row(
        columns.values(),
        &x.iter().zip(unit).map(|(x, u)| x / u).collect::<Vec<f64>>(),
        &unit.iter().zip(kernel.length_scales()).map(|(u, e)| (u / e).powi(2)).collect::<Vec<f64>>(),
        out,
    );
}
