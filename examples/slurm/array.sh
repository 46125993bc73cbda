#!/bin/sh
#SBATCH --time=00:10:00
#SBATCH --output=/dev/null
# One task of the array: its row of tasks.csv (the header is row 1) gives index, seed and parameters.
set -eu
row=$(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" "$OUT/tasks.csv")
index=$(echo "$row" | cut -d, -f1)
seed=$(echo "$row" | cut -d, -f2)
drift=$(echo "$row" | cut -d, -f3)
noise=$(echo "$row" | cut -d, -f4)

# The simulator itself; a run that fails is told with empty statistics.
result=$(awk -v drift="$drift" -v noise="$noise" -v seed="$seed" -f ../awk/walk.awk) || result=" "
echo "$index,$(echo "$result" | tr ' ' ',')" >"$OUT/results/$index.csv"
