//! The constants of the model: every number that changes what is learned or reported, with its reason or the experiment that chose it.
//!
//! The book's chapter on learning has the measurements; `experiments -- learners` and `timing` make them. Where no experiment is named, the
//! reason is all there is. Numbers that only say how work is cut into tasks, how fine an integral is taken, or how often a bar moves, stay
//! beside their loops.

/// The prior's mean embedding where it has no closed form.
pub mod embedding {
    /// Draws of the prior, unless the caller chooses: an error of a hundredth of the embedding.
    pub const PRIOR_DRAWS: usize = 10_000;
    /// The same while hyperparameters are sought: scores are compared, and share the draws.
    pub const PRIOR_DRAWS_OF_A_SEARCH: usize = 4_000;
}

/// What every search starts from.
pub mod learning {
    /// Fewer successful simulations than this cannot be scored by leaving one out.
    pub const FEWEST: usize = 3;
    /// The longest length scale sought, in prior standard deviations: the kernel is flat over all of the prior.
    pub const LONGEST: f64 = 10.0;
    /// A length scale reaches at least this many neighbours of a typical simulation; shorter ones only interpolate noise.
    pub const NEIGHBOURS: usize = 5;
    /// Simulations looked at for the typical distance between neighbours: a median needs no more.
    pub const LOOKED_AT: usize = 200;
    /// λ is sought between these: from the least that a factorisation in double precision stands to one that flattens everything.
    pub const REGULARIZATIONS: (f64, f64) = (1e-12, 1.0);
    /// What λ is tied to in the paper: 10⁻³ β₀.
    pub const TIED_REGULARIZATION: f64 = 1e-3;
    /// Simulations that stand for what they were drawn from where that is not the prior.
    pub const OF_SIMULATIONS: usize = 300;
    /// Logarithms of learned values are rounded to 1/4096: nobody needs more digits, and rounding errors of the data
    /// (another unit, another order of a sum) then leave the choice untouched.
    pub const ROUNDING: f64 = 4096.0;
    /// A learned value whose logarithm is this close to a bound of its search ended on it: four steps of the rounding.
    pub const ON_A_BOUND: f64 = 1e-3;
    /// Spreads of statistics whose squares double precision can hold.
    pub const SPREADS: (f64, f64) = (1e-100, 1e100);
}

/// Our objective: the leave-one-out posterior score.
pub mod score {
    /// Negative mass of the posterior at the observation that costs nothing: any smooth surrogate has some.
    pub const FREE_NEGATIVE_MASS: f64 = 0.02;
    /// The price of more, in nats for all of the mass: a surrogate far from a density is not worth a better score elsewhere.
    pub const PRICE_OF_NEGATIVE_MASS: f64 = 5.0;
}

/// The grid over (β, mλ, ε) and its plateau.
pub mod grid {
    /// Length scales: by factors of 1.5.
    pub const LENGTH_SCALES: usize = 10;
    /// Between these, in prior standard deviations.
    pub const LENGTH_RANGE: (f64, f64) = (0.08, 4.0);
    /// Ridges mλ: by factors of 16, to which the score is not sensitive.
    pub const RIDGES: usize = 6;
    /// Between these.
    pub const RIDGE_RANGE: (f64, f64) = (1e-5, 10.0);
    /// Tolerances between the bounds that the data give.
    pub const TOLERANCES: usize = 11;
    /// Scores within this many standard errors of the best count as equal. Over 200 toy data sets ½ does better than 1, 2 or the highest point.
    pub const PLATEAU: f64 = 0.5;
    /// Places whose score is this many standard errors below the best are not followed: on the plateau they would weigh e⁻⁶.
    pub const HOPELESS: f64 = 3.0;
    /// Simulations the grid is scored on: sixty factorisations of more would take longer than all that follows.
    pub const SIMULATIONS: usize = 500;
    /// Of these, how many play the observation until the final choice.
    pub const MEMBERS: usize = 100;
    /// Points of the integrals over the prior until the final choice.
    pub const POINTS: usize = 64;
    /// Points of those integrals for the final choice.
    pub const LAST_POINTS: usize = 128;
}

/// Local refinement of (β, mλ) after the grid.
pub mod refinement {
    /// Step in ln β that the pattern starts with: that of the grid.
    pub const LENGTH_STEP: f64 = 0.4;
    /// The same in ln mλ: a little more than half a step of the grid.
    pub const RIDGE_STEP: f64 = 1.6;
    /// The share of both below which the pattern ends: scores no longer tell such places apart.
    pub const SHORTEST: f64 = 0.2;
    /// Factorisations on more simulations than the grid's: at 2,500 simulations they are most of the time of a fit.
    pub const REFINEMENTS: usize = 14;
    /// With a low-rank solver, simulations that are refined on before all are: what a factorisation without approximation takes in seconds.
    pub const PART: usize = 3_000;
    /// Simulations of the second one, at most: with 2,000 pivots a factorisation of 100,000 takes 4·10¹¹ multiplications, and twenty did not end in a
    /// quarter of an hour. How far β and mλ would still move with more has not been measured.
    pub const MANY: usize = 20_000;
    /// Factorisations on all of them after that.
    pub const LAST_REFINEMENTS: usize = 6;
    /// How much smoother, in ln β and ln mλ, the next place is that a solver of low rank is asked for after it refused one,
    pub const SMOOTHER: (f64, f64) = (0.15, 0.6);
    /// and how many are tried: eleven times the length scale.
    pub const SMOOTHER_PLACES: usize = 16;
}

/// Tolerances of single statistics.
pub mod relevance {
    /// A statistic's tolerance may grow to this many spreads: it then says nothing.
    pub const LARGEST_TOLERANCE: f64 = 1e3;
    /// It may shrink to this many.
    pub const SMALLEST_TOLERANCE: f64 = 1e-3;
    /// The first step uphill in ln ε: the score is flat in many tolerances.
    pub const FIRST_STEP: f64 = 0.1;
    /// Steps uphill in ln ε at first,
    pub const FIRST_STEPS: usize = 40;
    /// and after each adjustment of (β, mλ).
    pub const STEPS: usize = 15;
    /// How many adjustments there are.
    pub const ADJUSTMENTS: usize = 3;
    /// Factorisations of each adjustment.
    pub const PLACES: usize = 8;
    /// An adjustment that gains less than this share of the score's standard error is the last.
    pub const ENOUGH: f64 = 0.1;
    /// Last steps uphill, with all members and points.
    pub const LAST_STEPS: usize = 6;
}

/// The paper's objective: the evidence. Over 200 toy data sets the search on a line reaches the best of a 100 × 100 grid 96 times in 100
/// (`experiments -- learners --only grid`).
pub mod evidence {
    /// Two free variables start from a coarse grid on two thirds of the simulations, between these numbers.
    pub const COARSE_SIMULATIONS: (usize, usize) = (100, 500);
    /// Length scales of the coarse grid.
    pub const COARSE_LENGTH_SCALES: usize = 7;
    /// Regularisations of the coarse grid.
    pub const COARSE_REGULARIZATIONS: usize = 4;
    /// Factored places on a line,
    pub const LINE_POINTS: usize = 8;
    /// crowded towards short length scales, where the surface has most structure, by this power.
    pub const LINE_POWER: f64 = 1.6;
    /// Refinements after them.
    pub const REFINEMENTS: usize = 5;
    /// Searches uphill from the best starts of the coarse grid.
    pub const SEARCHES: usize = 2;
    /// Steps of each.
    pub const STEPS: usize = 12;
    /// A later search that is this many nats below the best one after a few steps is given up.
    pub const HOPELESS: f64 = 0.5;
    /// The few steps.
    pub const FIRST_STEPS: usize = 3;
    /// Steps that gain less than this, in nats, are the last.
    pub const GAIN: f64 = 1e-4;
    /// Tolerances tried at every (β, λ) before the best one is refined: each costs one product of two vectors.
    pub const TOLERANCES: usize = 60;
    /// Places looked at between two factored ones, by the cubic through both.
    pub const BETWEEN: usize = 16;
}

/// Simulations that play the observation, for calibration.
pub mod leave_one_out {
    /// Simulations tried as observations: a coverage of 90 % is then known to two points.
    pub const TRIED: usize = 300;
    /// Simulated parameters that joint shares are taken over.
    pub const CANDIDATES: usize = 500;
}
