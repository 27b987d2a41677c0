#!/bin/sh
# The tests that `cargo test` leaves out because each takes seconds: those marked `#[ignore = "slow: just slow"]`, and the fuzzing
# corpus. Parts of names select tests: tests/slow.sh changes:: install::
# With --rare, those marked `#[ignore = "rare: just rare"]`, which CI leaves out: they run before a release.
set -eu

kind=slow
[ "${1:-}" != --rare ] || { kind=rare; shift; }

cd "$(dirname "$0")/.."

# The functions with the mark.
names=$(find src tests -name '*.rs' -exec awk -v mark="#[ignore = \"$kind: just $kind\"]" '
    index($0, mark) { marked = 1; next }
    marked && match($0, /fn [a-z0-9_]+/) { print substr($0, RSTART + 3, RLENGTH - 3); marked = 0 }
' {} +)

# Their full names, so that libtest runs exactly these.
tests=$(cargo test --quiet --lib --test integration -- --ignored --list | sed -n 's/: test$//p' |
    awk -F:: -v marked="$names" '
        BEGIN { split(marked, list, "\n"); for (place in list) slow[list[place]] = 1 }
        $NF in slow { print }')
# Without names, libtest would run all ignored tests.
[ -n "$tests" ] || { echo "slow.sh: no test is marked as $kind" >&2; exit 1; }

if [ $# -gt 0 ]; then
    wanted=$(printf '%s\n' "$@")
    tests=$(echo "$tests" | grep -F "$wanted") || { echo "slow.sh: no name of a $kind test contains: $*" >&2; exit 1; }
fi
# shellcheck disable=SC2086
cargo test --lib --test integration -- --ignored --exact $tests
[ $# -gt 0 ] || [ "$kind" = rare ] || cargo test --lib -- --ignored fuzz_tests::
