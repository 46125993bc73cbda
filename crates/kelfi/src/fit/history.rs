//! What happened, round by round.

use super::movement::{Movement, Place};
use crate::checks::{Check, Status};
use crate::model::location_scale::frame::Frame;
use serde::{Deserialize, Serialize};

/// Why there are no more rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// All simulations were made.
    BudgetSpent,
    /// Two rounds in turn moved the posterior by no more than chance.
    Settled,
}

/// One round and the posterior after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Simulations made in it.
    pub simulations: usize,
    /// Of these, how many were proposed widely.
    pub wide: usize,
    /// Simulations of all rounds so far that the posterior rests on; 0 where no model could be fitted yet, and the nearest simulations stand for
    /// the posterior.
    pub used: usize,
    /// The central 90 % interval of each parameter, in the user's units.
    pub intervals: Vec<(f64, f64)>,
    /// Where the posterior is.
    pub place: Place,
    /// How far the round moved it; `None` for the first.
    pub movement: Option<Movement>,
    /// The local coordinates it was fitted in; `None`: all of the prior.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<Frame>,
    /// The local coordinates around the posterior after it, in which the next fit begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_frame: Option<Frame>,
}

/// All rounds so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct History {
    /// In order.
    pub rounds: Vec<Round>,
    /// Why there are no more; `None` while there are.
    pub stopped: Option<Stopped>,
    /// Checks of what rounds may miss.
    #[serde(default)]
    pub checks: Vec<Check>,
}

impl History {
    /// How far the last round moved the posterior.
    pub fn last_movement(&self) -> Option<Movement> {
        self.rounds.last().and_then(|round| round.movement)
    }

    /// Whether the last two rounds moved it by no more than chance. Where no model could be fitted there is nothing to settle.
    pub fn settled(&self) -> bool {
        let still = |round: &Round| round.used > 0 && round.movement.is_some_and(|moved| moved.is_chance());
        let last: Vec<bool> = self.rounds.iter().rev().take(2).map(still).collect();
        last.len() == 2 && last.iter().all(|still| *still)
    }

    /// What the last round changed, in a sentence.
    pub fn statement(&self) -> Option<String> {
        let moved = self.last_movement()?;
        let widths = if moved.stretch < 3.0 * moved.error {
            "did not change their widths".to_string()
        } else {
            format!("changed their widths by up to {:.0} %", 100.0 * moved.stretch.exp_m1())
        };
        Some(format!("the last round moved the posterior means by at most {:.2} standard deviations and {widths}", moved.shift))
    }

    /// The check `rounds`: would another round still move the answer?
    pub(crate) fn movement_check(&self) -> Option<Check> {
        let moved = self.last_movement()?;
        let far = moved.shift > LARGEST_SHIFT || moved.stretch > LARGEST_STRETCH;
        let remark = match moved.shift.max(moved.stretch) {
            _ if far => "the posterior has not converged",
            most if most < LITTLE => "more rounds would change little",
            _ => "more rounds would make it more precise",
        };
        let status = if far { Status::Warn } else { Status::Ok };
        let found = format!("{}; {remark}", self.statement()?);
        Some(Check::new("rounds", status, moved.shift, LARGEST_SHIFT, found))
    }
}

/// What a last round may change without a warning: means in standard deviations, ln of widths.
const LARGEST_SHIFT: f64 = 0.5;
const LARGEST_STRETCH: f64 = 0.5;
/// What is little, as for `effective_simulations`.
const LITTLE: f64 = 0.2;

#[cfg(test)]
mod tests {
    use super::*;

    /// What the check says after a last round that moved the posterior so far.
    fn check(shift: f64, stretch: f64) -> Check {
        let place = Place { means: vec![0.0], deviations: vec![1.0], effective: 1_000.0 };
        let movement = Some(Movement { shift, stretch, error: 0.03 });
        let round =
            Round { simulations: 50, wide: 5, used: 50, intervals: vec![(-1.0, 1.0)], place, movement, frame: None, next_frame: None };
        History { rounds: vec![round], ..History::default() }.movement_check().unwrap()
    }

    #[test]
    fn what_more_rounds_would_do_follows_from_what_the_last_one_did() {
        let cases = [
            (0.1, 0.15, Status::Ok, "would change little"),
            (0.44, 0.2, Status::Ok, "would make it more precise"),
            (0.1, 0.3, Status::Ok, "would make it more precise"),
            (0.6, 0.1, Status::Warn, "has not converged"),
            (0.1, 0.6, Status::Warn, "has not converged"),
        ];
        for (shift, stretch, status, remark) in cases {
            let check = check(shift, stretch);
            assert!(check.status == status && check.message().contains(remark), "{shift} {stretch}: {}", check.message());
        }
    }
}
