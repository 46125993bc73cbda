//! The machine: what to simulate next, and what came of it.

use super::batch::Batch;
use super::explored::{Asked, Explored};
use super::settings::{HowMany, RoundsSettings};
use super::{History, Place, Round, Stopped};
use super::{plan, proposal};
use crate::model::OnProgress;
use crate::model::family::InRounds;
use crate::question::Question;
use crate::simulations::{Observation, Recorded};
use crate::{Error, Fit, Points, Prior};

/// What comes next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// These are to be simulated.
    Simulate(Batch),
    /// Nothing more.
    Finished(Stopped),
}

/// One round's simulations.
#[derive(Debug, Clone)]
pub(super) struct Told {
    pub recorded: Recorded,
    pub wide: Vec<bool>,
}

/// Rounds of simulations for one observation.
#[derive(Debug, Clone)]
pub struct Rounds {
    pub(super) prior: Prior,
    pub(super) observation: Observation,
    pub(super) settings: RoundsSettings,
    pub(super) told: Vec<Told>,
    pub(super) history: History,
    pub(super) explored: Option<Explored>,
    asked: Option<Batch>,
}

impl Rounds {
    /// Before the first round.
    pub fn new(prior: &Prior, observation: &Observation, settings: &RoundsSettings) -> Result<Self, Error> {
        if settings.budget == 0 {
            return Err(Error::invalid("number of simulations", 0.0, "it must be at least 1"));
        }
        Ok(Self {
            prior: prior.clone(),
            observation: observation.clone(),
            settings: settings.clone(),
            told: vec![],
            history: History::default(),
            explored: None,
            asked: None,
        })
    }

    /// Takes the history of a run that was cut short, so that its rounds are not fitted again; those it knows must have been told.
    pub fn remember(&mut self, history: History) -> Result<(), Error> {
        if history.rounds.len() > self.told.len() {
            let requirement = format!("{} were told; first tell the simulations of every round", self.told.len());
            return Err(Error::invalid("number of rounds in the history", history.rounds.len() as f64, requirement));
        }
        self.history = History { stopped: None, checks: vec![], ..history };
        Ok(())
    }

    /// Asks and tells until nothing more is to be simulated, and answers. `simulate` runs the simulator at the parameters of a round;
    /// `on_progress` says whether to go on.
    pub fn run(&mut self, mut simulate: impl FnMut(&Batch) -> Result<Recorded, Error>, on_progress: OnProgress<'_>) -> Result<Fit, Error> {
        while let Next::Simulate(batch) = self.ask(&mut *on_progress)? {
            self.tell(&simulate(&batch)?)?;
        }
        self.answer(on_progress)
    }

    /// What to simulate next; the same until it is told. Fits to what it was told before, which takes a while; `on_progress` answers
    /// whether to go on.
    pub fn ask(&mut self, on_progress: OnProgress<'_>) -> Result<Next, Error> {
        if let Some(batch) = &self.asked {
            return Ok(Next::Simulate(batch.clone()));
        }
        if let Some(stopped) = self.stops(&mut *on_progress)? {
            self.history.stopped = Some(stopped);
            return Ok(Next::Finished(stopped));
        }
        let batch = self.propose(on_progress)?;
        self.asked = Some(batch.clone());
        Ok(Next::Simulate(batch))
    }

    /// What came of the parameters asked, in any order; those that are missing are left behind.
    pub fn tell(&mut self, recorded: &Recorded) -> Result<(), Error> {
        let Some(batch) = &self.asked else {
            return Err(Error::Unavailable { what: "telling simulations".into(), reason: "no round is open; call `ask` first".into() });
        };
        let mut places: Vec<(usize, usize)> = Vec::with_capacity(recorded.theta().rows());
        for (row, theta) in recorded.theta().iter().enumerate() {
            let taken = |place: &usize| places.iter().any(|(other, _)| other == place);
            let place = (0..batch.theta.rows()).find(|place| batch.theta.row(*place) == theta && !taken(place));
            let requirement = format!("its parameters are not among those of round {}", batch.round);
            places.push((place.ok_or_else(|| Error::invalid("row of the simulations told", row as f64, requirement))?, row));
        }
        places.sort_unstable();
        let recorded = recorded.select(&places.iter().map(|(_, row)| *row).collect::<Vec<_>>())?;
        let wide = places.iter().map(|(place, _)| batch.wide[*place]).collect();
        self.told.push(Told { recorded, wide });
        (self.asked, self.explored) = (None, None);
        Ok(())
    }

    /// Takes a round of a run that was cut short: what was asked and what came of it, without asking again.
    pub fn resume(&mut self, batch: Batch, recorded: &Recorded) -> Result<(), Error> {
        if batch.round != self.told.len() {
            let requirement = format!("the next round to tell is {}; tell rounds in order", self.told.len());
            return Err(Error::invalid("number of the round", batch.round as f64, requirement));
        }
        self.asked = Some(batch);
        self.tell(recorded)
    }

    /// Takes simulations made elsewhere, at any parameters, as the first round.
    pub fn begin_with(&mut self, recorded: &Recorded) -> Result<(), Error> {
        if !self.told.is_empty() {
            return Err(Error::Unavailable {
                what: "starting with these simulations".into(),
                reason: "rounds have already been made; start with existing simulations before the first round".into(),
            });
        }
        let wide = vec![true; recorded.theta().rows()];
        self.told.push(Told { recorded: recorded.clone(), wide });
        (self.asked, self.explored) = (None, None);
        Ok(())
    }

    /// Rounds told so far.
    pub fn rounds_told(&self) -> usize {
        self.told.len()
    }

    /// Simulations told so far.
    pub fn simulations(&self) -> usize {
        self.told.iter().map(|told| told.recorded.theta().rows()).sum()
    }

    /// All simulations told so far, round after round.
    pub fn recorded(&self) -> Result<Recorded, Error> {
        let parts: Vec<Recorded> = self.told.iter().map(|told| told.recorded.clone()).collect();
        if parts.is_empty() {
            return Err(Error::Empty { what: "the table of simulations".into(), advice: "tell the first round before".into() });
        }
        Recorded::joined(&parts)
    }

    /// What was told so far, as a question.
    pub fn question(&self) -> Result<Question, Error> {
        Ok(Question::new(&self.prior, &self.recorded()?, &self.observation))
    }

    /// The observation.
    pub fn observation(&self) -> &Observation {
        &self.observation
    }

    /// What happened so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// How many simulations each round is planned to have.
    pub fn planned(&self) -> Vec<usize> {
        plan::sizes(self.settings.rounds, self.settings.budget, self.prior.dimension())
    }

    fn stops(&mut self, on_progress: OnProgress<'_>) -> Result<Option<Stopped>, Error> {
        // A budget that was raised later is spent in more rounds of the last size; one round stays one.
        let alone = self.settings.rounds == HowMany::Exactly(1) && !self.told.is_empty();
        if alone || self.simulations() >= self.settings.budget {
            return Ok(Some(Stopped::BudgetSpent));
        }
        if self.told.len() < 3 || self.settings.rounds != HowMany::Auto {
            return Ok(None);
        }
        // A history that was remembered knows already.
        if self.history.rounds.len() < self.told.len() {
            self.explore(on_progress)?;
        }
        Ok(self.history.settled().then_some(Stopped::Settled))
    }

    fn propose(&mut self, on_progress: OnProgress<'_>) -> Result<Batch, Error> {
        let (round, first, seed) = (self.told.len(), self.simulations(), self.settings.seed());
        let planned = self.planned();
        let count = planned.get(round).or(planned.last()).copied().unwrap_or(1).min(self.settings.budget - first);
        if round == 0 {
            return Ok(Batch { round, first, theta: self.prior.draw(count, seed), wide: vec![true; count] });
        }
        self.explore(on_progress)?;
        let Some(explored) = &self.explored else { unreachable!("it was explored") };
        let (theta, wide) = match &explored.model {
            Ok(model) if matches!(model.family().in_rounds, InRounds::WhereUnsure) => {
                proposal::uncertain(model.as_ref(), &self.prior, count, first, seed)?
            }
            _ => proposal::around(&explored.draws, &self.prior, count, first, seed),
        };
        Ok(Batch { round, first, theta, wide })
    }

    /// Fits to all that was told, unless that was done, and writes down where the posterior is.
    pub(super) fn explore(&mut self, on_progress: OnProgress<'_>) -> Result<(), Error> {
        if self.explored.is_some() {
            return Ok(());
        }
        let question = self.question()?;
        let before = self.told.len() - 1;
        if self.history.rounds.len() < before {
            // A history that knows too little: what earlier rounds led to has to be found again.
            self.replay(before, &mut *on_progress)?;
        }
        let frame = before.checked_sub(1).and_then(|last| self.history.rounds[last].next_frame.clone());
        let asked = Asked { question: &question, settings: &self.settings.fit };
        let explored = asked.explore(frame.as_ref().filter(|frame| frame.is_local()), on_progress)?;
        if self.history.rounds.len() == before {
            let round = self.described(&explored)?;
            self.history.rounds.push(round);
        }
        self.explored = Some(explored);
        Ok(())
    }

    /// Explores the first `count` rounds one after the other.
    fn replay(&mut self, count: usize, on_progress: OnProgress<'_>) -> Result<(), Error> {
        let later = self.told.split_off(count);
        let found = self.explore(on_progress);
        self.told.extend(later);
        self.explored = None;
        found
    }

    fn described(&self, explored: &Explored) -> Result<Round, Error> {
        let place = Place::of(&explored.draws, explored.effective);
        let theta = self.prior.from_latent_points(&explored.draws);
        let interval = |d: usize| ends(&theta, d);
        let last = self.told.last();
        Ok(Round {
            simulations: last.map_or(0, |told| told.wide.len()),
            wide: last.map_or(0, |told| told.wide.iter().filter(|wide| **wide).count()),
            used: explored.model.as_ref().map_or(0, |model| model.used().len()),
            intervals: (0..theta.columns()).map(interval).collect(),
            movement: self.history.rounds.last().map(|earlier| place.since(&earlier.place)),
            place,
            frame: explored.model.as_ref().ok().and_then(|model| model.frame().cloned()),
            next_frame: explored.next_frame.clone(),
        })
    }
}

/// The central 90 % interval of a column.
fn ends(theta: &Points, d: usize) -> (f64, f64) {
    let mut sorted = theta.column(d);
    sorted.sort_by(f64::total_cmp);
    let at = |p: f64| sorted[((p * sorted.len() as f64) as usize).min(sorted.len() - 1)];
    (at(0.05), at(0.95))
}
