#!/usr/bin/env bash
# Checks a change in CI: what a pull or merge request breaks, and everything where there is none.
#
# Variables, all optional:
#   LSP_TOOLS_BASE      the commit that the change is compared with; else the one that GitHub or GitLab names
#   LSP_TOOLS_SHARD     only the part I/N; else GitLab's CI_NODE_INDEX of CI_NODE_TOTAL. The first checks the whole of a difference
#   LSP_TOOLS_SEVERITY  leave out what is less severe: error, warning, information, hint
#   LSP_TOOLS_REPORTS   the folder of the reports, lsp-tools-reports by default
#
# It prints the findings, writes them to lsp-tools.sarif, gl-code-quality-report.json and junit.xml in the folder of reports (a part I of N
# to lsp-tools-I.sarif and so on), and ends with the exit status of `lsp-tools check`.
# What variables hold is never run: names of branches are anybody's.
set -euo pipefail

reports=${LSP_TOOLS_REPORTS:-lsp-tools-reports}

fail() {
    printf 'lsp-tools: %s\n' "$@" >&2
    exit 2
}

# The first parent of the merge that GitHub checks out for a pull request, which a shallow clone names although it lacks it; else the branch.
# A merge that is the last commit of the request itself has another first parent.
github_base() {
    local parents
    mapfile -t parents < <(git cat-file commit HEAD | sed -n '/^$/q; s/^parent //p')
    if [[ ${GITHUB_REF:-} == refs/pull/*/merge && ${GITHUB_SHA:-} == "$(commit HEAD)" && ${#parents[@]} -ge 2 ]]; then
        printf '%s\n' "${parents[0]}"
    else
        printf 'refs/remotes/origin/%s\n' "$GITHUB_BASE_REF"
    fi
}

# What the change is compared with; nothing where there is no request.
named_base() {
    if [ -n "${LSP_TOOLS_BASE:-}" ]; then
        printf '%s\n' "$LSP_TOOLS_BASE"
    elif [ -n "${GITHUB_BASE_REF:-}" ]; then
        github_base
    elif [ -n "${CI_MERGE_REQUEST_TARGET_BRANCH_SHA:-}" ]; then
        # Of pipelines for merged results, which check out a merge with this commit.
        printf '%s\n' "$CI_MERGE_REQUEST_TARGET_BRANCH_SHA"
    else
        printf '%s\n' "${CI_MERGE_REQUEST_DIFF_BASE_SHA:-}"
    fi
}

# The commit that a name stands for.
commit() {
    git rev-parse --verify --quiet --end-of-options "$1^{commit}"
}

# Brings a commit that a shallow clone lacks.
fetch() {
    local branch=${1#refs/remotes/origin/}
    if [[ $1 =~ ^[0-9a-f]{40,64}$ ]]; then
        git fetch --quiet --no-tags --depth=1 origin "$1"
    elif [ "$branch" != "$1" ]; then
        git fetch --quiet --no-tags --depth=1 origin "+refs/heads/$branch:$1"
    else
        false
    fi
}

base_commit() {
    local base=$1 found fork
    commit "$base" >/dev/null || fetch "$base" >&2 || true
    found=$(commit "$base") || fail "the commit $base, with which this change is compared, is not in this clone" \
        "fetch all of it (GitHub: actions/checkout with fetch-depth: 0; GitLab: GIT_DEPTH: 0), or set LSP_TOOLS_BASE"
    # What others did on the branch since is no part of the change. A shallow clone does not know where it began.
    fork=$(git merge-base "$found" HEAD 2>/dev/null) || fork=$found
    printf '%s\n' "$fork"
}

shard=${LSP_TOOLS_SHARD:-}
if [ -z "$shard" ] && [ "${CI_NODE_TOTAL:-1}" != 1 ]; then
    shard=$CI_NODE_INDEX/$CI_NODE_TOTAL
fi

words=(check --no-daemon)
base=$(named_base)
# A difference concerns few files, so that one machine is done with it before several have started their servers. And of a part, whose
# server has not opened what other parts changed, pyright was seen to answer for the earlier files what holds for the later ones.
if [ -n "$base" ] && [ -n "$shard" ]; then
    if [ "${shard%%/*}" != 1 ]; then
        printf 'lsp-tools: the first of the parts checks the whole difference\n' >&2
        exit 0
    fi
    shard=
fi
if [ -n "$base" ]; then
    base=$(base_commit "$base")
    words+=(--against "$base")
    printf 'lsp-tools: what changed since %s\n' "$base" >&2
fi
if [ -n "$shard" ]; then
    words+=(--shard "$shard")
fi
if [ -n "${LSP_TOOLS_SEVERITY:-}" ]; then
    words+=(--severity "$LSP_TOOLS_SEVERITY")
fi

mkdir -p "$reports"
# Neither this check nor git takes reports for files of the project.
printf '*\n' >"$reports/.gitignore"
part=${shard:+-${shard%%/*}}
sarif=$reports/lsp-tools$part.sarif
gitlab=$reports/gl-code-quality-report$part.json
junit=$reports/junit$part.xml
# Those of an earlier check are none of this one.
rm -f "$sarif" "$gitlab" "$junit"
words+=(--report "sarif=$sarif" --report "gitlab=$gitlab" --report "junit=$junit")
if [ -n "${GITHUB_ACTIONS:-}" ]; then
    words+=(--format github)
fi
exec lsp-tools "${words[@]}"
