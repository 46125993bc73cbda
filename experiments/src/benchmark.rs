//! Files of the benchmark package sbibm 1.1.0, fetched at run time and never committed: observations, reference samples; and the C2ST.

use anyhow::{Context, Result, ensure};
use kelfi::Points;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the package is, and a Python to unpack it and to classify with.
#[derive(clap::Args)]
pub struct Benchmark {
    /// A Python with pip and scikit-learn [default: a virtual environment made beside the package].
    #[arg(long)]
    pub python: Option<PathBuf>,
    /// Where the package is unpacked.
    #[arg(long, default_value = "target/sbibm")]
    pub cache: PathBuf,
}

impl Benchmark {
    /// Downloads and unpacks the package once.
    pub fn fetch(&self) -> Result<()> {
        if self.cache.join("sbibm/tasks").is_dir() {
            return Ok(());
        }
        std::fs::create_dir_all(&self.cache)?;
        let python = self.python()?;
        let pip = ["-m", "pip", "download", "--quiet", "--no-deps", "sbibm==1.1.0", "-d"];
        let status = Command::new(&python).args(pip).arg(&self.cache).status()?;
        ensure!(status.success(), "could not download sbibm 1.1.0 with {}", python.display());
        let mut files = std::fs::read_dir(&self.cache)?.filter_map(Result::ok).map(|entry| entry.path());
        let wheel = files.find(|path| path.extension().is_some_and(|e| e == "whl")).context("the download left no wheel")?;
        let status = Command::new(&python).args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&self.cache).status()?;
        ensure!(status.success(), "could not unpack {}", wheel.display());
        Ok(())
    }

    /// A Python to unpack and classify with.
    fn python(&self) -> Result<PathBuf> {
        self.python.clone().map_or_else(|| self.environment("venv", &["numpy", "scikit-learn"]), Ok)
    }

    /// The Python of a virtual environment with these packages, made once.
    pub fn environment(&self, name: &str, packages: &[&str]) -> Result<PathBuf> {
        let (folder, done) = (self.cache.join(name), self.cache.join(format!("{name}-is-complete")));
        let python = std::path::absolute(folder.join("bin/python"))?;
        if done.exists() {
            return Ok(python);
        }
        eprintln!("[experiments] installing {} in {}", packages.join(", "), folder.display());
        let made = Command::new("python3").args(["-m", "venv"]).arg(&folder).status().context("could not start python3")?;
        ensure!(made.success(), "python3 cannot make a virtual environment; install its venv module, or name a Python by an option");
        let installed = Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(packages).status()?;
        ensure!(installed.success(), "pip could not install {}; name a Python that has it by an option", packages.join(", "));
        std::fs::write(&done, packages.join("\n"))?;
        Ok(python)
    }

    fn folder(&self, task: &str, observation: usize) -> PathBuf {
        self.cache.join(format!("sbibm/tasks/{task}/files/num_observation_{observation}"))
    }

    /// The observation with this number.
    pub fn observation(&self, task: &str, observation: usize) -> Result<Vec<f64>> {
        let path = self.folder(task, observation).join("observation.csv");
        let text = std::fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))?;
        let row = text.lines().nth(1).context("an observation file has two lines")?;
        row.split(',').map(|cell| cell.trim().parse().with_context(|| format!("{cell:?} is not a number"))).collect()
    }

    /// A file of ours beside the package.
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.cache.join(format!("{name}-{}.csv", std::process::id()))
    }

    /// Classifier two-sample test between samples in a file and as many of the reference: 0.5 is perfect.
    pub fn c2st(&self, samples: &Path, task: &str, observation: usize) -> Result<f64> {
        self.c2st_by("mlp", samples, task, observation)
    }

    /// The same by one of the script's classifiers: `mlp` or `forest`.
    pub fn c2st_by(&self, classifier: &str, samples: &Path, task: &str, observation: usize) -> Result<f64> {
        let reference = self.folder(task, observation).join("reference_posterior_samples.csv.bz2");
        let output = Command::new(self.python()?).arg(peer("c2st.py")).arg(samples).arg(reference).arg(classifier).output()?;
        ensure!(output.status.success(), "the C2ST script failed: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().parse().context("the C2ST script printed no number")
    }
}

/// A script among the peers.
pub fn peer(script: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("peers").join(script)
}

/// A table of numbers below a header.
pub fn write_points(path: &Path, names: &[String], points: &Points) -> Result<()> {
    let mut text = names.join(",") + "\n";
    for row in points.iter() {
        text += &(row.iter().map(|v| format!("{v:e}")).collect::<Vec<_>>().join(",") + "\n");
    }
    std::fs::write(path, text).with_context(|| format!("could not write {}", path.display()))
}
