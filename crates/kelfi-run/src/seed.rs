//! The seeds a simulator is given: 31 bits, which every generator takes, and all 64.

use crate::store::{Record, Source, StoredProblem};
use kelfi::random::{Purpose, stream};
use rand::Rng;

/// The largest short seed, 2³¹ - 1: what awk's `srand`, C's `atoi`, R's `set.seed` and NumPy's legacy seed all keep apart.
pub const LARGEST: u64 = (1 << 31) - 1;

/// The key in a problem's text that says how many bits its seeds have; stores without it were made with 64.
pub const KEY: &str = "seed_bits";

/// Rounds of the permutation below; four make it indistinguishable from chance, two more cost nothing.
const ROUNDS: usize = 6;

/// The simulator's 64-bit seed for simulation `index` of the run with this seed.
pub fn simulator_seed(run_seed: u64, index: u64) -> u64 {
    stream(run_seed, Purpose::Simulator, index).next_u64()
}

/// The simulator's seed in 1..=2³¹-1 for simulation `index` of the run with this seed. For a run it is a permutation of the indices
/// below 2³¹-1, so that no two of them share a seed; drawn at random, 100,000 simulations would share two or three.
pub fn short_seed(run_seed: u64, index: u64) -> u64 {
    let mut generator = stream(run_seed, Purpose::Simulator, u64::MAX);
    let keys: [u64; ROUNDS] = std::array::from_fn(|_| generator.next_u64());
    // A permutation of 0..2³², walked on until it comes back to the range, is one of the range.
    let mut value = (index % LARGEST) as u32;
    loop {
        value = permuted(value, &keys);
        if u64::from(value) < LARGEST {
            return u64::from(value) + 1;
        }
    }
}

/// A Feistel network: (left, right) → (right, left ⊕ f(right)), which can be undone whatever f is.
fn permuted(value: u32, keys: &[u64; ROUNDS]) -> u32 {
    let (left, right) = keys.iter().fold(((value >> 16) as u16, value as u16), |(left, right), key| (right, left ^ round(right, *key)));
    (u32::from(left) << 16) | u32::from(right)
}

/// Sixteen well-mixed bits of a half and a key (the finaliser of SplitMix64).
fn round(half: u16, key: u64) -> u16 {
    let mut bits = key ^ u64::from(half).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (bits ^ (bits >> 31)) as u16
}

/// What a simulator's `seed` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Seeds {
    /// 1..=2³¹-1, all different within a run.
    #[default]
    Short,
    /// All 64 bits, as in stores made before there were short ones.
    Wide,
}

impl Seeds {
    /// What the seeds of a store with this problem are.
    pub fn of(problem: &StoredProblem) -> Self {
        let text = serde_json::from_str::<serde_json::Value>(&problem.text).ok();
        if text.and_then(|text| text.get(KEY)?.as_u64()) == Some(31) { Self::Short } else { Self::Wide }
    }

    /// The problem with the seeds that these records have, for a store whose own problem is lost.
    pub(crate) fn told_by<'a>(records: impl Iterator<Item = &'a Record>, problem: &StoredProblem) -> StoredProblem {
        let mut seeds = records.filter(|record| record.source == Source::Run).filter_map(|record| record.seed);
        let text = serde_json::from_str::<serde_json::Value>(&problem.text).ok();
        match text {
            Some(serde_json::Value::Object(mut keys)) if seeds.any(|seed| seed > LARGEST) => {
                keys.remove(KEY);
                StoredProblem { text: serde_json::Value::from(keys).to_string(), ..problem.clone() }
            }
            _ => problem.clone(),
        }
    }

    /// The seed of simulation `index`.
    pub fn seed(self, run_seed: u64, index: u64) -> u64 {
        match self {
            Self::Short => short_seed(run_seed, index),
            Self::Wide => simulator_seed(run_seed, index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn seeds_are_pure_functions_of_run_seed_and_index() {
        for seed in [simulator_seed, short_seed] {
            assert_eq!(seed(1, 7), seed(1, 7));
            assert_ne!(seed(1, 7), seed(1, 8));
            assert_ne!(seed(1, 7), seed(2, 7));
        }
    }

    #[test]
    fn three_hundred_thousand_short_seeds_are_all_different_and_within_31_bits() {
        let seeds: HashSet<u64> = (0..300_000).map(|index| short_seed(3, index)).collect();
        assert_eq!(seeds.len(), 300_000, "drawn at random, about 20 pairs would be equal");
        assert!(seeds.iter().all(|seed| (1..=LARGEST).contains(seed)));
        // The ends of the range and beyond are seeds too.
        for index in [LARGEST - 1, LARGEST, u64::MAX] {
            assert!((1..=LARGEST).contains(&short_seed(3, index)));
        }
    }

    #[test]
    fn every_bit_of_short_seeds_is_set_half_of_the_time_and_neighbours_are_unrelated() {
        let seeds: Vec<u64> = (0..20_000).map(|index| short_seed(1, index)).collect();
        // The standard deviation of each share is 0.0035.
        for bit in 0..31 {
            let share = |values: &mut dyn Iterator<Item = u64>| values.filter(|value| value >> bit & 1 == 1).count() as f64 / 20_000.0;
            let (alone, pairs) = (share(&mut seeds.iter().copied()), share(&mut seeds.windows(2).map(|pair| pair[0] ^ pair[1])));
            assert!((alone - 0.5).abs() < 0.02 && (pairs - 0.5).abs() < 0.02, "bit {bit}: {alone} {pairs}");
        }
    }

    #[test]
    fn a_store_says_itself_what_its_seeds_are() {
        let with = |text: &str| Seeds::of(&StoredProblem { text: text.into(), parameters: vec![], statistics: vec![], seed: 1 });
        assert_eq!(with(r#"{"seed_bits":31}"#), Seeds::Short);
        assert_eq!((with("{}"), with("plain text"), with(r#"{"seed_bits":64}"#)), (Seeds::Wide, Seeds::Wide, Seeds::Wide));
    }
}
