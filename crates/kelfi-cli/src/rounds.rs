//! Rounds of simulations in a store: proposed once, made where they are missing, the same after any interruption.

use crate::arguments::Simulating;
use crate::failure::Failure;
use crate::interrupt;
use crate::made::Made;
use crate::problem::ProblemFile;
use crate::progress::Shown;
use crate::simulate::{self, Wanted};
use kelfi::rounds::{Batch, History, HowMany, Next, Rounds, RoundsSettings, sizes};
use kelfi::words::counted;
use kelfi::{FitOptions, Points};
use kelfi_run::{Origin, Proposal, Record, Store};
use std::collections::BTreeMap;

/// The fact of a store that keeps what earlier rounds found.
const HISTORY: &str = "rounds";

/// Makes what is missing of every round, proposing the next one when one is complete. `made` is what the store held before.
pub fn simulate(
    problem: &ProblemFile,
    store: &mut Store,
    mut made: Made,
    settings: &FitOptions,
    how_many: HowMany,
    how: &Simulating,
    quiet: bool,
) -> Result<(Made, Rounds), Failure> {
    let first = first_round(problem, how_many);
    let new = simulate::simulate(problem, store, how, &Wanted::UpTo(first), quiet)?;
    made = made.with(store, &new)?;
    let mut rounds = told(problem, store, &made, settings, how_many)?;
    loop {
        let proposals = match of_round(store, &made, rounds.rounds_told())? {
            found if !found.is_empty() => found,
            // What was handed out belongs to the round: the next one waits for it.
            _ if !store.outstanding()?.is_empty() => return Ok((made, rounds)),
            // Failures that are left out of the fit were made all the same.
            _ if made.records.len() as u64 >= problem.simulations => return Ok((made, rounds)),
            _ => match ask(&mut rounds, store, quiet)? {
                Some(proposals) => proposals,
                None => return Ok((made, rounds)),
            },
        };
        let indices: Vec<u64> = proposals.iter().map(|proposal| proposal.index).collect();
        let new = simulate::simulate(problem, store, how, &Wanted::These(indices), quiet)?;
        made = made.with(store, &new)?;
        take(problem, &made, &mut rounds, &proposals)?;
    }
}

/// The rounds of a store that were made completely, with what they found as far as it is known.
pub fn told(problem: &ProblemFile, store: &Store, made: &Made, settings: &FitOptions, how_many: HowMany) -> Result<Rounds, Failure> {
    let settings = RoundsSettings { budget: problem.simulations as usize, rounds: how_many, fit: settings.clone() };
    let mut rounds = Rounds::new(&problem.prior, &problem.observed()?, &settings)?;
    rounds.begin_with(&made.usable_of(problem, |record| record.origin.round().is_none())?.recorded)?;
    loop {
        let proposals = of_round(store, made, rounds.rounds_told())?;
        if proposals.is_empty() || proposals.iter().any(|proposal| !made.has(proposal.index)) {
            break;
        }
        take(problem, made, &mut rounds, &proposals)?;
    }
    if let Some(text) = store.fact(HISTORY)?
        && let Ok(mut history) = serde_json::from_str::<History>(&text)
    {
        history.rounds.truncate(rounds.rounds_told());
        rounds.remember(history)?;
    }
    Ok(rounds)
}

/// Whether simulations of a later round than the first are there.
pub fn there_are(made: &Made) -> bool {
    made.records.iter().any(|record| record.origin.round().is_some())
}

/// How many simulations the first round has.
pub fn first_round(problem: &ProblemFile, how_many: HowMany) -> u64 {
    sizes(how_many, problem.simulations as usize, problem.prior.dimension())[0] as u64
}

/// The proposals of a round, those among them that were made elsewhere and imported; none where it has not been proposed.
pub fn of_round(store: &Store, made: &Made, round: usize) -> Result<Vec<Proposal>, Failure> {
    let of = |record: &Record| Proposal { index: record.index, parameters: record.parameters.clone(), origin: record.origin };
    let all = made.records.iter().map(of).chain(store.proposals()?);
    let of_this = all.filter(|proposal| proposal.origin.round() == Some(round as u32));
    Ok(of_this.map(|proposal| (proposal.index, proposal)).collect::<BTreeMap<_, _>>().into_values().collect())
}

/// The next round, kept in the store before anybody simulates; `None` where there is none.
pub fn ask(rounds: &mut Rounds, store: &mut Store, quiet: bool) -> Result<Option<Vec<Proposal>>, Failure> {
    let bar = Shown::unless(quiet).bar("propose", 0);
    let mut tell = |progress: kelfi::learning::Progress| {
        bar.tell(progress.done as u64, progress.expected as u64, "");
        !interrupt::cancellation().is_requested()
    };
    let next = rounds.ask(&mut tell)?;
    bar.finish();
    store.set_fact(HISTORY, &in_json(rounds.history())?)?;
    match next {
        Next::Finished(_) => Ok(None),
        Next::Simulate(batch) => {
            let count = counted(batch.theta.rows() as u64, "simulation");
            Shown::unless(quiet).note(&format!("round {}: {count} around the posterior found so far", batch.round + 1));
            Ok(Some(propose(store, &batch)?))
        }
    }
}

fn propose(store: &mut Store, batch: &Batch) -> Result<Vec<Proposal>, Failure> {
    let round = batch.round as u32;
    let origin = |wide: bool| if wide { Origin::Wide(round) } else { Origin::Round(round) };
    let points: Vec<(Origin, Vec<f64>)> =
        batch.theta.iter().zip(&batch.wide).map(|(theta, &wide)| (origin(wide), theta.to_vec())).collect();
    Ok(store.propose_each(&points)?)
}

/// Tells what came of a round.
fn take(problem: &ProblemFile, made: &Made, rounds: &mut Rounds, proposals: &[Proposal]) -> Result<(), Failure> {
    let rows: Vec<&[f64]> = proposals.iter().map(|proposal| proposal.parameters.as_slice()).collect();
    let batch = Batch {
        round: rounds.rounds_told(),
        first: rounds.simulations(),
        theta: Points::from_rows(&rows)?,
        wide: proposals.iter().map(|proposal| matches!(proposal.origin, Origin::Wide(_))).collect(),
    };
    let indices: Vec<u64> = proposals.iter().map(|proposal| proposal.index).collect();
    let of_round = |record: &Record| indices.contains(&record.index);
    let recorded = if made.records.iter().filter(|record| of_round(record)).any(|record| record.outcome.status.is_ok()) {
        made.usable_of(problem, of_round)?.recorded
    } else {
        problem.outputs.all_failed(batch.theta.clone(), problem.used().len(), &problem.observed()?)?
    };
    Ok(rounds.resume(batch, &recorded)?)
}

fn in_json(history: &History) -> Result<String, Failure> {
    serde_json::to_string(history).map_err(|error| Failure::unexpected(format!("the rounds cannot be written: {error}")))
}
