#!/usr/bin/env bash
# Tests the page of `lsp-tools view` in a real headless Chromium, over a working daemon with a real server: axe in light, dark and at 360 px;
# no loads from elsewhere; the keyboard; live calls. Writes docs/view-*.png.
#
#   tests/page/run.sh [PROGRAM]         by default target/debug/lsp-tools
#
# Chromium is the machine's own (Debian: apt-get install chromium; or CHROMIUM=…). puppeteer-core and axe-core come from npm, pinned, into
# target/page. PAGE_SERVERS names a folder with pyright and ruff; by default, they are installed into target/page.
set -euo pipefail

cd "$(dirname "$0")/../.."
readonly ROOT=$PWD TARGET=${CARGO_TARGET_DIR:-$PWD/target}
readonly TOOLS=$TARGET/page PROGRAM=${1:-$TARGET/debug/lsp-tools}
readonly PUPPETEER=puppeteer-core@24.9.0 AXE=axe-core@4.10.3

fail() {
    printf 'page: %s\n' "$*" >&2
    exit 1
}

browser=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
[ -n "$browser" ] || fail "Chromium is missing; install it (Debian: apt-get install chromium), or name its path: CHROMIUM=…"
[ -x "$PROGRAM" ] || fail "$PROGRAM is missing; run: cargo build"

mkdir -p "$TOOLS"
done=$TOOLS/installed-${PUPPETEER##*@}-${AXE##*@}
if [ ! -e "$done" ]; then
    npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$TOOLS" "$PUPPETEER" "$AXE"
    touch "$done"
fi

base=$(mktemp -d)
ended() {
    (cd "$base/shop" && "$PROGRAM" daemon stop >/dev/null 2>&1) || true
    rm -rf "$base"
}
trap ended EXIT
mkdir -m 700 "$base/state" "$base/cache" "$base/config" "$base/run" "$base/home" "$base/data"
export LSP_TOOLS_STATE_DIR=$base/state LSP_TOOLS_CACHE_DIR=$base/cache LSP_TOOLS_CONFIG_DIR=$base/config XDG_RUNTIME_DIR=$base/run HOME=$base/home
export LSP_TOOLS_DATA_DIR=${PAGE_SERVERS:-$TOOLS/servers}
unset LSP_TOOLS_NO_DAEMON
cp -r "$ROOT/fixtures/python" "$base/shop"
mkdir "$base/shop/.lsp-tools"
if [ -z "${PAGE_SERVERS:-}" ] && [ ! -e "$TOOLS/servers/installed" ]; then
    mkdir -p "$TOOLS/servers"
    chmod 700 "$TOOLS/servers"
    (cd "$base/shop" && "$PROGRAM" install pyright ruff)
    touch "$TOOLS/servers/installed"
fi
cd "$base/shop"
status=0
NODE_PATH=$TOOLS/node_modules node "$ROOT/tests/page/page.cjs" "$PROGRAM" "$browser" "$ROOT/docs" || status=$?
# A quarter of the size without visible loss.
if command -v pngquant >/dev/null; then
    pngquant --force --skip-if-larger --ext .png "$ROOT"/docs/view-*.png || true
fi
exit "$status"
