"""Infections in a village of 250, day by day. Reads one JSON object a line, answers with one that has the same index."""

import json
import math
import random
import sys

PEOPLE, DAYS = 250, 80


def some_of(count, probability, generator):
    """How many of `count` people something happens to, each with this probability."""
    return sum(generator.random() < probability for _ in range(count))


def epidemic(infection, recovery, generator):
    susceptible, infected, total = PEOPLE - 5, 5, 5
    peak, peak_day = infected, 0
    for day in range(1, DAYS + 1):
        new = some_of(susceptible, 1.0 - math.exp(-infection * infected / PEOPLE), generator)
        healed = some_of(infected, 1.0 - math.exp(-recovery), generator)
        susceptible, infected, total = susceptible - new, infected + new - healed, total + new
        if infected > peak:
            peak, peak_day = infected, day
    return {"log_total": math.log(total), "peak_day": peak_day, "log_peak": math.log(peak)}


for line in sys.stdin:
    task = json.loads(line)
    statistics = epidemic(**task["parameters"], generator=random.Random(task["seed"]))
    print(json.dumps({"index": task["index"], "statistics": statistics}), flush=True)
