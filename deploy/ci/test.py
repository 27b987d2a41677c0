"""Parses the files for CI systems, in a second; deploy/check runs it with the PyYAML that it installs.

    target/deploy-tools/bin/python deploy/ci/test.py

tests/ci tests the scripts, pre_commit.py the hooks.
"""

import os
import re
import unittest
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = re.compile(r"/([\w-]+\.sh)\"")


class Files(unittest.TestCase):
    def scripts_in(self, lines):
        """Claims that each line runs one existing script and nothing else."""
        for line in lines:
            self.assertRegex(line, r'^"\$[A-Z_]+(/\.\./ci)?/[\w-]+\.sh"$')
            script = ROOT / "deploy/ci" / SCRIPT.search(line)[1]
            self.assertTrue(os.access(script, os.X_OK), script)

    def test_the_action_gives_values_to_scripts_by_the_environment_alone(self):
        action = yaml.safe_load((ROOT / "deploy/github-action/action.yml").read_text())
        steps = action["runs"]["steps"]
        self.assertEqual(action["runs"]["using"], "composite")
        runs = [step for step in steps if "run" in step]
        self.assertEqual(len(runs), 2)
        self.scripts_in(step["run"] for step in runs)
        for step in runs:
            self.assertEqual(step["shell"], "bash")
        used = set(re.findall(r"inputs\.([\w-]+)", str(action)))
        self.assertEqual(used, set(action["inputs"]))
        for name, given in action["inputs"].items():
            self.assertTrue(given["description"], name)
            self.assertIsInstance(given.get("default", ""), str, name)

    def test_the_template_runs_the_scripts_and_names_their_reports(self):
        template = yaml.safe_load((ROOT / "deploy/gitlab/lsp-tools.gitlab-ci.yml").read_text())
        check = template["lsp-tools-check"]
        self.scripts_in(check["script"] + template[".lsp-tools"]["before_script"][1:])
        written = (ROOT / "deploy/ci/check.sh").read_text()
        for name in check["artifacts"]["reports"].values():
            self.assertIn("$reports/" + name.removeprefix("lsp-tools-reports/"), written)

    def test_the_hooks_have_what_pre_commit_asks_for(self):
        hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
        self.assertEqual([hook["id"] for hook in hooks], ["lsp-tools-check", "lsp-tools-check-against"])
        for hook in hooks:
            self.assertTrue({"id", "name", "entry", "language"} <= set(hook), hook)


if __name__ == "__main__":
    unittest.main()
