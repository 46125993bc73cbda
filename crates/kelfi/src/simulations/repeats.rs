//! Outputs that are k independent repeats of the same d statistics: k·d numbers, repeat by repeat.

use super::Simulations;
use crate::Error;

impl Simulations {
    /// The same, every output so many independent repeats of the same statistics. 1 says that there are none; without a word about them a model
    /// may recognise some.
    pub fn with_repeats(self, repeats: usize) -> Result<Self, Error> {
        self.with_told_repeats(Some(repeats))
    }

    pub(super) fn with_told_repeats(mut self, repeats: Option<usize>) -> Result<Self, Error> {
        require_whole(self.statistics(), repeats.unwrap_or(1))?;
        self.repeats = repeats;
        Ok(self)
    }

    /// How many independent repeats an output is.
    pub fn repeats(&self) -> usize {
        self.repeats.unwrap_or(1)
    }

    /// The same, if somebody said so.
    pub fn told_repeats(&self) -> Option<usize> {
        self.repeats
    }

    /// How many statistics a repeat has.
    pub fn statistics_each(&self) -> usize {
        self.statistics() / self.repeats()
    }
}

/// An error where so many numbers are not so many repeats of the same statistics.
pub fn require_whole(numbers: usize, repeats: usize) -> Result<(), Error> {
    if repeats == 0 {
        return Err(Error::invalid("repeats", 0.0, "an output is at least one repeat"));
    }
    if !numbers.is_multiple_of(repeats) {
        let requirement =
            format!("an output has {numbers} numbers, which are not {repeats} repeats of the same statistics; give a divisor of {numbers}");
        return Err(Error::invalid("repeats", repeats as f64, requirement));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Points;

    fn simulations() -> Simulations {
        let x = Points::new((0..12).map(f64::from).collect(), 2, 6).unwrap();
        Simulations::new(Points::from_column(vec![0.1, 0.2]), x).unwrap()
    }

    #[test]
    fn repeats_divide_the_numbers_of_an_output() {
        assert_eq!(simulations().with_repeats(3).unwrap().statistics_each(), 2);
        for (repeats, said) in [(0, "at least one repeat"), (4, "6 numbers, which are not 4 repeats")] {
            let message = simulations().with_repeats(repeats).unwrap_err().to_string();
            assert!(message.contains(said), "{message}");
        }
    }

    #[test]
    fn a_part_and_a_file_keep_them_and_files_without_have_one() {
        let told = simulations().with_repeats(2).unwrap();
        assert_eq!(told.select(&[1]).unwrap().repeats(), 2);
        let json = serde_json::to_string(&told).unwrap();
        assert_eq!(serde_json::from_str::<Simulations>(&json).unwrap(), told);
        let before = serde_json::to_string(&simulations()).unwrap();
        assert!(!before.contains("repeats"));
        assert_eq!(serde_json::from_str::<Simulations>(&before).unwrap().repeats(), 1);
        assert!(serde_json::from_str::<Simulations>(&json.replace("\"repeats\":2", "\"repeats\":5")).is_err());
    }
}
