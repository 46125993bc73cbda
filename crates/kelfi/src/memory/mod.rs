//! Memory: what a fit takes at its peak, what there is, and a refusal before it is taken.

mod available;
mod estimate;

pub use available::available;
pub use estimate::{kernel_means, location_scale, low_rank, operator};

use crate::Error;
use crate::error::Shortage;

/// Less than this is taken without asking.
const LITTLE: u64 = 4_000_000;

/// What takes memory, and how it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demand<'a> {
    /// What needs it.
    pub what: &'a str,
    /// Bytes at the peak, on top of what is in use.
    pub bytes: u64,
    /// Of how many simulations.
    pub simulations: usize,
    /// With how many statistics; 0 where their number plays no part.
    pub statistics: usize,
    /// What else can be done.
    pub advice: &'static str,
}

impl Demand<'_> {
    /// Refuses where there is less than needed. Where nobody knows what there is, nothing is refused.
    pub fn require(&self) -> Result<(), Error> {
        if self.bytes < LITTLE { Ok(()) } else { self.require_of(available()) }
    }

    /// The same where so many of the bytes are taken already.
    pub fn require_beyond(&self, taken: u64) -> Result<(), Error> {
        if self.bytes < LITTLE { Ok(()) } else { self.require_of(available().map(|left| left.saturating_add(taken))) }
    }

    /// The same for what is said to be there.
    pub fn require_of(&self, available: Option<u64>) -> Result<(), Error> {
        let Some(available) = available.filter(|&available| available < self.bytes) else { return Ok(()) };
        Err(Error::Memory(Box::new(Shortage {
            what: self.what.to_owned(),
            needed: size(self.bytes),
            of: self.of(),
            available: size(available),
            advice: self.advice.to_owned(),
            fitting: grouped(self.fitting(available)),
        })))
    }

    /// The bytes, for people.
    pub fn size(&self) -> String {
        size(self.bytes)
    }

    /// "30,000 simulations with 10 statistics".
    fn of(&self) -> String {
        let plural = |count: usize, word: &str| format!("{} {word}{}", grouped(count), if count == 1 { "" } else { "s" });
        match self.statistics {
            0 => plural(self.simulations, "simulation"),
            n => format!("{} with {}", plural(self.simulations, "simulation"), plural(n, "statistic")),
        }
    }

    /// How many simulations would fit, in two digits: needs grow with their square.
    fn fitting(&self, available: u64) -> usize {
        let most = self.simulations as f64 * (available as f64 / self.bytes as f64).sqrt();
        let unit = 10_f64.powf((most.max(1.0).log10().floor() - 1.0).max(0.0));
        ((most / unit).floor() * unit) as usize
    }
}

/// Bytes for people: three digits at most.
fn size(bytes: u64) -> String {
    let (value, unit) = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB")]
        .into_iter()
        .find(|(unit, _)| bytes as f64 >= *unit)
        .map_or((bytes as f64 / 1e3, "kB"), |(unit, name)| (bytes as f64 / unit, name));
    if value < 9.95 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// A count with a comma every three digits.
fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let parts: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|part| std::str::from_utf8(part).expect("digits are ASCII")).collect();
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(bytes: u64) -> Demand<'static> {
        Demand { what: "the location-scale model", bytes, simulations: 30_000, statistics: 10, advice: "use another" }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_figures_and_how_many_would_fit() {
        let message = demand(31_000_000_000).require_of(Some(23_400_000_000)).unwrap_err().to_string();
        assert_eq!(
            message,
            "the location-scale model needs about 31 GB of memory for 30,000 simulations with 10 statistics; 23 GB is available\n  \
             use another, or use fewer simulations (26,000 would fit)"
        );
        assert_eq!(demand(10).require_of(Some(10)), Ok(()));
        assert_eq!(demand(u64::MAX).require_of(None), Ok(()));
    }

    #[test]
    fn sizes_and_counts_are_written_for_people() {
        assert_eq!([512, 9_940_000, 9_960_000, 1_500_000_000_000].map(size), ["0.5 kB", "9.9 MB", "10 MB", "1.5 TB"]);
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
