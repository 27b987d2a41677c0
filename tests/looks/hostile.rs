//! A workspace of traps that report their execution. There are modules that shadow those of
//! servers, plugins and programs from settings, caches, and generated scripts. Each writes its own
//! name to the canary when it is run or imported.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::canary::Canary;
use crate::support::{Project, write_executable};

/// Modules that Python servers, and programs started by them, import by default.
const PYTHON_MODULES: &str = "
    _bootlocale abc argparse ast asyncio attr autopep8 black click code codecs collections configparser contextlib
    contextvars copy crackerjack ctypes dataclasses datetime difflib docutils email encodings enum evil_plugin flake8 fnmatch
    functools gi glob hashlib importlib inspect io isort jedi json json5 keyword linecache locale logging lsprotocol mccabe
    mypy numpy operator optparse os parso pathlib pickle pip pkg_resources pkgutil platform pluggy pycodestyle pydoc
    pydocstyle pyflakes pygls pylint pylsp queue random re ropeproject rope ruff runpy selectors setuptools shutil signal
    site sitecustomize socket ssl stat string struct subprocess sysconfig tempfile textwrap threading token tokenize toml
    tomllib traceback types typing typing_extensions ujson urllib usercustomize uuid warnings weakref yapf zipfile zipimport
";

/// Packages that Node.js servers search for in the project.
const NODE_PACKAGES: &str = "
    @angular/language-service @astrojs/compiler @astrojs/ts-plugin @babel/core @biomejs/biome @prisma/client
    @tailwindcss/language-server @types/evil @vue/compiler-core @vue/compiler-dom @vue/language-core @vue/language-plugin-pug
    @vue/typescript-plugin astro autoprefixer eslint evil-plugin evil-sharable graphql graphql-config jiti postcss
    postcss-load-config prettier prettier-plugin-astro prettier-plugin-evil prettier-plugin-organize-imports
    prettier-plugin-svelte prisma pug remark-evil sass stylelint svelte svelte-preprocess svelte2tsx tailwindcss ts-node
    tslint typescript typescript-evil-plugin vite vscode-languageserver vue vue-eslint-parser yaml
";

/// Programs that servers, and programs started by them, search for.
const PROGRAMS: &str = "
    astro bash biome black buf buf-plugin-evil cc clang clang-format cmake cmake-format deno eslint fish flake8 g++ gcc git
    go man mypy node npm npx oxlint php pip poetry prettier prisma protoc pylint pylsp pyright python python3 ruff sh
    shellcheck shfmt stylua systemd-analyze tsc tsserver verible-verilog-format yapf
";

/// Configuration files in JavaScript.
const SCRIPTS: &str = "
    .dependency-cruiser.js .eslintrc.cjs .eslintrc.js .lintstagedrc.cjs .pnp.cjs .postcssrc.cjs .prettierrc.cjs
    .prettierrc.js .solhint.js .stylelintrc.cjs .stylelintrc.js .svelterc.js .yarn/releases/yarn.cjs astro.config.cjs
    babel.config.cjs babel.config.js codegen.js eslint.config.cjs eslint.config.js evil.cjs evil.js graphql.config.cjs
    graphql.config.js gulpfile.js hardhat.config.js jest.config.js next.config.js nuxt.config.js oxlint.config.js
    postcss.config.cjs postcss.config.js prettier.config.cjs prettier.config.js rollup.config.js stylelint.config.cjs
    stylelint.config.js svelte.config.cjs svelte.config.js tailwind.config.cjs tailwind.config.js vite.config.js
    vue.config.js webpack.config.js
";

/// Configuration files as modules, and in TypeScript.
const MODULES: &str = "
    .pnp.loader.mjs .prettierrc.mjs astro.config.mjs astro.config.ts codegen.ts eslint.config.mjs eslint.config.ts evil.mjs
    evil.ts graphql.config.mjs graphql.config.ts nuxt.config.ts oxlint.config.ts postcss.config.mjs prettier.config.mjs
    prettier.config.ts prisma.config.mjs prisma.config.ts .config/prisma.ts stylelint.config.mjs svelte.config.mjs
    svelte.config.ts tailwind.config.mjs tailwind.config.ts vite.config.mjs vite.config.ts vitest.config.ts
";

/// Files that shells and interpreters read at start, and other files of shells.
const SHELLS: &str = "
    .bash_login .bash_logout .bash_profile .bashrc .envrc .kshrc .profile .zlogin .zprofile .zshenv .zshrc
    .config/fish/config.fish completions/evil.fish conf.d/evil.fish config.fish functions/evil.fish functions/greet.fish
    configure gradlew mvnw install.sh evil.sh
";

/// Writes all executable files into `project`, over the existing `sample`.
pub fn fill(project: &Project) -> Canary {
    let canary = Canary::new(project.beside("canary"));
    python(project, &canary);
    node(project, &canary);
    programs(project, &canary);
    settings_of_scripts(project);
    native(project, &canary);
    builds(project, &canary);
    user_tools(project, &canary);
    repository(project, &canary);
    others(project, &canary);
    canary
}

fn program(project: &Project, path: &str, text: &str) {
    write_executable(project.path(path), text);
}

fn python(project: &Project, canary: &Canary) {
    for module in PYTHON_MODULES.split_whitespace() {
        let path = format!("{module}.py");
        project.write(&path, canary.python(&path));
    }
    for path in [
        "conftest.py",
        "setup.py",
        ".ropeproject/config.py",
        ".cmake-format.py",
        "cmake-format.py",
        "SConstruct",
        "conf.py",
        "noxfile.py",
        "evil_package/__init__.py",
        "tools/evil_pylint.py",
    ] {
        project.write(path, canary.python(path));
    }
    project.write(".cmake-format", canary.python(".cmake-format"));
    for folder in [".", "src", ".venv/lib/python3.11/site-packages", "__pypackages__/3.11/lib"] {
        let path = format!("{folder}/evil.pth");
        project.write(&path, format!("import os; {}", canary.python(&path)));
    }
    for folder in [".venv", "venv", "evilvenv"] {
        project.write(
            &format!("{folder}/pyvenv.cfg"),
            "home = /usr/bin\nversion = 3.11.7\ninclude-system-site-packages = true\n",
        );
        for name in ["python", "python3", "pip", "poetry", "pylsp", "black"] {
            let path = format!("{folder}/bin/{name}");
            program(project, &path, &canary.shell(&path));
        }
        for name in ["sitecustomize.py", "usercustomize.py", "evil_import.py"] {
            let path = format!("{folder}/lib/python3.11/site-packages/{name}");
            project.write(&path, canary.python(&path));
        }
    }
    project.write("setup.cfg", "[flake8]\nselect = X\n[flake8:local-plugins]\nextension =\n    X = evil_plugin:Evil\npaths = .\n[mypy]\nplugins = evil_plugin.py\n[pylint.main]\nload-plugins = evil_plugin\n[options]\npackages = find:\n");
    project.write(
        ".flake8",
        "[flake8]\n[flake8:local-plugins]\nextension =\n    X = evil_plugin:Evil\npaths = .\n",
    );
    project.write("tox.ini", "[flake8]\n[flake8:local-plugins]\nextension = X = evil_plugin:Evil\n[testenv]\ncommands = sh evil.sh\n");
    project.write(
        "pylintrc",
        format!("[MAIN]\ninit-hook={}load-plugins=evil_plugin\n", canary.python("pylintrc")),
    );
    for name in ["mypy.ini", ".mypy.ini"] {
        project.write(name, "[mypy]\nplugins = evil_plugin.py, tools/evil_pylint.py\npython_executable = ./.venv/bin/python\n");
    }
    project.write("pyproject.toml", pyproject(canary));
    project.write("pyrightconfig.json", r#"{"venvPath": ".", "venv": "evilvenv", "pythonVersion": "3.11", "executionEnvironments": [{"root": ".", "extraPaths": ["."]}]}"#);
    project.write("Pipfile", "[packages]\nevil = {path = \".\", editable = true}\n");
    project.write("ty.toml", "[environment]\npython = \"./evilvenv\"\nroot = [\".\"]\n");
    project.write("pyrefly.toml", "python-interpreter-path = \"./.venv/bin/python\"\n");
    project.write(
        "zuban.toml",
        "[mypy]\nplugins = [\"./evil_plugin.py\"]\npython_executable = \"./.venv/bin/python\"\n",
    );
    project.write(".python-version", "./.venv/bin/python\n");
    project.write(".pdm-python", project.path(".venv/bin/python").display().to_string());
}

fn pyproject(canary: &Canary) -> String {
    let hook = canary.python("pyproject.toml");
    format!(
        "[project]\nname = \"sample\"\nversion = \"1.0\"\n[build-system]\nrequires = []\nbuild-backend = \"evil_plugin\"\nbackend-path = [\".\"]\n\
         [tool.mypy]\nplugins = [\"./evil_plugin.py\"]\npython_executable = \"./.venv/bin/python\"\n[tool.pylint.main]\nload-plugins = [\"evil_plugin\"]\ninit-hook = {}\n\
         [tool.rope]\nautoimport.modules = [\"evil_plugin\"]\npython_path = [\".\"]\n[tool.black]\npython-cell-magics = []\n[tool.robotcode]\npython-path = [\".\"]\n",
        json!(hook.trim_end())
    )
}

fn node(project: &Project, canary: &Canary) {
    for package in NODE_PACKAGES.split_whitespace() {
        let folder = format!("node_modules/{package}");
        project.write(
            &format!("{folder}/package.json"),
            json!({"name": package, "version": "5.9.3", "main": "index.js", "prisma": {}, "svelte": "index.js"}).to_string(),
        );
        let mut files = vec![
            "index.js",
            "lib/typescript.js",
            "lib/tsserver.js",
            "lib/tsserverlibrary.js",
            "lib/_tsserver.js",
            "lib/api.js",
            "lib/index.js",
            "resolveConfig.js",
            "index.cjs",
            "dist/index.js",
        ];
        if package == "svelte" {
            files.extend(["compiler.js", "compiler/index.js", "compiler.cjs"]);
        }
        for file in files {
            let path = format!("{folder}/{file}");
            project.write(&path, canary.common_js(&path));
        }
    }
    for path in SCRIPTS.split_whitespace() {
        project.write(path, canary.common_js(path));
    }
    for path in MODULES.split_whitespace() {
        project.write(path, canary.module_js(path));
    }
    project.write(
        ".eslintrc.json",
        r#"{"root": true, "plugins": ["evil-plugin"], "extends": ["./evil.cjs"], "parser": "./evil.cjs"}"#,
    );
    project.write(".prettierrc", r#"{"plugins": ["./evil.cjs", "./evil.mjs", "prettier-plugin-evil"]}"#);
    project.write(
        ".stylelintrc.json",
        r#"{"plugins": ["./evil.cjs"], "extends": "./evil.cjs", "rules": {"property-no-unknown": true}}"#,
    );
    project.write(
        ".oxlintrc.json",
        r#"{"jsPlugins": ["./evil.mjs", "./evil.cjs"], "rules": {"no-debugger": "error"}}"#,
    );
    project.write("biome.json", r#"{"plugins": ["./evil.grit", "./evil.cjs"], "vcs": {"enabled": true, "clientKind": "git", "useIgnoreFile": true, "defaultBranch": "main"}}"#);
    project.write("evil.grit", "`console.log($x)` where { register_diagnostic(span=$x, message=\"x\") }\n");
    project.write(".yarnrc.yml", "yarnPath: .yarn/releases/yarn.cjs\nplugins:\n  - ./evil.cjs\n");
    project
        .write(".npmrc", "node-options=--require=./evil.cjs\nscript-shell=./evil.sh\nignore-scripts=false\n");
    project.write("bunfig.toml", "preload = [\"./evil.ts\"]\n");
    project.write(".babelrc", r#"{"plugins": ["./evil.cjs"], "presets": ["./evil.cjs"]}"#);
    project.write(".graphqlrc.json", r#"{"schema": ["./evil.cjs", "schema.graphql"], "documents": "query.graphql", "extensions": {"languageService": {"customDirectives": []}}}"#);
    project.write("prisma/evil.js", canary.common_js("prisma/evil.js"));
}

/// `package.json`, `tsconfig.json` and similar files, with every field that names code.
fn settings_of_scripts(project: &Project) {
    let package = json!({
        "name": "sample", "version": "1.0.0", "main": "./evil.cjs",
        "scripts": {"prepare": "sh evil.sh", "preinstall": "sh evil.sh", "build": "sh evil.sh"},
        "dependencies": {"vue": "3.5.0", "typescript": "5.9.3", "prettier": "3.0.0", "tailwindcss": "4.0.0", "evil-plugin": "1.0.0"},
        "prettier": "./evil.cjs", "eslintConfig": {"plugins": ["evil-plugin"]}, "stylelint": {"plugins": ["./evil.cjs"]},
        "babel": {"plugins": ["./evil.cjs"]}, "postcss": {"plugins": {"./evil.cjs": {}}}, "graphql": {"schema": "./evil.cjs"},
        "prisma": {"seed": "sh evil.sh", "schema": "schema.prisma"}, "packageManager": "yarn@4.0.0", "volta": {"node": "20.0.0"},
        "svelte": "./evil.js",
    });
    project.write("package.json", package.to_string());
    let plugins = ["typescript-evil-plugin", "./evil.cjs", "../evil", "evil-plugin"];
    let config = json!({
        "compilerOptions": {
            "strict": true, "target": "ES2022", "module": "ESNext", "moduleResolution": "Bundler", "noEmit": true, "allowJs": true, "jsx": "preserve",
            "allowImportingTsExtensions": true,
            "plugins": plugins.map(|name| json!({"name": name, "transform": "./evil.cjs"})), "typeRoots": ["./node_modules/@types"],
        },
        "vueCompilerOptions": {"plugins": ["./evil.cjs", "evil-plugin", "@vue/language-plugin-pug"], "target": 3},
        "mdx": {"checkMdx": true, "plugins": ["remark-evil", "./evil.mjs", "./evil.cjs"]},
        "ts-node": {"require": ["./evil.cjs"]},
        "svelteOptions": {"namespace": "x"},
        "exclude": ["node_modules"],
    });
    for name in ["tsconfig.json", "jsconfig.json"] {
        project.write(name, config.to_string());
    }
    let vscode: Value = json!({
        "typescript.tsdk": "node_modules/typescript/lib", "python.pythonPath": ".venv/bin/python", "python.defaultInterpreterPath": ".venv/bin/python",
        "biome.lsp.bin": "node_modules/.bin/biome", "prettier.prettierPath": "node_modules/prettier", "eslint.nodePath": "node_modules", "Lua.runtime.plugin": "evil.lua",
        "deno.path": "node_modules/.bin/deno", "clangd.path": "node_modules/.bin/clang",
    });
    project.write(".vscode/settings.json", vscode.to_string());
}

fn programs(project: &Project, canary: &Canary) {
    for folder in ["node_modules/.bin", "bin", ".", "vendor/bin", "tools"] {
        for name in PROGRAMS.split_whitespace() {
            let path = format!("{folder}/{name}");
            // The root has folders and files of such names that servers read.
            if !project.path(&path).exists() {
                program(project, &path, &canary.shell(&path));
            }
        }
    }
    for path in SHELLS.split_whitespace() {
        program(project, path, &canary.shell(path));
    }
}

/// Shared objects that are plugins of compilers, modules of Python and addons of Node.js.
fn native(project: &Project, canary: &Canary) {
    for name in [
        "evil.so",
        "evil_native.cpython-311-x86_64-linux-gnu.so",
        "evil_native.abi3.so",
        "evil.node",
        "evil.dylib",
    ] {
        project.write("evil.c", canary.c(name));
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-o", name, "evil.c"])
            .current_dir(project.root())
            .stdin(Stdio::null())
            .status();
        assert!(built.is_ok_and(|status| status.success()), "a C compiler builds {name}");
    }
}

/// The folder beside the project that is first on PATH: its `cmake` reports when it is asked to
/// configure a project, which runs the project's build files.
pub fn tools(project: &Project) -> PathBuf {
    project.beside("tools")
}

fn user_tools(project: &Project, canary: &Canary) {
    let path = tools(project).join("cmake");
    let configures = canary.shell("cmake was run").replacen("#!/bin/sh\n", "", 1);
    write_executable(path, format!("#!/bin/sh\ncase \"$1\" in -*) exit 0 ;; esac\n{configures}"));
}

/// Inputs and outputs of builds of C, C++, Fortran and others.
fn builds(project: &Project, canary: &Canary) {
    let root = project.root();
    let so = root.join("evil.so").display().to_string();
    let flags = [
        format!("-fplugin={so}"),
        format!("-fpass-plugin={so}"),
        "-Xclang".to_owned(),
        "-load".to_owned(),
        "-Xclang".to_owned(),
        so.clone(),
        "-B.".to_owned(),
        "--gcc-toolchain=.".to_owned(),
        "-specs=evil.specs".to_owned(),
    ];
    let compiler = root.join("bin/gcc").display().to_string();
    let unit = |file: &str| {
        let mut arguments = vec![compiler.clone()];
        arguments.extend(flags.iter().cloned());
        arguments.extend(["-c".to_owned(), file.to_owned()]);
        json!({"directory": root, "file": file, "arguments": arguments})
    };
    let units = json!([unit("main.c"), unit("evil.c"), unit("lib.c")]).to_string();
    for folder in [".", "build"] {
        project.write(&format!("{folder}/compile_commands.json"), &units);
        project.write(&format!("{folder}/CMakeCache.txt"), format!("CMAKE_HOME_DIRECTORY:INTERNAL={}\nCMAKE_GENERATOR:INTERNAL=Unix Makefiles\nCMAKE_COMMAND:INTERNAL={}\n", root.display(), root.join("bin/cmake").display()));
    }
    project.write("compile_flags.txt", flags.join("\n"));
    project.write(".clangd", format!("CompileFlags:\n  Compiler: {compiler}\n  Add: [\"-fplugin={so}\", \"-load\", \"{so}\"]\n  BuiltinHeaders: QueryDriver\nIndex:\n  External:\n    Server: 127.0.0.1:9\n    MountPoint: /\n"));
    project.write(".ccls", format!("{compiler}\n-fplugin={so}\n"));
    project.write(".clang-tidy", "Checks: '*'\n");
    let targets = "cmake_minimum_required(VERSION 3.5)\nproject(sample NONE)\nadd_library(greet STATIC greet.c)\ntarget_include_directories(greet PUBLIC .)\n";
    project.write("CMakeLists.txt", format!("{targets}{}", canary.cmake("CMakeLists.txt")));
    project.write("evil.cmake", canary.cmake("evil.cmake"));
    project.write("CMakePresets.json", r#"{"version": 4, "configurePresets": [{"name": "default", "generator": "Unix Makefiles", "binaryDir": "${sourceDir}/build", "toolchainFile": "evil.cmake"}]}"#);
    let make = format!(
        "X := $(shell {})\nall:\n\tsh evil.sh\n",
        canary.shell("Makefile").lines().nth(1).unwrap_or_default()
    );
    for name in ["GNUmakefile", "makefile"] {
        project.write(name, &make);
    }
    let fortran = format!("__import__(\"os\").system(\"echo fortran >> {}\")", canary.path().display());
    project.write(
        "evil.F90",
        format!("#define X {fortran}\n#if X\nmodule evil\n#endif\n#if {fortran}\nend module evil\n#endif\n"),
    );
    project.write(".fortlsrc", r#"{"pp_suffixes": [".F90", ".f90"], "disable_autoupdate": false}"#);
    project.write("fpm.toml", "name = \"sample\"\n[build]\nauto-executables = true\n");
}

/// A repository whose own settings name programs, as an archive can contain it.
fn repository(project: &Project, canary: &Canary) {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command
            .args(arguments)
            .current_dir(project.root())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        assert!(command.status().is_ok_and(|status| status.success()), "git {arguments:?}");
    };
    git(&["init", "-q"]);
    let hook = project.path(".git/evil-hook");
    program(project, ".git/evil-hook", &canary.shell("git"));
    for name in ["post-checkout", "post-index-change", "fsmonitor-watchman", "pre-commit"] {
        program(project, &format!(".git/hooks/{name}"), &canary.shell(&format!("git hook {name}")));
    }
    for name in [
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.editor",
        "diff.external",
        "credential.helper",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "diff.evil.textconv",
        "alias.status",
    ] {
        let value = format!("{}{}", if name.starts_with("alias") { "!" } else { "" }, hook.display());
        git(&["config", name, &value]);
    }
    project.write(".gitattributes", "* filter=evil diff=evil\n");
}

fn others(project: &Project, canary: &Canary) {
    for path in [
        ".emmyrc.lua",
        "evil.lua",
        ".luacheckrc",
        "lua/evil/init.lua",
        ".vscode/lua/plugin.lua",
        "third/evil/config.lua",
        ".luarc.lua",
        "init.lua",
        ".nvim.lua",
        ".busted",
    ] {
        project.write(path, canary.lua(path));
    }
    project.write(".luarc.json", r#"{"runtime.plugin": "evil.lua", "workspace.userThirdParty": ["third"], "workspace.checkThirdParty": "Apply", "runtime": {"plugin": "evil.lua"}}"#);
    project.write(".emmyrc.json", r#"{"format": {"externalTool": {"program": "./bin/stylua", "args": []}, "externalToolRangeFormat": {"program": "./bin/stylua", "args": []}}, "runtime": {"requirePattern": ["?.lua"]}, "resource": {"paths": ["."]}}"#);
    project.write("deno.json", r#"{"lint": {"plugins": ["./evil.ts", "./evil.mjs"]}, "nodeModulesDir": "auto", "tasks": {"evil": "sh evil.sh"}, "imports": {"evil": "./evil.ts"}, "compilerOptions": {"types": ["./evil.ts"]}}"#);
    project.write("deno.jsonc", r#"{"lint": {"plugins": ["./evil.ts"]}}"#);
    project.write("buf.yaml", "version: v2\nplugins:\n  - plugin: ./bin/buf-plugin-evil\n  - plugin: buf-plugin-evil\nlint:\n  use:\n    - STANDARD\n");
    project.write("buf.gen.yaml", "version: v2\nplugins:\n  - local: ./bin/buf-plugin-evil\n    out: gen\n");
    project.write("protols.toml", "[config]\ninclude_paths = [\".\"]\n[config.experimental]\nuse_protoc_diagnostics = true\n[config.path]\nclang_format = \"./bin/clang-format\"\nprotoc = \"./bin/protoc\"\n[formatter]\nclang_format_path = \"./bin/clang-format\"\n");
    project.write("tombi.toml", "[[schemas]]\npath = \"./evil.json\"\n");
    project.write(".taplo.toml", "plugins = [\"lua\", \"evil.so\"]\n[schema]\npath = \"./evil.json\"\n");
    project.write(".sqllsrc.json", r#"{"connections": [{"name": "evil", "adapter": "sqlite3", "filename": "./evil.db", "projectPaths": ["."], "sshConfig": {"remoteHost": "127.0.0.1"}}]}"#);
    project.write(
        "postgres-language-server.jsonc",
        r#"{"extends": ["./evil.cjs", "evil-sharable"], "db": {"host": "127.0.0.1", "port": 9}}"#,
    );
    project.write("hardhat.config.ts", canary.module_js("hardhat.config.ts"));
    project.write(".neocmake.toml", "command_upcase = \"ignore\"\n[line_max_words]\n");
    project.write(".neocmakelint.toml", "command_upcase = \"ignore\"\nenable_external_cmake_lint = true\n");
    project.write(
        ".latexmkrc",
        format!(
            "system('{}');\n",
            canary.shell("latexmkrc").lines().nth(1).unwrap_or_default().replace('\'', "\\'")
        ),
    );
    for path in [".vimrc", ".exrc", "autoload/evil.vim", "plugin/evil.vim", ".vim/vimrc"] {
        project.write(path, format!("call writefile(['{path}'], '{}', 'a')\n", canary.path().display()));
    }
    for path in [
        "evil.php",
        "vendor/autoload.php",
        ".php-cs-fixer.php",
        "bootstrap.php",
        "_ide_helper.php",
        ".phpstorm.meta.php",
    ] {
        project.write(
            path,
            format!("<?php file_put_contents('{}', \"{path}\\n\", FILE_APPEND);\n", canary.path().display()),
        );
    }
    project.write("composer.json", r#"{"name": "a/sample", "autoload": {"files": ["evil.php"]}, "scripts": {"post-autoload-dump": "sh evil.sh"}}"#);
    project.write("phpstan.neon", "parameters:\n  bootstrapFiles:\n    - bootstrap.php\n");
    project.write(
        "psalm.xml",
        "<psalm autoloader=\"bootstrap.php\"><plugins><plugin filename=\"evil.php\"/></plugins></psalm>\n",
    );
    project.write(".shellcheckrc", "external-sources=true\nsource-path=.\n");
    project.write(".editorconfig", "root = true\n[*]\nindent_size = 2\n");
    project.write(".mise.toml", "[tools]\nnode = \"path:./bin\"\n[env]\n_.source = \"./evil.sh\"\n");
    project.write(".tool-versions", "nodejs path:./bin\npython path:./bin\n");
    project.write(".nvmrc", "20\n");
    go(project);
}

/// Inputs of Go's tools: compiler flags of cgo, generators, a toolchain, a vendored and a replaced
/// module.
fn go(project: &Project) {
    let root = project.root().display().to_string();
    project.write("go.mod", "module example.com/sample\n\ngo 1.21\n\ntoolchain go1.99.0-evil\n\ntool example.com/evil\n\nrequire example.com/evil v0.0.0\n\nreplace example.com/evil => ./evil-module\n");
    project.write("evil-module/go.mod", "module example.com/evil\n\ngo 1.21\n");
    project.write("evil-module/evil.go", "package evil\n\n//go:generate sh ../evil.sh\n");
    project.write("cgo.go", format!("package main\n\n// #cgo pkg-config: --define-prefix evil\n// #cgo CFLAGS: -I{root} -B{root}/bin -fplugin={root}/evil.so\n// #cgo LDFLAGS: -L{root} -levil\n// int one(void) {{ return 1; }}\nimport \"C\"\n\n//go:generate sh evil.sh\nfunc one() int {{ return int(C.one()) }}\n"));
    project.write("evil/cgo.go", "package evil\n\n// #cgo CFLAGS: -I.\n// int one(void) { return 1; }\nimport \"C\"\n\nfunc One() int { return int(C.one()) }\n");
    project.write("evil.pc", "Name: evil\nDescription: x\nVersion: 1\nCflags: -fplugin=./evil.so\n");
    project.write(".golangci.yml", "linters-settings:\n  custom:\n    evil:\n      path: evil.so\n");
}

/// Adds references to the traps to the requested file: imports, and directives that name code.
pub fn bait(project: &Project, file: &str, canary: &Canary) {
    let text = match Path::new(file).extension().and_then(|end| end.to_str()) {
        Some("py") => "import numpy, gi, evil_native, evil_import, evil_plugin, black, re, json\nblack.x\nevil_native.x\n".to_owned(),
        Some("ts" | "js") => "import * as evilPlugin from \"evil-plugin\";\nimport * as evil from \"./evil.ts\";\nexport { evilPlugin, evil };\n".to_owned(),
        Some("css") => "@import \"./evil.css\";\n@config \"./tailwind.config.js\";\n@plugin \"./evil.cjs\";\n".to_owned(),
        Some("sh") => "source ./evil.sh\n. ./bin/git\n".to_owned(),
        Some("fish") => "source ./evil.fish\n".to_owned(),
        Some("lua") => "require(\"evil\")\n".to_owned(),
        Some("just") => String::new(),
        _ if file == "Makefile" => format!("X := $(shell {})\n", canary.shell("Makefile").lines().nth(1).unwrap_or_default()),
        _ if file == "CMakeLists.txt" => canary.cmake("CMakeLists.txt"),
        _ if file == "justfile" => format!("x := `{}`\n", canary.shell("justfile").lines().nth(1).unwrap_or_default()),
        _ => String::new(),
    };
    // The trap may have replaced the sample's own file.
    let sample = fs::read_to_string(project.path(file)).unwrap_or_default();
    project.write(file, format!("{sample}{text}"));
}
