#!/usr/bin/env bash
# Fuzzing: fuzz/run.sh MINUTES [TARGET...] runs each target for that time;
# fuzz/run.sh keep [TARGET...] adds interesting inputs to fuzz/seeds.
set -euo pipefail

# Unlike Rust programs, a fuzzer does not ignore SIGPIPE: writing to a closed connection would end
# it.
trap '' PIPE

cd "$(dirname "$0")"
readonly FOUND=target/corpus TROUBLE=target/trouble SEEDS=target/seeds
readonly PROGRAM=target/x86_64-unknown-linux-gnu/release/all
# Longer inputs are dropped, so that the seeds in git stay small.
readonly KEPT_BYTES=400

[ $# -gt 0 ] || { sed -n '2,3s/^# //p' "$0"; exit 2; }
what=$1
shift
if [ $# -gt 0 ]; then
    targets=("$@")
else
    targets=($(basename -s .txt seeds/*.txt))
fi
rm -rf "$SEEDS"
python3 seeds.py unpack "$SEEDS"

# The library is safe Rust: debug assertions find more than an address sanitizer, at lower cost.
cargo +nightly fuzz build -s none all

try() {
    local target=$1 seconds=$2
    mkdir -p "$FOUND/$target" "$TROUBLE/$target"
    printf '\n== %s: %d s\n' "$target" "$seconds"
    FUZZ_TARGET=$target nice -n 10 "$PROGRAM" -fork=1 -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 \
        -timeout=30 -rss_limit_mb=3000 -max_len=4096 -max_total_time="$seconds" -print_final_stats=1 \
        -artifact_prefix="$TROUBLE/$target/" "$FOUND/$target" "$SEEDS/$target" 2>&1 |
        grep -E '^#[0-9]+: .*|panicked at|^Slowest' | tail -n 3
}

keep() {
    local target=$1
    mkdir -p "$FOUND/$target"
    # Inputs that only reach known code more often are dropped.
    FUZZ_TARGET=$target "$PROGRAM" -merge=1 -use_counters=0 -max_len="$KEPT_BYTES" "$SEEDS/$target" "$FOUND/$target" 2>&1 |
        grep -E 'MERGE-OUTER: .* new files'
}

for target in "${targets[@]}"; do
    if [ "$what" = keep ]; then keep "$target"; else try "$target" $((what * 60)); fi
done
[ "$what" != keep ] || python3 seeds.py pack "$SEEDS"
trouble=$(find "$TROUBLE" -type f 2>/dev/null | sort)
if [ -n "$trouble" ]; then
    printf '\nfailing inputs; fix the cause, and add each to fuzz/seeds (seeds.py):\n%s\n' "$trouble"
    exit 1
fi
