"""Twenty waiting times at a given rate: prints the logarithms of their mean and standard deviation."""

import argparse
import math
import random

parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float, required=True)
parser.add_argument("--seed", type=int, required=True)
arguments = parser.parse_args()

generator = random.Random(arguments.seed)
waits = [generator.expovariate(arguments.rate) for _ in range(20)]
mean = sum(waits) / len(waits)
variance = sum((wait - mean) ** 2 for wait in waits) / len(waits)
print(math.log(mean), 0.5 * math.log(variance))
