//! The shape of all residuals together, or of each on its own: q_u = Π_k q_k(u_k).
//!
//! A mixture around m residuals of n statistics cannot follow noise that is now and then wide in one statistic and then in another: of 2ⁿ
//! kinds of residuals m simulations show a few. Each statistic on its own shows both kinds many times.

use super::{Omitted, Shape, ShapeHyperparameters, search};
use crate::{Error, Points};
use rand_chacha::ChaCha8Rng;

/// One shape for all, or a factor for each statistic.
#[derive(Debug, Clone)]
pub enum Shapes {
    /// One for all.
    Together(Box<Shape>),
    /// One each.
    Apart(Vec<Shape>),
}

/// What leaving out simulations takes from the one shape, or from each.
#[derive(Debug, Clone)]
pub struct Omissions(Vec<Omitted>);

impl Omissions {
    /// What it takes from factor `k`, or from the one shape.
    pub(super) fn of(&self, k: usize) -> &Omitted {
        &self.0[k]
    }
}

/// The best factors, and the mean leave-one-out log density of the residuals under their product.
pub fn search_apart(u: &Points) -> (Vec<ShapeHyperparameters>, f64) {
    let found: Vec<(ShapeHyperparameters, f64)> = (0..u.columns()).map(|k| search::search_alone(&column(u, k))).collect();
    (found.iter().map(|f| f.0).collect(), found.iter().map(|f| f.1).sum())
}

fn column(u: &Points, k: usize) -> Points {
    Points::from_column(u.column(k))
}

impl Shapes {
    /// At given hyperparameters; `factors` where there are some, else one shape.
    pub fn new(z: &Points, u: &Points, together: ShapeHyperparameters, factors: &[ShapeHyperparameters]) -> Result<Self, Error> {
        if factors.is_empty() {
            return Shape::new(z, u, together).map(|shape| Self::Together(Box::new(shape)));
        }
        factors.iter().enumerate().map(|(k, h)| Shape::new(z, &column(u, k), *h)).collect::<Result<_, Error>>().map(Self::Apart)
    }

    /// ln of the density at each (z, u).
    pub fn ln_densities(&self, z: &Points, u: &Points) -> Vec<f64> {
        match self {
            Self::Together(shape) => shape.ln_densities(z, u),
            Self::Apart(factors) => sums(factors, u, |shape, _, u| shape.ln_densities(z, u)),
        }
    }

    /// What leaving out simulations `group`, all with the coordinates `own`, takes from every density.
    pub fn omit(&self, group: &[usize], own: &[f64]) -> Omissions {
        Omissions(self.all().iter().map(|shape| shape.omit(group, own)).collect())
    }

    /// [`Shapes::ln_densities`], each without simulations at one θ.
    pub fn ln_densities_without(&self, omitted: &[&Omissions], z: &Points, u: &Points) -> Vec<f64> {
        let of = |k: usize| -> Vec<&Omitted> { omitted.iter().map(|omitted| &omitted.0[k]).collect() };
        match self {
            Self::Together(shape) => shape.ln_densities_without(&of(0), z, u),
            Self::Apart(factors) => sums(factors, u, |shape, k, u| shape.ln_densities_without(&of(k), z, u)),
        }
    }

    /// What clipping takes off the density at each (z, u). Factors have equal weights, which are never negative.
    pub fn cut_off(&self, z: &Points, u: &Points) -> Vec<f64> {
        match self {
            Self::Together(shape) => shape.cut_off(z, u),
            Self::Apart(_) => vec![0.0; u.rows()],
        }
    }

    /// The share of the density at each (z, u) that is a tail's, of the factor that has most of it.
    pub fn tail_shares(&self, z: &Points, u: &Points) -> Vec<f64> {
        let mut largest = vec![0.0_f64; u.rows()];
        for (k, shape) in self.all().iter().enumerate() {
            let shares = match self {
                Self::Together(_) => shape.tail_shares(z, u),
                Self::Apart(_) => shape.tail_shares(z, &column(u, k)),
            };
            largest.iter_mut().zip(shares).for_each(|(largest, share)| *largest = largest.max(share));
        }
        largest
    }

    /// A residual at one z.
    pub fn draw(&self, z: &Points, rng: &mut ChaCha8Rng) -> Vec<f64> {
        self.all().iter().flat_map(|shape| shape.draw(z, rng)).collect()
    }

    /// Root mean square of the tolerances of all residuals, and of all factors.
    pub fn typical_tolerance(&self) -> f64 {
        let all = self.all();
        (all.iter().map(|shape| shape.typical_tolerance().powi(2)).sum::<f64>() / all.len() as f64).sqrt()
    }

    /// Whether some tail is guessed.
    pub fn has_tail(&self) -> bool {
        self.all().iter().any(|shape| shape.hyperparameters().tail.share > 0.0)
    }

    fn all(&self) -> &[Shape] {
        match self {
            Self::Together(shape) => std::slice::from_ref(&**shape),
            Self::Apart(factors) => factors,
        }
    }
}

/// Σ_k ln of factor k at column k.
fn sums(factors: &[Shape], u: &Points, ln: impl Fn(&Shape, usize, &Points) -> Vec<f64>) -> Vec<f64> {
    let mut total = vec![0.0; u.rows()];
    for (k, shape) in factors.iter().enumerate() {
        total.iter_mut().zip(ln(shape, k, &column(u, k))).for_each(|(total, ln)| *total += ln);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, standard_normal, stream};
    use rand::RngExt;

    /// Residuals of four statistics, each wide in every other simulation, whatever the others are.
    fn wide_now_and_then(m: usize) -> (Points, Points) {
        let mut rng = stream(4, Purpose::Experiment, 0);
        let z = Points::from_column((0..m).map(|_| standard_normal(&mut rng)).collect());
        let one = |rng: &mut ChaCha8Rng| if rng.random::<f64>() < 0.5 { 1.4 } else { 0.1 } * standard_normal(rng);
        let u: Vec<Vec<f64>> = (0..m).map(|_| (0..4).map(|_| one(&mut rng)).collect()).collect();
        (z, Points::from_rows(&u).unwrap())
    }

    #[test]
    fn noise_that_is_wide_in_one_statistic_and_then_in_another_has_a_shape_for_each() {
        let (z, u) = wide_now_and_then(300);
        let (factors, apart) = search_apart(&u);
        let together = search::search(&z, &u).unwrap();
        assert!(apart > together.1 + 0.5, "{apart} {}", together.1);
        // The best there is: ln of a mixture of two normals, four times, by simulation.
        let best = u.values().iter().map(|u| {
            let density = |s: f64| (-0.5 * (u / s).powi(2)).exp() / (s * std::f64::consts::TAU.sqrt());
            (0.5 * density(1.4) + 0.5 * density(0.1)).ln()
        });
        let best = best.sum::<f64>() / 300.0;
        assert!(apart > best - 0.25, "{apart} {best}");
        let shapes = Shapes::new(&z, &u, together.0, &factors).unwrap();
        let each: f64 = (0..4).map(|k| Shape::new(&z, &column(&u, k), factors[k]).unwrap().ln_densities(&z, &column(&u, k))[7]).sum();
        assert!((shapes.ln_densities(&z, &u)[7] - each).abs() < 1e-12);
        assert_eq!(shapes.draw(&z.select(&[0]), &mut stream(1, Purpose::Experiment, 0)).len(), 4);
    }
}
