#!/usr/bin/env bash
# The demo: a project with six short runs, one of them broken on purpose. Called by `./dev demo` after the build.
#   --article    instead: a training script and its move to four processes with four mistakes, recorded by the probe, and
#                both again with the mistakes mended
#   --dir DIR    where the project goes (default build/demo; an old demo there is replaced)
#   --headless   no window even where there is a display
set -euo pipefail
cd "$(dirname "$0")/.."
cli=build/bin/lockstep-cli
dir=build/demo
headless=no
article=no
[ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || headless=yes
while [ $# -gt 0 ]; do
  case "$1" in
    --dir) dir=$2; shift 2 ;;
    --headless) headless=yes; shift ;;
    --article) article=yes; shift ;;
    *) printf 'demo: unknown option %s\n' "$1" >&2; exit 2 ;;
  esac
done

if [ -e "$dir" ]; then
  [ -f "$dir/lockstep.db" ] || { printf 'demo: %s exists and is no Lockstep project. Choose another --dir.\n' "$dir" >&2; exit 3; }
  rm -rf "$dir"
fi
"$cli" init "$dir" --workload toy-mlp
if [ "$headless" = no ]; then
  build/bin/lockstep "$dir" &
fi

if [ "$article" = yes ]; then
  . packaging/demo_article.sh
else
  run() { "$cli" run "$dir" "$@"; }
  toy=(--workload toy-mlp --epochs 10)
  digits=(--workload digits-cnn --epochs 4 --optimizer sgd --lr 0.05)
  run "${toy[@]}" --mode single --align-world 2 --name toy-single
  run "${toy[@]}" --mode ddp --world 2 --name toy-ddp
  run "${digits[@]}" --mode single --align-world 2 --name digits-single
  run "${digits[@]}" --mode ddp --world 2 --name digits-ddp
  # One process that replays both ranks of digits-ddp and must equal it in every bit.
  run "${digits[@]}" --mode twin --world 2 --name digits-twin
  # From step 41 on the loss is multiplied by the world size: a mistake many real scripts have made.
  run "${digits[@]}" --mode ddp --world 2 --fault B2,step=41 --name digits-ddp-faulty
  pairs=("toy-single toy-ddp" "digits-twin digits-ddp" "digits-ddp digits-ddp-faulty")
fi

printf '\nVerdicts\n'
status=0
for pair in "${pairs[@]}"; do
  set -- $pair
  printf '\n%s against %s\n' "$2" "$1"
  "$cli" compare "$dir" "$1" "$2" ${3:+--mode "$3"} || status=$?
  [ "$status" -le 1 ] || exit "$status"
done

if [ "$article" = no ]; then
  printf '\nThe cause of the faulty run, proven by replay; then the first two gates of the clean one\n\n'
  "$cli" diagnose "$dir" digits-single digits-ddp-faulty --prove || [ $? -eq 1 ]
  for gate in preflight data; do "$cli" gate "$dir" "$gate" --run digits-ddp --single digits-single; done
fi

if [ "$headless" = yes ]; then
  shots=build/screenshots/demo
  mkdir -p "$shots"
  QT_QPA_PLATFORM=offscreen build/bin/lockstep --screenshots "$shots" "$dir"
  printf '\nScreenshots of the pages: %s\n' "$PWD/$shots"
else
  printf '\nThe dashboard is open on %s. Closing it stops nothing.\n' "$dir"
  wait
fi
