#!/bin/bash
# run.sh BUILD [--smoke] [--seconds N] [--corpus DIR] [TARGET...]: runs the fuzz targets, 60 s each with --smoke, else 600 s.
# Findings stay in BUILD/fuzz/findings; executions are printed at the end.
set -euo pipefail
build=$(realpath "$1"); shift
here=$(dirname "$(realpath "$0")")
seconds=600 corpus="" targets=()
while [ $# -gt 0 ]; do
  case "$1" in
    --smoke) seconds=60 ;;
    --seconds) seconds=$2; shift ;;
    --corpus) corpus=$2; shift ;;
    *) targets+=("$1") ;;
  esac
  shift
done
[ ${#targets[@]} -gt 0 ] || targets=(zip pickle legacy safetensors dcp)
seeds=$(mktemp -d); trap 'rm -rf "$seeds"' EXIT
python3 "$here/make_seeds.py" "$seeds" $corpus
mkdir -p "$build/fuzz/findings"
total=0 failed=0
for target in "${targets[@]}"; do
  mkdir -p "$build/fuzz/corpus/$target" "$seeds/$target"
  log="$build/fuzz/$target.log"
  longest=32768
  [ "$target" != dcp ] || longest=8192
  if ! "$build/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=512 -malloc_limit_mb=192 -max_len=$longest -print_final_stats=1 \
      -artifact_prefix="$build/fuzz/findings/$target-" "$build/fuzz/corpus/$target" "$seeds/$target" >"$log" 2>&1; then
    failed=1
    grep -m5 -E "ERROR|runtime error|SUMMARY" "$log" || tail -5 "$log"
  fi
  runs=$(sed -n 's/stat::number_of_executed_units: *//p' "$log" | tail -1)
  echo "$target: ${runs:-0} executions"
  total=$((total + ${runs:-0}))
done
echo "$total executions in all"
exit $failed
