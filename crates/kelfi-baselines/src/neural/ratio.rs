//! A classifier that tells pairs (x, z) of the model from pairs that were shuffled: its logit is ln p(x|z)/p(x).

use super::network::Network;
use super::training::{HELD_OUT, Training};
use kelfi::method::Task;
use kelfi::{Error, Points};

const RATE: f64 = 2e-3;
const EPOCHS: usize = 500;

/// The classifier.
pub struct Ratio {
    network: Network,
    statistics: usize,
}

impl Ratio {
    /// Trains on pairs; shuffled ones are made anew every epoch.
    pub fn train(task: &Task<'_>, x: &Points, z: &Points, hidden: usize, round: u64) -> Result<Self, Error> {
        let (m, statistics) = (z.rows(), x.columns());
        let mut network = Network::new(&[statistics + z.columns(), hidden, hidden, 1], task.seed.wrapping_add(round));
        network.soften_output(0.1);
        let held_out = ((HELD_OUT * m as f64) as usize).max(2).min(m / 2);
        let trained = m - held_out;
        if trained < 2 {
            return Err(Error::invalid("number of successful simulations", m as f64, "a classifier needs at least 4; allow more calls"));
        }
        let pair = |i: usize, j: usize| [x.row(i), z.row(j)].concat();
        let loss_held_out = |network: &Network| -> f64 {
            let of_one = |i: usize| {
                let partner = trained + (i - trained + held_out / 2) % held_out;
                logistic_loss(network.forward(&pair(i, i)).output()[0], 1.0).0
                    + logistic_loss(network.forward(&pair(i, partner)).output()[0], 0.0).0
            };
            (trained..m).map(of_one).sum()
        };
        let plan = Training { rate: RATE, epochs: EPOCHS, trained, stream: 2 + round };
        plan.run(task, &mut network, loss_held_out, |network, batch, gradient| {
            for (k, &i) in batch.iter().enumerate() {
                // The batch is in random order, so the next one is any other; a batch of one takes any other pair.
                let partner = if batch.len() > 1 { batch[(k + 1) % batch.len()] } else { (i + 1) % trained };
                for (input, label) in [(pair(i, i), 1.0), (pair(i, partner), 0.0)] {
                    let pass = network.forward(&input);
                    let slope = logistic_loss(pass.output()[0], label).1 / batch.len() as f64;
                    network.backward(&pass, &[slope], gradient);
                }
            }
        })?;
        Ok(Self { network, statistics })
    }

    /// ln p(x|z)/p(x) and its slope in z.
    pub fn ln_ratio(&self, x: &[f64], z: &[f64]) -> (f64, Vec<f64>) {
        let pass = self.network.forward(&[x, z].concat());
        let mut ignored = vec![0.0; self.network.parameters.len()];
        let slope = self.network.backward(&pass, &[1.0], &mut ignored);
        (pass.output()[0], slope[self.statistics..].to_vec())
    }
}

/// −ln of the probability of the label, and its slope in the logit.
fn logistic_loss(logit: f64, label: f64) -> (f64, f64) {
    let ln_one_plus = if logit > 0.0 { logit + (-logit).exp().ln_1p() } else { logit.exp().ln_1p() };
    (ln_one_plus - label * logit, 1.0 / (1.0 + (-logit).exp()) - label)
}
