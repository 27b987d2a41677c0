#!/usr/bin/env bash
# Tests a build without Linux-only features, like on other Unix systems.
#
#     tests/portable.sh [FILTER…]        (just portable)
#
# Left out are tests of features that such systems lack, above all the sandbox: without it, their commands could kill any process.
set -euo pipefail

cd "$(dirname "$0")/.."
export LSP_TOOLS_PORTABLE=1
# Separate from the program that hosts may have registered by its path.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target/portable}"
filters=("$@")
[ $# -gt 0 ] || filters=(edit_tools:: explore:: faults:: file_tools:: first_contact:: mounted:: process:: symbol_names::)
for filter in "${filters[@]}"; do
    case $filter in
        attacks* | bash_tool* | kill* | limits*) echo "portable: $filter needs Linux's sandbox" >&2 && exit 2 ;;
    esac
done
cargo test --lib
cargo test --test integration -- "${filters[@]}" --skip attacks:: --skip bash_tool:: --skip kill:: --skip limits::
