//! The constants of the model: every number that changes what is learned or reported, with its reason. Those of the location-scale models
//! that it is made of are theirs.

/// Fewer successful simulations than this say too little about how parameters follow from statistics.
pub const FEWEST: usize = 40;
/// Most simulations that the summaries are made with; the others are summarised as new outputs are. Time grows with the cube of it.
pub const MOST: usize = 2_000;
/// Simulations that hyperparameters rest on, as for the mean of a statistic.
pub const SEARCHED: usize = 300;
/// Share of a target's variance that left-out predictions have to explain: a summary of noise would only add noise.
pub const LEAST_EXPLAINED: f64 = 0.05;
