//! The delayed population model of the blowflies: log parameters and noise in, 180 counts out.

/// Steps simulated before the kept ones.
const BURN_IN: usize = 50;
/// Steps kept: one for each observed count.
pub const LENGTH: usize = 180;
/// Size of the population before the first step (the codes of the ABC literature; not N₀, not the data).
const START: f64 = 180.0;

/// Parameters on their natural scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// P, eggs per adult that survive, when there is food.
    pub births: f64,
    /// δ, death rate per step.
    pub deaths: f64,
    /// N₀, the population at which reproduction peaks.
    pub scale: f64,
    /// σ_d, standard deviation of the death noise ε_t.
    pub death_noise: f64,
    /// σ_p, standard deviation of the birth noise e_t.
    pub birth_noise: f64,
    /// L, steps from egg to adult: τ rounded, at least 1.
    pub delay: usize,
}

impl Parameters {
    /// From (ln P, ln δ, ln N₀, ln σ_d, ln σ_p, ln τ).
    pub fn from_logs(logs: [f64; 6]) -> Self {
        let [births, deaths, scale, death_noise, birth_noise, delay] = logs.map(f64::exp);
        Self { births, deaths, scale, death_noise, birth_noise, delay: (delay.round() as usize).max(1) }
    }
}

/// N_t = P N_{t−L} exp(−N_{t−L}/N₀) e_t + N_{t−1} exp(−δ ε_t), the 180 values after burn-in.
///
/// `noise` gives (e_t, ε_t) for each step. The delay is L exactly, as in the codes, not L + 1 as in the printed formula.
/// Values before the first step are constant, so a delay of thousands needs no memory.
pub fn series(parameters: &Parameters, mut noise: impl FnMut() -> (f64, f64)) -> Vec<f64> {
    let mut counts: Vec<f64> = Vec::with_capacity(BURN_IN + LENGTH);
    let mut last = START;
    for t in 0..BURN_IN + LENGTH {
        let delayed = if t >= parameters.delay { counts[t - parameters.delay] } else { START };
        let (birth, death) = noise();
        last = parameters.births * delayed * (-delayed / parameters.scale).exp() * birth + last * (-parameters.deaths * death).exp();
        counts.push(last);
    }
    counts.split_off(BURN_IN)
}
