"""The reports of `check` against their consumers' rules: SARIF's schema and validator, Jenkins's schema for JUnit, and GitLab's documented fields.

The findings come from a server and file names that are hostile to reports, and from real servers on the fixtures. SARIF's schema and
validator are part of `@microsoft/sarif-multitool-linux`. JUnit's schema (`junit-10.xsd` of Jenkins's xunit plugin) is part of pytest's sources.
"""

import json
import os
import pathlib
import re
import shutil
import sys
import tarfile
import tempfile
import urllib.parse

import support

TOOLS = support.KEPT / "report-tools"
MULTITOOL, PYTEST = "5.7.0", "8.1.1"
PYTHON = ["jsonschema==4.26.0", "rfc3986-validator==0.1.1", "lxml==6.0.2"]
NAMES = [b"plain.odd", b"two words.odd", b"line\nbreak.odd", b"tab\t.odd", b"quote\"'.odd", b"<a>&amp;]]>.odd", b"\x1b[31mred.odd", b"back\\slash.odd",
         b"100%25.odd", b"a:b.odd", b"-dash.odd", b"#hash?query.odd", "ünï 😀.odd".encode(), "\u202egnp.odd".encode(), b"\xff\xfe.odd", b"x" * 250 + b".odd",
         b"http:/host/x.odd", b"deep/.hidden/../../plain2.odd"]
FORMATS = ["sarif", "junit", "gitlab"]
# The severities in GitLab's manual (Code Quality, "Code Quality report format"). A path must be relative and not begin with "./".
SEVERITIES = {"info", "minor", "major", "critical", "blocker"}


def tools():
    """Installs the validators below target/ once, and restarts in a Python that has their libraries."""
    venv = TOOLS / "venv"
    mark = TOOLS / "made"
    wanted = f"{MULTITOOL} {PYTEST} {PYTHON}"
    if not mark.is_file() or mark.read_text() != wanted:
        shutil.rmtree(TOOLS, ignore_errors=True)
        TOOLS.mkdir(parents=True)
        support.run([sys.executable, "-m", "venv", venv], TOOLS, check=True)
        support.run([venv / "bin/pip", "install", "-q", *PYTHON], TOOLS, check=True)
        support.run([venv / "bin/pip", "download", "-q", "--no-deps", "--no-binary=:all:", f"pytest=={PYTEST}"], TOOLS, check=True)
        (TOOLS / "package.json").write_text("{}")
        words = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", f"@microsoft/sarif-multitool-linux@{MULTITOOL}"]
        support.run(words, TOOLS, check=True)
        with tarfile.open(next(TOOLS.glob("pytest-*.tar.gz"))) as archive:
            (TOOLS / "junit-10.xsd").write_bytes(archive.extractfile(f"pytest-{PYTEST}/testing/example_scripts/junit-10.xsd").read())
        multitool().chmod(0o755)
        mark.write_text(wanted)
    if pathlib.Path(sys.prefix) != venv:
        os.execv(venv / "bin/python", [str(venv / "bin/python"), *sys.argv])


def multitool():
    return TOOLS / "node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool"


def check_sarif(path, root):
    """Faults of a SARIF log: schema violations, validator errors, and artifacts that are not files."""
    import jsonschema

    schema = json.loads((multitool().parent / "sarif-2.1.0.json").read_text())
    log = json.loads(path.read_text())
    checker = jsonschema.validators.validator_for(schema)(schema, format_checker=jsonschema.FormatChecker(["uri", "uri-reference"]))
    faults = [f"schema: {fault.json_path}: {fault.message[:200]}" for fault in checker.iter_errors(log)]
    done = support.run([multitool(), "validate", path], path.parent, env={**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"})
    if "Analysis completed" not in done.stdout:
        sys.exit(f"Sarif.Multitool does not run: {done.stdout}{done.stderr}")
    faults += [f"validator: {line.partition(': ')[2][:200]}" for line in done.stdout.splitlines() if re.search(r"\): error ", line)]
    seen = set()
    for run in log["runs"]:
        for artifact in run["artifacts"]:
            location = artifact["location"]
            name = os.fsencode(urllib.parse.unquote_to_bytes(location["uri"]))
            if location.get("uriBaseId") != "SRCROOT" or not os.path.exists(os.path.join(os.fsencode(root), name)):
                faults.append(f"artifact that is not a file of the workspace: {location}")
            seen.add(name)
    return faults, seen


def check_junit(path, root):
    """Violations of the schema in a JUnit report."""
    from lxml import etree

    schema = etree.XMLSchema(etree.parse(TOOLS / "junit-10.xsd"))
    try:
        report = etree.parse(path)
    except etree.XMLSyntaxError as error:
        return [f"no XML: {error}"], set()
    for case in report.iter("testcase"):
        # GitLab reads this attribute (Unit test reports, "JUnit XML format specification"). Jenkins's schema lacks it, and its reader ignores it.
        case.attrib.pop("file", None)
    schema.validate(report)
    return [f"schema: line {fault.line}: {fault.message}" for fault in schema.error_log], {case.get("name") for case in report.iter("testcase")}


def check_gitlab(path, root):
    """Violations of the documented fields in a Code Quality report."""
    text = path.read_bytes()
    faults, report, prints = [], json.loads(text.decode()), set()
    if text.startswith(b"\xef\xbb\xbf"):
        faults.append("it begins with a byte order mark, which GitLab does not take")
    for one in report:
        path_there, lines = one["location"]["path"], one["location"]["lines"]
        rules = {
            "description": isinstance(one["description"], str) and one["description"] != "", "check_name": isinstance(one["check_name"], str) and one["check_name"] != "",
            "fingerprint": isinstance(one["fingerprint"], str) and one["fingerprint"] not in prints and one["fingerprint"] != "",
            "severity": one["severity"] in SEVERITIES, "path": not path_there.startswith(("/", "./")),
            "line": isinstance(lines["begin"], int) and lines["begin"] >= 1,
        }
        faults += [f"{name} is not as documented: {str(one)[:300]}" for name, holds in rules.items() if not holds]
        prints.add(one["fingerprint"])
    return faults, {one["location"]["path"] for one in report}


CHECKS = {"sarif": check_sarif, "junit": check_junit, "gitlab": check_gitlab}


def odd(place):
    """A workspace of odd names with the odd server, and its environment."""
    root = os.fsencode(place / "odd")
    for name in NAMES:
        path = os.path.normpath(os.path.join(root, name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(b"one two\nthree\n")
    config = place / "config"
    config.mkdir()
    server = json.dumps([sys.executable, str(pathlib.Path(__file__).with_name("odd_server.py"))])
    (config / "servers.toml").write_text(
        f'[language.odd]\nextensions = ["odd"]\nservers = ["odd"]\n[server.odd]\nlanguages = ["odd"]\ncommand = {server}\n')
    return place / "odd", {**support.parity.environment(), "LSP_TOOLS_CONFIG_DIR": str(config)}, []


def fixtures(place):
    """The Python fixtures with pyright and ruff."""
    for name in ["pyright", "ruff"]:
        support.parity.install(name)
    shutil.copytree(support.ROOT / "fixtures/python", place / "python")
    config = place / "config"
    config.mkdir()
    return place / "python", {**support.parity.environment(), "LSP_TOOLS_CONFIG_DIR": str(config)}, []


def silent(place):
    """Files whose server does not answer."""
    root, environment, _ = odd(place)
    config = place / "config/servers.toml"
    config.write_text(re.sub(r"command = .*", 'command = ["sleep", "60"]', config.read_text()))
    return root, environment, ["--timeout", "3"]


def odd_messages():
    return len(re.findall(r'^    ".*": ', (pathlib.Path(__file__).with_name("odd_server.py")).read_text(), re.M))


def grouped(faults):
    """The faults by kind, each with its count and one example."""
    kinds = {}
    for fault in faults:
        kinds.setdefault(fault.partition(": ")[0], []).append(fault)
    return "; ".join(f"{len(some)} × {some[0][:160]!a}" for some in kinds.values()) or "none"


def main(chosen):
    tools()
    rows, wrong = [], []
    for make in [odd, fixtures, silent]:
        if not re.search(chosen.only, make.__name__):
            continue
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder).resolve()
            root, environment, words = make(place)
            reports = [word for format in FORMATS for word in ["--report", f"{format}={place / format}"]]
            done = support.run([support.PROGRAM, "--workspace", root, *words, "check", "--no-store", "--severity=hint", *reports], root, env=environment)
            answer = json.loads(support.run([support.PROGRAM, "--workspace", root, *words, "--format=json", "check", "--no-store", "--severity=hint", "--limit=100000"], root, env=environment).stdout)
            found = answer.get("diagnostics", [])
            if make is odd and len(found) != len(NAMES) * odd_messages():
                print(f"odd: {len(found)} of {len(NAMES) * odd_messages()} findings of the server are in the answer, verdict {answer.get('verdict')}")
                wrong.append("findings are missing")
                rows.append(["odd", "json", len(NAMES), len(found), "", f"{len(NAMES) * odd_messages() - len(found)} findings are missing"])
            files = sum(len(names) for _, _, names in os.walk(root))
            for format in FORMATS:
                if not (place / format).is_file():
                    sys.exit(f"{make.__name__}: no report {format}: {done.stdout}{done.stderr}")
                faults, seen = CHECKS[format](place / format, root)
                print(f"{make.__name__}, {format}: {len(faults)} faults, {len(seen)} of {files} files, {len(found)} findings, "
                      f"verdict {answer.get('verdict')}", *faults[:20], sep="\n  ", flush=True)
                rows.append([make.__name__, format, files, len(found), len(seen), grouped(faults)])
                wrong += faults
    if not chosen.only:
        text = (f"Schema and validator of SARIF 2.1.0 from sarif-multitool {MULTITOOL}, `junit-10.xsd` of Jenkins's xunit plugin, GitLab's documented "
                f"fields: {len(wrong)} faults.\n\n")
        support.record(support.REPORTS, text + support.table(["workspace", "report", "files", "findings", "files in the report", "faults"], rows))
    return 1 if wrong or not rows else 0
