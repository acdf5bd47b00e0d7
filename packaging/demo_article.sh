# The runs of `./dev demo --article`; read by demo.sh. Each is the user's own script, started as one would in a terminal.
scripts=resources/examples/article
python=$PWD/.venv/bin/python
torchrun=$PWD/.venv/bin/torchrun
probe() { local name=$1; shift; "$cli" probe "$dir" --name "$name" -- "$@"; }
probe single "$python" $scripts/train_single.py "$dir/single.pt"
probe ddp "$torchrun" --nproc-per-node 4 $scripts/train_ddp.py "$dir/ddp.pt"
probe repaired-single "$python" $scripts/repaired.py "$dir/repaired-single.pt"
probe repaired-ddp "$torchrun" --nproc-per-node 4 $scripts/repaired.py "$dir/repaired-ddp.pt"
printf '\nThe checkpoint that train_ddp.py wrote\n'
"$cli" ckpt verify "$dir/ddp.pt" || true
# One process and several add up in another order, and for scripts of one's own no envelope is measured.
pairs=("single ddp" "repaired-single repaired-ddp rel:1e-3")
