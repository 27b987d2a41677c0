#!/bin/sh
# The tests that `cargo test` leaves out because each takes seconds: those marked `#[ignore = "slow: just slow"]`, and the corpus of
# fuzzing. What is given restricts them: tests/slow.sh changes:: install::
set -eu

cd "$(dirname "$0")/.."

# The names of the functions behind the marks. They are unique, and no other ignored test has one of them in its name.
names=$(find src tests -name '*.rs' -exec awk '
    /#\[ignore = "slow: just slow"\]/ { marked = 1; next }
    marked && match($0, /fn [a-z0-9_]+/) { print substr($0, RSTART + 3, RLENGTH - 3); marked = 0 }
' {} +)
[ -n "$names" ] || { echo "slow.sh: no test is marked as slow" >&2; exit 1; }

if [ $# -gt 0 ]; then
    # libtest takes any of several names; a path and a name at once it does not.
    exec cargo test --lib --test integration -- --ignored "$@"
fi
# shellcheck disable=SC2086
cargo test --lib --test integration -- --ignored $names
cargo test --test fuzz_corpus
