"""Codex's scenarios of apply_patch: after each patch the folder must equal the scenario's result in files, folders and bytes.

A scenario specifies only the resulting files, so a refusal is right if these equal the input.
"""

import pathlib
import re
import shutil
import tempfile

import support

REPOSITORY, PLACE = "openai/codex", "codex-rs/apply-patch/tests/fixtures/scenarios"
# Intended differences of the product.
REASONS = {
    "010_move_overwrites_existing_destination": "a move does not replace a file that the patch does not show; the refusal names it",
    "011_add_overwrites_existing_file": "an added file does not replace one that the patch does not show; the refusal names it",
    "015_failure_after_partial_success_leaves_changes": "a patch is applied as a whole or not at all, so no file of a failed one is left",
}


def outcome(scenario):
    """The resulting tree, whether the patch was accepted, and the message."""
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place) / "workspace"
        if (scenario / "input").is_dir():
            shutil.copytree(scenario / "input", folder)
        else:
            folder.mkdir()
        patch = (scenario / "patch.txt").resolve()
        done = support.ours(["--workspace", folder, "patch", "--no-diagnostics", patch], folder)
        return support.tree(folder), done.returncode == 0, (done.stderr or done.stdout).strip().replace(str(folder), "")


def main(chosen):
    files, commit = support.source(REPOSITORY, chosen.given, [PLACE])
    scenarios = sorted(path for path in (files / PLACE).iterdir() if path.is_dir() and re.search(chosen.only, path.name))
    rows, wrong, accepted = [], [], 0
    for scenario in scenarios:
        found, taken, message = outcome(scenario)
        accepted += taken
        same = found == support.tree(scenario / "expected")
        print(f"{scenario.name}: {'same' if same else 'differs'}, {'accepted' if taken else 'refused: ' + message}", flush=True)
        if same == (scenario.name in REASONS):
            wrong.append(scenario.name)
        if not same:
            rows.append([scenario.name, "accepted" if taken else "refused", REASONS.get(scenario.name, message)])
    summary = f"{len(scenarios)} scenarios, {len(scenarios) - len(rows)} with the same files, {accepted} accepted and {len(scenarios) - accepted} refused"
    print(f"{summary}; unexpected: {', '.join(wrong) or 'none'}")
    if not chosen.only:
        text = f"[{REPOSITORY}](https://github.com/{REPOSITORY}), {commit}: {summary}."
        support.record(support.PATCHES, text + ("\n\n" + support.table(["differs", "ours", "reason"], rows) if rows else ""))
    return 1 if wrong or not scenarios else 0
