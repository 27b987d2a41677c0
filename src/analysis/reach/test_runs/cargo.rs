//! The test command of Cargo: targets, and filters that match the wanted tests.
//!
//! A filter without a match passes, so tests are only named exactly if their target and whole path
//! are certain.

use std::collections::BTreeSet;

use super::{ProjectFolder, SelectedTest, TestRunPlan, TestSelection};

pub(super) fn cargo(folder: &dyn ProjectFolder, wanted: &TestSelection) -> Option<TestRunPlan> {
    let layout = CargoLayout::new(folder)?;
    let plan = TestRunPlan::new("cargo test", "Cargo.toml is here");
    Some(match wanted.tests.is_empty() {
        true => layout.with_parts(plan, wanted),
        false => layout.with_tests(plan, wanted),
    })
}

/// The package in a folder.
struct CargoLayout<'a> {
    folder: &'a dyn ProjectFolder,
    /// True if the manifest sets the paths of targets.
    has_own_paths: bool,
}

/// The target and module of a file's tests.
struct CargoPlace {
    /// The options that select its target, or the targets that it may be part of.
    targets: Vec<Vec<String>>,
    /// The prefix of the paths of its tests: `cart::price::` for `src/cart/price.rs`, empty in the
    /// root of a target.
    module: String,
}

impl<'a> CargoLayout<'a> {
    fn new(folder: &'a dyn ProjectFolder) -> Option<Self> {
        let manifest = folder.text("Cargo.toml")?.parse::<toml::Table>().unwrap_or_default();
        let has_path = |target: &toml::Value| target.get("path").is_some();
        let has_own_paths = ["lib", "bin", "test"].iter().any(|kind| match manifest.get(*kind) {
            Some(toml::Value::Array(targets)) => targets.iter().any(has_path),
            Some(target) => has_path(target),
            None => false,
        });
        Some(Self { folder, has_own_paths })
    }

    /// A plan for tests by parts of their names, or all of some files.
    fn with_parts(&self, plan: TestRunPlan, wanted: &TestSelection) -> TestRunPlan {
        let places: Option<Vec<CargoPlace>> = wanted.files.iter().map(|file| self.place(file)).collect();
        let is_integration =
            |place: &CargoPlace| place.targets.iter().flatten().next().is_some_and(|word| word == "--test");
        let has_module = |place: &CargoPlace| !place.module.is_empty() && !is_integration(place);
        let mut filters = wanted.names.clone();
        let plan = match places {
            Some(places) if places.iter().all(is_integration) => {
                let targets: BTreeSet<Vec<String>> =
                    places.into_iter().flat_map(|place| place.targets).collect();
                plan.with_words(targets.into_iter().flatten())
            }
            Some(places) if filters.is_empty() && places.iter().all(has_module) => {
                filters = places.into_iter().map(|place| place.module).collect();
                plan
            }
            _ => plan.without_files(wanted),
        };
        if filters.is_empty() { plan } else { plan.with_words(["--"]).with_words(filters) }
    }

    /// A plan for known tests, and for all tests of files without a known one.
    fn with_tests(&self, plan: TestRunPlan, wanted: &TestSelection) -> TestRunPlan {
        let (mut targets, mut filters) = (Some(BTreeSet::new()), Some(BTreeSet::new()));
        let mut is_exact = true;
        let named = wanted.tests.iter().map(|test| (&test.file, Some(test)));
        for (file, test) in named.chain(wanted.whole_files().map(|file| (file, None))) {
            let place = self.place(file);
            is_exact &= place.is_some() && test.is_some_and(|test| test.is_exact);
            let filter = match (&place, test) {
                (Some(place), Some(test)) => {
                    Some(format!("{}{}", place.module, test.name.replace('.', "::")))
                }
                (None, Some(SelectedTest { name, .. })) => {
                    Some(name.rsplit('.').next().unwrap_or(name).to_owned())
                }
                (Some(place), None) => Some(place.module.clone()).filter(|module| !module.is_empty()),
                (None, None) => None,
            };
            filters = filters.zip(filter).map(|(mut filters, filter)| {
                filters.insert(filter);
                filters
            });
            targets = targets.zip(place).map(|(mut targets, place)| {
                targets.extend(place.targets);
                targets
            });
        }
        let plan = plan.with_words(targets.into_iter().flatten().flatten());
        match filters {
            Some(filters) => {
                let words = if is_exact { ["--", "--exact"].as_slice() } else { ["--"].as_slice() };
                plan.with_words(words).with_words(filters)
            }
            None => plan.with_note_if(true, super::ALL_OF_FILES),
        }
    }

    /// The target and module of the tests in `file`; `None` if they are uncertain.
    fn place(&self, file: &str) -> Option<CargoPlace> {
        if self.has_own_paths {
            return None;
        }
        if let Some(below) = file.strip_prefix("tests/") {
            return self.place_in(below, "tests", "--test");
        }
        let below = file.strip_prefix("src/")?;
        if let Some(below) = below.strip_prefix("bin/") {
            return self.place_in(below, "src/bin", "--bin");
        }
        let has = |root: &str| file == root || self.folder.has(root);
        let targets: &[&str] = match (below, has("src/lib.rs"), has("src/main.rs")) {
            ("lib.rs", ..) | (_, true, false) => &["--lib"],
            ("main.rs", ..) | (_, false, true) => &["--bins"],
            // A module may be part of both.
            (_, true, true) => &["--lib", "--bins"],
            (_, false, false) => &[],
        };
        let targets = targets.iter().map(|word| vec![(*word).to_owned()]).collect();
        let module = below.strip_suffix(".rs")?;
        Some(CargoPlace {
            targets,
            module: if matches!(module, "lib" | "main") { String::new() } else { path_of(module) },
        })
    }

    /// The target and module of a file in a folder whose files, and folders with a `main.rs`, are
    /// targets.
    fn place_in(&self, below: &str, folder: &str, option: &str) -> Option<CargoPlace> {
        let (target, module) = match below.split_once('/') {
            Some((target, "main.rs")) => (target, String::new()),
            Some((target, inner)) if self.folder.has(&format!("{folder}/{target}/main.rs")) => {
                (target, path_of(inner.strip_suffix(".rs")?))
            }
            // A module of other targets.
            Some(_) => return None,
            None => (below.strip_suffix(".rs")?, String::new()),
        };
        Some(CargoPlace { targets: vec![vec![option.to_owned(), target.to_owned()]], module })
    }
}

/// The module path `cart::price::` of `cart/price` and `cart/price/mod`.
fn path_of(module: &str) -> String {
    format!("{}::", module.strip_suffix("/mod").unwrap_or(module).replace('/', "::"))
}
