#!/usr/bin/env bash
# Checks a change in CI: the new findings of a pull or merge request, or all findings without one.
#
# Variables, all optional:
#   LSP_TOOLS_BASE      the commit to compare with; by default, the base that GitHub or GitLab names
#   LSP_TOOLS_SEVERITY  the lowest severity to report: error, warning, information, hint
#   LSP_TOOLS_REPORTS   the folder for reports, by default lsp-tools-reports
#
# Prints the findings, writes them to lsp-tools.sarif, gl-code-quality-report.json and junit.xml in the report folder, and exits with
# the status of `lsp-tools check`.
# The values of variables are never run: branch names are untrusted.
set -euo pipefail

reports=${LSP_TOOLS_REPORTS:-lsp-tools-reports}

fail() {
    printf 'lsp-tools: %s\n' "$@" >&2
    exit 2
}

# For GitHub's merge of a pull request, its first parent, which a shallow clone names although it lacks it; otherwise the base branch.
# If the last commit of the request is itself a merge, its first parent is unrelated.
github_base() {
    local parents
    mapfile -t parents < <(git cat-file commit HEAD | sed -n '/^$/q; s/^parent //p')
    if [[ ${GITHUB_REF:-} == refs/pull/*/merge && ${GITHUB_SHA:-} == "$(commit HEAD)" && ${#parents[@]} -ge 2 ]]; then
        printf '%s\n' "${parents[0]}"
    else
        printf 'refs/remotes/origin/%s\n' "$GITHUB_BASE_REF"
    fi
}

# The base of the comparison; empty outside of requests.
named_base() {
    if [ -n "${LSP_TOOLS_BASE:-}" ]; then
        printf '%s\n' "$LSP_TOOLS_BASE"
    elif [ -n "${GITHUB_BASE_REF:-}" ]; then
        github_base
    elif [ -n "${CI_MERGE_REQUEST_TARGET_BRANCH_SHA:-}" ]; then
        # For pipelines of merged results, which check out a merge with this commit.
        printf '%s\n' "$CI_MERGE_REQUEST_TARGET_BRANCH_SHA"
    else
        printf '%s\n' "${CI_MERGE_REQUEST_DIFF_BASE_SHA:-}"
    fi
}

# The commit of a revision name.
commit() {
    git rev-parse --verify --quiet --end-of-options "$1^{commit}"
}

# Fetches a commit that a shallow clone lacks.
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
    # Excludes later changes on the base branch. A shallow clone does not know the merge base.
    fork=$(git merge-base "$found" HEAD 2>/dev/null) || fork=$found
    printf '%s\n' "$fork"
}

words=(check --no-daemon)
base=$(named_base)
if [ -n "$base" ]; then
    base=$(base_commit "$base")
    words+=(--against "$base")
    printf 'lsp-tools: what changed since %s\n' "$base" >&2
fi
if [ -n "${LSP_TOOLS_SEVERITY:-}" ]; then
    words+=(--severity "$LSP_TOOLS_SEVERITY")
fi

mkdir -p "$reports"
# Excludes the reports from this check and from git.
printf '*\n' >"$reports/.gitignore"
sarif=$reports/lsp-tools.sarif
gitlab=$reports/gl-code-quality-report.json
junit=$reports/junit.xml
# Removes the reports of an earlier check.
rm -f "$sarif" "$gitlab" "$junit"
words+=(--report "sarif=$sarif" --report "gitlab=$gitlab" --report "junit=$junit")
if [ -n "${GITHUB_ACTIONS:-}" ]; then
    words+=(--format github)
fi
exec lsp-tools "${words[@]}"
