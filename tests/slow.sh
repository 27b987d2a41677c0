#!/bin/sh
# The tests that `cargo test` leaves out because each takes seconds: those marked `#[ignore = "slow: just slow"]`, and the corpus of
# fuzzing. What is given restricts them: tests/slow.sh changes:: install::
set -eu

cd "$(dirname "$0")/.."

# The names of the functions behind the marks.
names=$(find src tests -name '*.rs' -exec awk '
    /#\[ignore = "slow: just slow"\]/ { marked = 1; next }
    marked && match($0, /fn [a-z0-9_]+/) { print substr($0, RSTART + 3, RLENGTH - 3); marked = 0 }
' {} +)
[ -n "$names" ] || { echo "slow.sh: no test is marked as slow" >&2; exit 1; }

if [ $# -gt 0 ]; then
    # libtest takes any of several names; a path and a name at once it does not.
    exec cargo test --lib --test integration -- --ignored "$@"
fi
# libtest takes a part of a name as well, which would run what another recipe is for.
marked=$(echo "$names" | wc -l)
# shellcheck disable=SC2086
found=$(cargo test --lib --test integration -- --ignored --list $names | grep -c ': test$')
[ "$found" = "$marked" ] ||
    { echo "slow.sh: $marked tests are marked, and their names fit $found; none may be a part of another's" >&2; exit 1; }
# shellcheck disable=SC2086
cargo test --lib --test integration -- --ignored $names
cargo test --test fuzz_corpus
