"""Tests the packaging scripts on a stand-in for the program, in seconds; deploy/check and CI run it. The first run installs mcpb and
skillsaw below target/package-tools.

    python3 deploy/package/test.py

check.py tests the real packages.
"""

import functools
import hashlib
import http.server
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import tomllib
import unittest
import zipfile
from pathlib import Path

import frameworks
import macho
import make
import names
import npm
import registry
import release
import release_notes

HERE = Path(__file__).resolve().parent
ROOT = names.ROOT
CARGO = names.CARGO
DEPENDENCIES = tomllib.loads((ROOT / "Cargo.toml").read_text())["dependencies"]
TRIPLE = f"{platform.machine()}-unknown-linux-gnu"
# Prints its arguments, and ends as the first one tells.
STAND_IN = """#!/bin/sh
case $1 in
    say) shift; printf '%s\\n' "$@" ;;
    read) cat; exit 3 ;;
    die) kill -KILL $$ ;;
    wait) trap 'echo asked; exit 7' TERM; echo ready; while :; do sleep 0.05; done ;;
esac
"""


class Packed(unittest.TestCase):
    """A folder with a stand-in for the program."""
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="lsp-tools-packages-"))
        cls.program = cls.folder / "program"
        cls.program.write_text(STAND_IN)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)


class Npm(Packed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        out = cls.folder / "out"
        out.mkdir()
        cls.tarballs = npm.make(out, {TRIPLE: cls.program})
        cls.place = cls.folder / "place"
        cls.place.mkdir()
        # Without a package.json in the folder, npm fails at packages that depend on each other.
        (cls.place / "package.json").write_text('{"private": true}\n')
        quiet = ["--offline", "--no-audit", "--no-fund", "--loglevel=error"]
        environment = os.environ | {"HOME": str(cls.folder), "npm_config_update_notifier": "false"}
        subprocess.run(["npm", "install", *quiet, *cls.tarballs], cwd=cls.place, env=environment, check=True, stdout=subprocess.DEVNULL)
        cls.packages = cls.place / "node_modules"
        cls.launcher = cls.packages / ".bin/lsp-tools"

    def run_launcher(self, *words, launcher=None, text=""):
        command = [str(launcher or self.launcher), *words]
        return subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)

    def copy(self):
        """A copy of the installed packages for damage, and the launcher there."""
        copy = Path(tempfile.mkdtemp(dir=self.folder)) / "node_modules"
        shutil.copytree(self.packages, copy, symlinks=True)
        return copy, copy / ".bin/lsp-tools"

    def test_descriptions_are_those_of_the_crate_and_of_one_version(self):
        launcher = json.loads((self.packages / "lsp-tools/package.json").read_text())
        [name] = launcher["optionalDependencies"]
        machine = json.loads((self.packages / name / "package.json").read_text())
        self.assertEqual(launcher["name"], names.NPM)
        self.assertEqual(launcher["mcpName"], names.mcp_name())
        self.assertEqual(launcher["description"], CARGO["description"])
        for package in [launcher, machine]:
            self.assertEqual(package["version"], CARGO["version"])
            self.assertEqual(package["license"], f"({CARGO['license']})")
            self.assertNotIn("scripts", package)
        self.assertEqual(launcher["optionalDependencies"][name], CARGO["version"])
        self.assertEqual(machine["os"], ["linux"])
        self.assertEqual(name, f"{names.NPM_SCOPE}/linux-{machine['cpu'][0]}")

    def test_licences_are_in_each(self):
        [machine] = (self.packages / names.NPM_SCOPE).iterdir()
        licences = [ROOT / name for name in npm.LICENCES]
        for package, files in {self.packages / "lsp-tools": licences, machine: [*licences, npm.THIRD_PARTY]}.items():
            for file in files:
                self.assertEqual((package / file.name).read_text(), file.read_text(), package)

    def test_words_input_and_status_pass(self):
        words = ["two words", "", "--flag=ä", "*"]
        said = self.run_launcher("say", *words)
        self.assertEqual((said.stdout, said.stderr, said.returncode), ("two words\n\n--flag=ä\n*\n", "", 0))
        read = self.run_launcher("read", text="in\n")
        self.assertEqual((read.stdout, read.returncode), ("in\n", 3))

    def test_a_program_that_is_killed_is_seen_as_killed(self):
        self.assertEqual(self.run_launcher("die").returncode, -signal.SIGKILL)

    def test_a_signal_reaches_the_program_whose_end_is_waited_for(self):
        with subprocess.Popen([self.launcher, "wait"], stdout=subprocess.PIPE, text=True, start_new_session=True) as child:
            # Kills both if they do not end, so that a failure does not wait for a line forever.
            end = threading.Timer(60, os.killpg, [child.pid, signal.SIGKILL])
            end.start()
            try:
                self.assertEqual(child.stdout.readline(), "ready\n")
                child.terminate()
                self.assertEqual(child.stdout.readline(), "asked\n")
                self.assertEqual(child.wait(timeout=60), 7)
            finally:
                end.cancel()

    def test_without_the_program_it_says_how_to_get_it(self):
        packages, launcher = self.copy()
        [machine] = (packages / names.NPM_SCOPE).iterdir()
        shutil.rmtree(machine)
        said = self.run_launcher("say", "x", launcher=launcher)
        self.assertEqual((said.stdout, said.returncode), ("", 127))
        self.assertIn(f"the package {names.NPM_SCOPE}/{machine.name}, which holds the program for this machine, is not installed", said.stderr)
        self.assertIn("npm install --include=optional", said.stderr)

    def test_another_kind_of_machine_is_told_what_there_is(self):
        packages, launcher = self.copy()
        description = packages / "lsp-tools/package.json"
        description.write_text(description.read_text().replace(f"{names.NPM_SCOPE}/linux-", f"{names.NPM_SCOPE}/other-"))
        said = self.run_launcher("say", "x", launcher=launcher)
        self.assertEqual((said.stdout, said.returncode), ("", 127))
        self.assertRegex(said.stderr, r"has no program for linux-\w+, only for other-\w+")
        self.assertIn("cargo install --path .", said.stderr)

    def test_on_musl_it_takes_the_program_for_musl(self):
        packages, launcher = self.copy()
        [machine] = (packages / names.NPM_SCOPE).iterdir()
        there = packages / names.NPM_SCOPE / f"{machine.name}-musl"
        # A system with musl, as Node.js reports it.
        preload = self.folder / "musl.js"
        preload.write_text("process.report.getReport = () => ({ header: {} });\n")
        command = ["node", "--require", str(preload), str(launcher), "say", "x"]
        said = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual((said.stdout, said.returncode), ("", 127))
        self.assertIn(f"has no program for {there.name}, only for {machine.name}", said.stderr)
        description = packages / "lsp-tools/package.json"
        description.write_text(description.read_text().replace(f"/{machine.name}", f"/{there.name}"))
        machine.rename(there)
        self.assertEqual(subprocess.run(command, capture_output=True, text=True, timeout=60).stdout, "x\n")

    def test_packages_of_two_versions_are_told_apart(self):
        packages, launcher = self.copy()
        [machine] = (packages / names.NPM_SCOPE).iterdir()
        description = json.loads((machine / "package.json").read_text())
        (machine / "package.json").write_text(json.dumps(description | {"version": "0.0.1"}))
        said = self.run_launcher("say", "x", launcher=launcher)
        self.assertEqual((said.stdout, said.returncode), ("", 127))
        self.assertIn("has version 0.0.1", said.stderr)

    def test_a_program_that_may_not_run_is_named(self):
        packages, launcher = self.copy()
        [program] = packages.glob(f"{names.NPM_SCOPE}/*/bin/lsp-tools")
        program.chmod(0o644)
        said = self.run_launcher("say", "x", launcher=launcher)
        self.assertEqual((said.stdout, said.returncode), ("", 126))
        self.assertIn(str(program), said.stderr)

    def test_unknown_machines_and_missing_programs_are_refused(self):
        for pair, says in [("sparc-sun-solaris=x", "no package is known for sparc-sun-solaris"), (f"{TRIPLE}=/nowhere", "just dist"), ("x", "npm.py FOLDER")]:
            command = ["python3", str(HERE / "npm.py"), str(self.folder / "refused"), pair]
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn(says, done.stderr)


class Registry(Packed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.bundle, entry = registry.make(cls.folder, {TRIPLE: cls.program})
        cls.entry = json.loads(entry.read_text())

    def test_the_bundle_holds_the_program_and_its_licences(self):
        with zipfile.ZipFile(self.bundle) as archive:
            modes = {item.filename: item.external_attr >> 16 & 0o777 for item in archive.infolist()}
            self.assertEqual(set(modes), {"manifest.json", "bin/lsp-tools", *npm.LICENCES, npm.THIRD_PARTY.name})
            self.assertEqual(archive.read("bin/lsp-tools").decode(), STAND_IN)
            manifest = json.loads(archive.read("manifest.json"))
        self.assertEqual(modes["bin/lsp-tools"], 0o755)
        self.assertEqual((manifest["name"], manifest["version"], manifest["license"]), (names.NAME, names.VERSION, names.LICENSE))
        self.assertIn(manifest["server"]["entry_point"], modes)

    def test_the_entry_names_each_package_and_the_bundle_by_its_hash(self):
        packages = {package["registryType"]: package for package in self.entry["packages"]}
        self.assertEqual({kind: package["version"] for kind, package in packages.items()}, dict.fromkeys(["pypi", "npm", "mcpb"], names.VERSION))
        self.assertEqual((packages["pypi"]["identifier"], packages["npm"]["identifier"]), (names.PYPI, names.NPM))
        self.assertTrue(packages["mcpb"]["identifier"].endswith(f"/v{names.VERSION}/{self.bundle.name}"))
        self.assertEqual(packages["mcpb"]["fileSha256"], hashlib.sha256(self.bundle.read_bytes()).hexdigest())

    def test_an_entry_that_the_registry_does_not_take_is_refused(self):
        for wrong, says in [({"name": "lsp-tools"}, "name"), ({"description": "x" * 101}, "description"), ({"version": "^1"}, "version")]:
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "server.json").write_text(json.dumps(self.entry | wrong))
                with self.assertRaisesRegex(SystemExit, says):
                    registry.check(Path(folder))

    def test_the_namespace_follows_from_the_repository(self):
        for address, name in [("https://github.com/someone/x", "io.github.someone"), ("https://code.someone.example/a/b", "example.someone.code")]:
            self.assertEqual(names.mcp_name(address), f"{name}/{names.NAME}")


class Release(Packed):
    """The release files of stand-ins, and their installation by install.sh."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program.write_text(f"#!/bin/sh\necho '{names.NAME} {names.VERSION}'\n")
        cls.program.chmod(0o755)
        cls.programs = {triple: cls.program for triple in release.TRIPLES}
        # Debian packages need cargo-deb, which takes minutes to build; check.py covers them.
        cls.kinds = [kind for kind in make.MAKERS if kind != "deb"]
        cls.files = cls.folder / "files"
        release.collect(cls.files, cls.programs, cls.kinds)

    def install(self, source, **environment):
        home = Path(tempfile.mkdtemp(dir=self.folder))
        command = ["sh", str(ROOT / "deploy/install.sh"), str(source)]
        done = subprocess.run(command, env=os.environ | {"HOME": str(home)} | environment, capture_output=True, text=True, timeout=60)
        return done, sorted(path for path in home.rglob("*") if path.is_file())

    def spoiled(self):
        return Path(shutil.copytree(self.files, Path(tempfile.mkdtemp(dir=self.folder)) / "files"))

    def test_it_has_a_package_of_each_kind_for_each_machine(self):
        found = {path.name for path in self.files.iterdir()}
        for triple in release.TRIPLES:
            cpu, libc = triple.split("-")[0], triple.rpartition("-")[2]
            tags = {"musl": f"musllinux_1_1_{cpu}", "gnu": f"manylinux_{release.GLIBC.replace('.', '_')}_{cpu}"}
            tag = make.TAGS.get(triple) or tags[libc]
            npm_name = npm.short(npm.MACHINES[triple])
            expected = {
                f"{names.NAME}-{triple}.{'zip' if triple == release.WINDOWS else 'tar.gz'}",
                f"lsp_tools-{names.VERSION}-py3-none-{tag}.whl",
                f"{names.NPM_SCOPE[1:]}-{npm_name}-{names.VERSION}.tgz",
            }
            self.assertLessEqual(expected, found)
        self.assertEqual(len([name for name in found if name.endswith(".mcpb")]), 5)

    def test_the_program_for_windows_has_its_ending_in_each_package(self):
        inside = f"lsp_tools-{names.VERSION}.data/scripts/lsp-tools.exe"
        for file, name in [
            (f"{names.NAME}-{release.WINDOWS}.zip", "lsp-tools/lsp-tools.exe"),
            (f"lsp_tools-{names.VERSION}-py3-none-win_amd64.whl", inside),
            (names.bundle("win32-x64"), "bin/lsp-tools.exe"),
        ]:
            with zipfile.ZipFile(self.files / file) as archive:
                self.assertEqual(archive.read(name), self.program.read_bytes(), file)
        with zipfile.ZipFile(self.files / names.bundle("win32-x64")) as archive:
            manifest = json.loads(archive.read("manifest.json"))
        self.assertEqual((manifest["server"]["entry_point"], manifest["compatibility"]["platforms"]), ("bin/lsp-tools.exe", ["win32"]))

    def test_a_second_time_all_bytes_are_the_same(self):
        again = self.folder / "again"
        # Like another user on another day.
        mask = os.umask(0o077)
        try:
            os.utime(self.program, (1, 1))
            release.collect(again, self.programs, self.kinds)
        finally:
            os.umask(mask)
        self.assertEqual((again / "SHA256SUMS").read_text(), (self.files / "SHA256SUMS").read_text())

    def test_the_hashes_are_those_of_all_files(self):
        check = subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=self.files, capture_output=True, text=True)
        self.assertEqual(check.returncode, 0, check.stdout)
        self.assertEqual(len(check.stdout.splitlines()), len(list(self.files.iterdir())) - 1)

    def test_the_bill_of_materials_is_valid_and_lists_what_the_licences_are_of(self):
        [bill] = self.files.glob("*.cdx.json")
        python = make.environment_of("sbom-11.12.0", "cyclonedx-python-lib[json-validation]==11.12.0") / "python"
        validate = (
            "import sys; from cyclonedx.schema import SchemaVersion; from cyclonedx.validation.json import JsonStrictValidator as Strict;"
            "sys.exit(str(Strict(SchemaVersion.V1_6).validate_str(sys.stdin.read()) or '') or 0)"
        )
        done = subprocess.run([python, "-c", validate], input=bill.read_text(), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        listed = {(part["name"], part["version"]) for part in json.loads(bill.read_text())["components"]}
        licensed = re.findall(r"^- (\S+) (\S+):", npm.THIRD_PARTY.read_text(), re.MULTILINE)
        self.assertEqual([name for name, version in listed - set(licensed)], ["std"])
        self.assertIn(("tree-sitter-ruby", DEPENDENCIES["tree-sitter-ruby"]), listed)

    def test_it_installs_from_a_folder_and_from_an_address(self):
        class Quiet(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                pass

        handler = functools.partial(Quiet, directory=self.files)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            for source in [self.files, f"http://127.0.0.1:{server.server_address[1]}/"]:
                done, [installed] = self.install(source)
                self.assertIn(f"installed {names.NAME} {names.VERSION} as {installed}", done.stdout)
                self.assertEqual((installed.parts[-3:], installed.stat().st_mode & 0o777), ((".local", "bin", names.NAME), 0o755))
            server.shutdown()

    def test_what_is_not_as_the_hashes_say_is_not_installed(self):
        for wrong, says in [
            (lambda files: [path.write_bytes(path.read_bytes() + b"x") for path in files.glob("*.tar.gz")], "nothing was installed"),
            (lambda files: (files / "SHA256SUMS").write_text(""), "the release has no lsp-tools-"),
            (lambda files: (files / "SHA256SUMS").unlink(), "SHA256SUMS cannot be read"),
            (lambda files: [path.unlink() for path in files.glob("*.tar.gz")], ".tar.gz cannot be read"),
        ]:
            files = self.spoiled()
            wrong(files)
            done, installed = self.install(files)
            self.assertEqual((done.returncode, installed), (1, []), says)
            self.assertIn(says, done.stderr)

    def test_a_program_that_does_not_run_replaces_nothing(self):
        out = self.folder / "broken"
        broken = self.folder / "broken-program"
        broken.write_text("#!/bin/sh\nexit 1\n")
        out.mkdir()
        make.archive(out, dict.fromkeys(release.TRIPLES, broken))
        release.sums(out)
        done, installed = self.install(out)
        self.assertEqual((done.returncode, installed), (1, []))
        self.assertIn("does not run on this machine", done.stderr)

    def install_as(self, system, processor):
        tools = Path(tempfile.mkdtemp(dir=self.folder))
        (tools / "uname").write_text(f'#!/bin/sh\n[ "$1" = -s ] && echo {system} || echo {processor}\n')
        (tools / "uname").chmod(0o755)
        return self.install(self.files, PATH=f"{tools}:{os.environ['PATH']}")

    def test_other_machines_are_refused(self):
        for system, processor, said in [
            ("Linux", "sparc64", "no program for sparc64, only for x86_64 and aarch64"),
            ("FreeBSD", "amd64", "this is FreeBSD, and there are programs for Linux and macOS only"),
        ]:
            done, installed = self.install_as(system, processor)
            self.assertEqual((done.returncode, installed), (1, []))
            self.assertIn(said, done.stderr)

    def test_a_mac_gets_the_program_of_its_processor(self):
        # If a release lacks the archive for a machine, the error names that archive.
        for processor, triple in [("arm64", "aarch64-apple-darwin"), ("x86_64", "x86_64-apple-darwin")]:
            files = self.spoiled()
            sums = (files / "SHA256SUMS").read_text()
            (files / "SHA256SUMS").write_text("\n".join(line for line in sums.splitlines() if triple not in line))
            self.files, whole = files, self.files
            done, _ = self.install_as("Darwin", processor)
            self.files = whole
            self.assertIn(f"the release has no {names.NAME}-{triple}.tar.gz", done.stderr)

    def test_stubs_of_frameworks_have_what_the_certificates_of_macos_need(self):
        stubs = frameworks.write(self.folder / "frameworks")
        for path, symbol in [("Security", "_SecTrustEvaluateWithError"), ("CoreFoundation", "_CFRelease")]:
            text = (stubs / f"{path}.framework/{path}.tbd").read_text()
            self.assertTrue(text.startswith("--- !tapi-tbd\n") and f" {symbol}," in text, path)

    def test_a_program_for_macos_whose_bytes_differ_from_its_signature_is_refused(self):
        source, program = self.folder / "empty.c", self.folder / "empty"
        source.write_text("int main(void) { return 0; }\n")
        zig = [release.zig() / "python", "-m", "ziglang", "cc", source, "-o", program, "-target"]
        make.run([*zig, "aarch64-macos"])
        text = program.read_bytes()
        self.assertGreater(macho.verify(text, "aarch64"), 1)
        for name, changed in {"page 0 differs": text[:3000] + b"?" + text[3001:], "no Mach-O": source.read_bytes().ljust(99)}.items():
            with self.assertRaisesRegex(macho.Invalid, name):
                macho.verify(changed, "aarch64")
        make.run([*zig, "x86_64-macos"])
        with self.assertRaisesRegex(macho.Invalid, "not signed"):
            macho.verify(program.read_bytes(), "x86_64")


class Metadata(unittest.TestCase):
    def test_names_are_one_wherever_a_file_must_have_its_own(self):
        metadata = CARGO["metadata"]
        self.assertEqual(metadata["deb"].get("name", CARGO["name"]), names.DEBIAN)
        self.assertEqual(metadata["deb"]["maintainer"], names.OWNER)
        self.assertTrue(metadata["deb"]["copyright"].endswith(names.OWNER))
        release = metadata["binstall"]["pkg-url"].replace("{ repo }", names.REPOSITORY).replace("{ version }", names.VERSION)
        self.assertEqual(release.rpartition("/")[0] + "/x", names.released("x"))
        self.assertIn(f":-{names.PYPI}==$LSP_TOOLS_VERSION}}", (ROOT / "deploy/ci/install.sh").read_text())
        plugin = json.loads((ROOT / "plugin/claude-code/.claude-plugin/plugin.json").read_text())
        market = json.loads((ROOT / "plugin/.claude-plugin/marketplace.json").read_text())
        self.assertEqual((plugin["name"], plugin["version"], market["name"]), (names.NAME, names.VERSION, names.MARKETPLACE))

    def test_the_wheel_says_what_cargo_says(self):
        project = tomllib.loads((HERE / "pyproject.toml").read_text())
        self.assertEqual(project["project"]["name"], names.PYPI)
        self.assertEqual(project["project"]["license"], CARGO["license"])
        self.assertIn("version", project["project"]["dynamic"])
        self.assertEqual(project["tool"]["maturin"]["bindings"], "bin")

    def test_files_of_the_debian_package_are_there_or_made(self):
        assets = CARGO["metadata"]["deb"]["assets"]
        for source, target, mode in assets:
            made = source.startswith(("target/release/", "target/packages/"))
            self.assertTrue(made or (ROOT / source).is_file(), f"Cargo.toml names {source} for the Debian package, and it is not there")
            self.assertEqual(mode, "755" if target == "usr/bin/" else "644")
        self.assertIn("target/release/lsp-tools", [source for source, _, _ in assets])

    def test_no_text_leads_out_of_a_package(self):
        text = (HERE / "README.md").read_text()
        self.assertNotIn("](", text, "a link in the packages' README leads nowhere")


class ReleaseNotes(unittest.TestCase):
    TEXT = "# Changelog\n\n## [Unreleased]\n\n- new\n\n## [0.2.0] - 2026-01-02\n\n### Added\n\n- more\n\n## 0.1.0\n\n- first\n"

    def test_a_section_is_what_stands_below_its_heading(self):
        for version, section in {"Unreleased": "- new", "unreleased": "- new", "v0.2.0": "### Added\n\n- more", "0.1.0": "- first"}.items():
            self.assertEqual(release_notes.notes(self.TEXT, version), section)

    def test_a_version_without_a_section_is_named_with_those_that_have_one(self):
        with self.assertRaisesRegex(SystemExit, r"no section of 0\.2, only of Unreleased, 0\.2\.0, 0\.1\.0"):
            release_notes.notes(self.TEXT, "0.2")

    def test_the_changelog_has_notes(self):
        self.assertTrue(release_notes.notes((ROOT / "CHANGELOG.md").read_text(), "Unreleased"))


if __name__ == "__main__":
    unittest.main()
