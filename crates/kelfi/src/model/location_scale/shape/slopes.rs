//! Gradients of ln of the density of residuals, in the residuals and in z.

use super::{Omissions, Omitted, Shape, Shapes};
use crate::linalg::vector::dot;

/// ln of a density at one (z, u) with its gradients.
pub struct Slopes {
    /// ln of the density.
    pub ln: f64,
    /// Its gradient in u.
    pub in_u: Vec<f64>,
    /// Its gradient in z.
    pub in_z: Vec<f64>,
}

impl Shapes {
    /// ln of the density at one (z, u) with its gradients, without some simulations if given.
    pub fn slopes(&self, omitted: Option<&Omissions>, z: &[f64], u: &[f64]) -> Slopes {
        let of = |k: usize| omitted.map(|omitted| omitted.of(k));
        match self {
            Self::Together(shape) => shape.slopes(of(0), z, u),
            Self::Apart(factors) => {
                let mut all = Slopes { ln: 0.0, in_u: Vec::with_capacity(u.len()), in_z: vec![0.0; z.len()] };
                for (k, (shape, u)) in factors.iter().zip(u).enumerate() {
                    let one = shape.slopes(of(k), z, &[*u]);
                    all.ln += one.ln;
                    all.in_u.extend(one.in_u);
                    all.in_z.iter_mut().zip(one.in_z).for_each(|(sum, slope)| *sum += slope);
                }
                all
            }
        }
    }
}

impl Shape {
    fn slopes(&self, omitted: Option<&Omitted>, z: &[f64], u: &[f64]) -> Slopes {
        let radius2 = dot(u, u);
        let towards_middle = |factor: f64| -> Vec<f64> { u.iter().map(|u| -factor * u).collect() };
        let (signed, mut in_u, mut in_z) =
            if self.components.is_gaussian() { (1.0, towards_middle(1.0), vec![0.0; z.len()]) } else { self.signed_slopes(omitted, z, u) };
        let components = self.ln_components(signed, radius2);
        let (tail, n) = (self.hyperparameters.tail, self.components.statistics());
        let ln = tail.ln_mixed(components, radius2, n);
        if tail.share > 0.0 {
            let of_tail = (tail.ln_part(radius2, n) - ln).exp();
            in_u.iter_mut().zip(towards_middle(of_tail / (tail.std * tail.std))).for_each(|(g, t)| *g = (1.0 - of_tail) * *g + t);
            in_z.iter_mut().for_each(|g| *g *= 1.0 - of_tail);
        }
        Slopes { ln, in_u, in_z }
    }

    /// The mixture up to its normaliser, and the gradients of its logarithm; none where it is not positive.
    fn signed_slopes(&self, omitted: Option<&Omitted>, z: &[f64], u: &[f64]) -> (f64, Vec<f64>, Vec<f64>) {
        let m = self.components.count();
        let mut heights = vec![0.0; m];
        match omitted {
            Some(omitted) => self.components.around(&omitted.centres, u, &mut heights),
            None => self.components.at(u, &mut heights),
        }
        let group: &[usize] = omitted.map_or(&[], |omitted| &omitted.group);
        group.iter().for_each(|&g| heights[g] = 0.0);
        let in_z = match &self.weights {
            None => {
                heights.iter_mut().for_each(|h| *h /= (m - group.len()).max(1) as f64);
                vec![0.0; z.len()]
            }
            Some(weights) => {
                let (mut of_z, pull) = weights.trace(z);
                let mut of_weights = heights.clone();
                // a_j + Σ_g a_g h_j: the weight of those left out goes to the others.
                if let Some(handed_on) = omitted.and_then(|omitted| omitted.handed_on.as_ref()) {
                    let passed: f64 = group.iter().map(|&g| of_z[g]).sum();
                    of_z.iter_mut().zip(handed_on).for_each(|(a, h)| *a += passed * h);
                    let received = dot(handed_on, &heights);
                    group.iter().for_each(|&g| of_weights[g] = received);
                }
                heights.iter_mut().zip(of_z).for_each(|(h, a)| *h *= a);
                pull(&of_weights)
            }
        };
        let signed = heights.iter().sum::<f64>();
        if signed <= 0.0 {
            return (signed, vec![0.0; u.len()], vec![0.0; z.len()]);
        }
        let over = |gradient: Vec<f64>| gradient.into_iter().map(|g| g / signed).collect();
        let in_u = match omitted {
            Some(omitted) => self.components.pull_around(&omitted.centres, u, &heights),
            None => self.components.pull(u, &heights),
        };
        (signed, over(in_u), over(in_z))
    }
}
