//! Agreement of the locks with the recipes, and their necessary content.

use super::*;
use crate::config::Catalogue;

/// Returns every known recipe, by its server, with and without the parts that a machine may lack.
fn recipes() -> Vec<(String, Recipe)> {
    let mut recipes = Vec::new();
    for (key, server) in Catalogue::built_in().servers.iter() {
        for recipe in server.install.recipes() {
            if let Some(needs) = &server.install.needs {
                let mut with = recipe.clone();
                with.pip.extend(needs.pip.iter().cloned());
                recipes.push((key.clone(), with));
            }
            recipes.push((key.clone(), recipe));
        }
    }
    recipes
}

fn recipe(text: &str) -> Recipe {
    toml::from_str(text).unwrap()
}

fn lock_of_npm(text: &str) -> PackageLock {
    serde_json::from_str(text).unwrap()
}

#[test]
fn every_pip_and_npm_recipe_of_catalogue_is_locked() {
    let files = unpack_locks();
    let renew = "the lock is of other versions than servers.toml: run `just locks";
    for (key, recipe) in recipes() {
        let folder = Path::new("locks").join(&key);
        if !recipe.pip.is_empty() {
            let text = files.get(&folder.join(REQUIREMENTS));
            assert!(text.is_some_and(|text| is_for(text, &recipe.pip)), "{key}: {renew} {key}`");
            let text = text.unwrap();
            for package in &recipe.pip {
                let (name, version) = parse_pinned(package).unwrap();
                assert!(
                    text.lines().filter_map(parse_pinned).any(|pin| pin == (name, version)),
                    "{package}: {renew} {key}`"
                );
            }
        }
        if !recipe.npm.is_empty() {
            let lock =
                NpmLock::find_in(&files, &recipe.npm).unwrap_or_else(|| panic!("{key}: {renew} {key}`"));
            let locked = lock_of_npm(files.get(&folder.join(PACKAGE_LOCK)).unwrap());
            assert_eq!(lock.content.packages.len(), locked.packages.len(), "{key}: {renew} {key}`");
            for package in &recipe.npm {
                let (name, version) = package.rsplit_once('@').unwrap();
                assert_eq!(
                    locked.packages[&format!("node_modules/{name}")].version,
                    version,
                    "{renew} {key}`"
                );
            }
        }
    }
}

#[test]
fn every_locked_package_has_hash_and_public_url() {
    let files = unpack_locks();
    assert!(files.len() > 50, "{}", files.len());
    let (mut of_pip, mut of_npm) = (0, 0);
    for (path, text) in &files {
        let path_text = path.display();
        assert!(!text.contains('\r') && !text.contains("file:"), "{path_text}");
        if path.ends_with(REQUIREMENTS) {
            assert!(!text.contains("://"), "{path_text}: addresses are the user's matter");
            let lines: Vec<&str> = text.lines().collect();
            for (index, line) in lines.iter().enumerate().filter(|(_, line)| parse_pinned(line).is_some()) {
                let next = lines.get(index + 1).unwrap_or(&"");
                assert!(
                    line.ends_with('\\') && next.starts_with("    --hash=sha256:"),
                    "{path_text}: {line}"
                );
                of_pip += 1;
            }
        } else {
            assert!(path.ends_with(PACKAGE_LOCK), "{path_text} is no lock");
            let json: serde_json::Value = serde_json::from_str(text).unwrap();
            assert_eq!(json["lockfileVersion"], 3, "{path_text}");
            let lock = lock_of_npm(text);
            for (key, package) in &lock.packages {
                let named = package.optional_dependencies.keys();
                let missing: Vec<_> = named.filter(|name| lock.resolved(key, name).is_none()).collect();
                assert!(missing.is_empty(), "{path_text}: npm refuses a lock without {missing:?}");
            }
            for (key, package) in
                json["packages"].as_object().unwrap().iter().filter(|(key, _)| !key.is_empty())
            {
                of_npm += 1;
                // The package is part of the one that contains it.
                if package["inBundle"] == true {
                    continue;
                }
                let hash = package["integrity"].as_str().unwrap_or_default();
                assert!(hash.starts_with("sha512-"), "{path_text}: {key}: {hash}");
                let from = package["resolved"].as_str().unwrap_or_default();
                assert!(from.starts_with("https://registry.npmjs.org/"), "{path_text}: {key}: {from}");
            }
        }
    }
    assert!(of_pip > 100 && of_npm > 500, "{of_pip} of pip, {of_npm} of npm");
}

#[test]
fn lock_folder_of_unknown_server_does_not_exist() {
    let others = ["copilot-cli"];
    let catalogue = Catalogue::built_in();
    for path in unpack_locks().keys() {
        let key = path.parent().and_then(Path::file_name).unwrap().to_str().unwrap();
        assert!(catalogue.servers.contains_key(key) || others.contains(&key), "{}", path.display());
    }
}

#[test]
fn recipe_with_unlocked_version_reports_packages_without_lock() {
    let ruff = &Catalogue::built_in().servers["ruff"].install.pip;
    let locked = RecipeLocks::for_recipe(&Recipe { pip: ruff.clone(), ..Recipe::default() });
    assert!(locked.has_pip() && locked.unlocked.is_empty() && locked.digest().is_some());
    let other = RecipeLocks::for_recipe(&recipe(
        "pip = ['ruff==0.14.0']\nnpm = ['pyright@1.0.0', 'typescript@5.9.3']",
    ));
    assert!(!other.has_pip() && !other.has_npm() && other.digest().is_none());
    assert_eq!(
        other.unlocked,
        [
            "ruff==0.14.0 is not locked: pip chooses the versions of what it depends on",
            "pyright@1.0.0, typescript@5.9.3 are not locked: npm chooses the versions of what they depend on",
        ]
    );
}

/// A package with several builds, of which one is in the lock.
const BUILDS: &str = r#"{"packages": {
    "": {"dependencies": {"tool": "1.0.0"}},
    "node_modules/tool": {"version": "1.0.0", "optionalDependencies": {"tool-linux-x64": "1.0.0"}},
    "node_modules/tool-linux-x64": {"version": "1.0.0", "os": ["linux"], "cpu": ["x64"], "libc": ["glibc"]},
    "node_modules/a/node_modules/b": {"version": "2.0.0", "optionalDependencies": {"c": "1.0.0"}},
    "node_modules/a/node_modules/c": {"version": "1.0.0"}
}, "notInLock": {"tool": ["tool-darwin-arm64"]}}"#;

#[test]
fn npm_lock_applies_only_to_platforms_it_holds_builds_for() {
    let lock = NpmLock::parse(BUILDS).unwrap();
    let linux = NodeMachine { os: "linux", cpu: "x64", libc: Some("glibc") };
    let others = [
        NodeMachine { libc: Some("musl"), ..linux },
        NodeMachine { cpu: "arm64", ..linux },
        NodeMachine { os: "darwin", cpu: "arm64", libc: None },
    ];
    assert_eq!(lock.manifest().unwrap(), r#"{"dependencies":{"tool":"1.0.0"}}"#);
    assert_eq!(lock.missing_build(linux), None);
    for machine in others {
        assert_eq!(lock.missing_build(machine).as_deref(), Some("tool"), "{machine:?}");
    }
    let files = BTreeMap::from([(PathBuf::from("locks/t/package-lock.json"), lock.text)]);
    let recipe = recipe("npm = ['tool@1.0.0']");
    assert!(RecipeLocks::find_in(&files, &recipe, linux).has_npm());
    let told = RecipeLocks::find_in(&files, &recipe, others[2]);
    assert!(!told.has_npm());
    assert!(
        told.unlocked[0].ends_with("since the lock holds no build of tool for darwin-arm64"),
        "{:?}",
        told.unlocked
    );
}
