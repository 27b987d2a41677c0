#!/usr/bin/env bash
# Makes the reports of a check in CI from the log, or the logs of its parts, that check.sh left in LSP_TOOLS_REPORTS, and prints the findings:
# lsp-tools.sarif, gl-code-quality-report.json and junit.xml. It ends with the exit status that one check of everything would have had.
set -euo pipefail

reports=${LSP_TOOLS_REPORTS:-lsp-tools-reports}
shopt -s nullglob
logs=("$reports"/check*.sarif)

fail() {
    printf 'lsp-tools: %s\n' "$@" >&2
    exit 4
}

[ "${#logs[@]}" != 0 ] || fail "there is no log in $reports"
# A part whose machine died left no log, and its files are not clean for that.
last=${logs[-1]##*-of-}
if [ "$last" != "${logs[-1]}" ] && [ "${#logs[@]}" != "${last%.sarif}" ]; then
    fail "there are ${#logs[@]} logs in $reports, of ${last%.sarif} parts"
fi

status=0
as() {
    lsp-tools check --no-daemon --merge "${logs[@]}" --format "$1" || status=$?
}

as sarif >"$reports/lsp-tools.sarif"
[ -s "$reports/lsp-tools.sarif" ] || exit "$status"
as gitlab >"$reports/gl-code-quality-report.json"
as junit >"$reports/junit.xml"
if [ -n "${GITHUB_ACTIONS:-}" ]; then
    as github
else
    # In lines as compilers write them.
    as github | sed -E 's/^::([a-z]+) file=([^,]*),line=([0-9]+),col=([0-9]+)[^:]*,title=([^:]*)::(.*)$/\2:\3:\4: \1: \6 [\5]/; s/%0D//g; s/%0A/ /g; s/%2C/,/g; s/%3A/:/g; s/%25/%/g'
fi
exit "$status"
