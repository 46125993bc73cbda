//! Ways to choose the hyperparameters.

use anyhow::Result;
use kelfi::learning::{EpsilonChoice, KernelMeansOptions, Learned, learn};
use kelfi::{KernelMeansLikelihood, Observation, Prior, Question, Recorded};

/// A way to choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The paper's: the largest ln q(y) over (ε, β₀), λ = 10⁻³ β₀.
    Paper,
    /// The same with ε at least the distance per √n to this many of the simulations nearest to the observation.
    Reach(usize),
    /// The paper's with a tolerance per statistic.
    PerStatistic,
    /// The leave-one-out posterior score.
    LeaveOneOut,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Paper,
        Self::Reach(20),
        Self::PerStatistic,
        Self::LeaveOneOut,
        Self::Reach(3),
        Self::Reach(5),
        Self::Reach(10),
        Self::Reach(50),
    ];

    /// As tables call it.
    pub fn name(self) -> String {
        match self {
            Self::Paper => "mkml (paper)".into(),
            Self::Reach(count) => format!("mkml reach {count}"),
            Self::PerStatistic => "mkml ard".into(),
            Self::LeaveOneOut => "loo (ours)".into(),
        }
    }

    /// Whether it is there only to see how much the reach matters.
    pub fn varied(self) -> bool {
        matches!(self, Self::Reach(count) if count != 20)
    }

    /// Learns.
    pub fn learn(self, recorded: &Recorded, observation: &Observation, prior: &Prior) -> Result<(KernelMeansLikelihood, Learned)> {
        let with = |settings: KernelMeansOptions| Ok(learn(&Question::new(prior, recorded, observation), &settings, &mut |_| true)?);
        match self {
            Self::Paper => with(KernelMeansOptions::paper()),
            Self::PerStatistic => with(KernelMeansOptions { epsilon: EpsilonChoice::PerStatistic, ..KernelMeansOptions::paper() }),
            Self::LeaveOneOut => with(KernelMeansOptions::default()),
            Self::Reach(count) => {
                let free = with(KernelMeansOptions::paper())?;
                let floor = reach(recorded, observation, count)?;
                // ln q(y) falls from its top towards larger ε, so where the top is below the floor the best is on the floor.
                if free.1.hyperparameters.epsilon[0] >= floor {
                    return Ok(free);
                }
                with(KernelMeansOptions { epsilon: EpsilonChoice::Fixed(vec![floor]), ..KernelMeansOptions::paper() })
            }
        }
    }
}

/// Distance to the `count`-th nearest simulation, per √n, in the units of the statistics.
fn reach(recorded: &Recorded, observation: &Observation, count: usize) -> Result<f64> {
    let discrepancies = recorded.discrepancies(observation)?;
    let n = discrepancies.components();
    let mut distances = discrepancies.distances(&vec![1.0; n]);
    distances.sort_by(f64::total_cmp);
    Ok(distances[(count - 1).min(distances.len() - 1)] / (n as f64).sqrt())
}
