# Recipes of daily work. `just` alone lists them; https://just.systems

set shell := ["bash", "-euo", "pipefail", "-c"]

# Tests mostly wait for servers, so more of them run in parallel than a small machine has cores.
export RUST_TEST_THREADS := env("RUST_TEST_THREADS", "4")

# Shell text that removes this machine's folders from the program's messages, including the standard library's if rust-src is installed.
dist_remap := "--remap-path-prefix=" + justfile_directory() + "=. --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
dist_flags := "${RUSTFLAGS:-} " + dist_remap + " --remap-path-prefix=$(rustc --print sysroot)/lib/rustlib/src/rust=rust"

_list:
    @just --list --unsorted

# check that everything compiles
check:
    cargo check --all-targets

# the tests that need no language server: seconds
unit:
    cargo test --lib

# all tests of `cargo test`; the first run installs real servers below target/
test *ARGS:
    cargo test {{ARGS}}

# the slow tests that `cargo test` leaves out: 11 minutes; just slow changes:: for those of one module
slow *ARGS:
    tests/slow.sh {{ARGS}}

# the tests that CI leaves out, before a release: they repeat others in more languages, or take minutes
rare *ARGS:
    tests/slow.sh --rare {{ARGS}}
    cargo test --test integration -- --include-ignored rust_and_go::changes::breaking_pairs

# tests of a build without Linux-only features, like on macOS: just portable, just portable process::
portable *ARGS:
    tests/portable.sh {{ARGS}}

# build the program for Windows, and test the library and it under Wine
windows *ARGS:
    tests/windows.sh {{ARGS}}

# lint and link the program for macOS, and verify its signature
macos:
    tests/macos.sh

# accept changed texts of help, answers and errors: review the diff before you commit it
snapshots:
    INSTA_UPDATE=always cargo test --test integration visible_text::

# the time of each integration test, longest first: those that take seconds belong to `just slow`
times *ARGS:
    #!/bin/sh
    set -eu
    program=$(cargo test --test integration --no-run --message-format=json-render-diagnostics |
        sed -nE 's/.*"name":"integration".*"executable":"([^"]*)".*/\1/p')
    [ -n "$program" ]
    # libtest reports times only if unstable options are allowed; setting this for cargo would rebuild everything.
    RUSTC_BOOTSTRAP=1 "$program" -Z unstable-options --report-time --format json {{ARGS}} |
        sed -nE 's/.*"name": "([^"]*)", "event": "(ok|failed)", "exec_time": ([0-9.]+).*/\3 \2 \1/p' | sort -rn

# format the code
fmt:
    cargo fmt

# the checks before a commit, apart from the tests
lint:
    cargo fmt --check
    cargo clippy --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --document-private-items

# lint the program for macOS: nothing is linked, and C sources of dependencies are not compiled
check-macos:
    tests/macos.sh check

# all steps of CI, from a bare machine
ci:
    .ci/run

# try every installable server of the catalogue: just servers --only pylsp,ruff --trace /tmp/messages; --record DATE stores the results
servers *ARGS:
    cargo bench --bench servers -- {{ARGS}}

# the tests of rust-analyzer and gopls, which are installed first: up to ten minutes if rust-analyzer must be built
rust-go MODULE="":
    cargo test --test integration -- --include-ignored rust_and_go::{{MODULE}}

# the first request after a cold start compared with a later one: every server and request, ten rounds; just first-question pyright 1
first-question SERVER="" ROUNDS="10":
    FIRST_QUESTION={{SERVER}} FIRST_QUESTION_ROUNDS={{ROUNDS}} cargo test --test integration first_question:: -- --ignored --nocapture

# Java's server on a small project, from the first request to an edit
java:
    cargo test --test integration java:: -- --ignored

# the effect of one file's change on answers about another, on every installable server: just across-files zuban
across-files SERVER="":
    ACROSS_FILES={{SERVER}} cargo test --test integration across_files:: -- --ignored --nocapture

# whether requests about an untrusted project run its code, on every installable server: just looks pylsp
looks SERVER="":
    LOOKS={{SERVER}} cargo test --test integration looks::every_installable_server -- --ignored --nocapture

# 300 external edits on each of five servers, every answer compared with a fresh server's: minutes
soak SUBJECT="":
    cargo test --release --test integration -- soak::{{SUBJECT}} --ignored --nocapture --test-threads=1

# 600 random edits: each check from the answer store is compared with a fresh server: half an hour
store-soak:
    cargo test --test integration answer_store:: -- --ignored --nocapture

# the shared answer store on nginx, Redis and S3 (moto, from PyPI); needs nginx, redis-server and curl
shared-stores:
    python3 -m venv target/moto
    target/moto/bin/pip install --quiet 'moto[server,s3]==5.2.5'
    MOTO_SERVER="$PWD/target/moto/bin/moto_server" cargo test --test integration shared_answers::services:: -- --ignored --nocapture

# twenty worktrees and agents whose servers exceed the memory budget: memory and the slowest call; just swarm pyright
swarm SERVER="":
    cargo test --test integration machine::swarm::{{SERVER}} -- --ignored --nocapture --test-threads=1

# 100,000 calls by 64 callers in 8 hosts of one daemon: throughput compared with a raw client, and memory growth
soak-doors *ARGS:
    cargo bench --bench soak -- {{ARGS}}

# the official MCP conformance suite against our server: http, stdio, ordinary, strict, or all
conformance *ARGS:
    tests/conformance/run.sh {{ARGS}}

# the product compared with a raw client of the same server
bench *ARGS:
    cargo bench --bench lsp -- {{ARGS}}

# the time of check with the answer store: an unchanged tree, another worktree, a comparison
bench-store *ARGS:
    cargo bench --bench store -- {{ARGS}}

# the time of write, edit and patch, with and without diagnostics
bench-edits *ARGS:
    cargo bench --bench edits -- {{ARGS}}

# the share of an edit's new errors that its answer names: 100 random edits of ten packages, compared with pyright itself
breaks *ARGS:
    cargo bench --bench breaks -- {{ARGS}}

# the share of tests executing an edited function (coverage.py, V8) that `tests` names; just reach --only click --misses
reach *ARGS:
    cargo build --release
    python3 bench/reach/main.py {{ARGS}}

# the share of a commit's new compiler errors that `check --against` names, in twelve repositories; just gate --only click --commits 3
gate *ARGS:
    cargo build --release
    python3 bench/gate/gate.py {{ARGS}}

# the cost of complete answers to 200 questions on ten packages, compared with rg and other programs; just answers --only uses
answers *ARGS:
    cargo bench --bench answers -- {{ARGS}}

# check compared with its servers' command lines, finding by finding, on real packages: just check-parity --only=ruff
check-parity *ARGS:
    cargo bench --bench check_parity -- {{ARGS}}

# check compared with pinned versions of TypeScript, ruff, ty, pyright, Biome and ESLint: just parity --only 'ruff 0.9'
parity *ARGS:
    cargo build --release
    python3 bench/parity/main.py {{ARGS}}

# third-party test suites: patches, reports, findings or refactorings; just outside patches --from CLONE
outside *ARGS:
    cargo build --release
    python3 bench/outside/main.py {{ARGS}}

# hints compared with real servers' definitions
hints *ARGS:
    cargo bench --bench hints -- {{ARGS}}

# grep compared with rg
grep *ARGS:
    cargo bench --bench grep -- {{ARGS}}

# the tokens of tool lists and answers; fails if a list exceeds its budget
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

# real hosts (Copilot, Claude Code, Codex, Gemini CLI, Qwen Code, opencode), signed out or with a stand-in model; the first run installs them
hosts:
    cargo test --test integration -- --ignored copilot_host::real:: copilot_server::real:: host_hook::real::

# attack the product for ten or the given minutes: exchanged folders, kills, floods, comets, control files; just siege 60
siege *ARGS:
    cargo test --bench siege -- {{ARGS}}

# only the kills of `siege`: the daemon, its servers and its clients at random for ten minutes
chaos:
    cargo test --bench siege -- 10 --only kills

# let each system call that changes one of our stores fail once; needs strace
store-faults:
    cargo test --test integration full_state::sweep:: -- --ignored --nocapture

# fuzz each target, or one, for a minute: just fuzz markdown; needs cargo-fuzz and nightly
fuzz *TARGET:
    fuzz/run.sh 1 {{TARGET}}

# fuzz each target for half an hour
fuzz-long *TARGET:
    fuzz/run.sh 30 {{TARGET}}

# add new fuzzing inputs to fuzz/seeds, which `just slow` replays
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

# build the optimised program incrementally
release:
    CARGO_INCREMENTAL=1 cargo build --release

# build the program for release, small and stripped, without this machine's folders in its messages: minutes
dist: third-party
    RUSTFLAGS="{{dist_flags}}" cargo build --profile dist --locked

# package that program into target/packages: archive, Python wheel, npm packages, Debian package, MCP bundle; the first run fetches tools
package *KINDS: dist
    python3 deploy/package/make.py {{KINDS}}

# Programs for x64 and arm64, GNU and musl, macOS and Windows, built by zig (fetched on the first run) or mingw-w64; their packages,
# hashes, notes, and bill of materials.
# all files of a release, in target/release-files, in an hour or more; only some: just release-files x86_64-unknown-linux-musl
release-files *TRIPLES:
    python3 deploy/package/release.py {{TRIPLES}}

# install that release in an empty Debian and on musl, and request a hover there; arm64 under qemu-user; needs root
release-check:
    python3 deploy/package/roots.py

# install each package into an empty environment and run the README's first command there: a minute or two
package-check *KINDS:
    python3 deploy/package/check.py {{KINDS}}

# test .pre-commit-hooks.yaml with the real pre-commit and pyright: a minute
pre-commit-check:
    cargo build
    python3 deploy/ci/pre_commit.py

# print a version's section of CHANGELOG.md: just release-notes 0.1.0
release-notes VERSION="Unreleased":
    @python3 deploy/package/release_notes.py {{VERSION}}

# put the program on your PATH
install:
    cargo install --path . --locked

# rewrite the transcripts of docs/copilot.md and docs/mcp.md on real hosts
transcripts:
    TRANSCRIPTS=docs cargo test --test integration -- --ignored copilot_host::real:: host_hook::real::
    python3 docs/transcripts.py

# update the locked packages of `lsp-tools install` with their dependencies, and print the changes: just locks pylsp pyright
locks *SERVERS:
    python3 locks/renew.py {{SERVERS}}

# rewrite the plugin folders of hosts from the skill and the output of `init HOST --print`
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

# install, use, update and remove the plugin in real hosts with empty homes; without HOSTS, rewrite the table of docs/mcp.md
plugin-hosts *HOSTS:
    cargo build
    tests/hosts/plugin.py target/debug/lsp-tools {{HOSTS}}

# check the crates' versions, licences, sources and known vulnerabilities, by deny.toml
deny:
    .ci/deny

# write target/THIRD-PARTY.md, the licence texts of all compiled crates
third-party:
    python3 deploy/third_party.py
