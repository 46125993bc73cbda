//! Maximising a smooth function inside a box: BFGS on the free variables, with what stopped it.
//!
//! Ours rather than argmin's, whose BFGS has no box: values and gradients come from one factorisation, a point that cannot be factored is
//! stepped back from, and bounds of the search are part of what is reported.

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// The projected gradient is small.
    Converged,
    /// No further progress along the search direction.
    NoProgress,
    /// The number of steps is used up.
    Steps,
}

/// Where a search ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// The best point.
    pub at: Vec<f64>,
    /// The value there.
    pub value: f64,
    /// Why the search ended.
    pub stopped: Stopped,
    /// How often the function was called.
    pub calls: usize,
}

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub struct StopRule {
    /// Largest number of steps.
    pub steps: usize,
    /// Converged when no component of the projected gradient exceeds this.
    pub gradient: f64,
    /// Converged when a step gains less than this.
    pub gain: f64,
    /// Longest step in any variable.
    pub longest: f64,
    /// The first step is at least this long, however small the gradient: nothing is known of the curvature yet. 0 follows the gradient.
    pub first: f64,
}

impl Default for StopRule {
    fn default() -> Self {
        Self { steps: 100, gradient: 1e-7, gain: 1e-10, longest: 1.0, first: 0.0 }
    }
}

/// Maximises `function` (value and gradient; a value that is not finite means "not here") from `start` inside [low, high].
pub fn maximise(
    mut function: impl FnMut(&[f64]) -> (f64, Vec<f64>),
    start: &[f64],
    low: &[f64],
    high: &[f64],
    settings: StopRule,
) -> Optimum {
    let dimension = start.len();
    let mut x: Vec<f64> = (0..dimension).map(|i| start[i].clamp(low[i], high[i])).collect();
    let (mut value, mut gradient) = function(&x);
    let mut calls = 1;
    let mut inverse = identity(dimension);
    for _ in 0..settings.steps {
        let free: Vec<bool> =
            (0..dimension).map(|i| !(x[i] <= low[i] && gradient[i] < 0.0 || x[i] >= high[i] && gradient[i] > 0.0)).collect();
        let steepest = (0..dimension).filter(|&i| free[i]).fold(0.0_f64, |g, i| g.max(gradient[i].abs()));
        if !value.is_finite() || steepest <= settings.gradient {
            return Optimum { at: x, value, stopped: if value.is_finite() { Stopped::Converged } else { Stopped::NoProgress }, calls };
        }
        let mut direction = ascent(&inverse, &gradient, &free);
        if inner(&direction, &gradient) <= 0.0 {
            inverse = identity(dimension);
            direction = ascent(&inverse, &gradient, &free);
        }
        let longest = direction.iter().fold(0.0_f64, |l, d| l.max(d.abs()));
        let unknown = settings.first > 0.0 && inverse == identity(dimension);
        let length = longest.max(if unknown { settings.first } else { 0.0 }).min(settings.longest);
        if length != longest {
            direction.iter_mut().for_each(|d| *d *= length / longest);
        }
        let Some((next, next_value, next_gradient, used)) = line_search(&mut function, &x, value, &gradient, &direction, low, high) else {
            if inverse == identity(dimension) {
                return Optimum { at: x, value, stopped: Stopped::NoProgress, calls: calls + LINE_STEPS };
            }
            calls += LINE_STEPS;
            inverse = identity(dimension);
            continue;
        };
        calls += used;
        let step: Vec<f64> = (0..dimension).map(|i| next[i] - x[i]).collect();
        let change: Vec<f64> = (0..dimension).map(|i| gradient[i] - next_gradient[i]).collect();
        if unknown && inner(&step, &change) > 0.0 {
            let curvature = inner(&step, &change) / inner(&change, &change);
            (0..dimension).for_each(|i| inverse[i][i] = curvature);
        }
        update(&mut inverse, &step, &change);
        let gain = next_value - value;
        (x, value, gradient) = (next, next_value, next_gradient);
        if gain < settings.gain {
            return Optimum { at: x, value, stopped: Stopped::Converged, calls };
        }
    }
    Optimum { at: x, value, stopped: Stopped::Steps, calls }
}

const LINE_STEPS: usize = 25;

/// Halves the step until the value rises by a share of what the gradient promises.
#[allow(clippy::type_complexity)]
fn line_search(
    function: &mut impl FnMut(&[f64]) -> (f64, Vec<f64>),
    x: &[f64],
    value: f64,
    gradient: &[f64],
    direction: &[f64],
    low: &[f64],
    high: &[f64],
) -> Option<(Vec<f64>, f64, Vec<f64>, usize)> {
    let mut length = 1.0;
    for call in 1..=LINE_STEPS {
        let next: Vec<f64> = (0..x.len()).map(|i| (x[i] + length * direction[i]).clamp(low[i], high[i])).collect();
        let promised: f64 = (0..x.len()).map(|i| gradient[i] * (next[i] - x[i])).sum();
        let (next_value, next_gradient) = function(&next);
        let usable = next_value.is_finite() && next_gradient.iter().all(|g| g.is_finite());
        if usable && next_value > value && next_value >= value + 1e-4 * promised {
            return Some((next, next_value, next_gradient, call));
        }
        length *= if usable { 0.4 } else { 0.1 };
    }
    None
}

fn identity(dimension: usize) -> Vec<Vec<f64>> {
    (0..dimension).map(|i| (0..dimension).map(|j| f64::from(u8::from(i == j))).collect()).collect()
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// H g over the free variables.
fn ascent(inverse: &[Vec<f64>], gradient: &[f64], free: &[bool]) -> Vec<f64> {
    let masked: Vec<f64> = gradient.iter().zip(free).map(|(g, f)| if *f { *g } else { 0.0 }).collect();
    inverse.iter().zip(free).map(|(row, f)| if *f { inner(row, &masked) } else { 0.0 }).collect()
}

/// The BFGS update of the inverse Hessian of -f.
fn update(inverse: &mut [Vec<f64>], step: &[f64], change: &[f64]) {
    let curvature = inner(step, change);
    if curvature <= 1e-12 * inner(step, step).sqrt() * inner(change, change).sqrt() {
        return;
    }
    let carried: Vec<f64> = inverse.iter().map(|row| inner(row, change)).collect();
    let scale = (1.0 + inner(change, &carried) / curvature) / curvature;
    for i in 0..step.len() {
        for j in 0..step.len() {
            inverse[i][j] += scale * step[i] * step[j] - (carried[i] * step[j] + step[i] * carried[j]) / curvature;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// -(1-x)² - 100 (y-x²)², maximum 0 at (1, 1).
    fn rosenbrock(p: &[f64]) -> (f64, Vec<f64>) {
        let (x, y) = (p[0], p[1]);
        let value = -(1.0 - x).powi(2) - 100.0 * (y - x * x).powi(2);
        (value, vec![2.0 * (1.0 - x) + 400.0 * x * (y - x * x), -200.0 * (y - x * x)])
    }

    #[test]
    fn the_curved_valley_is_followed_to_its_end() {
        let settings = StopRule { steps: 500, gain: 0.0, ..StopRule::default() };
        let optimum = maximise(rosenbrock, &[-1.2, 1.0], &[-5.0; 2], &[5.0; 2], settings);
        assert!((optimum.at[0] - 1.0).abs() < 1e-5 && (optimum.at[1] - 1.0).abs() < 1e-5, "{optimum:?}");
    }

    #[test]
    fn a_long_first_step_from_a_flat_start_saves_calls() {
        let bowl = |p: &[f64]| (-1e-3 * (p[0] * p[0] + 4.0 * p[1] * p[1]), vec![-2e-3 * p[0], -8e-3 * p[1]]);
        let search = |first: f64| maximise(bowl, &[3.0, 2.0], &[-5.0; 2], &[5.0; 2], StopRule { first, ..StopRule::default() });
        let (plain, eager) = (search(0.0), search(0.5));
        assert!(eager.at.iter().all(|x| x.abs() < 1e-3), "{eager:?}");
        assert!(eager.calls < plain.calls, "{} and {} calls", eager.calls, plain.calls);
    }

    #[test]
    fn an_optimum_outside_the_box_is_found_on_its_face() {
        let optimum = maximise(rosenbrock, &[-1.2, 1.0], &[-5.0, -5.0], &[0.5, 5.0], StopRule { steps: 500, ..StopRule::default() });
        assert_eq!(optimum.at[0], 0.5);
        assert!((optimum.at[1] - 0.25).abs() < 1e-6);
    }

    #[test]
    fn a_start_without_a_value_is_reported_and_not_followed() {
        let optimum = maximise(|_| (f64::NAN, vec![f64::NAN]), &[0.0], &[-1.0], &[1.0], StopRule::default());
        assert_eq!(optimum.stopped, Stopped::NoProgress);
    }
}
