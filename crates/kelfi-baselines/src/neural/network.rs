//! A feed-forward network with tanh units: values, and gradients by the chain rule.

use kelfi::random::{Purpose, standard_normal, stream};

/// Layers of weights; the last is linear.
#[derive(Debug, Clone)]
pub struct Network {
    sizes: Vec<usize>,
    /// Weights of each layer row after row, then its offsets.
    pub parameters: Vec<f64>,
}

/// What a pass through the network leaves for the way back.
#[derive(Debug, Clone)]
pub struct Pass {
    /// Values of every layer, the input first.
    layers: Vec<Vec<f64>>,
}

impl Pass {
    /// What the network said.
    pub fn output(&self) -> &[f64] {
        self.layers.last().map_or(&[], Vec::as_slice)
    }
}

impl Network {
    /// Layers of these sizes, input and output included; weights N(0, 1/inputs), offsets 0.
    pub fn new(sizes: &[usize], seed: u64) -> Self {
        let mut rng = stream(seed, Purpose::Search, 0);
        let mut parameters = vec![];
        for pair in sizes.windows(2) {
            let scale = (pair[0] as f64).sqrt().recip();
            parameters.extend((0..pair[0] * pair[1]).map(|_| scale * standard_normal(&mut rng)));
            parameters.extend(std::iter::repeat_n(0.0, pair[1]));
        }
        Self { sizes: sizes.to_vec(), parameters }
    }

    /// The last layer's weights are multiplied by this: a small start says little.
    pub fn soften_output(&mut self, factor: f64) {
        let last = self.sizes.len() - 2;
        let (start, end) = (self.start(last), self.start(last) + self.sizes[last] * self.sizes[last + 1]);
        self.parameters[start..end].iter_mut().for_each(|w| *w *= factor);
    }

    fn start(&self, layer: usize) -> usize {
        self.sizes.windows(2).take(layer).map(|pair| (pair[0] + 1) * pair[1]).sum()
    }

    /// Values of every layer.
    pub fn forward(&self, input: &[f64]) -> Pass {
        let mut layers = vec![input.to_vec()];
        for layer in 0..self.sizes.len() - 1 {
            let (inputs, outputs) = (self.sizes[layer], self.sizes[layer + 1]);
            let start = self.start(layer);
            let weights = &self.parameters[start..start + inputs * outputs];
            let offsets = &self.parameters[start + inputs * outputs..start + (inputs + 1) * outputs];
            let from = &layers[layer];
            let linear = |k: usize| offsets[k] + weights[k * inputs..(k + 1) * inputs].iter().zip(from).map(|(w, v)| w * v).sum::<f64>();
            let last = layer + 2 == self.sizes.len();
            let values = (0..outputs).map(|k| if last { linear(k) } else { linear(k).tanh() }).collect();
            layers.push(values);
        }
        Pass { layers }
    }

    /// Adds to `gradient` that of a loss whose slope in the outputs is `slope`; the slope in the inputs is returned.
    pub fn backward(&self, pass: &Pass, slope: &[f64], gradient: &mut [f64]) -> Vec<f64> {
        let mut slope = slope.to_vec();
        for layer in (0..self.sizes.len() - 1).rev() {
            let (inputs, outputs) = (self.sizes[layer], self.sizes[layer + 1]);
            let start = self.start(layer);
            let from = &pass.layers[layer];
            let mut below = vec![0.0; inputs];
            for k in 0..outputs {
                let row = start + k * inputs;
                for i in 0..inputs {
                    gradient[row + i] += slope[k] * from[i];
                    below[i] += slope[k] * self.parameters[row + i];
                }
                gradient[start + inputs * outputs + k] += slope[k];
            }
            if layer > 0 {
                below.iter_mut().zip(from).for_each(|(slope, value)| *slope *= 1.0 - value * value);
            }
            slope = below;
        }
        slope
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_in_parameters_and_inputs_are_derivatives() {
        let network = Network::new(&[3, 5, 4, 2], 1);
        let input = [0.3, -0.8, 1.1];
        let loss = |network: &Network, input: &[f64]| network.forward(input).output().iter().map(|v| v * v).sum::<f64>();
        let pass = network.forward(&input);
        let slope: Vec<f64> = pass.output().iter().map(|v| 2.0 * v).collect();
        let mut gradient = vec![0.0; network.parameters.len()];
        let inputs = network.backward(&pass, &slope, &mut gradient);
        for k in 0..gradient.len() {
            let moved = |by: f64| {
                let mut network = network.clone();
                network.parameters[k] += by;
                loss(&network, &input)
            };
            let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!((gradient[k] - difference).abs() < 1e-7, "{k}: {} {difference}", gradient[k]);
        }
        for d in 0..3 {
            let moved = |by: f64| {
                let mut input = input;
                input[d] += by;
                loss(&network, &input)
            };
            assert!((inputs[d] - (moved(1e-6) - moved(-1e-6)) / 2e-6).abs() < 1e-7);
        }
    }
}
