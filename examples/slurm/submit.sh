#!/bin/sh
# Asks for simulations, runs them as a Slurm array, tells the results and infers. Usage: sh submit.sh [how many]
# Without Slurm the same tasks run here, one after the other.
set -eu
cd "$(dirname "$0")"
kelfi=${KELFI:-kelfi}
out=${OUT:-cluster}
count=${1:-200}

mkdir -p "$out/results"
"$kelfi" ask problem.toml -o "$out" -n "$count" >"$out/tasks.csv"
if command -v sbatch >/dev/null; then
    sbatch --wait --array="1-$count" --export="ALL,OUT=$out" array.sh
else
    task=1
    while [ "$task" -le "$count" ]; do
        OUT=$out SLURM_ARRAY_TASK_ID=$task sh array.sh
        task=$((task + 1))
    done
fi
{ echo "index,end,log_spread" && cat "$out"/results/*.csv; } >"$out/told.csv"
"$kelfi" tell "$out" "$out/told.csv"
"$kelfi" learn "$out"
"$kelfi" sample "$out"
