# What is done daily. `just` alone lists it; https://just.systems

set shell := ["bash", "-euo", "pipefail", "-c"]

# Tests wait for servers more than they compute, so more of them run at once than a small machine has cores.
export RUST_TEST_THREADS := env("RUST_TEST_THREADS", "4")

# For a shell: no folders of this machine in messages of the program. Where the component rust-src is installed, the standard library has one there.
dist_remap := "--remap-path-prefix=" + justfile_directory() + "=. --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
dist_flags := "${RUSTFLAGS:-} " + dist_remap + " --remap-path-prefix=$(rustc --print sysroot)/lib/rustlib/src/rust=rust"

_list:
    @just --list --unsorted

# does it compile?
check:
    cargo check --all-targets

# the tests that need no language server: seconds
unit:
    cargo test --lib

# everything that `cargo test` runs; real servers are installed below target/ the first time
test *ARGS:
    cargo test {{ARGS}}

# the tests that `cargo test` leaves out because each takes seconds: 11 minutes; just slow changes:: for those of one module
slow *ARGS:
    tests/slow.sh {{ARGS}}

# tests of a build without Linux's own facilities, as on macOS: just portable, just portable process::
portable *ARGS:
    tests/portable.sh {{ARGS}}

# the program for Windows, built and tried under Wine with ruff and pyright
windows:
    tests/windows.sh

# lints of the program for macOS, which show that it compiles
macos:
    tests/macos.sh

# takes over the words of help, answers and errors that have changed: look at the difference before you commit it
snapshots:
    INSTA_UPDATE=always cargo test --test integration visible_text::

# the time of each integration test, the longest first: those that take seconds belong to `just slow`
times *ARGS:
    #!/bin/sh
    set -eu
    program=$(cargo test --test integration --no-run --message-format=json-render-diagnostics |
        sed -nE 's/.*"name":"integration".*"executable":"([^"]*)".*/\1/p')
    [ -n "$program" ]
    # libtest tells times only where rustc would take unstable options; cargo would build everything anew for them.
    RUSTC_BOOTSTRAP=1 "$program" -Z unstable-options --report-time --format json {{ARGS}} |
        sed -nE 's/.*"name": "([^"]*)", "event": "(ok|failed)", "exec_time": ([0-9.]+).*/\3 \2 \1/p' | sort -rn

# format the code
fmt:
    cargo fmt

# what a change must pass before it is committed, apart from the tests
lint:
    cargo fmt --check
    cargo clippy --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --document-private-items

# does it compile for macOS? (types only: nothing is linked, and the C sources of dependencies are taken for compiled)
check-macos:
    #!/bin/sh
    set -eu
    tools=$(mktemp -d)
    trap 'rm -rf "$tools"' EXIT
    printf '#!/bin/sh\nwhile [ $# -gt 0 ]; do [ "$1" != -o ] || : > "$2"; shift; done\n' > "$tools/cc"
    printf '#!/bin/sh\nfor word; do case $word in *.a) : > "$word" ;; esac; done\n' > "$tools/ar"
    chmod +x "$tools/cc" "$tools/ar"
    rustup target add x86_64-apple-darwin
    CC_x86_64_apple_darwin=$tools/cc AR_x86_64_apple_darwin=$tools/ar cargo check --target x86_64-apple-darwin

# what CI runs, from nothing
ci:
    .ci/run

# try every server of the catalogue that installs by itself: just servers --only pylsp,ruff --trace /tmp/messages; results of the page: --record DATE
servers *ARGS:
    cargo bench --bench servers -- {{ARGS}}

# the tests of rust-analyzer and gopls, which are installed first: up to ten minutes where rust-analyzer has to be built
rust-go MODULE="":
    cargo test --test integration -- --include-ignored rust_and_go::{{MODULE}}

# the first question after a cold start beside a later one: every server and question, ten rounds; just first-question pyright 1
first-question SERVER="" ROUNDS="10":
    FIRST_QUESTION={{SERVER}} FIRST_QUESTION_ROUNDS={{ROUNDS}} cargo test --test integration first_question:: -- --ignored --nocapture

# Java's server on a small project, from the first question to an edit
java:
    cargo test --test integration java:: -- --ignored

# what one file's change does to answers about another, on every server that installs: just across-files zuban
across-files SERVER="":
    ACROSS_FILES={{SERVER}} cargo test --test integration across_files:: -- --ignored --nocapture

# whether questions about an untrusted project run code of it, on every server that installs: just looks pylsp
looks SERVER="":
    LOOKS={{SERVER}} cargo test --test integration looks::every_installable_server -- --ignored --nocapture

# 300 edits from outside on each of five servers, every answer compared with a fresh server's: minutes
soak SUBJECT="":
    cargo test --release --test integration -- soak::{{SUBJECT}} --ignored --nocapture --test-threads=1

# 600 random edits: each check that the answer store answers, against a server that has just been started: half an hour
store-soak:
    cargo test --test integration answer_store:: -- --ignored --nocapture

# twenty worktrees with twenty agents and servers that do not all fit: memory against the machine's budget, and the slowest call; just swarm pyright
swarm SERVER="":
    cargo test --test integration machine::swarm::{{SERVER}} -- --ignored --nocapture --test-threads=1

# 100,000 calls over 8 hosts and 64 callers of one daemon: throughput beside a bare client, and whether memory stays flat
soak-doors *ARGS:
    cargo bench --bench soak -- {{ARGS}}

# the official MCP suite against our server: http, stdio, ordinary, or all of them
conformance *ARGS:
    tests/conformance/run.sh {{ARGS}}

# the product against a bare client of the same server
bench *ARGS:
    cargo bench --bench lsp -- {{ARGS}}

# what write, edit and patch cost, with and without diagnostics
bench-edits *ARGS:
    cargo bench --bench edits -- {{ARGS}}

# of the errors that an edit causes anywhere, how many its answer names: 100 random edits of ten packages against pyright itself
breaks *ARGS:
    cargo bench --bench breaks -- {{ARGS}}

# of the tests that execute a function, by coverage.py and V8, how many `tests` names when it is edited; just reach --only click --misses
reach *ARGS:
    cargo build --release
    python3 bench/reach/main.py {{ARGS}}

# of the errors that a commit brings by the compiler's word, how many `check --against` names: real commits of twelve repositories; just gate --only click --commits 3
gate *ARGS:
    cargo build --release
    python3 bench/gate/gate.py {{ARGS}}

# what answers cost until the whole truth was seen: 200 questions on ten packages, beside rg and other programs; just answers --only uses
answers *ARGS:
    cargo bench --bench answers -- {{ARGS}}

# check against the command lines of its servers, finding by finding, on real packages: just check-parity --only=ruff
check-parity *ARGS:
    cargo bench --bench check_parity -- {{ARGS}}

# check against the command lines of pinned versions of TypeScript, ruff, ty, pyright, Biome and ESLint: just parity --only 'ruff 0.9'
parity *ARGS:
    cargo build --release
    python3 bench/parity/main.py {{ARGS}}

# tests that others wrote, on the product: patches, reports, findings or refactorings; just outside patches --from CLONE
outside *ARGS:
    cargo build --release
    python3 bench/outside/main.py {{ARGS}}

# hints against the real servers' definitions
hints *ARGS:
    cargo bench --bench hints -- {{ARGS}}

# grep compared with rg
grep *ARGS:
    cargo bench --bench grep -- {{ARGS}}

# what tool lists and answers cost a model; fails beyond the budget of the default profile
tokens *ARGS:
    cargo bench --bench tokens -- {{ARGS}}

# the tests of the edit path, with kills and races, and of edit tools on real servers
edits:
    cargo test --lib --test integration -- workspace::edit:: edit_tools:: text::patch::
    tests/slow.sh workspace::edit:: edit_tools:: text::patch::

# the page of `lsp-tools view` in a real headless Chromium: axe, keyboard, phone width, live updates; rewrites docs/view-*.png
page:
    cargo build
    tests/page/run.sh

# real hosts, signed out or with a stand-in for their model: Copilot's command line and language server, Claude Code, Codex, Gemini CLI,
# Qwen Code, opencode; installs them the first time
hosts:
    cargo test --test integration -- --ignored copilot_host::real:: copilot_server::real:: host_hook::real::

# what is promised, under attack for ten minutes or as many as are given: exchanged folders, kills, floods, comets, control files; just siege 60
siege *ARGS:
    cargo test --bench siege -- {{ARGS}}

# of these the kills alone: the daemon, its servers and its clients at random for ten minutes
chaos:
    cargo test --bench siege -- 10 --only kills

# every call of the system that changes one of our stores, failing once; needs strace
store-faults:
    cargo test --test integration full_state::sweep:: -- --ignored --nocapture

# looks for input that breaks a promise, a minute for each target or for one: just fuzz markdown; needs cargo-fuzz and nightly
fuzz *TARGET:
    fuzz/run.sh 1 {{TARGET}}

# the same for hours: half an hour each
fuzz-long *TARGET:
    fuzz/run.sh 30 {{TARGET}}

# keeps what these have found in fuzz/seeds, which `just slow` replays
fuzz-keep *TARGET:
    fuzz/run.sh keep {{TARGET}}

# read the documentation
docs:
    cargo doc --no-deps --open

# read the documentation of every module, private items included
docs-private:
    cargo doc --no-deps --document-private-items --open

# rewrite the tables of docs/languages.md, from servers.toml and the servers' trials
readme:
    UPDATE_README=1 cargo test --test integration readme:: -- --test-threads=1

# redraw the README's pictures from real runs
picture: release
    python3 docs/picture.py target/release/lsp-tools

# the optimised program, quickly rebuilt
release:
    CARGO_INCREMENTAL=1 cargo build --release

# the program as it is shipped, small and stripped, without the folders of this machine in its messages: minutes
dist: third-party
    RUSTFLAGS="{{dist_flags}}" cargo build --profile dist --locked

# that program as an archive, a Python wheel, npm packages, a Debian package and an MCP bundle, in target/packages; fetches the tools for it
# the first time
package *KINDS: dist
    python3 deploy/package/make.py {{KINDS}}

# all files of a release, in target/release-files: programs for x64 and arm64, GNU and musl, macOS and Windows, built by zig (fetched the first time)
# or mingw-w64, their packages,
# hashes, notes, and a list of what is compiled in; an hour or more. Just some: just release-files x86_64-unknown-linux-musl
release-files *TRIPLES:
    python3 deploy/package/release.py {{TRIPLES}}

# installs that release in an empty Debian and on musl, and asks for a hover there; arm64 under qemu-user; for root
release-check:
    python3 deploy/package/roots.py

# installs each of them into an empty environment and does the README's first command there: a minute or two
package-check *KINDS:
    python3 deploy/package/check.py {{KINDS}}

# the hooks of .pre-commit-hooks.yaml under the real pre-commit, with the real pyright: a minute
pre-commit-check:
    cargo build
    python3 deploy/ci/pre_commit.py

# what CHANGELOG.md says of a version: just release-notes 0.1.0
release-notes VERSION="Unreleased":
    @python3 deploy/package/release_notes.py {{VERSION}}

# put the program on your PATH
install:
    cargo install --path . --locked

# remake the transcripts of docs/copilot.md and docs/mcp.md on the real hosts
transcripts:
    TRANSCRIPTS=docs cargo test --test integration -- --ignored copilot_host::real:: host_hook::real::
    python3 docs/transcripts.py

# renew what `lsp-tools install` fetches with all that it depends on, and print what changed: just locks pylsp pyright
locks *SERVERS:
    python3 locks/renew.py {{SERVERS}}

# rewrite the plugin folders of hosts from the skill and from what `init HOST --print` prints
plugin:
    cargo build
    plugin/generate target/debug/lsp-tools

# rewrite the types and methods of the client packages from the tools' schemas
clients:
    cargo build
    clients/generate target/debug/lsp-tools

# install both client packages from the registries with the program, check types, run tests and examples: minutes
clients-test *KINDS:
    cargo build
    clients/test target/debug/lsp-tools {{KINDS}}

# install the plugin in real hosts in empty homes, ask, update and remove it; without HOSTS, rewrite the table of docs/mcp.md
plugin-hosts *HOSTS:
    cargo build
    tests/hosts/plugin.py target/debug/lsp-tools {{HOSTS}}

# the crates' versions, licences, sources and known faults, by deny.toml
deny:
    .ci/deny

# write target/THIRD-PARTY.md, the licence texts of all crates that are compiled in
third-party:
    python3 deploy/third_party.py
