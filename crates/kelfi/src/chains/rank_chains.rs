//! Chains that pass through a given state at a random place (Besag & Clifford 1989): if the state is a draw of the target, its rank among
//! all states is uniform however slowly the chain moves.

use super::hamiltonian::{Glide, Glider};
use super::jumps::Jumps;
use super::reference::Reference;
use super::walker::{Act, Kept, Walker, advance};
use crate::Points;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Steps of a chain.
const STEPS: usize = 39;
/// Moves of a chain along gradients: each goes as far as many slides.
const GLIDES: usize = 19;

/// A chain through a given state: all states, ln of the target at each, and the place of the given one.
pub(crate) struct Passing {
    pub states: Points,
    pub values: Vec<f64>,
    pub place: usize,
}

/// For each of `own` a chain that passes through it at a random place, with `jumps` if there are any: they carry it between separate parts.
/// A step is the same forwards and backwards, as it has to be before and after the place. `evaluate` gets which of them a point belongs to, and gives ln of the
/// target.
pub(crate) fn chains_through(
    own: &[&[f64]],
    references: &[Reference],
    jumps: &[Jumps],
    streams: &mut [ChaCha8Rng],
    evaluate: impl Fn(&[usize], &Points) -> Vec<f64>,
) -> Vec<Passing> {
    let places = places(streams, STEPS);
    let values = evaluate(&(0..own.len()).collect::<Vec<_>>(), &starts(own));
    // Two chains from each: what comes before and what comes after.
    let mut walkers = Vec::with_capacity(2 * own.len());
    for (k, rng) in streams.iter_mut().enumerate() {
        for _ in 0..2 {
            walkers.push(Walker::new(own[k], values[k], &references[k], jumps.get(k), branch(rng)));
        }
    }
    let wanted: Vec<usize> = places.iter().flat_map(|&place| [place, STEPS - place]).collect();
    let kept = advance(&mut walkers, &[Act::Jump, Act::Slide, Act::Jump, Act::Keep], &wanted, |walkers, z| {
        evaluate(&walkers.iter().map(|walker| walker / 2).collect::<Vec<_>>(), z)
    });
    joined(own, &values, &places, &kept)
}

/// The same by moves along gradients, for many parameters: `evaluate` also gives the gradients. Momenta are drawn anew for every move, so
/// that one is the same forwards and backwards.
pub(crate) fn glides_through(
    own: &[&[f64]],
    glide: &Glide,
    streams: &mut [ChaCha8Rng],
    evaluate: impl Fn(&[usize], &Points) -> (Vec<f64>, Points),
) -> Vec<Passing> {
    let places = places(streams, GLIDES);
    let (values, gradients) = evaluate(&(0..own.len()).collect::<Vec<_>>(), &starts(own));
    let mut branches = vec![];
    for (k, rng) in streams.iter_mut().enumerate() {
        for (side, wanted) in [places[k], GLIDES - places[k]].into_iter().enumerate() {
            branches.push((wanted, 2 * k + side, Glider::new(own[k], values[k], gradients.row(k), branch(rng))));
        }
    }
    // Those that go on longest first: the ones under way are always the first ones.
    branches.sort_by_key(|(wanted, place, _)| (std::cmp::Reverse(*wanted), *place));
    let (mut gliders, order): (Vec<Glider>, Vec<(usize, usize)>) =
        branches.into_iter().map(|(w, place, glider)| (glider, (w, place))).unzip();
    let mut kept = vec![Kept::default(); 2 * own.len()];
    for step in 0..GLIDES {
        let under_way = order.iter().take_while(|(wanted, _)| *wanted > step).count();
        if under_way == 0 {
            break;
        }
        let which: Vec<usize> = order[..under_way].iter().map(|(_, place)| place / 2).collect();
        glide.advance_by(&mut gliders[..under_way], |z| Some(evaluate(&which, z)));
        for (glider, (_, place)) in gliders.iter().zip(&order[..under_way]) {
            kept[*place].states.extend_from_slice(&glider.state);
            kept[*place].values.push(glider.value);
        }
    }
    joined(own, &values, &places, &kept)
}

/// A random place of each among the states of its chain.
fn places(streams: &mut [ChaCha8Rng], steps: usize) -> Vec<usize> {
    streams.iter_mut().map(|rng| ((rng.random::<f64>() * (steps + 1) as f64) as usize).min(steps)).collect()
}

fn starts(own: &[&[f64]]) -> Points {
    Points::from_rows(own).expect("all have the same number of coordinates")
}

/// Random numbers of their own for what comes before or after.
fn branch(rng: &mut ChaCha8Rng) -> ChaCha8Rng {
    let mut branch = rng.clone();
    branch.set_stream(rng.random());
    branch
}

/// What comes before each state, turned round, the state itself, and what comes after.
fn joined(own: &[&[f64]], values: &[f64], places: &[usize], kept: &[Kept]) -> Vec<Passing> {
    let whole = |(k, pair): (usize, &[Kept])| {
        let dimension = own[k].len();
        let mut rows: Vec<Vec<f64>> = pair[0].states.chunks(dimension).rev().map(<[f64]>::to_vec).collect();
        rows.push(own[k].to_vec());
        rows.extend(pair[1].states.chunks(dimension).map(<[f64]>::to_vec));
        let at = pair[0].values.iter().rev().chain([&values[k]]).chain(&pair[1].values).copied().collect();
        let states = Points::from_rows(&rows).expect("every state has the same number of coordinates");
        Passing { states, values: at, place: places[k] }
    };
    kept.chunks(2).enumerate().map(whole).collect()
}

/// The share of the values below that at `own`, itself and its equals counted in the part `uniform`.
pub(crate) fn share_below(values: &[f64], own: usize, uniform: f64) -> f64 {
    let below = values.iter().filter(|value| **value < values[own]).count();
    let equal = values.iter().filter(|value| **value == values[own]).count();
    (below as f64 + uniform * equal as f64) / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, standard_normal, stream};

    /// Shares of draws of N(0, spread²) in a posterior N(0, 1), by chains of ellipses much too wide.
    fn shares(spread: f64) -> Vec<f64> {
        let reference = [Reference::standard(1).around(&[1.5])];
        let ln_target = |_: &[usize], z: &Points| z.iter().map(|z| -0.5 * (z[0] / 0.2).powi(2)).collect::<Vec<_>>();
        let share = |i: u64| {
            let mut rng = [stream(9, Purpose::LeftOut, i)];
            let own = [0.2 * spread * standard_normal(&mut rng[0])];
            let chain = chains_through(&[&own], &reference, &[], &mut rng, ln_target).remove(0);
            assert_eq!((chain.states.rows(), chain.states.row(chain.place)), (STEPS + 1, &own[..]));
            assert_eq!(chain.values, ln_target(&[], &chain.states));
            share_below(&chain.states.column(0), chain.place, rng[0].random())
        };
        (0..2_000).map(share).collect()
    }

    #[test]
    fn jumps_show_wrong_weights_of_separate_parts_and_keep_right_ones() {
        let reference = [Reference::standard(1)];
        let ln_target = |_: &[usize], z: &Points| {
            let part = |z: f64, centre: f64| 0.5 * (-0.5 * ((z - centre) / 0.1).powi(2)).exp();
            z.iter().map(|z| (part(z[0], -2.0) + part(z[0], 2.0)).ln()).collect::<Vec<_>>()
        };
        let near = Points::from_column((0..80).map(|i| (if i % 2 == 0 { -2.0 } else { 2.0 }) + 0.005 * f64::from(i - 40)).collect());
        let jumps = [Jumps::around(&near, &reference[0])];
        let shares = |left: f64| -> Vec<f64> {
            let share = |i: u64| {
                let mut rng = [stream(9, Purpose::LeftOut, i)];
                let own = [if rng[0].random::<f64>() < left { -2.0 } else { 2.0 } + 0.1 * standard_normal(&mut rng[0])];
                let chain = chains_through(&[&own], &reference, &jumps, &mut rng, ln_target).remove(0);
                share_below(&chain.states.column(0), chain.place, rng[0].random())
            };
            (0..1_000).map(share).collect()
        };
        let mean = |shares: Vec<f64>| shares.iter().sum::<f64>() / 1_000.0;
        let (right, wrong) = (mean(shares(0.5)), mean(shares(0.8)));
        // Four standard errors are 0.037; truths on the left in 80 % instead of half of cases would move the mean by 0.15.
        assert!((right - 0.5).abs() < 0.037, "{right}");
        assert!(wrong < 0.42, "{wrong}");
    }

    /// The same of 12 parameters by moves along gradients, whose coordinates are twice as wide as the posterior.
    fn shares_by_gliding(spread: f64) -> Vec<f64> {
        let mut rng = stream(3, Purpose::Experiment, 0);
        let wide: Vec<Vec<f64>> = (0..400).map(|_| (0..12).map(|_| 0.4 * standard_normal(&mut rng)).collect()).collect();
        let glide = Glide::along(&Points::from_rows(&wide).unwrap());
        let target = |_: &[usize], z: &Points| {
            let ln = z.iter().map(|z| -0.5 * z.iter().map(|z| (z / 0.2).powi(2)).sum::<f64>()).collect();
            (ln, z.map_rows(12, |z| z.iter().map(|z| -z / 0.04).collect()))
        };
        let share = |i: u64| {
            let mut rng = [stream(9, Purpose::LeftOut, i)];
            let own: Vec<f64> = (0..12).map(|_| 0.2 * spread * standard_normal(&mut rng[0])).collect();
            let chain = glides_through(&[&own], &glide, &mut rng, target).remove(0);
            assert_eq!((chain.states.rows(), chain.states.row(chain.place)), (GLIDES + 1, &own[..]));
            assert_eq!(chain.values, target(&[], &chain.states).0);
            share_below(&chain.states.column(0), chain.place, rng[0].random())
        };
        (0..2_000).map(share).collect()
    }

    #[test]
    fn ranks_by_gliding_are_even_in_a_right_posterior_and_a_narrow_one_shows() {
        let right = shares_by_gliding(1.0);
        for size in [0.5, 0.9, 0.95] {
            // Four standard errors.
            let error = (size * (1.0 - size) / 2_000.0_f64).sqrt();
            assert!((covered(&right, size) - size).abs() < 4.0 * error, "{size}: {}", covered(&right, size));
        }
        let narrow = shares_by_gliding(1.5);
        assert!(covered(&narrow, 0.9) < 0.8, "{}", covered(&narrow, 0.9));
    }

    #[test]
    fn chains_side_by_side_glide_as_each_alone() {
        let glide = Glide::along(&Points::from_rows(&[[0.0, 1.0], [1.0, 0.3], [-1.0, -0.5], [0.2, -1.1]]).unwrap());
        let own = [[0.3, 0.1], [1.5, -0.4], [-0.7, 0.0]];
        let target = |_: &[usize], z: &Points| {
            (z.iter().map(|z| -0.5 * (z[0] * z[0] + z[1] * z[1])).collect::<Vec<_>>(), z.map_rows(2, |z| vec![-z[0], -z[1]]))
        };
        let rngs = || (0..3).map(|i| stream(2, Purpose::LeftOut, i)).collect::<Vec<_>>();
        let together = glides_through(&own.each_ref().map(|z| &z[..]), &glide, &mut rngs(), target);
        for (k, found) in together.iter().enumerate() {
            let alone = glides_through(&[&own[k]], &glide, &mut rngs()[k..=k], target).remove(0);
            assert_eq!((found.states.values(), found.place), (alone.states.values(), alone.place));
        }
    }

    fn covered(shares: &[f64], size: f64) -> f64 {
        shares.iter().filter(|share| (2.0 * **share - 1.0).abs() <= size).count() as f64 / shares.len() as f64
    }

    #[test]
    fn ranks_in_a_right_posterior_are_even_and_a_narrow_one_shows() {
        let right = shares(1.0);
        for size in [0.5, 0.9, 0.95] {
            // Four standard errors.
            let error = (size * (1.0 - size) / 2_000.0_f64).sqrt();
            assert!((covered(&right, size) - size).abs() < 4.0 * error, "{size}: {}", covered(&right, size));
        }
        let narrow = shares(1.5);
        assert!(covered(&narrow, 0.9) < 0.8, "{}", covered(&narrow, 0.9));
    }
}
