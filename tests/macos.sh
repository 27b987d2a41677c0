#!/usr/bin/env bash
# Lints and links the program for macOS (arm64), C sources included, and verifies its format and its signature. It was never run on
# macOS.
#
#     tests/macos.sh [check]        (just macos, just check-macos)
#
# `check` only lints, which takes a third of the time: no C is compiled, and nothing is linked.
#
# The compiler, its sources and lints are Debian's: rustc-web, rust-web-src and rust-web-clippy. zig, from PyPI, compiles C and links
# with stubs of Apple's frameworks.
set -euo pipefail

cd "$(dirname "$0")/.."
readonly TARGET=aarch64-apple-darwin

for tool in python3 cargo /usr/bin/rustc /usr/bin/clippy-driver; do
    command -v "$tool" >/dev/null || { printf 'macos: %s is missing; see the top of this file\n' "$tool" >&2; exit 1; }
done
# The folder of the program for Windows, which has the same build scripts and macros.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/windows"
# clippy's driver compiles everything and lints only our own crate.
export RUSTC=/usr/bin/rustc RUSTC_WORKSPACE_WRAPPER=/usr/bin/clippy-driver CLIPPY_ARGS="-Dwarnings__CLIPPY_HACKERY__" RUSTC_BOOTSTRAP=1
if [ "${1:-}" = check ]; then
    tools=$(mktemp -d)
    trap 'rm -rf "$tools"' EXIT
    # A compiler and an archiver that write empty files.
    printf '#!/bin/sh\nwhile [ $# -gt 0 ]; do [ "$1" != -o ] || : > "$2"; shift; done\n' >"$tools/cc"
    printf '#!/bin/sh\nfor word; do case $word in *.a) : > "$word" ;; esac; done\n' >"$tools/ar"
    chmod +x "$tools/cc" "$tools/ar"
    CC_aarch64_apple_darwin="$tools/cc" AR_aarch64_apple_darwin="$tools/ar" \
        cargo check --locked -Zbuild-std=std,panic_abort --target "$TARGET"
    exit
fi
{
    read -r zig
    read -r flags
} < <(cd deploy/package && python3 -B -c "import release; print(release.zig()); print(release.flags('$TARGET', {}))" | tail -n 2)
# rustc would need Xcode to strip the program.
PATH="$zig:$PATH" SDKROOT=/ CARGO_PROFILE_DEV_STRIP=false CARGO_TARGET_AARCH64_APPLE_DARWIN_RUSTFLAGS="$flags" \
    CARGO_ZIGBUILD_CACHE_DIR="$CARGO_TARGET_DIR/zigbuild" \
    cargo-zigbuild build --locked -Zbuild-std=std,panic_abort --target "$TARGET"
python3 -B deploy/package/macho.py "$TARGET" "$CARGO_TARGET_DIR/$TARGET/debug/lsp-tools"
