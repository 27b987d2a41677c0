#!/usr/bin/env bash
# Installs lsp-tools and the language servers that a check in CI needs.
#
# Variables:
#   LSP_TOOLS_VERSION  the version, exactly: 0.1.0. Where it is installed already, nothing is fetched
#   LSP_TOOLS_PACKAGE  a wheel (a file or an address) in the place of PyPI's
#   LSP_TOOLS_SERVERS  languages and servers, with spaces between: python ruff
#   LSP_TOOLS_HOME     the folder that the program is put into, ~/.lsp-tools-ci by default
set -euo pipefail

home=${LSP_TOOLS_HOME:-$HOME/.lsp-tools-ci}

fail() {
    printf 'lsp-tools: %s\n' "$@" >&2
    exit 2
}

[[ ${LSP_TOOLS_VERSION:-} =~ ^[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*$ ]] ||
    fail "LSP_TOOLS_VERSION names no version; give one, 0.1.0, so that every run has the same"

if [ "$(lsp-tools --version 2>/dev/null)" != "lsp-tools $LSP_TOOLS_VERSION" ]; then
    python3 -m venv "$home"
    "$home/bin/pip" install --quiet --disable-pip-version-check "${LSP_TOOLS_PACKAGE:-lsp-tools==$LSP_TOOLS_VERSION}"
    export PATH="$home/bin:$PATH"
    found=$(lsp-tools --version)
    [ "$found" = "lsp-tools $LSP_TOOLS_VERSION" ] || fail "installed was $found, wanted $LSP_TOOLS_VERSION"
    # For the steps that follow on GitHub; GitLab runs them in one shell, which has to know the folder itself.
    [ -z "${GITHUB_PATH:-}" ] || printf '%s\n' "$home/bin" >>"$GITHUB_PATH"
fi

read -r -a servers <<<"${LSP_TOOLS_SERVERS:-}"
if [ "${#servers[@]}" != 0 ]; then
    lsp-tools install -- "${servers[@]}"
fi
