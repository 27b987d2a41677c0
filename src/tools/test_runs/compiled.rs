//! Test commands of Cargo, Go, Maven, Gradle, .NET, Swift and CMake.

use std::collections::BTreeSet;

use super::{ProjectFolder, SelectedTest, TestRunPlan, TestSelection, any_of, stems};
use crate::text::shell_word;

pub(super) fn cargo(folder: &dyn ProjectFolder, wanted: &TestSelection) -> Option<TestRunPlan> {
    folder.text("Cargo.toml")?;
    let plan = TestRunPlan::new("cargo test", "Cargo.toml is here");
    if !wanted.tests.is_empty() && wanted.whole_files().next().is_none() {
        return Some(exact_cargo(folder, plan, &wanted.tests));
    }
    let wanted = &wanted.by_parts_of_names();
    let mut plan = plan;
    let targets: Option<Vec<&str>> = wanted.files.iter().map(|file| integration_test(file)).collect();
    let mut filters = wanted.names.clone();
    match targets {
        Some(mut targets) => {
            targets.dedup();
            plan = plan.with_words(targets.into_iter().flat_map(|target| ["--test", target]));
        }
        None => {
            let modules: Option<Vec<String>> = wanted.files.iter().map(|file| module(file)).collect();
            match (modules, filters.is_empty()) {
                (Some(modules), true) => filters = modules,
                _ => plan = plan.without_files(wanted),
            }
        }
    }
    if !filters.is_empty() {
        plan = plan.with_words(["--"]).with_words(filters);
    }
    Some(plan)
}

/// Tests by their whole paths, each in the target that its file belongs to.
fn exact_cargo(folder: &dyn ProjectFolder, plan: TestRunPlan, tests: &[SelectedTest]) -> TestRunPlan {
    let (mut targets, mut names) = (BTreeSet::new(), BTreeSet::new());
    for test in tests {
        let target = match integration_test(&test.file) {
            Some(target) => vec!["--test".to_owned(), target.to_owned()],
            None if folder.has("src/lib.rs") && test.file != "src/main.rs" => vec!["--lib".to_owned()],
            None => vec!["--bins".to_owned()],
        };
        targets.insert(target);
        names.insert(format!("{}{}", module_path(&test.file), test.name.replace('.', "::")));
    }
    plan.with_words(targets.into_iter().flatten()).with_words(["--", "--exact"]).with_words(names)
}

/// What the paths of tests in a file begin with: `cart::price::` of `src/cart/price.rs`, nothing in the root of a target.
fn module_path(file: &str) -> String {
    if integration_test(file).is_none() {
        return module(file).unwrap_or_default();
    }
    let inner = file.strip_prefix("tests/").and_then(|file| file.split_once('/')).map(|(_, inner)| inner);
    let inner = inner.and_then(|inner| inner.strip_suffix(".rs")).unwrap_or("main");
    let inner = inner.strip_suffix("/mod").unwrap_or(inner);
    if inner == "main" { String::new() } else { format!("{}::", inner.replace('/', "::")) }
}

/// `checkout` of `tests/checkout.rs`, `tests/checkout/main.rs` and what lies beside the latter.
fn integration_test(file: &str) -> Option<&str> {
    let below = file.strip_prefix("tests/")?;
    match below.split_once('/') {
        Some((folder, _)) => Some(folder),
        None => below.strip_suffix(".rs"),
    }
}

/// `cart::price::` of `src/cart/price.rs`: what the names of its tests begin with.
fn module(file: &str) -> Option<String> {
    let below = file.strip_prefix("src/")?.strip_suffix(".rs")?;
    let below = below.strip_suffix("/mod").unwrap_or(below);
    (!matches!(below, "lib" | "main")).then(|| format!("{}::", below.replace('/', "::")))
}

pub(super) fn go(folder: &dyn ProjectFolder, wanted: &TestSelection) -> Option<TestRunPlan> {
    folder.text("go.mod")?;
    let mut packages: Vec<String> = wanted
        .files
        .iter()
        .map(|file| file.rsplit_once('/').map_or(".".to_owned(), |(package, _)| format!("./{package}")))
        .collect();
    packages.sort();
    packages.dedup();
    if packages.is_empty() {
        packages.push("./...".to_owned());
    }
    let plan = TestRunPlan::new("go test", "go.mod is here").with_words(packages);
    if !wanted.tests.is_empty() {
        let plan =
            plan.with_note_if(wanted.whole_files().next().is_some(), "of whole files only named tests run");
        let mut names: Vec<String> = wanted.tests.iter().map(|test| test.name.clone()).collect();
        names.sort();
        names.dedup();
        return Some(plan.with_words(["-run".to_owned(), format!("^({})$", any_of(&names))]));
    }
    Some(match wanted.names.is_empty() {
        true => plan,
        false => plan.with_words(["-run".to_owned(), any_of(&wanted.names)]),
    })
}

pub(super) fn maven(folder: &dyn ProjectFolder, wanted: &TestSelection) -> Option<TestRunPlan> {
    folder.text("pom.xml")?;
    let program = if folder.has("mvnw") { "./mvnw" } else { "mvn" };
    let plan = TestRunPlan::new(format!("{program} -B test"), "pom.xml is here");
    let (classes, methods) = (stems(&wanted.files), wanted.names.join("+"));
    let tests: Vec<String> = match (classes.is_empty(), methods.is_empty()) {
        (true, true) => return Some(plan),
        (false, true) => classes,
        (true, false) => vec![format!("*#{methods}")],
        (false, false) => classes.iter().map(|class| format!("{class}#{methods}")).collect(),
    };
    Some(plan.with_words([format!("-Dtest={}", tests.join(","))]))
}

pub(super) fn gradle(folder: &dyn ProjectFolder, wanted: &TestSelection) -> Option<TestRunPlan> {
    let file = ["build.gradle.kts", "build.gradle", "settings.gradle.kts", "settings.gradle"]
        .into_iter()
        .find(|file| folder.has(file))?;
    let program = if folder.has("gradlew") { "./gradlew" } else { "gradle" };
    let plan = TestRunPlan::new(format!("{program} test"), format!("{file} is here"));
    let classes = stems(&wanted.files).into_iter().map(|class| format!("*{class}"));
    let names = wanted.names.iter().map(|name| format!("*{name}*"));
    Some(plan.with_words(classes.chain(names).flat_map(|pattern| ["--tests".to_owned(), pattern])))
}

pub(super) fn dotnet(folder: &dyn ProjectFolder, wanted: &TestSelection) -> Option<TestRunPlan> {
    let end = [".sln", ".slnx", ".csproj", ".fsproj", ".vbproj"]
        .into_iter()
        .find(|end| folder.has_name_ending(end))?;
    let plan = TestRunPlan::new("dotnet test", format!("a *{end} is here"));
    let words: Vec<String> = stems(&wanted.files).into_iter().chain(wanted.names.iter().cloned()).collect();
    if words.is_empty() {
        return Some(plan);
    }
    let filter: Vec<String> = words.iter().map(|word| format!("FullyQualifiedName~{word}")).collect();
    Some(plan.with_words(["--filter".to_owned(), filter.join("|")]))
}

pub(super) fn swift(folder: &dyn ProjectFolder, wanted: &TestSelection) -> Option<TestRunPlan> {
    folder.text("Package.swift")?;
    let plan = TestRunPlan::new("swift test", "Package.swift is here");
    let words: Vec<String> = stems(&wanted.files).into_iter().chain(wanted.names.iter().cloned()).collect();
    Some(match words.is_empty() {
        true => plan,
        false => plan.with_words(["--filter".to_owned(), any_of(&words)]),
    })
}

pub(super) fn cmake(folder: &dyn ProjectFolder, wanted: &TestSelection) -> Option<TestRunPlan> {
    folder.text("CMakeLists.txt")?;
    let build = ["build", "out", "cmake-build-debug"]
        .into_iter()
        .find(|build| folder.has(&format!("{build}/CTestTestfile.cmake")))?;
    let command = format!("ctest --test-dir {} --output-on-failure", shell_word(build));
    let plan =
        TestRunPlan::new(command, format!("{build}/CTestTestfile.cmake is here")).without_files(wanted);
    Some(match wanted.names.is_empty() {
        true => plan,
        false => plan.with_words(["-R".to_owned(), any_of(&wanted.names)]),
    })
}
