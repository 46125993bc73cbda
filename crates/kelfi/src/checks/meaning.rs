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
const MEANINGS: [Meaning; 22] = [
    Meaning {
        name: "range",
        question: "Is every observed statistic among the simulated values?",
        advice: "Compare units and the order of the statistics with those of the observation. If they are right, the simulator or the prior cannot produce this observation: fix the model or widen the prior.",
    },
    Meaning {
        name: "negative_mass",
        question: "Is the posterior a proper density?",
        advice: "Simulate at least twice as many, and let the hyperparameters be learned if you fixed them.",
    },
    Meaning {
        name: "support",
        question: "Was anything like the observation simulated?",
        advice: "First compare the observation with the simulated statistics: a unit or a sign may be wrong. If it is right, widen the prior or fix the model; if only few simulations come near, simulate more there.",
    },
    Meaning {
        name: "dependence",
        question: "Do the statistics vary together as the model assumes?",
        advice: "Give fewer statistics that say more: a mean and a standard deviation instead of raw draws. Or simulate near the posterior found so far and fit to those simulations alone.",
    },
    Meaning {
        name: "conditioning",
        question: "Does the arithmetic keep enough digits?",
        advice: "Use a larger regularisation or a shorter length scale, or let both be learned.",
    },
    Meaning {
        name: "failed_simulations",
        question: "Did the simulator run?",
        advice: "Read the messages of the failures and fix the simulator, or narrow the prior to where it works.",
    },
    Meaning {
        name: "shared_values",
        question: "Do many simulations share a value?",
        advice: "Look at what the simulator does there: a code for a failure, such as -999, is better left out as a failed simulation. If the values are real, simulate more.",
    },
    Meaning {
        name: "noise",
        question: "Does the simulator have noise?",
        advice: "Add the error of the observation to the simulated statistics: without it the posterior only shows what the fit does not know.",
    },
    Meaning {
        name: "tail",
        question: "Does the answer rest on simulated noise?",
        advice: "Compare the observation with the prior, which it seems to contradict, and check its units. If both are right, simulate more near the observation.",
    },
    Meaning {
        name: "prior_draws",
        question: "Do the simulations cover the prior?",
        advice: "Draw the simulated parameters from the prior, or give the prior that they were drawn from. A posterior outside of what was simulated is a guess.",
    },
    Meaning {
        name: "chains",
        question: "Did the chains find the same posterior?",
        advice: "Run again with another seed: what changes is uncertain, above all how much separate parts of the posterior weigh. If it changes much, simulate more.",
    },
    Meaning {
        name: "modes",
        question: "Is the posterior in one piece?",
        advice: "Do not use the mean: it lies between the modes, where the posterior may have nothing. Look at the marginals or at samples.",
    },
    Meaning {
        name: "effective_simulations",
        question: "Would more simulations change the answer?",
        advice: "Simulate more before relying on it, best near the posterior found so far, or leave out statistics that hardly matter.",
    },
    Meaning { name: "hyperparameter_at_bound", question: "Did learning settle inside its range?", advice: "Simulate more." },
    Meaning {
        name: "calibration",
        question: "Do the intervals have the coverage they claim?",
        advice: "Simulate more, best near the observation.",
    },
    Meaning {
        name: "predictive",
        question: "Would the fitted model produce the observation?",
        advice: "Look at the statistics named here: fix the model where it cannot produce them, or leave them out and say so.",
    },
    Meaning {
        name: "region",
        question: "Does the simulated region hold the posterior?",
        advice: "The posterior may go on beyond the region: simulate another round.",
    },
    Meaning {
        name: "missed_mode",
        question: "Did the rounds miss a mode?",
        advice: "The posterior may have parts elsewhere: simulate more, or run with one round and compare.",
    },
    Meaning {
        name: "rounds",
        question: "Has the posterior settled from round to round?",
        advice: "Simulate another round before relying on it.",
    },
    Meaning {
        name: "simulator",
        question: "Did one simulator make all simulations?",
        advice: "If the change altered what it computes, the posterior mixes two simulators: simulate again.",
    },
    Meaning { name: "lost_simulations", question: "Are all simulations still there?", advice: "Tell or import them again." },
    Meaning { name: "outside_prior", question: "Does the prior allow the simulated parameters?", advice: "" },
];
