//! ln q(y) over (ε, β₀) as data: one factorisation per β₀, whatever the number of tolerances.

use crate::linalg::vector::dot;
use crate::model::OnProgress;
use crate::model::kernel_means::learning::choices::KernelMeansOptions;
use crate::model::kernel_means::learning::learned::Counter;
use crate::model::kernel_means::learning::problem::LearningProblem;
use crate::question::Question;
use crate::{Error, Points};

/// ln q(y) on a grid; -∞ where q(y) ≤ 0 or the matrix cannot be factored.
#[derive(Debug, Clone, PartialEq)]
pub struct Surface {
    /// Tolerances, one a column.
    pub epsilons: Vec<f64>,
    /// Length scales, one a row.
    pub length_scales: Vec<f64>,
    /// ln q(y).
    pub log_marginal_likelihood: Points,
    /// How many matrices were factored.
    pub factorisations: usize,
}

/// Evaluates the surface for common ε and β₀, with λ as `settings` says (free means 10⁻³).
pub fn surface(
    question: &Question,
    settings: &KernelMeansOptions,
    epsilons: &[f64],
    length_scales: &[f64],
    on_progress: OnProgress<'_>,
) -> Result<Surface, Error> {
    let setting = LearningProblem::new(question, settings)?;
    let mut counter = Counter::new(on_progress, length_scales.len());
    let mut values = Points::zeros(length_scales.len(), epsilons.len());
    for (row, &length) in length_scales.iter().enumerate() {
        let scales = vec![length; setting.dimension()];
        let lambda = setting.bound_regularization(&scales).unwrap_or(1e-3);
        counter.factored()?;
        let operator = match setting.operator(scales, lambda) {
            Ok(operator) => operator,
            Err(error) if error.is_unsolvable() => {
                values.row_mut(row).fill(f64::NEG_INFINITY);
                continue;
            }
            Err(error) => return Err(error),
        };
        for (value, &epsilon) in values.row_mut(row).iter_mut().zip(epsilons) {
            let tolerances: Vec<f64> = setting.units.iter().map(|unit| epsilon * unit).collect();
            let kappa = setting.discrepancies.kappa(&tolerances);
            *value = dot(operator.marginal_weights(), &kappa.relative).max(0.0).ln() + kappa.ln_scale;
        }
    }
    Ok(Surface {
        epsilons: epsilons.to_vec(),
        length_scales: length_scales.to_vec(),
        log_marginal_likelihood: values,
        factorisations: counter.factorisations,
    })
}
