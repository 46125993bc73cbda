//! The pictures of the README and the book: `cargo run --release -p kelfi-report --example pictures -- docs/src/pictures`.

mod location_scale;
mod rounds;

use anyhow::Context;
use std::path::Path;

fn main() -> anyhow::Result<()> {
    let folder = std::env::args().nth(1).context("give a folder")?;
    let write = |name: &str, bytes: &[u8]| {
        let path = Path::new(&folder).join(name);
        std::fs::write(&path, bytes).with_context(|| format!("{} could not be written", path.display()))
    };
    write("location-scale.svg", location_scale::picture()?.standalone().as_bytes())?;
    write("rounds.png", &rounds::picture()?.png()?)
}
