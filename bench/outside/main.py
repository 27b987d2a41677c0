"""Runs third-party test suites against the product, and records the results in bench/results/outside.md.

    python3 bench/outside/main.py SUITE [--from DIR] [--only WORDS]        (just outside SUITE)

Suites: patches, reports, findings, refactorings. --from names a clone or copy of the suite's repository, which is cloned otherwise. --only is a
regular expression for the names of cases; with it, the page is not updated. The program is target/release/lsp-tools, or $LSP_TOOLS.
"""

import argparse
import importlib
import sys

SUITES = ["patches", "reports", "findings", "refactorings"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("--from", dest="given", metavar="DIR", help="a clone or a copy of the suite's repository")
    parser.add_argument("--only", default="", help="a regular expression for the names of cases")
    parser.add_argument("--server", default="basedpyright", help="the Python server of the refactorings")
    chosen = parser.parse_args()
    sys.exit(importlib.import_module(chosen.suite).main(chosen))


if __name__ == "__main__":
    main()
