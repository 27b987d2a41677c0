#!/usr/bin/env bash
# Runs the official MCP conformance suite against our server with the suite's fixtures (server/): both requirement sets, over HTTP
# and, through bridge.mjs, over standard streams. Scenarios without fixtures run against the program itself. Then the MCP Inspector
# (`--strict`) checks that all hosts can use every schema of the full tool list. Fails if a required scenario fails or the Inspector
# reports a finding.
#
#   tests/conformance/run.sh            all
#   tests/conformance/run.sh http       a part: http, stdio, ordinary, strict
#
# Node, the suite and the Inspector come from npm, pinned, into target/conformance.
set -euo pipefail

cd "$(dirname "$0")/../.."
readonly ROOT=$PWD HOME_OF_SUITE=$PWD/target/conformance
readonly SUITE=@modelcontextprotocol/conformance@0.2.0-alpha.12 NODE=node@24
readonly INSPECTOR=@modelcontextprotocol/inspector@2.12.0
readonly SETS=(2025-11-25 2026-07-28)
# Scenarios of the HTTP transport itself: over standard streams they would test the bridge.
readonly OF_HTTP=(dns-rebinding-protection server-session-lifecycle server-sse-polling server-sse-multiple-streams
    http-header-validation http-custom-header-server-validation tasks-request-headers)
# Scenarios that every server must pass without fixtures.
readonly WITHOUT_FIXTURES=(server-initialize ping tools-list resources-list prompts-list caching sep-2164-resource-not-found
    input-required-result-unsupported-methods)

fail() {
    printf 'conformance: %s\n' "$*" >&2
    exit 1
}

install_suite() {
    mkdir -p "$HOME_OF_SUITE"
    local done=$HOME_OF_SUITE/installed-$NODE-${SUITE##*@}-${INSPECTOR##*@}
    if [ ! -e "$done" ]; then
        npm install --silent --no-fund --no-audit --prefix "$HOME_OF_SUITE" "$NODE" "$SUITE" "$INSPECTOR"
        touch "$done"
    fi
    node=$HOME_OF_SUITE/node_modules/node/bin/node
    suite=$HOME_OF_SUITE/node_modules/@modelcontextprotocol/conformance/dist/index.js
    inspector=$HOME_OF_SUITE/node_modules/.bin/mcp-inspector
    [ -x "$node" ] && [ -f "$suite" ] && [ -f "$inspector" ] ||
        fail "npm has not installed $NODE, $SUITE and $INSPECTOR into $HOME_OF_SUITE"
}

server_pid=
scene=
stop() {
    if [ -n "$server_pid" ]; then
        kill "$server_pid" 2>/dev/null || true
        wait "$server_pid" 2>/dev/null || true
        server_pid=
    fi
    [ -z "$scene" ] || rm -rf "$scene"
    scene=
}
trap stop EXIT

# Creates a separate workspace.
stage() {
    stop
    scene=$(mktemp -d)
    mkdir "$scene/project" "$scene/state" "$scene/config" "$scene/cache" "$scene/data"
    export LSP_TOOLS_STATE_DIR=$scene/state LSP_TOOLS_CONFIG_DIR=$scene/config LSP_TOOLS_CACHE_DIR=$scene/cache
    export LSP_TOOLS_DATA_DIR=$scene/data
}

# Starts the server there, on the port that it prints on its first line.
start() {
    stage
    local -a command=("$fixtures" http)
    case $1 in
        stdio) command=("$node" "$ROOT/tests/conformance/bridge.mjs" "$fixtures") ;;
        ordinary) command=("$node" "$ROOT/tests/conformance/bridge.mjs" "$server" mcp --no-daemon) ;;
    esac
    (cd "$scene/project" && exec "${command[@]}") >"$scene/out" 2>&1 &
    server_pid=$!
    for _ in $(seq 200); do
        url=$(grep -om1 'http://127.0.0.1:[0-9]*/mcp' "$scene/out" || true)
        [ -z "$url" ] || return 0
        kill -0 "$server_pid" 2>/dev/null || fail "the server ended: $(tail -5 "$scene/out")"
        sleep 0.1
    done
    fail "the server does not listen"
}

# Runs one requirement set on one transport.
check() {
    local transport=$1 set=$2 log=$HOME_OF_SUITE/$1-$2.txt
    start "$transport"
    "$node" "$suite" server --url "$url" --requirements "$set" -o "$HOME_OF_SUITE/results/$transport-$set" >"$log" 2>&1 || true
    local only=
    [ "$transport" != ordinary ] || only=${WITHOUT_FIXTURES[*]}
    ONLY=$only SKIPPED="${OF_HTTP[*]}" "$node" "$ROOT/tests/conformance/verdict.mjs" "$transport" "$set" "$log"
}

# Runs the Inspector's command line for one method; findings make it fail.
inspect() {
    (cd "$scene/project" && MCP_CATALOG_PATH=$scene/catalog.json MCP_INSPECTOR_SECRET_STORE=memory \
        "$node" "$inspector" --cli "${target[@]}" "$@" --format json) >"$log" 2>&1 </dev/null ||
        { tail -40 "$log" >&2 && fail "the Inspector has findings: $*"; }
}

# Checks all tool schemas for hosts of every kind, and that a skill's files match its manifest, in both protocol versions.
check_strictly() {
    local era log=$HOME_OF_SUITE/strict.txt
    stage
    # The Inspector does not pass on environment variables.
    local -a target=(env "LSP_TOOLS_STATE_DIR=$scene/state" "LSP_TOOLS_CONFIG_DIR=$scene/config"
        "LSP_TOOLS_CACHE_DIR=$scene/cache" "LSP_TOOLS_DATA_DIR=$scene/data" "$server" mcp --no-daemon --profile all)
    mkdir -p "$scene/config/skills/tidy"
    printf -- '---\nname: tidy\ndescription: Tidies up.\nlicense: MIT\n---\n# Tidy\n' >"$scene/config/skills/tidy/SKILL.md"
    for era in legacy modern; do
        inspect --protocol-era "$era" --method tools/list --strict -q
        inspect --protocol-era "$era" --method skills/list --verify
        grep -q '"outcome":"verified"' "$log" || fail "the Inspector has not seen the skill"
        printf 'strict %s: every schema is usable, every skill matches its manifest\n' "$era"
    done
}

main() {
    local -a parts=("$@")
    [ $# -gt 0 ] || parts=(http stdio ordinary strict)
    install_suite
    cargo build --quiet --bin lsp-tools --example conformance-server
    local built failed=0
    built=$(cd "${CARGO_TARGET_DIR:-target}/debug" && pwd)
    server=$built/lsp-tools fixtures=$built/examples/conformance-server
    for part in "${parts[@]}"; do
        if [ "$part" = strict ]; then
            check_strictly
            continue
        fi
        for set in "${SETS[@]}"; do
            check "$part" "$set" || failed=1
        done
    done
    [ "$failed" = 0 ] || fail "not all required scenarios passed; the suite's output is in $HOME_OF_SUITE"
}

main "$@"
