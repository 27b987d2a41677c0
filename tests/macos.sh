#!/usr/bin/env bash
# Lints the program for macOS (arm64), which shows that it compiles. Nothing is linked or run: `just release-files` links it; it was
# never run on macOS.
#
#     tests/macos.sh        (just macos)
#
# The compiler, its sources and lints are Debian's: rustc-web, rust-web-src and rust-web-clippy. zig, from PyPI, compiles C.
set -euo pipefail

cd "$(dirname "$0")/.."
readonly TARGET=aarch64-apple-darwin

for tool in python3 cargo /usr/bin/rustc /usr/bin/clippy-driver; do
    command -v "$tool" >/dev/null || { printf 'macos: %s is missing; see the top of this file\n' "$tool" >&2; exit 1; }
done
zig=$(cd deploy/package && python3 -B -c 'import release; print(release.zig())' | tail -n 1)
# The folder of the program for Windows, which has the same build scripts and macros.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/windows"
PATH="$zig:$PATH" SDKROOT=/ RUSTC=/usr/bin/rustc RUSTC_WORKSPACE_WRAPPER=/usr/bin/clippy-driver \
    CLIPPY_ARGS="-Dwarnings__CLIPPY_HACKERY__" RUSTC_BOOTSTRAP=1 CARGO_ZIGBUILD_CACHE_DIR="$CARGO_TARGET_DIR/zigbuild" \
    cargo-zigbuild check --locked -Zbuild-std=std,panic_abort --target "$TARGET"
