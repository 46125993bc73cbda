//! Simultaneous bands for counts of uniform draws: exact probabilities that every count stays inside, by a walk over the counts.
//!
//! Of n independent uniforms, N(t) lie below t. Along increasing t, N is a Markov chain: given N(s) = a,
//! N(t) - a ~ Binomial(n - a, (t - s)/(1 - s)). A band takes at every point the central binomial interval of one common local level γ;
//! γ is the largest for which all counts stay inside with the probability asked for
//! (Säilynoja, Bürkner & Vehtari 2022, doi:10.1007/s11222-022-10090-6).

/// Bisections of ln γ: the counts are whole numbers, so few digits are plenty.
const BISECTIONS: usize = 16;
const SMALLEST_LEVEL: f64 = 1e-8;
/// States of the walk less likely than this are left out.
const NEGLIGIBLE: f64 = 1e-12;

/// Between how many of n uniforms lie below each point.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveBand {
    /// Points in (0, 1), rising.
    pub points: Vec<f64>,
    /// Fewest below each point.
    pub low: Vec<usize>,
    /// Most below each point.
    pub high: Vec<usize>,
}

/// Between how many of n uniforms fall into each of equally wide bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountBand {
    /// Number of bins.
    pub bins: usize,
    /// Fewest in a bin.
    pub low: usize,
    /// Most in a bin.
    pub high: usize,
}

impl CurveBand {
    /// The band that all of N(points) stay inside with at least this probability.
    pub fn new(count: usize, points: Vec<f64>, probability: f64) -> Self {
        let binomial = Binomial::new(count);
        let at = |gamma: f64| -> Vec<(usize, usize)> { points.iter().map(|&t| binomial.interval(t, gamma)).collect() };
        let ends = widest_level(probability, |gamma| stays_inside(&binomial, &points, &at(gamma)), at);
        Self { points, low: ends.iter().map(|e| e.0).collect(), high: ends.iter().map(|e| e.1).collect() }
    }
}

impl CountBand {
    /// The band that the counts of all bins stay inside with at least this probability.
    pub fn new(count: usize, bins: usize, probability: f64) -> Self {
        let binomial = Binomial::new(count);
        let at = |gamma: f64| binomial.interval(1.0 / bins as f64, gamma);
        let (low, high) = widest_level(probability, |gamma| bins_stay_inside(&binomial, bins, at(gamma)), at);
        Self { bins, low, high }
    }
}

/// The band at the largest γ whose probability is still high enough.
fn widest_level<B>(probability: f64, inside: impl Fn(f64) -> f64, band: impl Fn(f64) -> B) -> B {
    let (mut low, mut high) = (SMALLEST_LEVEL.ln(), (1.0 - probability).max(SMALLEST_LEVEL).ln());
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if inside(middle.exp()) >= probability { low = middle } else { high = middle }
    }
    band(low.exp())
}

/// P(low_k ≤ N(t_k) ≤ high_k for all k).
fn stays_inside(binomial: &Binomial, points: &[f64], ends: &[(usize, usize)]) -> f64 {
    let (mut from, mut offset, mut at) = (vec![1.0], 0, 0.0);
    for (&t, &(low, high)) in points.iter().zip(ends) {
        let share = (t - at) / (1.0 - at);
        let mut to = vec![0.0; high - low + 1];
        for (k, p) in from.iter().enumerate() {
            let a = offset + k;
            for b in low.max(a)..=high {
                to[b - low] += p * binomial.probability(binomial.count - a, b - a, share);
            }
        }
        (from, offset, at) = (to, low, t);
    }
    from.iter().sum()
}

/// P(low ≤ count ≤ high in every bin).
fn bins_stay_inside(binomial: &Binomial, bins: usize, (low, high): (usize, usize)) -> f64 {
    let n = binomial.count;
    let mut from = vec![0.0; n + 1];
    from[0] = 1.0;
    for bin in 0..bins {
        let share = 1.0 / (bins - bin) as f64;
        let mut to = vec![0.0; n + 1];
        // What cannot be reached with these ends, or hardly ever, needs no step.
        for (a, p) in from.iter().enumerate().filter(|(_, p)| **p > NEGLIGIBLE) {
            for gained in low..=high.min(n - a) {
                to[a + gained] += p * binomial.probability(n - a, gained, share);
            }
        }
        from = to;
    }
    from[n]
}

/// Binomial probabilities from one table of ln k!.
struct Binomial {
    count: usize,
    ln_factorials: Vec<f64>,
}

impl Binomial {
    fn new(count: usize) -> Self {
        let mut ln_factorials = vec![0.0];
        for k in 1..=count {
            ln_factorials.push(ln_factorials[k - 1] + (k as f64).ln());
        }
        Self { count, ln_factorials }
    }

    /// P(Binomial(n, share) = k).
    fn probability(&self, n: usize, k: usize, share: f64) -> f64 {
        if k > n {
            return 0.0;
        }
        if share >= 1.0 {
            return if k == n { 1.0 } else { 0.0 };
        }
        let ln_choose = self.ln_factorials[n] - self.ln_factorials[k] - self.ln_factorials[n - k];
        (ln_choose + k as f64 * share.ln() + (n - k) as f64 * (-share).ln_1p()).exp()
    }

    /// The central interval that leaves at most γ/2 on either side.
    fn interval(&self, share: f64, gamma: f64) -> (usize, usize) {
        let (mut low, mut below) = (0, self.probability(self.count, 0, share));
        while below <= 0.5 * gamma && low < self.count {
            low += 1;
            below += self.probability(self.count, low, share);
        }
        let (mut high, mut above) = (self.count, self.probability(self.count, self.count, share));
        while above <= 0.5 * gamma && high > low {
            high -= 1;
            above += self.probability(self.count, high, share);
        }
        (low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};
    use rand::RngExt;

    const REPEATS: usize = 4_000;
    /// Four standard errors of a rate of 0.95 over the repeats, plus what whole numbers make the band wider.
    const RATE: std::ops::Range<f64> = 0.936..0.972;

    fn uniforms(index: usize, count: usize) -> Vec<f64> {
        let mut rng = stream(1, Purpose::Experiment, index as u64);
        (0..count).map(|_| rng.random()).collect()
    }

    #[test]
    fn curves_of_uniforms_stay_inside_their_band_at_the_stated_rate() {
        let points: Vec<f64> = (1..20).map(|k| f64::from(k) / 20.0).collect();
        let band = CurveBand::new(150, points.clone(), 0.95);
        let inside = |index: &usize| {
            let u = uniforms(*index, 150);
            (0..points.len()).all(|k| {
                let below = u.iter().filter(|u| **u <= points[k]).count();
                band.low[k] <= below && below <= band.high[k]
            })
        };
        let rate = (0..REPEATS).filter(inside).count() as f64 / REPEATS as f64;
        assert!(RATE.contains(&rate), "{rate}");
    }

    #[test]
    fn histograms_of_uniforms_stay_inside_their_band_at_the_stated_rate() {
        let band = CountBand::new(150, 10, 0.95);
        let inside = |index: &usize| {
            let mut counts = [0; 10];
            uniforms(*index, 150).iter().for_each(|u| counts[(u * 10.0) as usize] += 1);
            counts.iter().all(|c| band.low <= *c && *c <= band.high)
        };
        let rate = (0..REPEATS).filter(inside).count() as f64 / REPEATS as f64;
        // Ten whole counts share two ends, so the band can be a good deal wider than asked for.
        assert!((0.94..0.99).contains(&rate), "{rate}");
    }

    #[test]
    fn one_point_and_one_draw_by_hand() {
        assert_eq!(CurveBand::new(1, vec![0.5], 0.9), CurveBand { points: vec![0.5], low: vec![0], high: vec![1] });
        assert_eq!(CountBand::new(0, 4, 0.95), CountBand { bins: 4, low: 0, high: 0 });
    }
}
