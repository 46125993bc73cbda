//! The coarse search: a grid over (β, mλ, ε), of which only the neighbourhood of the best scores is visited, and the centre of the
//! plateau that the scores cannot tell apart.

use super::stage::{Candidate, Place, Stage};
use crate::Error;
use crate::model::kernel_means::constants::grid::{HOPELESS, LENGTH_RANGE, LENGTH_SCALES, PLATEAU, RIDGE_RANGE, RIDGES, TOLERANCES};
use crate::model::kernel_means::constants::learning::REGULARIZATIONS;
use crate::model::kernel_means::learning::choices::{LengthScaleChoice, RegularizationChoice};
use crate::model::kernel_means::learning::learned::{Counter, LocalOptimum};
use crate::model::kernel_means::learning::leave_one_out::{LeaveOneOutScore, Scored};
use crate::model::kernel_means::learning::pairs::Compared;
use crate::model::kernel_means::learning::problem::LearningProblem;
use rayon::prelude::*;

/// The logarithms of the length scales, ridges mλ and common tolerances of the grid.
pub fn grid_axes(setting: &LearningProblem<'_>) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let spaced = |range: (f64, f64), count: usize| -> Vec<f64> {
        (0..count).map(|k| range.0.ln() + (range.1 / range.0).ln() * k as f64 / (count - 1) as f64).collect()
    };
    let lengths = match setting.settings.length_scale {
        LengthScaleChoice::Fixed(_) => vec![0.0],
        _ => spaced(LENGTH_RANGE, LENGTH_SCALES),
    };
    let ridges = match setting.settings.regularization {
        RegularizationChoice::Free => spaced(RIDGE_RANGE, RIDGES),
        _ => vec![0.0],
    };
    (lengths, ridges, spaced(setting.epsilons, TOLERANCES))
}

/// One (β, mλ) of the grid: the scores at the tolerances tried there, by their place on the axis.
struct Column {
    scores: Vec<(usize, Scored)>,
}

impl Column {
    fn best(&self) -> Option<&(usize, Scored)> {
        self.scores.iter().max_by(|a, b| a.1.objective.total_cmp(&b.1.objective))
    }

    /// The tolerances worth looking at beside this column: its own good ones and their neighbours.
    fn promising(&self, enough: f64) -> impl Iterator<Item = usize> {
        let good = self.scores.iter().filter(move |(_, scored)| scored.objective >= enough);
        good.flat_map(|&(k, _)| k.saturating_sub(1)..=k + 1)
    }
}

/// The grid as far as it was visited.
struct Grid<'a> {
    stage: &'a Stage<'a>,
    lengths: Vec<f64>,
    ridges: Vec<f64>,
    /// ln ε of the scan, and the outputs compared there: the same for every column. One entry where ε is fixed.
    tolerances: Vec<Vec<f64>>,
    compared: Vec<Compared>,
    /// By length scale, then ridge; `None` where not visited.
    columns: Vec<Option<Column>>,
}

/// The centre of the plateau, and the local optima met on the way.
pub fn search(stage: &Stage<'_>, counter: &mut Counter<'_>) -> Result<(Candidate, Vec<LocalOptimum>), Error> {
    let mut grid = Grid::new(stage);
    grid.visit(grid.lattice(), counter)?;
    loop {
        let next = grid.frontier();
        if next.is_empty() {
            break;
        }
        grid.visit(next, counter)?;
    }
    let best =
        grid.best().ok_or(Error::NotPositiveDefinite { pivot: 0, order: stage.z.rows(), value: 0.0, regularization: REGULARIZATIONS.0 })?;
    let optima = grid.local_optima();
    let Some(centre) = grid.plateau_centre(&best) else { return Ok((best, optima)) };
    let least = best.scored.objective - best.scored.standard_error;
    let centre = stage.again(&centre, counter)?.filter(|centre| centre.scored.objective >= least);
    Ok((centre.unwrap_or(best), optima))
}

impl<'a> Grid<'a> {
    fn new(stage: &'a Stage<'a>) -> Self {
        let (lengths, ridges, tolerances) = grid_axes(stage.setting);
        let tolerances: Vec<Vec<f64>> = match stage.setting.fixed_epsilon() {
            Some(fixed) => vec![fixed.iter().map(|e| e.ln()).collect()],
            None => tolerances.iter().map(|&t| stage.ln_tolerances(t)).collect(),
        };
        let compare = |ln_epsilon: &Vec<f64>| stage.pairs.compared(&ln_epsilon.iter().map(|e| e.exp()).collect::<Vec<f64>>());
        let compared = tolerances.par_iter().map(compare).collect();
        let columns = (0..lengths.len() * ridges.len()).map(|_| None).collect();
        Self { stage, lengths, ridges, tolerances, compared, columns }
    }

    /// Every other column and every tolerance: where the search looks first.
    fn lattice(&self) -> Vec<(usize, Vec<usize>)> {
        let on = |k: usize, count: usize| count == 1 || k % 2 == 1;
        let every = (0..self.columns.len())
            .filter(|column| on(column / self.ridges.len(), self.lengths.len()) && on(column % self.ridges.len(), self.ridges.len()));
        every.map(|column| (column, (0..self.tolerances.len()).collect())).collect()
    }

    /// Columns not yet visited beside one whose score is near the best, with the tolerances that are promising there.
    /// All that is left where nothing could be scored yet.
    fn frontier(&self) -> Vec<(usize, Vec<usize>)> {
        let unvisited = (0..self.columns.len()).filter(|&column| self.columns[column].is_none());
        let Some(best) = self.best() else { return unvisited.map(|column| (column, (0..self.tolerances.len()).collect())).collect() };
        let enough = best.scored.objective - HOPELESS * best.scored.standard_error;
        let promising = |column: usize| -> Vec<usize> {
            let mut tolerances: Vec<usize> = self
                .neighbours(column)
                .filter_map(|neighbour| self.columns[neighbour].as_ref())
                .flat_map(|neighbour| neighbour.promising(enough))
                .filter(|&k| k < self.tolerances.len())
                .collect();
            tolerances.sort_unstable();
            tolerances.dedup();
            tolerances
        };
        unvisited.map(|column| (column, promising(column))).filter(|(_, tolerances)| !tolerances.is_empty()).collect()
    }

    fn neighbours(&self, column: usize) -> impl Iterator<Item = usize> {
        let (i, j, ridges) = (column / self.ridges.len(), column % self.ridges.len(), self.ridges.len());
        let beside = [(i.wrapping_sub(1), j), (i + 1, j), (i, j.wrapping_sub(1)), (i, j + 1)];
        let lengths = self.lengths.len();
        beside.into_iter().filter(move |&(a, b)| a < lengths && b < ridges).map(move |(a, b)| a * ridges + b)
    }

    /// Scores these columns.
    fn visit(&mut self, wanted: Vec<(usize, Vec<usize>)>, counter: &mut Counter<'_>) -> Result<(), Error> {
        let places: Vec<Place> = wanted.iter().map(|(column, _)| self.place(*column)).collect();
        let score = |k: usize, score: &LeaveOneOutScore<'_>| -> Vec<(usize, Scored)> {
            wanted[k].1.iter().map(|&t| (t, score.evaluate_compared(&self.compared[t], false))).collect()
        };
        let found = self.stage.at_many(&places, counter, score)?;
        for ((column, _), scores) in wanted.iter().zip(found) {
            let scored = Column { scores: scores.unwrap_or_default() };
            counter.best = scored.best().map_or(counter.best, |(_, s)| counter.best.max(s.objective));
            self.columns[*column] = Some(scored);
        }
        Ok(())
    }

    fn place(&self, column: usize) -> Place {
        let length = self.lengths[column / self.ridges.len()].exp();
        let ln_length_scales = self.stage.setting.length_scales(length).iter().map(|b| b.ln()).collect();
        Place { ln_length_scales, ln_ridge: self.ridges[column % self.ridges.len()] }
    }

    fn candidate(&self, column: usize) -> Option<Candidate> {
        let (k, scored) = self.columns[column].as_ref()?.best()?;
        Some(Candidate { place: self.place(column), ln_epsilon: self.tolerances[*k].clone(), scored: scored.clone() })
    }

    fn best(&self) -> Option<Candidate> {
        (0..self.columns.len()).filter_map(|column| self.candidate(column)).max_by(|a, b| a.scored.objective.total_cmp(&b.scored.objective))
    }

    /// The mean of ln(β, mλ, ε) over the grid, weighed by exp((score - best)/½ standard error): scores closer than that
    /// count alike, and the middle of such a plateau is a steadier choice than its highest point. `None` where ε is fixed.
    fn plateau_centre(&self, best: &Candidate) -> Option<Candidate> {
        if self.tolerances.len() == 1 {
            return None;
        }
        let (_, _, tolerances) = grid_axes(self.stage.setting);
        let error = (PLATEAU * best.scored.standard_error).max(1e-9);
        let (mut total, mut ln_ridge, mut common) = (0.0, 0.0, 0.0);
        let mut ln_length_scales = vec![0.0; best.place.ln_length_scales.len()];
        for (column, visited) in self.columns.iter().enumerate() {
            let place = self.place(column);
            for (k, scored) in visited.iter().flat_map(|column| &column.scores) {
                let weight = ((scored.objective - best.scored.objective) / error).exp();
                total += weight;
                ln_ridge += weight * place.ln_ridge;
                common += weight * tolerances[*k];
                ln_length_scales.iter_mut().zip(&place.ln_length_scales).for_each(|(sum, b)| *sum += weight * b);
            }
        }
        ln_length_scales.iter_mut().for_each(|sum| *sum /= total);
        let ln_epsilon = self.stage.ln_tolerances(common / total);
        let place = Place { ln_length_scales, ln_ridge: ln_ridge / total };
        Some(Candidate { place, ln_epsilon, scored: best.scored.clone() })
    }

    /// Columns that no neighbour exceeds, all of which were visited, best first.
    fn local_optima(&self) -> Vec<LocalOptimum> {
        let value = |column: usize| self.columns[column].as_ref().map(|c| c.best().map_or(f64::NEG_INFINITY, |(_, s)| s.objective));
        let on_top = |column: usize, objective: f64| self.neighbours(column).all(|n| value(n).is_some_and(|value| value <= objective));
        let mut optima: Vec<LocalOptimum> = (0..self.columns.len())
            .filter_map(|column| self.candidate(column).map(|candidate| (column, candidate)))
            .filter(|(column, candidate)| on_top(*column, candidate.scored.objective))
            .map(|(_, c)| LocalOptimum { hyperparameters: self.stage.hyperparameters(&c), objective: c.scored.objective })
            .collect();
        optima.sort_by(|a, b| b.objective.total_cmp(&a.objective));
        optima
    }
}
