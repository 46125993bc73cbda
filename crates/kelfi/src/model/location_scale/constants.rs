//! The constants of the model: every number that changes what is learned or reported, with its reason or the experiment that chose it.
//!
//! The book's appendix on this model has the measurements; `experiments -- sbibm`, `calibration` and `adversary` make them. Where no experiment
//! is named, the reason is all there is. Numbers that only say how work is cut into tasks, or how often a bar moves, stay beside their loops.
//!
//! Three kinds recur. *Searched on so many*: hyperparameters have few degrees of freedom, and a search costs the cube of the number; with 500 simulations
//! instead of 300 `lotka_volterra` gained nothing. *Demanded so many nats*: a richer model fits noise a little better by chance, the more so the more of
//! them are tried. *Draws looked at*: a share known to two digits is all that a check reads.

/// What the data must hold.
pub mod data {
    /// Fewer successful simulations than this cannot be regressed on: left-out residuals of a plane would be all noise.
    pub const FEWEST: usize = 10;
    /// Larger values than this are refused: sums of their squares would leave the range of doubles.
    pub const LARGEST: f64 = 1e100;
}

/// Values that many simulations share exactly.
pub mod atoms {
    /// Fewest simulations that share a value: two may agree by rounding.
    pub const FEWEST: usize = 3;
    /// The least share of them where the value lies amid the others: fewer than one in fifty hardly change a mean.
    pub const LEAST_SHARE: f64 = 0.02;
    /// A value this many robust standard deviations from the median of the others is far from them: no Gaussian noise reaches there.
    pub const FAR: f64 = 6.0;
    /// The others are continuous: no value of theirs occurs more than this many times as often, else all are counts,
    pub const OTHERS: f64 = 0.2;
    /// and this share of them is distinct, for the same reason.
    pub const DISTINCT: f64 = 0.8;
    /// Fewest others: fewer cannot show whether they are continuous.
    pub const LEAST_OTHERS: usize = 10;
    /// A code is this many times as far from the others as these are from each other: -999 among numbers near 1, not the end of a long tail.
    pub const CODE: f64 = 5.0;
    /// Most such values of one statistic: more are the values of a count.
    pub const MOST: usize = 3;
}

/// The change of scale of a statistic.
pub mod transform {
    /// Positive values reaching beyond this many medians may want a root or a logarithm: a Gaussian that stays positive does not.
    pub const SKEWED: f64 = 4.0;
    /// Values reaching beyond this many robust standard deviations may want tails drawn in: no Gaussian sample of any size does.
    pub const HEAVY: f64 = 12.0;
    /// Simulations that the choice of scale rests on: each scale costs a search, and scales differ by many nats where it matters.
    pub const COMPARED: usize = 200;
}

/// The mean of a count over the cell of one step.
pub mod cells {
    /// Points of a cell that averages over it are taken at: changes of scale are smooth over one step, so few will do.
    pub const POINTS: usize = 8;
}

/// The regression of one target.
pub mod regression {
    /// Most pivots that stand for all simulations: a regression that needs more is made exactly.
    pub const MOST_PIVOTS: usize = 160;
    /// What a² G may miss on its diagonal, as a share of the noise: what is missed cannot be seen beside the noise.
    pub const MISSED: f64 = 1e-4;
    /// The same for the variance of the mean, where what is missed counts as unknown: standard deviations grow by a thousandth at most, and each
    /// evaluation costs the square of the number of pivots.
    pub const MISSED_OF_VARIANCE: f64 = 2e-3;
    /// With more simulations than this, pivots do however many are needed: what they miss counts as noise of each simulation. Matrices of all
    /// take time with the cube of the number and memory with its square.
    pub const DENSE: usize = 3_000;
    /// A curved part below this share of the targets' standard deviation does not count: it is below any noise that can be learned.
    pub const STRAIGHT: f64 = 0.01;
    /// Variance of a mean without a target, relative to the target's noise, below which rounding decides.
    pub const LEAST_UNKNOWN: f64 = 1e-12;
    /// With so many coordinates kernel values of several queries are one product of tables. With fewer it would not pay, and values keep their bits.
    pub const FEWEST_TOGETHER: usize = 12;
    /// Noise that is always there, relative to the signal: keeps A positive definite where outputs are exact.
    pub const JITTER: f64 = 1e-9;
}

/// The search for a, b, s and β of a regression, all in standard deviations of the target and of z.
pub mod regression_search {
    /// Bounds of a: the lower one is what straight means.
    pub const CURVED: (f64, f64) = (1e-3, 20.0);
    /// Bounds of b: a plane over a long length scale is steep.
    pub const LINEAR: (f64, f64) = (1e-3, 50.0);
    /// Bounds of s. The least noise is what a simulator without any gets: chains cannot follow a posterior a thousand times narrower than its
    /// prior much further. The most is more than all of a standardised target.
    pub const NOISE: (f64, f64) = (1e-3, 2.0);
    /// Bounds of β: below, simulations by the thousand have no neighbour; above, bumps are parabolas.
    pub const LENGTHS: (f64, f64) = (0.02, 30.0);
    /// Where a search for bumps begins: (a, b, s), half of the target noise and the rest mostly a plane.
    pub const FROM_BUMPS: (f64, f64, f64) = (0.5, 1.0, 0.5);
    /// Where a search for sums of sigmoids begins: (a, b, s). They hold a plane themselves, so b begins small.
    pub const FROM_SIGMOIDS: (f64, f64, f64) = (1.0, 0.1, 0.3);
    /// The usual length scale of bumps in one dimension, c of c √D: the width of a prior.
    pub const USUAL_OF_BUMPS: f64 = 1.5;
    /// The same for sigmoids, whose steps are as wide as their length scale.
    pub const USUAL_OF_SIGMOIDS: f64 = 0.7;
    /// Standard deviation of ln β before any data, around ln(c √D): without it many length scales together fit the noise.
    pub const LENGTH_SPREAD: f64 = 1.0;
    /// Steps at most, a bound on the time: a search that converges ends earlier.
    pub const STEPS: usize = 60;
    /// A step that gains less than this (in nats over all targets) ends the search: a hundredth of what any choice between models demands.
    pub const GAIN: f64 = 0.02;
    /// Bumps that are tried untuned before a search for a common spread: (a, b, s), a tenth of the targets' variance.
    pub const FAINT: (f64, f64, f64) = (0.35, 0.1, 0.9);
    /// Their length scales, as shares of the usual ones.
    pub const FAINT_LENGTHS: [f64; 4] = [1.0, 0.5, 0.25, 0.1];
    /// What a kernel that bends more must gain, in nats over all targets searched. The direction demands ½ (D - 1) ln m more:
    /// with two nats in ten dimensions `bernoulli_glm` went from 0.727 to 0.743.
    pub const MARGIN: f64 = 2.0;
}

/// The hyperparameters of a regression from more than a thousand simulations.
pub mod sharpening {
    /// Simulations they rest on. With 3,000 instead of 300 the error of means of mildly bent statistics fell from 0.27 to 0.10 posterior
    /// standard deviations (four parameters, 100,000 simulations): a bend of a tenth of the noise is a plane to 300.
    pub const FROM: usize = 5_000;
    /// What pivots may miss on the diagonal, as a share of the noise: a tenth of a per cent is not seen by an evidence known to 0.02 nats.
    pub const MISSED: f64 = 1e-3;
    /// And its bounds: rounding below, a few pivots in any case above.
    pub const AS_NEEDED: (f64, f64) = (1e-9, 0.1);
    /// Factors that length scales are stretched by together, as long as it gains: what few simulations show of their ratios is kept.
    pub const STRETCHES: [f64; 2] = [1.6, 1.25];
    /// Steps of a search for a, b and s at most: it begins at what few simulations found.
    pub const STEPS: usize = 30;
}

/// Much shorter length scales, for means that oscillate.
pub mod starts {
    /// Simulations looked at: a few hundred nats are at stake where it matters.
    pub const LOOKED_AT: usize = 200;
    /// Length scales, as shares of the usual ones: each less than half of the one before, down to what 200 simulations can show.
    pub const SHORTER: [f64; 3] = [0.3, 0.1, 0.04];
    /// Noise tried with each: little, and half of the target.
    pub const NOISES: [f64; 2] = [0.1, 0.5];
    /// With more coordinates than this, all of them are shortened together only: each alone would cost more than the search itself.
    pub const MOST_ALONE: usize = 5;
}

/// One more coordinate along a direction.
pub mod direction {
    /// Step of differences, in standard deviations of z: far above rounding, far below any length scale sought.
    pub const STEP: f64 = 1e-3;
    /// Steps towards the first principal axis; any direction will do where two are nearly as wide.
    pub const POWER_STEPS: usize = 100;
}

/// Mean and spread of one statistic.
pub mod statistic {
    /// Simulations the hyperparameters of a regression rest on. 500 instead gave 0.961 on `lotka_volterra`, where 300 gave 0.943 to 0.961.
    pub const SEARCHED: usize = 300;
    /// What a spread that moves with θ must gain over a constant one, in nats: ln r̃² has a long tail, and length scales can fit some of it.
    pub const SPREAD_MARGIN: f64 = 8.0;
    /// Times mean and spread are fitted in turn: the mean once by a constant spread, once by the spread it left.
    pub const ROUNDS: usize = 2;
    /// Simulations that mean and spread are fitted in turn on at first, since fits cost the cube; with more, all is learned a second time.
    pub const IN_TURN: usize = 1_000;
}

/// The simulations that length scales are learned from a second time.
pub mod vicinity {
    /// How many are chosen by what they explain. 300 instead of 100 where there are 3,000 gave 0.557 instead of 0.539 on `two_moons`.
    pub const NEAR: usize = 100;
    /// How many others there are beside them: as many, so that the rest of the prior is not forgotten.
    pub const OTHERS: usize = 100;
}

/// Heavy tails of residuals.
pub mod tails {
    /// Degrees of freedom tried: from tails heavier than Cauchy's to almost Gaussian ones.
    pub const FREEDOMS: [f64; 7] = [0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0];
    /// What heavy tails of a statistic must gain over a Gaussian, in nats: less is chance.
    pub const MARGIN: f64 = 8.0;
    /// What those of all statistics must gain, in nats per simulation. With less demanded `sir` used them too and lost 0.02.
    pub const MARGIN_EACH: f64 = 0.1;
    /// Steps of expectation and maximisation towards τ: likelihoods of seven ν are compared, and need no more digits.
    pub const STEPS: usize = 30;
}

/// Residuals of all statistics together.
pub mod residuals {
    /// Times regressions are fitted anew once residuals tell how noisy each simulation was: the weights follow from residuals, and residuals from the weights.
    pub const REWEIGHTINGS: usize = 2;
    /// What a shape for each statistic must gain over one for all, in nats over all residuals: every one has hyperparameters of its own.
    pub const MARGIN_APART: f64 = 8.0;
}

/// A correlation of residuals that moves with θ.
pub mod moving {
    /// Simulations that hyperparameters rest on, as for a statistic's mean.
    pub const SEARCHED: usize = 300;
    /// What a moving correlation must gain over a constant one, in nats over all simulations,
    pub const MARGIN: f64 = 8.0;
    /// and in standard errors of the gain: a few outliers can gain eight nats.
    pub const ERRORS: f64 = 3.0;
    /// Among more statistics than this no pair is looked at: there would be more than 435 regressions.
    pub const MOST: usize = 30;
    /// The largest correlation that is believed: the density grows without bound towards 1.
    pub const LARGEST: f64 = 0.98;
}

/// A spread of the residuals that all statistics share.
pub mod common_spread {
    /// What a plane through z and its squares must gain over a constant before bumps are searched for, in nats: a quarter of what is demanded.
    pub const SEEN: f64 = 2.0;
    /// Simulations that hyperparameters rest on: each tells little, one number with a standard deviation of √(2/n).
    pub const SEARCHED: usize = 500;
    /// What it must gain over the same spread at every θ, in nats over all simulations,
    pub const MARGIN: f64 = 8.0;
    /// and in standard errors of the gain: a few outliers can gain eight nats.
    pub const ERRORS: f64 = 3.0;
}

/// The shape of the residuals.
pub mod shape {
    /// 1 - H_ii is at least this: a simulation that alone decides its own shape hands nothing on.
    pub const LEAST_FREEDOM: f64 = 1e-6;
    /// Most pivots of the weights' kernel: chains pay for each at every step.
    pub const MOST_PIVOTS: usize = 150;
    /// What the pivots may miss of the kernel's diagonal: far below the least ridge tried.
    pub const MISSED: f64 = 1e-4;
    /// and at most so much, where the ridge is larger than the least one tried.
    pub const MOST_MISSED: f64 = 1e-2;
    /// Length scales tried for the weights, in standard deviations of z: from a tenth of the prior to all of it, by factors of two.
    pub const LENGTHS: [f64; 5] = [0.35, 0.7, 1.4, 2.8, 5.6];
    /// Ridges tried for the weights, in simulations: from a third of one to a hundred.
    pub const RIDGES: [f64; 6] = [0.3, 1.0, 3.0, 10.0, 30.0, 100.0];
    /// Tolerances tried, in standard deviations of the residuals: 1 is a Gaussian, 0.04 the narrowest that 600 residuals can fill.
    pub const TOLERANCES: [f64; 11] = [0.04, 0.06, 0.09, 0.13, 0.18, 0.25, 0.35, 0.45, 0.6, 0.75, 0.9];
    /// Tolerances in the middle where they grow outwards: they may be narrower, since far out they are not.
    pub const LEAST_TOLERANCES: [f64; 7] = [0.01, 0.02, 0.04, 0.07, 0.12, 0.2, 0.35];
    /// Growth per unit of distance from the middle.
    pub const GROWTHS: [f64; 4] = [0.1, 0.2, 0.35, 0.5];
    /// What tolerances that grow must gain, in nats per residual: less changes little,
    pub const MARGIN_EACH: f64 = 0.03;
    /// and over all residuals: less is chance.
    pub const MARGIN: f64 = 8.0;
    /// What any other shape must gain over Gaussian noise, in nats over all residuals: the best of several hundred gains some by chance.
    pub const MARGIN_OVER_GAUSSIAN: f64 = 3.0;
    /// Shares of the Gaussian that keeps the logarithm finite, the lightest first: a lighter one is not seen among 600 residuals, and more than
    /// a hundredth is a shape of its own.
    pub const TAIL_SHARES: [f64; 4] = [0.0003, 0.001, 0.003, 0.01];
    /// Its standard deviations, in those of the residuals.
    pub const TAIL_WIDTHS: [f64; 3] = [1.0, 1.4, 2.0];
    /// Simulations the choice rests on: every pair is compared at every tolerance.
    pub const SEARCHED: usize = 600;
    /// Simulations that say which tolerances and weights are tried on those: half of them.
    pub const SCREENED: usize = 300;
    /// The share of all that is tried which is tried again: neighbours on the grids differ by less than half of the residuals can tell,
    pub const FINALISTS: f64 = 0.125;
    /// and at least so many.
    pub const FEWEST_FINALISTS: usize = 6;
    /// At least so many simulations are looked at, however many repeats they have: fewer do not show how weights move with θ.
    pub const FEWEST: usize = 50;
    /// Simulations the choice for one statistic on its own rests on: in one dimension fewer fill a shape.
    pub const SEARCHED_ALONE: usize = 300;
    /// Simulations whose residuals are components, at most: chains pay for each at every step.
    pub const MOST: usize = 3_000;
}

/// The region and local coordinates of a posterior much narrower than its prior.
pub mod frame {
    /// Standard deviations of the posterior that make one unit of a frame: a posterior with tails still lies inside.
    pub const REACH: f64 = 3.0;
    /// The shortest axis, so that draws that coincide still span a frame.
    pub const SHORTEST: f64 = 1e-6;
    /// Frames whose centres are this close, in lengths of the axes,
    pub const NEAR: f64 = 0.5;
    /// and whose lengths differ by at most this factor (its logarithm) are alike: nearly the same simulations lie in both.
    pub const SIMILAR: f64 = 0.4;
    /// Simulations this many times as far from one region as from another are left to the other; those between serve both.
    pub const OVERLAP: f64 = 1.25;
    /// With several regions each must hold this many simulations,
    pub const FEWEST_OF_SEVERAL: usize = 30;
    /// and so many more for every parameter: a plane with a bend in each of them.
    pub const MORE_OF_SEVERAL: usize = 8;
    /// Regions at most: with more modes each model would rest on few simulations.
    pub const MOST_REGIONS: usize = 6;
    /// The outer part of a region, whose posterior mass the check `region` looks at.
    pub const EDGE: f64 = 0.85;
}

/// Many simulations.
pub mod many {
    /// So many are fitted to without looking for a region: matrices of all of them fit into memory.
    pub const ALL_AT_ONCE: usize = 3_000;
    /// Simulations that look for the region, each time: where it is need not be known as well as what is in it.
    pub const IN_A_PASS: usize = 1_000;
    /// Simulations of the last region that are fitted to: errors of means are then a hundredth of the noise, and time and memory stay the
    /// same whatever there is beside them.
    pub const IN_THE_LAST: usize = 20_000;
    /// Times the region is looked for at most, should it not settle.
    pub const PASSES: usize = 5;
    /// Simulations that a region holds, where there are so many. With 3,000 instead of 1,000 means of four parameters of a mildly bent model were
    /// off by 0.15 instead of 0.26 posterior standard deviations (10,000 simulations, three seeds); but `lotka_volterra`, whose posterior is
    /// much narrower, went from 0.64 to 0.78 (observation 2). Between the two, nearer to the less; not measured itself.
    pub const FEWEST: usize = 1_500;
    /// Draws of the posterior that say where it is.
    pub const DRAWS: usize = 2_000;
}

/// Simulations that play the observation of a model without them.
pub mod leave_one_out {
    /// Simulations tried as observations: a coverage of 90 % is then known to two points.
    pub const TRIED: usize = 200;
    /// Simulations with similar outputs that jumps of chains need: fewer do not span a posterior.
    pub const LEAST_NEAR: usize = 40;
    /// Simulations that stand for what they were drawn from where that is not the prior.
    pub const CANDIDATES: usize = 300;
    /// Simulations with outputs like x_i that tell where its posterior may be.
    pub const NEIGHBOURS: usize = 60;
    /// Proposals for the evidence: its error is then below the spread of scores between simulations.
    pub const PROPOSALS: usize = 200;
    /// Shares of the proposals: prior, as wide as the posterior at the observation, and as wide as the chain or, with many parameters, a little
    /// wider than the former.
    pub const SHARES: [f64; 3] = [0.2, 0.4, 0.4];
    /// How much wider: 1.15 is already a factor of 16 in the volume of 20 parameters.
    pub const WIDER: f64 = 1.15;
}

/// The model on parts of the simulations, for the error of the evidence.
pub mod parts {
    /// Most parts: the variance between five is known to a factor of about two.
    pub const PARTS: usize = 5;
    /// Fewest simulations like the observation in a part.
    pub const FEWEST: usize = 15;
}

/// What checks look at.
pub mod health {
    /// Draws of the posterior at which the observation's residual is looked at.
    pub const LOOKED_AT: usize = 500;
    /// Draws of the posterior at which the shape's tail is looked at.
    pub const TAIL_DRAWS: usize = 500;
    /// Posterior draws at which predictions are made: tails of five per cent are then known to half a point.
    pub const PREDICTED: usize = 2_000;
}

/// Whether residuals near the posterior are like those elsewhere.
pub mod dependence {
    /// Random orders that chance is judged by.
    pub const ORDERS: u64 = 200;
    /// Chance that residuals alike everywhere are called different, for each of the two ways: one false alarm in five hundred fits.
    pub const CHANCE: f64 = 1e-3;
    /// Simulations that count as near: a quarter, but at least so many,
    pub const FEWEST: usize = 40;
    /// and at most so many: more would not be near.
    pub const MOST: usize = 150;
    /// Draws of the posterior that are weighed.
    pub const WEIGHED: usize = 500;
    /// Nearness is in posterior standard deviations, or this many of the prior where they are smaller: else nothing would be near.
    pub const LEAST_WIDTH: f64 = 0.3;
}
