//! Adam (Kingma & Ba, ICLR 2015): gradient steps of a size that is learned for every parameter.

/// Decay of the memories of gradients and of their squares.
const MEMORY: (f64, f64) = (0.9, 0.999);
const TINY: f64 = 1e-8;

/// The memories and the rate.
#[derive(Debug, Clone)]
pub struct Adam {
    rate: f64,
    first: Vec<f64>,
    second: Vec<f64>,
    steps: i32,
}

impl Adam {
    /// For so many parameters.
    pub fn new(parameters: usize, rate: f64) -> Self {
        Self { rate, first: vec![0.0; parameters], second: vec![0.0; parameters], steps: 0 }
    }

    /// One step down the gradient.
    pub fn step(&mut self, parameters: &mut [f64], gradient: &[f64]) {
        self.steps += 1;
        let correct = (1.0 - MEMORY.0.powi(self.steps), 1.0 - MEMORY.1.powi(self.steps));
        for i in 0..parameters.len() {
            self.first[i] = MEMORY.0 * self.first[i] + (1.0 - MEMORY.0) * gradient[i];
            self.second[i] = MEMORY.1 * self.second[i] + (1.0 - MEMORY.1) * gradient[i] * gradient[i];
            parameters[i] -= self.rate * (self.first[i] / correct.0) / ((self.second[i] / correct.1).sqrt() + TINY);
        }
    }
}
