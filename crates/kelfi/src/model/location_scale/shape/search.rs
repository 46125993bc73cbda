//! Which (β, ρ, e, c) give the residuals the highest mean log density, each residual by the others.
//!
//! First tolerances that are the same for all residuals, around the residuals, then around local means; then, where some residuals lie far
//! out, tolerances that grow outwards. What comes after the first is tried with the best weights and with equal ones.

use super::components::{Tolerances, ln_normaliser};
use super::weights::smoothers;
use super::{Centres, LEAST_FREEDOM, ShapeHyperparameters, Tail, shared};
use crate::linalg::products::rows_dot_rows;
use crate::linalg::vector::{dot, exp_in_place, sum};
use crate::model::location_scale::constants::shape::{
    FEWEST, FEWEST_FINALISTS, FINALISTS, GROWTHS, LEAST_TOLERANCES, LENGTHS, MARGIN, MARGIN_EACH, MARGIN_OVER_GAUSSIAN, RIDGES, SCREENED,
    SEARCHED, SEARCHED_ALONE, TOLERANCES,
};
use crate::{Error, Points};
use rayon::prelude::*;

/// The best, and its mean leave-one-out log density of the residuals; several may stand at each z.
pub fn search(z: &Points, u: &Points) -> Result<(ShapeHyperparameters, f64), Error> {
    let repeats = u.rows() / z.rows();
    let count = z.rows().min((SEARCHED / repeats).max(FEWEST));
    let z = z.select(&(0..count).collect::<Vec<_>>());
    let residuals = ResidualPoints::new(&u.select(&(0..count * repeats).collect::<Vec<_>>()), repeats);
    let few = Few::new(&z, &residuals)?;
    let tolerances = steady(Centres::Residuals);
    let lists = few.shortlists(&tolerances, &(0..=LENGTHS.len() * RIDGES.len()).collect::<Vec<_>>());
    let smoothers = smoothers_of(&z, &|number| lists.iter().any(|list| list.contains(&number)))?;
    let best = |tried: &[Tried], lists: Vec<Vec<usize>>, start| {
        let of_list = |list: &Vec<usize>| smoothers.iter().filter(|smoother| list.contains(&smoother.number)).collect();
        residuals.best_with(tried, &lists.iter().map(of_list).collect::<Vec<_>>(), start)
    };
    let demanded = residuals.score_gaussian() + MARGIN_OVER_GAUSSIAN / residuals.count() as f64;
    let plain = best(&tolerances, lists, (ShapeHyperparameters::GAUSSIAN, demanded, &smoothers[0]));
    let weights = if plain.2.number == 0 { vec![0] } else { vec![0, plain.2.number] };
    let at_means = steady(Centres::LocalMeans);
    let steady = best(&at_means, few.shortlists(&at_means, &weights), plain);
    if !residuals.reach_far_out() {
        return Ok(residuals.with_tail(steady));
    }
    let demanded = steady.1 + MARGIN_EACH.max(MARGIN / residuals.count() as f64);
    let found = best(&growing(), few.shortlists(&growing(), &weights), (steady.0, demanded, steady.2));
    Ok(residuals.with_tail(if found.0.growth > 0.0 { found } else { steady }))
}

/// Some of the residuals, with all weights: what is tried on all is a part of what is tried on these. Weights are tables of m × m, thirty of
/// them, and so are the densities of a hundred tolerances: half of the residuals tell most from the best at a quarter of the cost.
struct Few(Option<(ResidualPoints, Vec<Smoother>)>);

impl Few {
    /// None where there are few residuals anyway.
    fn new(z: &Points, residuals: &ResidualPoints) -> Result<Self, Error> {
        let count = (SCREENED / residuals.repeats).max(FEWEST);
        if z.rows() <= count {
            return Ok(Self(None));
        }
        let some = residuals.u.select(&(0..count * residuals.repeats).collect::<Vec<_>>());
        let smoothers = smoothers_of(&z.select(&(0..count).collect::<Vec<_>>()), &|_| true)?;
        Ok(Self(Some((ResidualPoints::new(&some, residuals.repeats), smoothers))))
    }

    /// For each that is tried, which of the weights with these numbers it is worth trying on all residuals with.
    fn shortlists(&self, tried: &[Tried], numbers: &[usize]) -> Vec<Vec<usize>> {
        let Some((residuals, smoothers)) = &self.0 else { return vec![numbers.to_vec(); tried.len()] };
        let weights: Vec<&Smoother> = numbers.iter().map(|&number| &smoothers[number]).collect();
        let scores: Vec<f64> = residuals.scored(tried, &vec![weights; tried.len()]).iter().map(|found| found.1).collect();
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        let mut lists = vec![vec![]; tried.len()];
        let kept = ((FINALISTS * scores.len() as f64) as usize).max(FEWEST_FINALISTS);
        order.into_iter().take(kept).for_each(|place| lists[place / numbers.len()].push(numbers[place % numbers.len()]));
        lists
    }
}

/// The same for one statistic, all weights equal: chosen by some residuals, scored by as many as [`search`] looks at.
pub fn search_alone(u: &Points) -> (ShapeHyperparameters, f64) {
    let head = |count: usize| ResidualPoints::new(&u.select(&(0..u.rows().min(count)).collect::<Vec<_>>()), 1);
    let (few, equal) = (head(SEARCHED_ALONE), Smoother::equal());
    let mut tried = [steady(Centres::Residuals), steady(Centres::LocalMeans)].concat();
    if few.reach_far_out() {
        tried.extend(growing());
    }
    let demanded = few.score_gaussian() + MARGIN_OVER_GAUSSIAN / few.count() as f64;
    let best = few.best(&tried, &[&equal], (ShapeHyperparameters::GAUSSIAN, demanded, &equal));
    head(SEARCHED).with_tail(best)
}

/// e, c and where components stand.
type Tried = (f64, f64, Centres);

fn steady(centres: Centres) -> Vec<Tried> {
    TOLERANCES.map(|e| (e, 0.0, centres)).to_vec()
}

fn growing() -> Vec<Tried> {
    let of = |centres: Centres| GROWTHS.into_iter().flat_map(move |c| LEAST_TOLERANCES.map(|e| (e, c, centres)));
    of(Centres::Residuals).chain(of(Centres::LocalMeans)).collect()
}

/// What densities between residuals are made of.
struct ResidualPoints {
    u: Points,
    squared_radii: Vec<f64>,
    n: usize,
    /// So many stand at one θ.
    repeats: usize,
}

/// A choice, its score and its weights.
type Candidate<'a> = (ShapeHyperparameters, f64, &'a Smoother);

impl ResidualPoints {
    fn new(u: &Points, repeats: usize) -> Self {
        Self { squared_radii: u.iter().map(|u| dot(u, u)).collect(), u: u.clone(), n: u.columns(), repeats }
    }

    fn count(&self) -> usize {
        self.squared_radii.len()
    }

    /// Whether squared lengths scatter more than those of Gaussian residuals, E|u|⁴ = (1 + 2/n) (E|u|²)²: else there is nothing to grow for.
    fn reach_far_out(&self) -> bool {
        let mean = |power: i32| self.squared_radii.iter().map(|r2| r2.powi(power)).sum::<f64>() / self.count() as f64;
        mean(2) > (1.0 + 2.0 / self.n as f64) * mean(1).powi(2)
    }

    fn score_gaussian(&self) -> f64 {
        self.squared_radii.iter().map(|r2| ln_normaliser(1.0, self.n) - 0.5 * r2).sum::<f64>() / self.count() as f64
    }

    /// A choice with the tail that suits it best, the lightest of equals, and its score. Gaussian noise has none.
    fn with_tail(&self, (chosen, _, smoother): Candidate<'_>) -> (ShapeHyperparameters, f64) {
        if chosen == ShapeHyperparameters::GAUSSIAN {
            return (chosen, self.score_gaussian());
        }
        let ln_components = self.ln_components(&self.kernel(chosen.tolerance, chosen.growth, chosen.centres), smoother);
        let scored = |tail: Tail| (ShapeHyperparameters { tail, ..chosen }, self.score_with(tail, &ln_components));
        let best = |best: (ShapeHyperparameters, f64), next: (ShapeHyperparameters, f64)| if next.1 > best.1 { next } else { best };
        Tail::candidates().map(scored).reduce(best).expect("there are several tails")
    }

    /// The best of all that is tried with all weights, and of `start`. What is tried runs in parallel.
    fn best<'a>(&self, tried: &[Tried], smoothers: &[&'a Smoother], start: Candidate<'a>) -> Candidate<'a> {
        self.best_with(tried, &vec![smoothers.to_vec(); tried.len()], start)
    }

    /// The same, each with weights of its own.
    fn best_with<'a>(&self, tried: &[Tried], smoothers: &[Vec<&'a Smoother>], start: Candidate<'a>) -> Candidate<'a> {
        self.scored(tried, smoothers).into_iter().fold(start, |best, candidate| if candidate.1 > best.1 { candidate } else { best })
    }

    fn scored<'a>(&self, tried: &[Tried], smoothers: &[Vec<&'a Smoother>]) -> Vec<Candidate<'a>> {
        let of_one = |(&(tolerance, growth, centres), smoothers): (&Tried, &Vec<&'a Smoother>)| -> Vec<Candidate<'a>> {
            if smoothers.is_empty() {
                return vec![];
            }
            let kernel = self.kernel(tolerance, growth, centres);
            let of_smoother = |smoother: &&'a Smoother| {
                let (length_scale, ridge, tail) = (smoother.length, smoother.ridge, Tail::default());
                let chosen = ShapeHyperparameters { length_scale, ridge, tolerance, growth, centres, tail };
                (chosen, self.score_with(tail, &self.ln_components(&kernel, smoother)), *smoother)
            };
            smoothers.iter().map(of_smoother).collect()
        };
        let found: Vec<Vec<Candidate<'a>>> = tried.par_iter().zip(smoothers).map(of_one).collect();
        found.concat()
    }

    /// Component j, made without residual i, at residual i for all pairs, and ln of what they are to be multiplied with. Components of
    /// one θ share its weight: their means stand at the front of each row.
    fn kernel(&self, tolerance: f64, growth: f64, centres: Centres) -> (Vec<f64>, f64) {
        let m = self.count();
        let tolerances = Tolerances::new(tolerance, growth, &self.squared_radii, self.n);
        let (precisions, ln_heights) = (tolerances.precisions(), tolerances.ln_heights(self.n));
        let means = tolerances.means(&self.u, centres);
        let s = tolerances.shrinkage(&means);
        let products = rows_dot_rows(self.u.values(), means.sums(), self.n);
        let mut kernel = vec![0.0; m * m];
        for (i, row) in kernel.chunks_mut(m).enumerate() {
            let squared = means.squared_distances(i, s, &products[i * m..(i + 1) * m]);
            for j in 0..m {
                row[j] = ln_heights[j] - 0.5 * squared[j] * precisions[j];
            }
            exp_in_place(row);
            shared(row, self.repeats);
        }
        (kernel, ln_normaliser(tolerances.smallest(), self.n))
    }

    /// ln Σ_{j≠i} a_ij N(u_i | s M_j, e_j² I) of every i; -∞ where the sum is not positive. What stands at one θ is left out together.
    fn ln_components(&self, (kernel, ln_scale): &(Vec<f64>, f64), smoother: &Smoother) -> Vec<f64> {
        let (all, m) = (self.count(), self.count() / self.repeats);
        let of_one = |residual: usize| {
            let i = residual / self.repeats;
            let row = &kernel[residual * all..][..m];
            let signed = match &smoother.table {
                None => (sum(row) - row[i]) / (m - 1) as f64,
                Some(h) => {
                    let own = h[i * m + i];
                    (dot(row, &h[i * m..(i + 1) * m]) - own * row[i]) / (1.0 - own).max(LEAST_FREEDOM)
                }
            };
            signed.max(0.0).ln() + ln_scale
        };
        (0..all).map(of_one).collect()
    }

    /// Mean log density of the residuals with this tail.
    fn score_with(&self, tail: Tail, ln_components: &[f64]) -> f64 {
        let of_one = |(ln, r2): (&f64, &f64)| tail.ln_mixed(*ln, *r2, self.n);
        ln_components.iter().zip(&self.squared_radii).map(of_one).sum::<f64>() / self.count() as f64
    }
}

/// H for one (β, ρ); without a table all weights are equal.
struct Smoother {
    number: usize,
    length: Option<f64>,
    ridge: f64,
    table: Option<Vec<f64>>,
}

impl Smoother {
    fn equal() -> Self {
        Self { number: 0, length: None, ridge: 1.0, table: None }
    }
}

/// Those whose numbers are wanted; equal weights, number 0, always come first.
fn smoothers_of(z: &Points, wanted: &(dyn Fn(usize) -> bool + Sync)) -> Result<Vec<Smoother>, Error> {
    let of_length = |(k, &length): (usize, &f64)| -> Result<Vec<Smoother>, Error> {
        let length = length * (z.columns() as f64).sqrt();
        let numbered = RIDGES.into_iter().enumerate().map(|(r, ridge)| (1 + k * RIDGES.len() + r, ridge));
        let (numbers, ridges): (Vec<usize>, Vec<f64>) = numbered.filter(|(number, _)| wanted(*number)).unzip();
        let tables = if ridges.is_empty() { vec![] } else { smoothers(z, length, &ridges)? };
        let of_table = |((number, ridge), table)| Smoother { number, length: Some(length), ridge, table: Some(table) };
        Ok(numbers.into_iter().zip(ridges).zip(tables).map(of_table).collect())
    };
    let found: Vec<Vec<Smoother>> = LENGTHS.par_iter().enumerate().map(of_length).collect::<Result<_, Error>>()?;
    Ok(std::iter::once(Smoother::equal()).chain(found.into_iter().flatten()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, standard_normal, stream};

    /// ResidualPoints of unit variance, a share of them ten times as wide as the others.
    fn residuals(wide_share: f64) -> (Points, Points) {
        let mut rng = stream(6, Purpose::Experiment, 0);
        let z = Points::from_column((0..300).map(|_| standard_normal(&mut rng)).collect());
        let wide = |i: usize| (i as f64) < 300.0 * wide_share;
        let scale = 1.0 / (wide_share + 0.01 * (1.0 - wide_share)).sqrt();
        let rows: Vec<Vec<f64>> = (0..300)
            .map(|i| {
                let std = scale * if wide(i) { 1.0 } else { 0.1 };
                (0..2).map(|_| std * standard_normal(&mut rng)).collect()
            })
            .collect();
        (z, Points::from_rows(&rows).unwrap())
    }

    #[test]
    fn tolerances_grow_where_a_few_residuals_lie_far_out_and_only_there() {
        let (z, u) = residuals(0.5);
        let (found, score) = search(&z, &u).unwrap();
        assert!(found.growth > 0.0 && found.tolerance < 0.1, "{found:?}");
        let z_u = ResidualPoints::new(&u, 1);
        let equal = Smoother::equal();
        let gaussian = (found, f64::NEG_INFINITY, &equal);
        let steady = z_u.best(&steady(Centres::LocalMeans), &[&equal], gaussian).1;
        // A single tolerance loses a twentieth of a nat a residual and more.
        assert!(score > steady + 0.05, "{score} {steady}");
        assert_eq!(search(&z, &residuals(1.0).1).unwrap().0.growth, 0.0);
    }

    /// ResidualPoints on a half circle, standardised: what a symmetric blur widens most.
    fn half_circle() -> (Points, Points) {
        let mut rng = stream(9, Purpose::Experiment, 0);
        let z = Points::from_column((0..300).map(|_| standard_normal(&mut rng)).collect());
        let on_circle = |k: usize| {
            let (angle, radius) = (std::f64::consts::PI * (k as f64 / 299.0 - 0.5), 1.0 + 0.2 * standard_normal(&mut rng));
            [(radius * angle.cos() - 0.637) / 0.35, radius * angle.sin() / 0.72].to_vec()
        };
        (z, Points::from_rows(&(0..300).map(on_circle).collect::<Vec<_>>()).unwrap())
    }

    #[test]
    fn components_stand_at_local_means_where_residuals_are_curved_and_gaussian_noise_needs_none() {
        let (z, u) = half_circle();
        let (found, score) = search(&z, &u).unwrap();
        assert_eq!(found.centres, Centres::LocalMeans);
        let equal = Smoother::equal();
        let plain = ResidualPoints::new(&u, 1).best(&super::steady(Centres::Residuals), &[&equal], (found, f64::NEG_INFINITY, &equal)).1;
        assert!(score > plain + 0.005, "{score} {plain}");
        assert_eq!(search(&z, &residuals(1.0).1).unwrap().0.centres, Centres::Residuals);
    }
}
