#!/bin/sh
# From arguments to the model's files and back. Replace the `awk` line by, say: Rscript model.R "$folder"
set -eu
here=$(pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf 'rate %s\ncapacity %s\nseed %s\n' "$1" "$2" "$3" >"$folder/parameters.txt"
(cd "$folder" && awk -f "$here/model.awk")
cat "$folder/result.txt"
