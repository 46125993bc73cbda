//! The share of each leave-one-out posterior below its own parameters: what calibration looks at.
//!
//! Simulation i plays the observation. With K̃_i = κ_ε(x_i, x_·) but K̃_ii = q₋ᵢ(x_i|θ_i), the weights v = A⁻¹K̃_i have v_i = 0: they are
//! those of the model without i, the ridge mλ kept; so are all others at the same θ. Its marginal of a parameter is the signed mixture
//! Σ_j v_j μ_j N(t | c_j, s²)/q₋ᵢ(x_i), clipped at zero: that of the clipped joint density, which users get, would cost draws for each i.
//! Centres and widths are common to all i, so densities and CDFs of all leave-one-out posteriors
//! at a node of the line are one matrix product.
//!
//! The share with a lower density than at θ_i is taken over the simulated θ_j, which are draws of the prior, in proportion to q₋ᵢ(x_i|θ_j).
//! Where simulations were not drawn from the prior, all shares are: θ_j stand for what they were drawn from.

use super::constants::leave_one_out::{CANDIDATES, TRIED};
use crate::linalg::products::rows_dot_rows;
use crate::linalg::vector::dot;
use crate::model::kernel_means::learning::KernelMeansOptions;
use crate::model::kernel_means::learning::leave_one_out::left_out_rows;
use crate::model::kernel_means::learning::pairs::Pairs;
use crate::model::kernel_means::learning::problem::LearningProblem;
use crate::model::left_out::{Shares, weighted_share_below};
use crate::model::{KernelMeansLikelihood, Model, PriorEmbedding, Surrogate};
use crate::prior::quadrature::PriorPoints;
use crate::prior::{Coordinate, GaussianComponent};
use crate::question::Question;
use crate::random::{Purpose, stream};
use crate::simulations::local_set::LocalSet;
use crate::simulations::same_theta::SameTheta;
use crate::special::normal::cdf as normal_cdf;
use crate::{Error, Points};
use rand::RngExt;
use rayon::prelude::*;

const SQRT_2PI: f64 = 2.506_628_274_631_000_7;
/// A component has no mass to speak of beyond this many of its standard deviations (2e-12).
const REACH: f64 = 7.0;
/// Nodes per standard deviation of a component: a sign change inside a cell is then placed to about 1e-3 of the mass of the cell.
const NODES_PER_STD: f64 = 6.0;
/// Nodes at most.
const MOST_NODES: usize = 3_000;
/// Nodes handled by one task.
const NODES_PER_TASK: usize = 64;

/// The leave-one-out weights of the simulations nearest to the observation, divided by their evidence.
struct LeftOutWeights {
    indices: Vec<usize>,
    skipped: usize,
    by_simulated: bool,
    /// The nearer the heavier; they sum to one.
    nearness: Vec<f64>,
    /// v^(i)/q₋ᵢ(x_i) on the operator's support, a row per index.
    weights: Vec<f64>,
}

/// Costs |I| solves of O(m²) and, per parameter, a product of |I| × m × nodes.
pub(crate) fn shares(model: &KernelMeansLikelihood) -> Result<Shares, Error> {
    let left_out = left_out(model)?;
    let dimension = model.prior().dimension();
    let among = Among::new(model, &left_out);
    let joint = among.joint(&left_out);
    let columns: Vec<Vec<f64>> = (0..dimension)
        .map(|d| match model.operator().embedding() {
            _ if left_out.by_simulated => among.shares(&left_out, d),
            PriorEmbedding::ClosedForm(components) => mixture_shares(model, components, &left_out, d),
            PriorEmbedding::Draws(draws) => draws_shares(model, draws, &left_out, d),
        })
        .collect();
    let mut shares = Points::zeros(left_out.indices.len(), dimension);
    for row in 0..left_out.indices.len() {
        (0..dimension).for_each(|d| shares.row_mut(row)[d] = columns[d][row]);
    }
    let LeftOutWeights { indices, skipped, by_simulated, nearness: weights, .. } = left_out;
    Ok(Shares { indices, skipped, shares, weights, joint, by_simulated })
}

fn left_out(model: &KernelMeansLikelihood) -> Result<LeftOutWeights, Error> {
    let Question { recorded, observation, .. } = model.question();
    let settings = KernelMeansOptions::default();
    let setting = LearningProblem::new(model.question(), &settings)?;
    let local = LocalSet::independent(recorded, observation, &setting.units, setting.active().len(), TRIED)?;
    let pairs = Pairs::new(recorded, observation, &local)?;
    let operator = model.operator();
    let m = operator.len();
    let kernel = pairs.kernel(&model.hyperparameters().epsilon);
    let own = left_out_rows(operator.solver(), &local);
    let mut kept = LeftOutWeights { indices: vec![], skipped: 0, by_simulated: !setting.prior_draws, nearness: vec![], weights: vec![] };
    let mut evidences = vec![];
    for (row, &i) in local.indices.iter().enumerate() {
        let mut k = pairs.grouped(&pairs.outputs_row(&kernel, row));
        // q₋ᵢ(x_i|θ_i) = Σ_{j≠i} -P_ij/P_ii K_ij, the same for all at this θ.
        let likelihood = dot(&own[row * m..(row + 1) * m], &k);
        local.together[row].iter().for_each(|&g| k[g] = likelihood);
        let evidence = dot(operator.marginal_weights(), &k);
        if evidence > 0.0 && evidence.is_finite() {
            kept.indices.push(i);
            kept.nearness.push(local.weights[row]);
            kept.weights.extend(k);
            evidences.push(evidence);
        } else {
            kept.skipped += 1;
        }
    }
    let total: f64 = kept.nearness.iter().sum();
    kept.nearness.iter_mut().for_each(|w| *w /= total);
    operator.solver().solve_in_place(&mut kept.weights);
    kept.weights = operator.on_support(kept.weights);
    for (row, evidence) in kept.weights.chunks_mut(operator.support().rows()).zip(evidences) {
        row.iter_mut().for_each(|v| *v /= evidence);
    }
    Ok(kept)
}

/// Simulated parameters in proportion to the positive part of every leave-one-out likelihood.
struct Among<'a> {
    model: &'a KernelMeansLikelihood,
    candidates: Points,
    /// [q₋ᵢ(x_i|θ_j)]⁺: a row per candidate, a column per simulation left out; and at the own θ.
    values: Vec<f64>,
    own: Vec<f64>,
}

impl<'a> Among<'a> {
    fn new(model: &'a KernelMeansLikelihood, left_out: &LeftOutWeights) -> Self {
        let operator = model.operator();
        let (m, z) = (operator.support().rows(), operator.z());
        let candidates = PriorPoints::of_simulations(&z.select(&SameTheta::new(z).firsts()), CANDIDATES).z;
        let at = |z: &Points| operator.kernel().cross(operator.scaled_support(), z);
        let values = rows_dot_rows(&at(&candidates), &left_out.weights, m).into_iter().map(|v| v.max(0.0)).collect();
        let own = at(&z.select(&left_out.indices)).chunks(m).zip(left_out.weights.chunks(m)).map(|(l, v)| dot(l, v).max(0.0)).collect();
        Self { model, candidates, values, own }
    }

    /// Values and weights of the simulation left out in this row, its own first; no other at its θ.
    fn of_row(&self, left_out: &LeftOutWeights, row: usize, value: impl Fn(&[f64], f64) -> f64) -> (Vec<f64>, Vec<f64>) {
        let own = self.model.operator().z().row(left_out.indices[row]);
        let members = left_out.indices.len();
        let others = self.candidates.iter().enumerate().filter(|(_, z)| *z != own).map(|(c, z)| (z, self.values[c * members + row]));
        std::iter::once((own, self.own[row])).chain(others).map(|(z, weight)| (value(z, weight), weight)).unzip()
    }

    fn joint(&self, left_out: &LeftOutWeights) -> Vec<f64> {
        self.each(left_out, 0, |_, weight| weight)
    }

    fn shares(&self, left_out: &LeftOutWeights, d: usize) -> Vec<f64> {
        let prior = self.model.prior();
        self.each(left_out, 1 + d as u64, |z, _| prior.from_latent(z)[d])
    }

    fn each(&self, left_out: &LeftOutWeights, which: u64, value: impl Fn(&[f64], f64) -> f64) -> Vec<f64> {
        let one = |row: usize| {
            let (values, weights) = self.of_row(left_out, row, &value);
            weighted_share_below(&values, &weights, stream(which, Purpose::LeftOut, left_out.indices[row] as u64).random())
        };
        (0..left_out.indices.len()).map(one).collect()
    }
}

/// The line of one parameter: where each component of the mixture sits on it.
struct Line {
    /// μ_j of each component, centre and standard deviation.
    components: Vec<(Vec<f64>, Vec<f64>, f64)>,
    /// The simulated parameters.
    at: Vec<f64>,
    /// Components: points of the operator's support.
    support: usize,
}

impl Line {
    fn new(model: &KernelMeansLikelihood, components: &[GaussianComponent], d: usize) -> Self {
        let operator = model.operator();
        let beta = operator.kernel().length_scales();
        let direction = match model.prior().coordinate(d) {
            Coordinate::Linear { coefficients, .. } => coefficients,
            Coordinate::Monotone => (0..beta.len()).map(|k| f64::from(u8::from(k == d))).collect(),
        };
        let one = |c: &GaussianComponent| {
            // S = 1/(1/β² + 1/σ²), c_j = S (z_j/β² + μ/σ²), seen along the direction
            let variance: Vec<f64> = (0..beta.len()).map(|k| (beta[k].powi(-2) + c.std[k].powi(-2)).recip()).collect();
            let centre = |z: &[f64]| -> f64 {
                (0..z.len()).map(|k| direction[k] * variance[k] * (z[k] / beta[k].powi(2) + c.mean[k] / c.std[k].powi(2))).sum()
            };
            let means = PriorEmbedding::ClosedForm(vec![c.clone()]).means(operator.kernel(), operator.support());
            let std = direction.iter().zip(&variance).map(|(a, v)| a * a * v).sum::<f64>().sqrt();
            (means, operator.support().iter().map(centre).collect(), std)
        };
        let at = operator.z().iter().map(|z| dot(&direction, z)).collect();
        Self { components: components.iter().map(one).collect(), at, support: operator.support().rows() }
    }

    fn nodes(&self) -> Vec<f64> {
        let (mut low, mut high, mut narrowest) = (f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY);
        for (_, centres, std) in &self.components {
            low = centres.iter().fold(low, |l, c| l.min(c - REACH * std));
            high = centres.iter().fold(high, |h, c| h.max(c + REACH * std));
            narrowest = narrowest.min(*std);
        }
        let count = ((high - low) / narrowest * NODES_PER_STD).ceil().clamp(2.0, MOST_NODES as f64) as usize;
        (0..=count).map(|k| low + (high - low) * k as f64 / count as f64).collect()
    }

    /// Σ over components of μ_j times `term` of the standardised distance, for every j.
    fn basis(&self, t: f64, term: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let mut row = vec![0.0; self.support];
        for (means, centres, std) in &self.components {
            for ((value, mean), centre) in row.iter_mut().zip(means).zip(centres) {
                *value += mean * term((t - centre) / std, *std);
            }
        }
        row
    }

    fn density(&self, t: f64) -> Vec<f64> {
        self.basis(t, |u, std| (-0.5 * u * u).exp() / (std * SQRT_2PI))
    }

    fn cdf(&self, t: f64) -> Vec<f64> {
        self.basis(t, |u, _| normal_cdf(u))
    }
}

fn mixture_shares(model: &KernelMeansLikelihood, components: &[GaussianComponent], left_out: &LeftOutWeights, d: usize) -> Vec<f64> {
    let line = Line::new(model, components, d);
    let m = line.support;
    let nodes = line.nodes();
    // Per block of nodes: densities and signed CDFs of all leave-one-out posteriors, a row per node.
    let blocks: Vec<(Vec<f64>, Vec<f64>)> = nodes
        .par_chunks(NODES_PER_TASK)
        .map(|block| {
            let densities: Vec<f64> = block.iter().flat_map(|&t| line.density(t)).collect();
            let cdfs: Vec<f64> = block.iter().flat_map(|&t| line.cdf(t)).collect();
            (rows_dot_rows(&densities, &left_out.weights, m), rows_dot_rows(&cdfs, &left_out.weights, m))
        })
        .collect();
    let densities: Vec<f64> = blocks.iter().flat_map(|b| b.0.iter().copied()).collect();
    let cdfs: Vec<f64> = blocks.iter().flat_map(|b| b.1.iter().copied()).collect();
    let members = left_out.indices.len();
    let share = |row: usize| {
        let i = left_out.indices[row];
        let column = |values: &[f64]| -> Vec<f64> { (0..nodes.len()).map(|k| values[k * members + row]).collect() };
        let own = dot(&line.cdf(line.at[i]), &left_out.weights[row * m..(row + 1) * m]);
        clipped_share(&nodes, &column(&densities), &column(&cdfs), line.at[i], own)
    };
    (0..members).into_par_iter().map(share).collect()
}

/// The share below `t` of the positive part, given densities and signed CDFs at the nodes and the signed CDF at `t`.
fn clipped_share(nodes: &[f64], densities: &[f64], cdfs: &[f64], t: f64, cdf_at_t: f64) -> f64 {
    let (mut below, mut total) = (0.0, 0.0);
    for k in 1..nodes.len() {
        let (a, b) = (densities[k - 1], densities[k]);
        let signed = cdfs[k] - cdfs[k - 1];
        let mass = if a >= 0.0 && b >= 0.0 {
            signed.max(0.0)
        } else if a <= 0.0 && b <= 0.0 {
            0.0
        } else {
            // The triangle above zero of the straight line between the two densities.
            0.5 * (nodes[k] - nodes[k - 1]) * a.max(b).powi(2) / (a - b).abs()
        };
        if t >= nodes[k] {
            below += mass;
        } else if t > nodes[k - 1] {
            below += (cdf_at_t - cdfs[k - 1]).clamp(0.0, mass);
        }
        total += mass;
    }
    if total > 0.0 { (below / total).clamp(0.0, 1.0) } else { 0.5 }
}

/// Without closed forms: positive weights on draws of the prior.
fn draws_shares(model: &KernelMeansLikelihood, draws: &Points, left_out: &LeftOutWeights, d: usize) -> Vec<f64> {
    let m = model.operator().support().rows();
    let share = |(row, &i): (usize, &usize)| {
        let values = model.operator().values(&left_out.weights[row * m..(row + 1) * m], draws);
        let own = model.operator().z().row(i)[d];
        let (mut below, mut total) = (0.0, 0.0);
        for (z, value) in draws.iter().zip(values) {
            let positive = value.max(0.0);
            total += positive;
            if z[d] <= own {
                below += positive;
            }
        }
        if total > 0.0 { below / total } else { 0.5 }
    };
    left_out.indices.iter().enumerate().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::{Posterior, Representation};
    use crate::random::{Purpose, standard_normal, stream};
    use crate::{Hyperparameters, Marginal, Observation, Prior, Recorded, Simulations};
    use std::sync::Arc;

    /// The nodes place sign changes by straight lines; elsewhere shares are exact.
    const CLOSE: f64 = 2e-3;

    /// The model without simulation i, built afresh; λ is changed so that the ridge (m - 1)λ' = mλ is kept.
    #[test]
    fn shares_agree_with_posteriors_fitted_afresh_without_each_simulation_and_all_others_at_its_theta() {
        agree_with_posteriors_fitted_afresh(&[]);
        agree_with_posteriors_fitted_afresh(&[3, 11, 30]);
    }

    fn agree_with_posteriors_fitted_afresh(at_one_theta: &[usize]) {
        let names = vec![
            ("a".to_string(), Marginal::Normal { mean: 1.0, std: 2.0 }),
            ("b".to_string(), Marginal::LogUniform { low: 0.1, high: 10.0 }),
        ];
        let prior = Prior::independent(names).unwrap();
        let mut theta = prior.draw(40, 3);
        at_one_theta.iter().for_each(|&i| theta.row_mut(i).copy_from_slice(prior.draw(4, 3).row(3)));
        let mut x = Points::zeros(40, 2);
        for i in 0..40 {
            let mut rng = stream(3, Purpose::Experiment, i as u64);
            let row = theta.row(i).to_vec();
            x.row_mut(i).copy_from_slice(&[row[0] + standard_normal(&mut rng), row[1].ln() + 0.5 * standard_normal(&mut rng)]);
        }
        let hyperparameters = Hyperparameters { epsilon: vec![0.8, 0.3], ..Hyperparameters::isotropic(1.0, 0.7, 1e-3) };
        let y = Observation::Statistics(vec![1.0, 0.0]);
        let all = Simulations::new(theta.clone(), x.clone()).unwrap();
        let model =
            KernelMeansLikelihood::new(&Question::new(&prior, &Recorded::Statistics(Arc::new(all.clone())), &y), &hyperparameters).unwrap();
        let found = shares(&model).unwrap();
        assert!(found.indices.len() > 30, "{} of 40 could be judged", found.indices.len());
        assert!(at_one_theta.iter().skip(1).all(|i| !found.indices.contains(i)), "one simulation at each θ is tried");
        for (row, &i) in found.indices.iter().enumerate() {
            let others: Vec<usize> = (0..40).filter(|&j| theta.row(j) != theta.row(i)).collect();
            let without = Recorded::Statistics(Arc::new(all.select(&others).unwrap()));
            let same_ridge = Hyperparameters { regularization: 1e-3 * 40.0 / others.len() as f64, ..hyperparameters.clone() };
            let own = Observation::Statistics(x.row(i).to_vec());
            let fitted = KernelMeansLikelihood::new(&Question::new(&prior, &without, &own), &same_ridge).unwrap();
            let posterior = Posterior::new(Arc::new(fitted), 0).unwrap();
            let Representation::Mixture(mixture) = posterior.form() else { panic!("a Gaussian kernel makes a mixture") };
            for (d, direction) in [[1.0, 0.0], [0.0, 1.0]].iter().enumerate() {
                let at = prior.coordinate_to_latent(d, theta.row(i)[d]).unwrap().0;
                let expected = mixture.marginal(direction).clip().cdf(at);
                let share = found.shares.row(row)[d];
                assert!((share - expected).abs() < CLOSE, "simulation {i}, parameter {d}: {share} is not {expected}");
            }
        }
    }
}
