#!/usr/bin/env bash
# Lints and links the program for macOS (arm64), C sources included, and verifies its format and its signature. It was never run on
# macOS.
#
#     tests/macos.sh        (just macos)
#
# The compiler, its sources and lints are Debian's: rustc-web, rust-web-src and rust-web-clippy. zig, from PyPI, compiles C and links
# with stubs of Apple's frameworks.
set -euo pipefail

cd "$(dirname "$0")/.."
readonly TARGET=aarch64-apple-darwin

for tool in python3 cargo /usr/bin/rustc /usr/bin/clippy-driver; do
    command -v "$tool" >/dev/null || { printf 'macos: %s is missing; see the top of this file\n' "$tool" >&2; exit 1; }
done
{
    read -r zig
    read -r flags
} < <(cd deploy/package && python3 -B -c "import release; print(release.zig()); print(release.flags('$TARGET', {}))" | tail -n 2)
# The folder of the program for Windows, which has the same build scripts and macros.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/windows"
# rustc would need Xcode to strip the program. clippy's driver compiles everything and lints only our own crate.
PATH="$zig:$PATH" SDKROOT=/ CARGO_PROFILE_DEV_STRIP=false CARGO_TARGET_AARCH64_APPLE_DARWIN_RUSTFLAGS="$flags" \
    RUSTC=/usr/bin/rustc RUSTC_WORKSPACE_WRAPPER=/usr/bin/clippy-driver CLIPPY_ARGS="-Dwarnings__CLIPPY_HACKERY__" \
    RUSTC_BOOTSTRAP=1 CARGO_ZIGBUILD_CACHE_DIR="$CARGO_TARGET_DIR/zigbuild" \
    cargo-zigbuild build --locked -Zbuild-std=std,panic_abort --target "$TARGET"
python3 -B deploy/package/macho.py "$TARGET" "$CARGO_TARGET_DIR/$TARGET/debug/lsp-tools"
