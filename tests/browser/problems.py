"""Problem files for the pages: a simulator that fails in places, and names that try to break the page."""

import json

# A long-lived simulator: one JSON line each way.
WORKER = """
import json, random, sys
for line in sys.stdin:
    task = json.loads(line)
    theta, noise = list(task["parameters"].values()), random.Random(task["seed"])
    print(json.dumps(simulate(theta, noise)), flush=True)
"""

# Where both parameters are large the statistics are infinite, so that failures have something to show.
BANANA = """
def simulate(theta, noise):
    if sum(theta) > 1.8:
        return {"statistics": [float("nan"), float("nan")]}
    return {"statistics": [theta[0] + noise.gauss(0, 0.4), theta[1] + theta[0] ** 2 + noise.gauss(0, 0.4)]}
"""

HOSTILE = """
def simulate(theta, noise):
    return {"statistics": [theta[k % 20] + noise.gauss(0, 0.5) for k in range(50)]}
"""


def hostile(k):
    """A name that is markup, quotes, emoji, long, or full of commas."""
    return [f"<script>alert({k})</script>", f"\"quotes' & </title></script> {k}", f"🦋 émoji ✨ {k}", f"{k}" + "long" * 50, f"with, comma; `tick` $HOME {k}"][k % 5]


def failing_problem(folder, python):
    parameters = [("a", "{ normal = { mean = 0.0, std = 1.0 } }"), ("b", "{ normal = { mean = 0.0, std = 1.0 } }")]
    return write(folder, "banana", "two parameters", 400, python, BANANA, parameters, {"first": 0.2, "second": 0.9})


def hostile_problem(folder, python):
    parameters = [(hostile(k), "{ normal = { mean = 0.0, std = 1.0 } }") for k in range(20)]
    observed = {hostile(k + 100): 0.1 * (k % 7) for k in range(50)}
    return write(folder, "hostile", hostile(0), 400, python, HOSTILE, parameters, observed)


def write(folder, name, title, simulations, python, simulator, parameters, observed):
    """Writes the simulator and its problem file; the file's path."""
    text = lambda value: json.dumps(value, ensure_ascii=False)
    program = folder / f"{name}.py"
    program.write_text(simulator + WORKER, encoding="utf-8")
    lines = [f"name = {text(title)}", f"simulations = {simulations}", "[simulator]", f"command = [{text(python)}, {text(str(program))}]", 'protocol = "worker"']
    for parameter, prior in parameters:
        lines += ["[[parameter]]", f"name = {text(parameter)}", f"prior = {prior}"]
    lines += ["[observation.values]"] + [f"{text(statistic)} = {value}" for statistic, value in observed.items()]
    path = folder / f"{name}.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
