#!/usr/bin/env bash
# Installs lsp-tools and the language servers that a check in CI needs.
#
# Variables:
#   LSP_TOOLS_VERSION  the exact version, such as 0.1.0. Nothing is downloaded if it is installed
#   LSP_TOOLS_PACKAGE  a wheel (a file or an address) instead of PyPI's
#   LSP_TOOLS_SERVERS  languages and servers, separated by spaces: python ruff
#   LSP_TOOLS_HOME     the folder for the program, by default ~/.lsp-tools-ci
set -euo pipefail

home=${LSP_TOOLS_HOME:-$HOME/.lsp-tools-ci}

fail() {
    printf 'lsp-tools: %s\n' "$@" >&2
    exit 2
}

[[ ${LSP_TOOLS_VERSION:-} =~ ^[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*$ ]] ||
    fail "LSP_TOOLS_VERSION names no version; give one, 0.1.0, so that every run has the same"

if [ "$(lsp-tools --version 2>/dev/null)" != "lsp-tools $LSP_TOOLS_VERSION" ]; then
    # Isolated mode (-I) prevents imports from the checkout, which is untrusted.
    python3 -I -m venv "$home"
    "$home/bin/python" -I -m pip install --quiet --disable-pip-version-check "${LSP_TOOLS_PACKAGE:-lsp-tools==$LSP_TOOLS_VERSION}"
    export PATH="$home/bin:$PATH"
    found=$(lsp-tools --version)
    [ "$found" = "lsp-tools $LSP_TOOLS_VERSION" ] || fail "installed was $found, wanted $LSP_TOOLS_VERSION"
    # For later steps on GitHub. GitLab runs all in one shell and sets PATH itself.
    [ -z "${GITHUB_PATH:-}" ] || printf '%s\n' "$home/bin" >>"$GITHUB_PATH"
fi

read -r -a servers <<<"${LSP_TOOLS_SERVERS:-}"
if [ "${#servers[@]}" != 0 ]; then
    lsp-tools install -- "${servers[@]}"
fi
