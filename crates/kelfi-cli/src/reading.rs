//! Files of users and strangers, read up to a limit: a device or a pipe without end is refused instead of filling the memory.

use crate::failure::Failure;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Longest problem file or observation: what people write by hand is a thousand times shorter.
pub const WRITTEN_BY_HAND: u64 = 16_000_000;
/// Longest table of simulations and longest model.
pub const MADE_BY_PROGRAMS: u64 = 8_000_000_000;

/// The bytes of a file with at most `limit` of them, or of stdin for `-`.
pub fn bytes(path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    let unreadable = |error: std::io::Error| Failure::unreadable(path, &error);
    if path == Path::new("-") {
        return up_to(std::io::stdin().lock(), path, limit);
    }
    let file = File::open(path).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.is_dir() {
        return Err(Failure::input(format!("{} is a directory\n  give a file", path.display())));
    }
    up_to(file, path, limit)
}

/// The same as text.
pub fn text(path: &Path, limit: u64) -> Result<String, Failure> {
    String::from_utf8(bytes(path, limit)?).map_err(|error| {
        let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
        Failure::input(format!("{}:{line}: the file is not UTF-8\n  save it as UTF-8 text", path.display()))
    })
}

fn up_to(reader: impl Read, path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    // A file that is larger than the memory ends like one that is larger than the limit.
    let limit = kelfi::memory::available().map_or(limit, |available| limit.min(available / 4));
    let mut bytes = Vec::new();
    reader.take(limit + 1).read_to_end(&mut bytes).map_err(|error| Failure::unreadable(path, &error))?;
    if bytes.len() as u64 > limit {
        let shown = path.display();
        return Err(Failure::input(format!("{shown} is longer than {limit} bytes, the most that is read\n  give a shorter file")));
    }
    Ok(bytes)
}
