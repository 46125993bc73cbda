//! What each check asks, and what to do where it is not answered well: one meaning a name, whichever model is asked.

/// A check's question and advice.
pub(super) struct Meaning {
    pub name: &'static str,
    pub question: &'static str,
    pub advice: &'static str,
}

/// The meaning of a check; that of a name nobody knows has no words.
pub(super) fn of(name: &str) -> &'static Meaning {
    const UNKNOWN: Meaning = Meaning { name: "", question: "", advice: "" };
    MEANINGS.iter().find(|meaning| meaning.name == name).unwrap_or(&UNKNOWN)
}

/// Every check there is.
const MEANINGS: [Meaning; 23] = [
    Meaning {
        name: "range",
        question: "Is every observed statistic among the simulated values?",
        advice: "Check that units and order of the statistics match those of the observation. If they do, the simulator or the prior cannot produce this observation: fix the model or widen the prior.",
    },
    Meaning {
        name: "negative_mass",
        question: "Is the posterior a proper density?",
        advice: "Simulate at least twice as many, and let the hyperparameters be learned if you fixed them.",
    },
    Meaning {
        name: "support",
        question: "Was anything like the observation simulated?",
        advice: "First compare the observation with the simulated statistics: a unit or a sign may be wrong. If they agree, widen the prior or fix the model; if only few simulations come near, simulate more there.",
    },
    Meaning {
        name: "dependence",
        question: "Do the statistics vary together as the model assumes?",
        advice: "Use fewer, more informative statistics, such as a mean and a standard deviation instead of raw data. Or simulate near the posterior found so far and fit to those simulations alone.",
    },
    Meaning {
        name: "conditioning",
        question: "Is the numerical precision sufficient?",
        advice: "Use a larger regularisation or a shorter length scale, or let both be learned.",
    },
    Meaning {
        name: "failed_simulations",
        question: "Did the simulator run?",
        advice: "Read the error messages and fix the simulator, or narrow the prior to where it works.",
    },
    Meaning {
        name: "shared_values",
        question: "Do many simulations share a value?",
        advice: "Look at what the simulator does there: a code for a failure, such as -999, should be reported as a failed simulation. If the values are real, simulate more.",
    },
    Meaning {
        name: "repeats",
        question: "Does the model use the repeats?",
        advice: "Use the location-scale model, whose likelihood is the product over the repeats.",
    },
    Meaning {
        name: "noise",
        question: "Does the simulator have noise?",
        advice: "Add measurement error to the simulated statistics: without it the posterior only shows the uncertainty of the fit.",
    },
    Meaning {
        name: "tail",
        question: "Is the noise at the observation covered by simulations?",
        advice: "Compare the observation with the prior, which it seems to contradict, and check its units. If both are right, simulate more near the observation.",
    },
    Meaning {
        name: "prior_draws",
        question: "Do the simulations cover the prior?",
        advice: "Draw the simulated parameters from the prior, or give the prior they were drawn from. Outside the simulated region the posterior is a guess.",
    },
    Meaning {
        name: "chains",
        question: "Do the chains agree?",
        advice: "Run again with another seed: whatever changes is uncertain, above all the weights of separate modes. If it changes a lot, simulate more.",
    },
    Meaning {
        name: "modes",
        question: "Does the posterior have one mode?",
        advice: "Do not use the mean: it lies between the modes, where the posterior may be almost zero. Look at the marginals or at samples.",
    },
    Meaning {
        name: "effective_simulations",
        question: "Would more simulations change the answer?",
        advice: "Simulate more before relying on it, preferably near the posterior found so far, or leave out uninformative statistics.",
    },
    Meaning {
        name: "hyperparameter_at_bound",
        question: "Did the search for hyperparameters stay away from its bounds?",
        advice: "Simulate more.",
    },
    Meaning {
        name: "calibration",
        question: "Do the intervals have the coverage they claim?",
        advice: "Simulate more, preferably near the observation.",
    },
    Meaning {
        name: "predictive",
        question: "Would the fitted model produce the observation?",
        advice: "Look at the statistics named here: fix the model if it cannot produce them, or leave them out and report that.",
    },
    Meaning {
        name: "region",
        question: "Does the simulated region contain the posterior?",
        advice: "The posterior may extend beyond the region: simulate another round.",
    },
    Meaning {
        name: "missed_mode",
        question: "Did the rounds miss a mode?",
        advice: "The posterior may have another mode: simulate more, or run with one round and compare.",
    },
    Meaning {
        name: "rounds",
        question: "Has the posterior converged over the rounds?",
        advice: "Simulate another round before relying on it.",
    },
    Meaning {
        name: "simulator",
        question: "Were all simulations made by the same simulator?",
        advice: "If the change affects the results, the posterior mixes two simulators: simulate again.",
    },
    Meaning {
        name: "lost_simulations",
        question: "Are all simulations still there?",
        advice: "Bring them in again with `kelfi tell` or `kelfi import`.",
    },
    Meaning { name: "outside_prior", question: "Does the prior allow the simulated parameters?", advice: "" },
];
