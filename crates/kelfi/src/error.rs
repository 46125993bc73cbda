//! Errors of the library: one sentence of fact with its numbers, one of advice.

/// What can go wrong. Every variant is caused by input or by the data, never by a bug of the library.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number that is NaN or infinite where a finite one is needed.
    #[error("{what} has {value} at row {row}, column {column}; every value must be finite")]
    NotFinite {
        /// Which table.
        what: String,
        /// Zero-based row.
        row: usize,
        /// Zero-based column.
        column: usize,
        /// The value found.
        value: f64,
    },
    /// Two shapes that do not fit each other.
    #[error("{left} is {left_rows} × {left_columns} but {right} is {right_rows} × {right_columns}\n  {advice}")]
    Shape {
        /// Name of the first table.
        left: String,
        /// Its rows.
        left_rows: usize,
        /// Its columns.
        left_columns: usize,
        /// Name of the second table.
        right: String,
        /// Its rows.
        right_rows: usize,
        /// Its columns.
        right_columns: usize,
        /// What has to agree.
        advice: String,
    },
    /// A setting outside its domain.
    #[error("{what} = {value} is not allowed: {requirement}")]
    Invalid {
        /// Name of the setting.
        what: String,
        /// The value given.
        value: f64,
        /// What it must be.
        requirement: String,
    },
    /// A parameter outside the support of its prior.
    #[error("parameter {name} = {value} lies outside the support of its prior, [{low}, {high}]\n  move it inside, or widen the prior")]
    OutsideSupport {
        /// Name of the parameter.
        name: String,
        /// The value given.
        value: f64,
        /// Lower end of the support.
        low: f64,
        /// Upper end of the support.
        high: f64,
    },
    /// Something is missing altogether.
    #[error("{what} is empty\n  {advice}")]
    Empty {
        /// What is empty.
        what: String,
        /// What to give.
        advice: String,
    },
    /// The kernel matrix has a pivot that is not positive.
    #[error(
        "L + mλI is not positive definite: pivot {pivot} of {order} is {value:e} (λ = {regularization:e})\n  some parameter vectors are equal or nearly equal; use a larger λ or a shorter length scale"
    )]
    NotPositiveDefinite {
        /// Zero-based row of the failing pivot.
        pivot: usize,
        /// Number of rows.
        order: usize,
        /// The pivot's value.
        value: f64,
        /// λ as given.
        regularization: f64,
    },
    /// q(y) ≤ 0: the surrogate gives no posterior.
    #[error(
        "the marginal likelihood is not positive (q(y) = {value:e} in units of the largest κ, m = {simulations})\n  few simulations come near the observation at this scale; let `learn` choose ε, or simulate more near it"
    )]
    EvidenceNotPositive {
        /// q(y) relative to the largest κ.
        value: f64,
        /// Number of simulations.
        simulations: usize,
    },
    /// No simulation succeeded.
    #[error("{} failed\n  read the simulator's messages; inference needs at least one successful simulation", all_simulations(.count))]
    AllFailed {
        /// How many there were.
        count: usize,
    },
    /// Every simulation was made at the same θ.
    #[error(
        "every simulation ({count} in all) was made at the same parameters\n  nothing can be learned from a single point; simulate at parameters drawn from the prior"
    )]
    OneTheta {
        /// How many there were.
        count: usize,
    },
    /// Asked for something this combination of prior, kernel or model cannot give.
    #[error("{what} is not available here: {reason}")]
    Unavailable {
        /// What was asked for.
        what: String,
        /// Why not, and what to use instead.
        reason: String,
    },
    /// Too few simulations of the kind that a model learns from.
    #[error("{what} is not available here: {reason}")]
    TooFew {
        /// What was asked for.
        what: String,
        /// How many there are, how many are needed, and what to do.
        reason: String,
    },
    /// More memory is needed than there is.
    #[error("{0}")]
    Memory(Box<Shortage>),
    /// A low-rank solver would need more pivots than it may take.
    #[error("{0}")]
    TooManyPivots(Box<TooManyPivots>),
    /// A saved model that cannot be read.
    #[error("this is not a model that this version of kelfi can read: {reason}")]
    Format {
        /// What was wrong.
        reason: String,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// Memory that a fit needs and that is not there.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "{what} needs about {needed} of memory for {of}; {available} is available\n  {advice}, or use fewer simulations ({fitting} would fit)"
)]
pub struct Shortage {
    /// What needs it.
    pub what: String,
    /// How much, with its unit.
    pub needed: String,
    /// For how many simulations and statistics.
    pub of: String,
    /// How much there is, with its unit.
    pub available: String,
    /// What else can be done.
    pub advice: String,
    /// How many simulations would fit.
    pub fitting: String,
}

/// What a low-rank solver reached with as many pivots as it may take.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "the low-rank solver misses {error:.1e} of the ridge mλ = {ridge:.1e} with {rank} pivots of {simulations} simulations; at most {accepted:.0e} is accepted\n  use longer length scales, a larger λ or fewer simulations, or the exact solver (about {exact} of memory)"
)]
pub struct TooManyPivots {
    /// Pivots taken.
    pub rank: usize,
    /// Trace of what is missed, as a share of the ridge.
    pub error: f64,
    /// The largest share that is accepted.
    pub accepted: f64,
    /// Number of simulations.
    pub simulations: usize,
    /// mλ.
    pub ridge: f64,
    /// Memory that the exact solver needs, with its unit.
    pub exact: String,
}

fn all_simulations(count: &usize) -> String {
    crate::words::all_of(*count as u64, "simulation")
}

impl Error {
    /// The [`Error::Invalid`] that says what `what` must be.
    pub fn invalid(what: impl Into<String>, value: f64, requirement: impl Into<String>) -> Self {
        Self::Invalid { what: what.into(), value, requirement: requirement.into() }
    }

    /// Whether L + mλI has no solution here that a solver can give: another length scale or λ may have one.
    pub fn is_unsolvable(&self) -> bool {
        matches!(self, Self::NotPositiveDefinite { .. } | Self::TooManyPivots(_))
    }

    /// Whether more simulations, nearer to the observation, may do what these could not.
    pub fn asks_for_simulations(&self) -> bool {
        matches!(self, Self::TooFew { .. } | Self::EvidenceNotPositive { .. } | Self::NotPositiveDefinite { .. })
    }

    /// `value` if it is positive and finite, otherwise an [`Error::Invalid`] naming it.
    pub fn require_positive(what: &str, value: f64) -> Result<f64, Self> {
        if value > 0.0 && value.is_finite() { Ok(value) } else { Err(Self::invalid(what, value, "it must be positive and finite")) }
    }

    /// `value` if it is finite, otherwise an [`Error::Invalid`] naming it.
    pub fn require_finite(what: &str, value: f64) -> Result<f64, Self> {
        if value.is_finite() { Ok(value) } else { Err(Self::invalid(what, value, "it must be finite")) }
    }
}
