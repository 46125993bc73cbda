//! Damaged versions of a good file, the same ones for the same seed: what every parser has to survive.

use crate::random::{Purpose, stream};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Pieces that parsers stumble over.
const PIECES: [&[u8]; 24] = [
    b"\0",
    b"\x1b[31m",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\r\n",
    b"\"",
    b"'",
    b",,,",
    b"[[[[[[[[[[[[[[[[",
    b"((((((((((((((((",
    b"{{{{{{{{{{{{{{{{",
    b"}",
    b"]",
    b"\\u0000",
    b"nan",
    b"-inf",
    b"1e999",
    b"-1",
    b"0",
    b"18446744073709551616",
    b"1e-320",
    b"null",
    b"\xe2\x80\xae",
    b"=",
];

/// An endless supply of damaged versions of `good`.
pub struct Mutations<'a> {
    good: &'a [u8],
    rng: ChaCha8Rng,
}

impl<'a> Mutations<'a> {
    /// Of this file.
    pub fn of(good: &'a [u8], seed: u64) -> Self {
        Self { good, rng: stream(seed, Purpose::Experiment, 0) }
    }

    /// A place in so many bytes.
    fn place(&mut self, length: usize) -> usize {
        self.rng.random_range(0..length.max(1))
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let (at, length) = (self.place(bytes.len()), self.rng.random_range(1..40));
        let end = (at + length).min(bytes.len());
        match self.rng.random_range(0..8) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << self.rng.random_range(0..8),
            1 if !bytes.is_empty() => bytes[at] = self.rng.random(),
            2 => drop(bytes.drain(at.min(bytes.len())..end)),
            3 => bytes.truncate(at),
            4 => {
                let again = bytes[at.min(end)..end].repeat(self.rng.random_range(2..50));
                bytes.splice(at.min(end)..at.min(end), again);
            }
            5 => {
                let (from, to) = (self.place(bytes.len()), at.min(bytes.len()));
                let part: Vec<u8> = bytes[from.min(bytes.len())..(from + length).min(bytes.len()).max(from.min(bytes.len()))].to_vec();
                bytes.splice(to..to, part);
            }
            _ => {
                let piece = PIECES[self.rng.random_range(0..PIECES.len())].repeat(self.rng.random_range(1..4));
                bytes.splice(at.min(end)..(at + self.rng.random_range(0..3)).clamp(at.min(end), end), piece);
            }
        }
    }
}

impl Iterator for Mutations<'_> {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let mut bytes = self.good.to_vec();
        for _ in 0..self.rng.random_range(1..5) {
            self.change(&mut bytes);
        }
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_various_and_the_same_for_the_same_seed() {
        let good = b"name = \"a\"\n[observation]\nvalues = { x = 1.5 }\n";
        let some: Vec<Vec<u8>> = Mutations::of(good, 1).take(500).collect();
        assert!(some.iter().filter(|bytes| bytes[..] != good[..]).count() > 450);
        assert!(
            some == Mutations::of(good, 1).take(500).collect::<Vec<_>>() && some != Mutations::of(good, 2).take(500).collect::<Vec<_>>()
        );
        assert_eq!(Mutations::of(b"", 1).take(100).count(), 100);
    }
}
