#!/bin/sh
# Installs the program of a release into ~/.local/bin, or into DIR/bin.
#
#     sh install.sh FROM [DIR]
#
# FROM is the address of the release's files, or a folder with them. Nothing is installed unless the archive for this machine has its hash
# in the release's SHA256SUMS. Needs curl or wget for an address, tar, gzip, and sha256sum or shasum.
set -eu

fail() {
    printf 'lsp-tools: %s\n' "$@" >&2
    exit 1
}

has() {
    command -v "$1" >/dev/null 2>&1
}

# Writes a file of the release to a path.
fetch() {
    case $from in
        http://* | https://*)
            if has curl; then
                curl --fail --silent --show-error --location --output "$2" "$from/$1"
            elif has wget; then
                wget -q -O "$2" "$from/$1"
            else
                fail "neither curl nor wget is installed; install one, or download the release and name its folder"
            fi
            ;;
        *) cp -- "$from/$1" "$2" ;;
    esac || fail "$from/$1 cannot be read"
}

hash_of() {
    if has sha256sum; then
        sum=$(sha256sum "$1")
    elif has shasum; then
        sum=$(shasum -a 256 "$1")
    else
        fail "neither sha256sum nor shasum is installed, so the download cannot be verified"
    fi
    echo "${sum%% *}"
}

# The target triple. Programs for musl are statically linked, so they also run where the C library is unknown.
triple() {
    case $(uname -m) in
        x86_64 | amd64) cpu=x86_64 ;;
        aarch64 | arm64) cpu=aarch64 ;;
        *) fail "there is no program for $(uname -m), only for x86_64 and aarch64" ;;
    esac
    case $(uname -s) in
        Linux) ;;
        Darwin)
            echo "$cpu-apple-darwin"
            return
            ;;
        *) fail "this is $(uname -s), and there are programs for Linux and macOS only" ;;
    esac
    case $(getconf GNU_LIBC_VERSION 2>/dev/null) in
        glibc*) libc=gnu ;;
        *) libc=musl ;;
    esac
    echo "$cpu-unknown-linux-$libc"
}

[ $# = 1 ] || [ $# = 2 ] || fail "say where the release is: install.sh FROM [DIR]; FROM is an address or a folder"
from=${1%/}
bin=${2:-${HOME:?}/.local}/bin
kind=$(triple)
archive=lsp-tools-$kind.tar.gz

work=$(mktemp -d)
new=$bin/.lsp-tools.$$
trap 'rm -rf "$work" "$new"' EXIT
trap 'exit 1' HUP INT TERM
fetch SHA256SUMS "$work/SHA256SUMS"
expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$work/SHA256SUMS")
[ -n "$expected" ] || fail "the release has no $archive, by its SHA256SUMS"
fetch "$archive" "$work/$archive"
found=$(hash_of "$work/$archive")
[ "$found" = "$expected" ] || fail "$archive has the SHA-256 hash $found, not $expected; nothing was installed"

tar -xzf "$work/$archive" -C "$work"
mkdir -p "$bin"
cp "$work/lsp-tools/lsp-tools" "$new"
version=$("$new" --version) || fail "the program for $kind does not run on this machine; nothing was installed"
# Replaces the program in one step, since a running program cannot be overwritten.
mv -f "$new" "$bin/lsp-tools"
echo "installed $version as $bin/lsp-tools"
case :$PATH: in
    *":$bin:"*) ;;
    *) echo "$bin is not on PATH; add it, or call the program by its path" ;;
esac
