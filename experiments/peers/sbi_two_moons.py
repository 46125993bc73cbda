"""kelfi beside sbi's neural posterior estimation on 1,000 two_moons simulations: size, import, time, accuracy, in one table.

    python experiments/peers/sbi_two_moons.py [--simulations 1000] [--samples 10000] [--seed 1] [--directory /tmp/peers]

makes two virtual environments in the directory (sbi with torch takes gigabytes), gives both methods the same simulations, and
compares their samples with exact ones by a classifier two-sample test (C2ST: 0.5 is perfect, 1.0 is useless).
"""

import argparse
import json
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROBLEM = "sbibm_two_moons"

SIMULATE = """
    import sys
    import numpy as np
    import kelfi
    problem = kelfi.problems.get(sys.argv[1])
    count, samples, seed = int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    theta, x = problem.simulate(count, seed=seed)
    reference = problem.reference_samples(samples, seed=seed)
    np.savez(sys.argv[5], theta=theta, x=x, x_o=problem.x_o, reference=reference)
"""

KELFI = """
    import sys, time
    import numpy as np
    began = time.perf_counter()
    import kelfi
    imported = time.perf_counter()
    data = np.load(sys.argv[1])
    prior = kelfi.Prior([kelfi.Uniform(-1, 1)] * 2)
    posterior = kelfi.fit(data["theta"], data["x"], data["x_o"], prior, seed=int(sys.argv[3]))
    samples = posterior.sample(len(data["reference"]), seed=int(sys.argv[3]))
    print("\\n", imported - began, time.perf_counter() - imported)
    np.save(sys.argv[2], samples)
"""

SBI = """
    import sys, time
    import numpy as np
    began = time.perf_counter()
    import torch
    from sbi.inference import NPE
    from sbi.utils import BoxUniform
    imported = time.perf_counter()
    torch.manual_seed(int(sys.argv[3]))
    data = np.load(sys.argv[1])
    tensor = lambda name: torch.as_tensor(data[name], dtype=torch.float32)
    inference = NPE(BoxUniform(-torch.ones(2), torch.ones(2)), show_progress_bars=False)
    inference.append_simulations(tensor("theta"), tensor("x")).train()
    posterior = inference.build_posterior()
    samples = posterior.sample((len(data["reference"]),), x=tensor("x_o"), show_progress_bars=False)
    print("\\n", imported - began, time.perf_counter() - imported)
    np.save(sys.argv[2], samples.numpy())
"""

# Five-fold cross-validated accuracy of a small neural network, as in sbi's benchmark.
C2ST = """
    import sys
    import numpy as np
    from sklearn.model_selection import KFold, cross_val_score
    from sklearn.neural_network import MLPClassifier
    reference, samples = np.load(sys.argv[1])["reference"], np.load(sys.argv[2])
    mean, std = reference.mean(axis=0), reference.std(axis=0)
    points = (np.concatenate([reference, samples]) - mean) / std
    labels = np.repeat([0, 1], [len(reference), len(samples)])
    network = MLPClassifier(hidden_layer_sizes=(20, 20), max_iter=1000, random_state=1)
    folds = KFold(5, shuffle=True, random_state=1)
    print(cross_val_score(network, points, labels, cv=folds, scoring="accuracy").mean())
"""


def environment(folder: Path, *requirements: str) -> Path:
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements], check=True)
    return python


def megabytes(folder: Path, base: int = 0) -> float:
    return (sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()) - base) / 1e6


def run(python: Path, code: str, *arguments: object) -> list[float]:
    command = [str(python), "-c", textwrap.dedent(code), *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    # Only the last line is ours: sbi prints as it trains.
    return [float(word) for word in done.stdout.splitlines()[-1].split()] if done.stdout else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--directory", type=Path, default=Path(tempfile.gettempdir()) / "kelfi-peers")
    given = parser.parse_args()
    given.directory.mkdir(parents=True, exist_ok=True)
    empty = environment(given.directory / "empty", "pip")
    base = int(1e6 * megabytes(empty.parents[1]))
    ours = environment(given.directory / "kelfi", str(ROOT / "python"))
    theirs = environment(given.directory / "sbi", "sbi")
    sizes = {"kelfi": megabytes(ours.parents[1], base), "sbi NPE": megabytes(theirs.parents[1], base)}

    data = given.directory / "data.npz"
    run(ours, SIMULATE, PROBLEM, given.simulations, given.samples, given.seed, data)
    rows = []
    for name, python, code in [("kelfi", ours, KELFI), ("sbi NPE", theirs, SBI)]:
        samples = given.directory / f"{name.split()[0]}.npy"
        run(python, code, data, samples, given.seed)  # once to warm the file cache and compiled files
        imported, seconds = run(python, code, data, samples, given.seed)
        (c2st,) = run(theirs, C2ST, data, samples)
        rows.append({"method": name, "MB installed": sizes[name], "import s": imported, "simulations to samples s": seconds, "C2ST": c2st})

    print(f"{PROBLEM}, {given.simulations} simulations, {given.samples} samples, seed {given.seed}")
    print("| " + " | ".join(rows[0]) + " |\n|" + "---|" * len(rows[0]))
    for row in rows:
        print("| " + " | ".join(value if isinstance(value, str) else f"{value:.3g}" for value in row.values()) + " |")
    (given.directory / "result.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
