//! How improbable is a value at or beyond the largest that were seen? Counted where there are enough, a fitted tail beyond.
//!
//! Beyond the k-th largest of m values, P(X > u + t) = k/m (1 + ξ t/σ)^(-1/ξ), the generalised Pareto tail (Pickands 1975), fitted by
//! probability-weighted moments (Hosking & Wallis 1987): a₀ = mean excess, a₁ = mean of (1 - rank share) times excess,
//! ξ = 2 - a₀/(a₀ - 2a₁), σ = 2 a₀ a₁/(a₀ - 2a₁). ξ is drawn towards 0, as if ten more excesses had an exponential tail, and is never
//! negative: a bound that the simulations seem to respect is not taken for one.

/// Largest values the tail is fitted to: a tenth of all, but at least and at most so many.
const FEWEST: usize = 10;
const MOST: usize = 100;
/// Excesses of an exponential tail that ξ is averaged with.
const PRIOR_EXCESSES: f64 = 10.0;
/// The scale of the tail is at least this share of the values' standard deviation: ties have no excesses.
const LEAST_SCALE: f64 = 0.1;

/// The distribution of the larger values.
#[derive(Debug, Clone)]
pub struct UpperTail {
    /// All values, largest first.
    sorted: Vec<f64>,
    /// How many lie beyond the threshold.
    beyond: usize,
    shape: f64,
    scale: f64,
}

impl UpperTail {
    /// From values without order; NaN is not allowed.
    pub fn new(mut values: Vec<f64>) -> Self {
        values.sort_by(|a, b| b.total_cmp(a));
        let beyond = (values.len() / 10).clamp(FEWEST, MOST).min(values.len() / 2);
        let threshold = values.get(beyond).copied().unwrap_or(0.0);
        let excesses: Vec<f64> = values[..beyond].iter().map(|v| v - threshold).collect();
        let (shape, scale) = pareto(&excesses);
        let scale = scale.max(LEAST_SCALE * standard_deviation(&values));
        Self { sorted: values, beyond, shape, scale }
    }

    /// P(X ≥ value). Never 0 for values that vary.
    pub fn probability(&self, value: f64) -> f64 {
        let count = self.sorted.len() as f64;
        let threshold = self.sorted.get(self.beyond).copied().unwrap_or(f64::NEG_INFINITY);
        if self.beyond == 0 || value <= threshold {
            let as_large = self.sorted.partition_point(|&v| v >= value) as f64;
            return (as_large + 1.0) / (count + 1.0);
        }
        let t = (value - threshold) / self.scale;
        let kept = if self.shape > 1e-6 { (1.0 + self.shape * t).powf(-1.0 / self.shape) } else { (-t).exp() };
        self.beyond as f64 / count * if t.is_nan() { 1.0 } else { kept }
    }
}

/// ξ and σ of excesses, largest first.
fn pareto(excesses: &[f64]) -> (f64, f64) {
    let k = excesses.len() as f64;
    let a0 = excesses.iter().sum::<f64>() / k;
    // The i-th smallest stands for the share (i - 0.35)/k.
    let a1 = excesses.iter().enumerate().map(|(larger, e)| (larger as f64 + 0.35) / k * e).sum::<f64>() / k;
    let denominator = a0 - 2.0 * a1;
    if !(a0 > 0.0 && denominator > 0.0) {
        return (0.0, a0.max(0.0));
    }
    let shape = (2.0 - a0 / denominator) * k / (k + PRIOR_EXCESSES);
    if shape > 0.0 { (shape.min(2.0), a0 * (1.0 - shape).max(0.2)) } else { (0.0, a0) }
}

fn standard_deviation(values: &[f64]) -> f64 {
    let count = values.len().max(1) as f64;
    let mean = values.iter().map(|v| v / count).sum::<f64>();
    let largest = values.iter().fold(0.0_f64, |l, v| l.max((v - mean).abs()));
    if !(largest > 0.0 && largest.is_finite()) {
        return 0.0;
    }
    largest * (values.iter().map(|v| ((v - mean) / largest).powi(2)).sum::<f64>() / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, standard_normal, stream};
    use rand::RngExt;

    /// How often a new draw is called improbable at 1 in 1,000, and the probability of a value `far` out, over 400 sets of 200 values.
    fn rates(draw: impl Fn(&mut rand_chacha::ChaCha8Rng) -> f64, far: f64) -> (f64, f64) {
        let (mut alarms, mut largest) = (0, 0.0_f64);
        for repeat in 0..400 {
            let mut rng = stream(repeat, Purpose::Experiment, 3);
            let tail = UpperTail::new((0..200).map(|_| draw(&mut rng)).collect());
            alarms += (0..50).filter(|_| tail.probability(draw(&mut rng)) < 1e-3).count();
            largest = largest.max(tail.probability(far));
        }
        (alarms as f64 / 20_000.0, largest)
    }

    #[test]
    fn new_draws_of_light_and_heavy_tails_are_seldom_called_improbable_and_far_values_always() {
        let normal = rates(|rng| standard_normal(rng), 9.0);
        let exponential = rates(|rng| -rng.random::<f64>().ln(), 40.0);
        let cauchy = rates(|rng| standard_normal(rng) / standard_normal(rng), 1e6);
        println!("normal {normal:?}, exponential {exponential:?}, Cauchy {cauchy:?}");
        // 1 in 1,000 is what is said; the fit of twenty excesses makes it somewhat more where tails are heavy.
        assert!(normal.0 < 0.002 && exponential.0 < 0.003 && cauchy.0 < 0.006);
        assert!(normal.1 < 1e-3 && exponential.1 < 1e-3 && cauchy.1 < 1e-3);
    }

    #[test]
    fn probabilities_fall_from_one_and_ties_are_no_trouble() {
        let tail = UpperTail::new((0..100).map(f64::from).collect());
        let all: Vec<f64> = (-10..200).map(|v| tail.probability(f64::from(v))).collect();
        assert!(all[0] <= 1.0 && all[0] > 0.99 && all.windows(2).all(|pair| pair[0] >= pair[1]), "{all:?}");
        let tied = UpperTail::new([vec![0.0; 150], vec![1.0; 50]].concat());
        assert!(tied.probability(1.0) > 0.2 && tied.probability(5.0) < 1e-9);
        assert_eq!(UpperTail::new(vec![3.0]).probability(2.0), 1.0);
    }
}
