//! Test commands of Go, Maven, Gradle, .NET, Swift and CMake.

use super::{ALL_OF_FILES, ProjectFolder, TestRunPlan, TestSelection, any_of, stems};
use crate::text::shell_word;

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
        if wanted.whole_files().next().is_some() {
            return Some(plan.with_note_if(true, ALL_OF_FILES));
        }
        let mut names: Vec<String> = wanted.tests.iter().map(|test| test.name.clone()).collect();
        names.sort();
        names.dedup();
        return Some(plan.with_words(["-run".to_owned(), format!("^({})$", any_of(&names))]));
    }
    Some(plan.with_any_of("-run", &wanted.names))
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
    Some(plan.with_any_of("--filter", &words))
}

pub(super) fn cmake(folder: &dyn ProjectFolder, wanted: &TestSelection) -> Option<TestRunPlan> {
    folder.text("CMakeLists.txt")?;
    let build = ["build", "out", "cmake-build-debug"]
        .into_iter()
        .find(|build| folder.has(&format!("{build}/CTestTestfile.cmake")))?;
    let command = format!("ctest --test-dir {} --output-on-failure", shell_word(build));
    let plan =
        TestRunPlan::new(command, format!("{build}/CTestTestfile.cmake is here")).without_files(wanted);
    Some(plan.with_any_of("-R", &wanted.names))
}
