//! Where the rounds simulate, and the posterior they find: two moons, whose exact posterior is drawn beside it.

use kelfi::random::{Purpose, stream};
use kelfi::rounds::{Batch, RoundsSettings};
use kelfi::{Error, Fit, Observation, Points, Recorded, Rounds, Simulations};
use kelfi_problems::BenchmarkProblem;
use kelfi_report::{Anchor, Axis, Figure, Numbers, Svg};
use std::sync::Arc;

const BUDGET: usize = 300;
const SEED: u64 = 1;
/// Samples drawn of each posterior.
const SAMPLES: usize = 700;
/// The prior, and where the posterior is.
const PRIOR: [(f64, f64); 2] = [(-1.0, 1.0), (-1.0, 1.0)];
const CLOSE: [(f64, f64); 2] = [(-0.66, -0.24), (0.24, 0.66)];
const SIDE: f64 = 210.0;
const GAP: f64 = 14.0;
const TOP: f64 = 26.0;

/// The picture.
pub fn picture() -> anyhow::Result<Figure> {
    let problem = kelfi_problems::by_name("sbibm_two_moons")?;
    let (batches, fit) = rounds(&*problem)?;
    let exact = problem.reference_samples(problem.observation(), SAMPLES, SEED)?;
    let found = kelfi::samples::independent(&fit.posterior, SAMPLES, SEED)?.samples;
    let mut svg = Svg::new(4.0 * SIDE + 3.0 * GAP + 2.0, TOP + SIDE + 4.0);
    let mut earlier: Vec<&Points> = vec![];
    let (first, second, others) = (&batches[..1], &batches[1..2], &batches[2..]);
    for (at, (rounds, title)) in [(first, "round 1, from the prior"), (second, "round 2"), (others, "later rounds")].into_iter().enumerate()
    {
        let count: usize = rounds.iter().map(Points::rows).sum();
        let panel = Panel::new(at, &PRIOR, &format!("{title}: {count}"), &mut svg);
        panel.dots("truth-solid", &exact, 1.6, &mut svg);
        earlier.iter().for_each(|theta| panel.dots("prior-solid", theta, 1.6, &mut svg));
        rounds.iter().for_each(|theta| panel.dots("posterior-solid", theta, 1.9, &mut svg));
        earlier.extend(rounds);
    }
    let panel = Panel::new(3, &CLOSE, "posterior, close up", &mut svg);
    panel.dots("truth-solid", &exact, 1.8, &mut svg);
    panel.dots("posterior-solid", &found, 1.4, &mut svg);
    let description = "Simulations of the first, the second and later rounds, and the posterior beside the exact one.".to_owned();
    Ok(Figure::new("rounds", "Rounds find the posterior", "", description, true, &svg, &numbers(&batches)))
}

/// Parameters of every round, and the fit to all simulations.
fn rounds(problem: &dyn BenchmarkProblem) -> anyhow::Result<(Vec<Points>, Fit)> {
    let observation = Observation::Statistics(problem.observation().to_vec());
    let mut rounds = Rounds::new(problem.prior(), &observation, &RoundsSettings::of(BUDGET, SEED))?;
    let mut batches = vec![];
    let fit = rounds.run(
        |batch: &Batch| {
            batches.push(batch.theta.clone());
            simulated(problem, batch)
        },
        &mut |_| true,
    )?;
    Ok((batches, fit))
}

fn simulated(problem: &dyn BenchmarkProblem, batch: &Batch) -> Result<Recorded, Error> {
    let call = |(k, theta): (usize, &[f64])| {
        let mut rng = stream(SEED, Purpose::Simulator, (batch.first + k) as u64);
        problem.simulate(theta, &mut rng).unwrap_or_else(|_| vec![f64::NAN; problem.observation().len()])
    };
    let x: Vec<Vec<f64>> = batch.theta.iter().enumerate().map(call).collect();
    Ok(Recorded::Statistics(Arc::new(Simulations::new(batch.theta.clone(), Points::from_rows(&x)?)?)))
}

/// A square with two axes and no ticks.
struct Panel {
    x: Axis,
    y: Axis,
    ranges: [(f64, f64); 2],
}

impl Panel {
    fn new(at: usize, ranges: &[(f64, f64); 2], title: &str, svg: &mut Svg) -> Self {
        let left = 1.0 + at as f64 * (SIDE + GAP);
        svg.rect("frame", left, TOP, SIDE, SIDE, "");
        svg.label("strong", left + 0.5 * SIDE, TOP - 9.0, Anchor::Middle, title, 60);
        let [x, y] = *ranges;
        Self { x: Axis::new(x.0, x.1, left, left + SIDE), y: Axis::new(y.0, y.1, TOP + SIDE, TOP), ranges: *ranges }
    }

    fn dots(&self, class: &str, points: &Points, radius: f64, svg: &mut Svg) {
        let inside = |value: f64, (low, high): (f64, f64)| value > low && value < high;
        for row in points.iter().filter(|row| inside(row[0], self.ranges[0]) && inside(row[1], self.ranges[1])) {
            svg.disc(class, self.x.at(row[0]), self.y.at(row[1]), radius, "");
        }
    }
}

fn numbers(batches: &[Points]) -> Numbers {
    let mut numbers = Numbers::new(&["round", "theta_1", "theta_2"]);
    for (round, theta) in (1..).zip(batches) {
        theta.iter().for_each(|row| numbers.values(&[f64::from(round), row[0], row[1]]));
    }
    numbers
}
