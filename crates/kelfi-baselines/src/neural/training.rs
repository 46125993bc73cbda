//! Adam on minibatches until simulations held out are predicted no better.

use super::adam::Adam;
use super::network::Network;
use crate::chains::path::go_on;
use kelfi::Error;
use kelfi::method::Task;
use kelfi::random::{Purpose, stream};
use rand::RngExt;

/// Share of the simulations that training stops by.
pub const HELD_OUT: f64 = 0.1;
const BATCH: usize = 100;
/// Epochs without progress on what is held out before training stops.
const PATIENCE: usize = 30;

/// How a network is trained.
#[derive(Debug, Clone, Copy)]
pub struct Training {
    /// Adam's rate.
    pub rate: f64,
    /// Epochs at most.
    pub epochs: usize,
    /// The first so many simulations are trained on; the others are held out.
    pub trained: usize,
    /// Which random numbers the order of the batches takes.
    pub stream: u64,
}

impl Training {
    /// Leaves the network with the parameters that were best on what is held out. `add_gradient` adds that of the mean loss over a batch of
    /// indices.
    pub fn run(
        &self,
        task: &Task<'_>,
        network: &mut Network,
        loss_held_out: impl Fn(&Network) -> f64,
        add_gradient: impl Fn(&Network, &[usize], &mut [f64]),
    ) -> Result<(), Error> {
        let mut rng = stream(task.seed, Purpose::Search, self.stream);
        let mut order: Vec<usize> = (0..self.trained).collect();
        let mut adam = Adam::new(network.parameters.len(), self.rate);
        let (mut best, mut kept, mut since) = (loss_held_out(network), network.parameters.clone(), 0);
        for _ in 0..self.epochs {
            go_on(task)?;
            (1..order.len()).rev().for_each(|i| order.swap(i, rng.random_range(0..=i)));
            for batch in order.chunks(BATCH) {
                let mut gradient = vec![0.0; network.parameters.len()];
                add_gradient(network, batch, &mut gradient);
                adam.step(&mut network.parameters, &gradient);
            }
            let now = loss_held_out(network);
            if now < best {
                (best, kept, since) = (now, network.parameters.clone(), 0);
            } else if since == PATIENCE {
                break;
            } else {
                since += 1;
            }
        }
        network.parameters = kept;
        Ok(())
    }
}
