//! Simulations at the same θ: what one of them says about its own output is known from the others, so they are left out together.

use crate::{Error, Points};
use std::collections::HashMap;

/// Which simulations were made at the same θ.
#[derive(Debug, Clone, PartialEq)]
pub struct SameTheta {
    /// The group of each simulation.
    group_of: Vec<usize>,
    /// The simulations of each group, in their order; groups in the order of their first one.
    groups: Vec<Vec<usize>>,
}

impl SameTheta {
    /// Rows of `theta` that are equal in every coordinate.
    pub fn new(theta: &Points) -> Self {
        let mut known: HashMap<Vec<u64>, usize> = HashMap::with_capacity(theta.rows());
        let (mut group_of, mut groups) = (Vec::with_capacity(theta.rows()), Vec::<Vec<usize>>::new());
        for (i, row) in theta.iter().enumerate() {
            // -0 and 0 are the same number.
            let key = row.iter().map(|value| (value + 0.0).to_bits()).collect();
            let group = *known.entry(key).or_insert(groups.len());
            if group == groups.len() {
                groups.push(vec![]);
            }
            groups[group].push(i);
            group_of.push(group);
        }
        Self { group_of, groups }
    }

    /// All simulations at the θ of simulation `i`, itself among them.
    pub fn with(&self, i: usize) -> &[usize] {
        &self.groups[self.group_of[i]]
    }

    /// The first simulation at every θ.
    pub fn firsts(&self) -> Vec<usize> {
        self.groups.iter().map(|group| group[0]).collect()
    }

    /// How many different θ there are.
    pub fn count(&self) -> usize {
        self.groups.len()
    }
}

/// An error if several simulations were all made at one θ: they cannot say how outputs follow it.
pub fn require_different(theta: &Points) -> Result<(), Error> {
    let same = theta.rows() > 1 && theta.iter().all(|row| row == theta.row(0));
    if same {
        return Err(Error::OneTheta { count: theta.rows() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_stand_together_whatever_the_sign_of_zero() {
        let theta = Points::from_rows(&[[1.0, 0.0], [2.0, 0.0], [1.0, -0.0], [1.0, 0.5], [2.0, 0.0]]).unwrap();
        let same = SameTheta::new(&theta);
        assert_eq!((same.with(2), same.with(4), same.with(3)), (&[0, 2][..], &[1, 4][..], &[3][..]));
        assert_eq!((same.firsts(), same.count()), (vec![0, 1, 3], 3));
    }

    #[test]
    fn simulations_at_one_theta_are_refused_and_a_single_one_or_two_values_are_not() {
        let column = |values: &[f64]| Points::from_column(values.to_vec());
        let message = require_different(&column(&[0.5; 4])).unwrap_err().to_string();
        assert!(message.contains("every simulation (4 in all) was made at the same parameters"), "{message}");
        assert!(require_different(&column(&[0.5])).is_ok() && require_different(&column(&[0.5, 0.5, 0.6])).is_ok());
    }
}
