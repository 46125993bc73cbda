//! Checksums that tell rot and edits apart from what was written: FNV-1a, 64 bits.
//!
//! Each step h ← (h ⊕ byte) · p is a bijection of h (p is odd), so a change of a single byte, and with it every flipped bit, always
//! changes the sum; any other change goes unnoticed with probability 2⁻⁶⁴. No protection from forgery.
//! Written out here, since stores hold these sums: a crate's hash may change with its version.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// A checksum in the making.
#[derive(Debug, Clone, Copy)]
pub struct Checksum(u64);

impl Default for Checksum {
    fn default() -> Self {
        Self(OFFSET)
    }
}

impl Checksum {
    /// The sum of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::default().bytes(bytes)
    }

    /// Goes on with these bytes.
    #[must_use]
    pub fn bytes(self, bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(self.0, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(PRIME)))
    }

    /// Goes on with a field: its length first, so that nothing can move from one field to the next; a missing one differs from an
    /// empty one.
    #[must_use]
    pub fn field(self, field: Option<&[u8]>) -> Self {
        match field {
            None => self.bytes(&[0]),
            Some(bytes) => self.bytes(&[1]).bytes(&(bytes.len() as u64).to_le_bytes()).bytes(bytes),
        }
    }

    /// The number.
    pub fn value(self) -> u64 {
        self.0
    }

    /// As 16 hexadecimal digits.
    pub fn hex(self) -> String {
        format!("{:016x}", self.0)
    }

    /// The sum of a whole file's contents, read in pieces.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        let (mut file, mut sum, mut piece) = (File::open(path)?, Self::default(), vec![0; 1 << 16]);
        loop {
            match file.read(&mut piece)? {
                0 => return Ok(sum),
                read => sum = sum.bytes(&piece[..read]),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_published_fnv_1a() {
        assert_eq!(Checksum::of(b"").hex(), "cbf29ce484222325");
        assert_eq!(Checksum::of(b"a").hex(), "af63dc4c8601ec8c");
        assert_eq!(Checksum::of(b"foobar").hex(), "85944171f73967e8");
    }

    #[test]
    fn every_flipped_bit_changes_it() {
        let text = *b"[0.30000000000000004] and so on";
        for at in 0..8 * text.len() {
            let mut flipped = text;
            flipped[at / 8] ^= 1 << (at % 8);
            assert_ne!(Checksum::of(&flipped).value(), Checksum::of(&text).value());
        }
    }

    #[test]
    fn fields_do_not_run_into_each_other() {
        let two = |a: Option<&str>, b: &str| Checksum::default().field(a.map(str::as_bytes)).field(Some(b.as_bytes())).value();
        assert_ne!(two(Some("ab"), "c"), two(Some("a"), "bc"));
        assert_ne!(two(None, "c"), two(Some(""), "c"));
    }
}
