//! The answer store of TypeScript: packages, links and settings of a monorepo, as pnpm makes it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::{ON, check, soak, stored_check};
use crate::support::{Project, copy_folder};

const SERVERS: [&str; 1] = ["typescript-language-server"];
const BASE: &str = "{\n  // for all packages\n  \"compilerOptions\": {\"strict\": true, \"module\": \"nodenext\", \"target\": \"es2022\", \"composite\": true, \"noUnusedLocals\": false},\n}\n";
const APP: &str = "{\"extends\": \"../../tsconfig.base.json\", \"include\": [\"src\"], \"references\": [{\"path\": \"../core\"}]}\n";
const CORE: &str = "export function total(n: number): number {\n  return n;\n}\n";
const MAIN: &str = "import { total } from \"@web/core\";\nimport { one } from \"pack\";\nimport { note } from \"./note.js\";\n\nexport const sum: string = total(one);\nexport const text: string = note;\nconst unused = 1;\n";
const PACK: &str = "node_modules/.pnpm/pack@1.0.0/node_modules/pack";
const PACK_LINK: &str = "packages/app/node_modules/pack";
const PACK_TARGET: &str = "../../../node_modules/.pnpm/pack@1.0.0/node_modules/pack";
const PACK_PACKAGE: &str = "{\"name\": \"pack\", \"version\": \"1.0.0\", \"types\": \"./index.d.ts\"}\n";
const PACK_TYPES: &str = "export declare const one: number;\n";

fn web() -> Project {
    let project = Project::new([
        ("package.json", "{\"name\": \"web\", \"private\": true, \"type\": \"module\"}\n"),
        ("pnpm-workspace.yaml", "packages: [packages/*]\n"),
        ("tsconfig.base.json", BASE),
        (
            "packages/core/package.json",
            "{\"name\": \"@web/core\", \"type\": \"module\", \"types\": \"./src/index.ts\"}\n",
        ),
        ("packages/core/tsconfig.json", "{\"extends\": \"../../tsconfig.base\", \"include\": [\"src\"]}\n"),
        ("packages/core/src/index.ts", CORE),
        (
            "packages/app/package.json",
            "{\"name\": \"@web/app\", \"type\": \"module\", \"dependencies\": {\"pack\": \"1\"}}\n",
        ),
        ("packages/app/tsconfig.json", APP),
        ("packages/app/src/main.ts", MAIN),
        ("packages/app/src/note.d.ts", "export declare const note: number;\n"),
        (&format!("{PACK}/package.json"), PACK_PACKAGE),
        (&format!("{PACK}/index.d.ts"), PACK_TYPES),
        (&format!("{PACK}/other.d.ts"), "export declare const two: number;\n"),
        (&format!("{PACK}/index.js"), "export const one = 1;\n"),
        ("node_modules/.pnpm/pack@2.0.0/node_modules/pack/package.json", PACK_PACKAGE),
        ("node_modules/.pnpm/pack@2.0.0/node_modules/pack/index.d.ts", "export declare const one: string;\n"),
    ]);
    link(&project, "../../../core", "packages/app/node_modules/@web/core");
    link(&project, PACK_TARGET, PACK_LINK);
    project.write_settings(ON);
    project
}

/// Makes a link at `name` in place of another one.
fn link(project: &Project, target: impl AsRef<Path>, name: &str) {
    let path = project.path(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let _none = fs::remove_file(&path);
    symlink(target, path).expect("a link");
}

#[tokio::test(flavor = "multi_thread")]
async fn check_of_equal_typescript_tree_needs_no_server_and_check_of_changed_tree_does() {
    let project = web();
    let root = project.root();
    let (first, is_stored) = check(&project, &SERVERS, root.clone()).await;
    assert!(!is_stored && first[2] == "complete", "{first}");
    assert!(first[1] == 2 && first.to_string().contains("2322"), "{first}");
    assert_eq!(stored_check(&project, &SERVERS, root.clone()).await, first);

    let other = project.beside("elsewhere/deep/copy/other");
    copy_folder(&root, &other);
    assert_eq!(check(&project, &SERVERS, other).await, (first.clone(), true), "of the same content");

    let write = |name: &str, text: &str| project.write(name, text);
    let remove = |name: &str| fs::remove_file(project.path(name)).unwrap();
    let remove_all = |name: &str| fs::remove_dir_all(project.path(name)).unwrap();
    // Whether the tree has no key, its change, and the change back.
    type Change<'a> = (&'a str, bool, Box<dyn Fn() + 'a>, Box<dyn Fn() + 'a>);
    let changes: Vec<Change<'_>> = vec![
        (
            "a file of the same length",
            false,
            Box::new(|| write("packages/core/src/index.ts", &CORE.replace("number", "string"))),
            Box::new(|| write("packages/core/src/index.ts", CORE)),
        ),
        (
            "the declarations of a package",
            false,
            Box::new(|| write(&format!("{PACK}/index.d.ts"), &PACK_TYPES.replace("number", "string"))),
            Box::new(|| write(&format!("{PACK}/index.d.ts"), PACK_TYPES)),
        ),
        (
            "the entry of a package",
            false,
            Box::new(|| write(&format!("{PACK}/package.json"), &PACK_PACKAGE.replace("index", "other"))),
            Box::new(|| write(&format!("{PACK}/package.json"), PACK_PACKAGE)),
        ),
        (
            "extended settings",
            false,
            Box::new(|| write("tsconfig.base.json", &BASE.replace("Locals\": false", "Locals\": true"))),
            Box::new(|| write("tsconfig.base.json", BASE)),
        ),
        (
            "a file before another one",
            false,
            Box::new(|| write("packages/app/src/note.ts", "export const note = \"\";\n")),
            Box::new(|| remove("packages/app/src/note.ts")),
        ),
        (
            "a link to another package",
            false,
            Box::new(|| link(&project, PACK_TARGET.replace("@1", "@2"), PACK_LINK)),
            Box::new(|| link(&project, PACK_TARGET, PACK_LINK)),
        ),
        (
            "a package that is missing",
            false,
            Box::new(|| remove(PACK_LINK)),
            Box::new(|| link(&project, PACK_TARGET, PACK_LINK)),
        ),
        (
            "an empty package of types",
            false,
            Box::new(|| fs::create_dir_all(project.path("node_modules/@types/ghost")).unwrap()),
            Box::new(|| remove_all("node_modules/@types")),
        ),
        (
            "a link to a package outside",
            true,
            Box::new(|| link(&project, project.beside("config"), "node_modules/out")),
            Box::new(|| remove("node_modules/out")),
        ),
        (
            "packages above the workspace",
            true,
            Box::new(|| fs::create_dir(root.with_file_name("node_modules")).unwrap()),
            Box::new(|| fs::remove_dir(root.with_file_name("node_modules")).unwrap()),
        ),
        (
            "settings above the workspace",
            true,
            Box::new(|| fs::write(root.with_file_name("tsconfig.json"), "{}").unwrap()),
            Box::new(|| fs::remove_file(root.with_file_name("tsconfig.json")).unwrap()),
        ),
        (
            "an import from above",
            true,
            Box::new(|| {
                fs::write(root.with_file_name("out.ts"), "export const out = 1;\n").unwrap();
                write("packages/app/src/main.ts", &format!("import \"../../../../out.js\";\n{MAIN}"));
            }),
            Box::new(|| {
                fs::remove_file(root.with_file_name("out.ts")).unwrap();
                write("packages/app/src/main.ts", MAIN);
            }),
        ),
        ("archives of packages", true, Box::new(|| write(".pnp.cjs", "")), Box::new(|| remove(".pnp.cjs"))),
    ];
    for (what, is_refused, change, back) in &changes {
        change();
        let (then, is_stored) = check(&project, &SERVERS, root.clone()).await;
        assert!(!is_stored && (*is_refused || then != first), "after {what}: {then}");
        if *is_refused {
            assert!(!check(&project, &SERVERS, root.clone()).await.1, "{what} is stored");
        }
        back();
        assert_eq!(stored_check(&project, &SERVERS, root.clone()).await, first, "after {what}, undone");
    }
    write("node_modules/.cache/made.js", "1");
    write("node_modules/.bin/pack", "#!/bin/sh\n");
    write("node_modules/.pnpm-workspace-state-v1.json", "{}");
    write("packages/app/.turbo/build.log", "built\n");
    write("packages/app/tsconfig.tsbuildinfo", "{}");
    assert_eq!(check(&project, &SERVERS, root.clone()).await, (first, true), "after writes to caches");
}

/// A plug-in of the project is not loaded, so its code does not decide findings.
#[tokio::test(flavor = "multi_thread")]
async fn plug_in_of_the_project_does_not_run() {
    let project = web();
    let (first, _) = check(&project, &SERVERS, project.root()).await;
    let mark = project.beside("loaded");
    project.write(
        "packages/app/node_modules/plug/index.js",
        format!("require('fs').writeFileSync({mark:?}, ''); module.exports = () => ({{create: info => info.languageService}});\n"),
    );
    project.write(
        "tsconfig.base.json",
        BASE.replace("\"strict\"", "\"plugins\": [{\"name\": \"plug\"}], \"strict\""),
    );
    assert_eq!(stored_check(&project, &SERVERS, project.root()).await, first);
    assert!(!mark.exists());
}

/// The states of files and links, as for the [`soak`] of Python.
const STATES: [(&str, &[&str]); 14] = [
    (
        "packages/core/src/index.ts",
        &[CORE, "export function total(n: string): string {\n  return n;\n}\n", ""],
    ),
    (
        "packages/core/package.json",
        &[
            "{\"name\": \"@web/core\", \"type\": \"module\", \"types\": \"./src/index.ts\"}\n",
            "{\"name\": \"@web/core\", \"exports\": {\".\": \"./src/more.ts\"}}\n",
        ],
    ),
    ("packages/core/src/more.ts", &["", "export const total = (n: unknown) => String(n);\n"]),
    (
        "packages/app/src/main.ts",
        &[
            MAIN,
            "import fs from \"fs\";\nimport { one } from \"../../../../out\";\nimport \"untyped\";\nexport default one + fs;\n",
        ],
    ),
    ("packages/app/src/note.ts", &["", "export const note = \"\";\n"]),
    (
        "packages/app/src/more.js",
        &[
            "",
            "// @ts-check\nimport { value } from \"untyped\";\n/** @type {string} */\nexport const x = value;\n",
        ],
    ),
    (
        "packages/app/tsconfig.json",
        &[
            APP,
            "{\"extends\": \"../../tsconfig.base.json\", \"compilerOptions\": {\"allowJs\": true, \"maxNodeModuleJsDepth\": 1, \"outDir\": \"out\"}}\n",
        ],
    ),
    (
        "tsconfig.base.json",
        &[
            BASE,
            "{\"compilerOptions\": {\"module\": \"esnext\", \"composite\": true, \"moduleResolution\": \"bundler\"}}\n",
            "{\"compilerOptions\": {\"module\": \"esnext\", \"moduleResolution\": \"classic\", \"composite\": true}}\n",
        ],
    ),
    (
        "node_modules/.pnpm/pack@1.0.0/node_modules/pack/index.d.ts",
        &[PACK_TYPES, "export declare const one: \"1\";\n", ""],
    ),
    (
        "node_modules/.pnpm/pack@1.0.0/node_modules/pack/package.json",
        &[PACK_PACKAGE, "{\"types\": \"./other.d.ts\"}\n", ""],
    ),
    (
        "packages/app/node_modules/untyped/index.js",
        &["", "export const value = 1;\n", "export const value = \"1\";\n"],
    ),
    ("node_modules/@types/untyped/index.d.ts", &["", "export const value: boolean;\n"]),
    (
        PACK_LINK,
        &[
            "-> ../../../node_modules/.pnpm/pack@1.0.0/node_modules/pack",
            "-> ../../../node_modules/.pnpm/pack@2.0.0/node_modules/pack",
            "",
        ],
    ),
    ("node_modules/.cache/made.json", &["", "{}"]),
];

#[tokio::test(flavor = "multi_thread")]
#[ignore = "minutes: just store-soak"]
async fn stored_checks_of_typescript_equal_those_of_fresh_servers_after_random_edits() {
    let (steps, seed) = (300, 20_261_130);
    soak(&SERVERS, (web, &STATES), steps, seed).await;
}
