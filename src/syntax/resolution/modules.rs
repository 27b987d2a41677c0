//! The files of a module that an import names.

use serde::Deserialize;

use super::project::Project;
use crate::workspace::WorkspacePath;

/// The target of a module's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Module {
    /// A file.
    File(WorkspacePath),
    /// A folder whose files together are the module.
    Folder(WorkspacePath),
}

/// The maximum number of parent folders that are tried.
const MAX_ANCESTOR_FOLDERS: usize = 32;

fn ancestors(path: &WorkspacePath) -> impl Iterator<Item = WorkspacePath> {
    path.ancestors().skip(1).take(MAX_ANCESTOR_FOLDERS)
}

fn first_file(project: &Project<'_>, base: &WorkspacePath, names: &[String]) -> Option<Module> {
    names
        .iter()
        .filter_map(|name| base.join(name).ok())
        .find(|path| project.workspace.stamp(path).is_ok())
        .map(Module::File)
}

/// Returns the module that the file `from`, in the language `key`, calls `spec`; `None` if it is
/// not in the workspace.
pub(crate) fn find(project: &Project<'_>, key: &str, from: &WorkspacePath, spec: &str) -> Option<Module> {
    match key {
        "python" => python(project, from, spec),
        "javascript" | "typescript" | "tsx" => javascript(project, from, spec),
        "go" => go(project, from, spec),
        "java" | "csharp" => java(project, spec),
        "php" => php(project, from, spec),
        "ruby" => by_name(project, from, spec, &["", ".rb"]),
        _ => by_name(project, from, spec, &[""]),
    }
}

fn python(project: &Project<'_>, from: &WorkspacePath, spec: &str) -> Option<Module> {
    let relative = spec.trim_start_matches('.');
    let dots = spec.len() - relative.len();
    let path = relative.replace('.', "/");
    if dots > 0 {
        let base = ancestors(from).nth(dots - 1)?;
        return python_at(project, &base, &path);
    }
    // Absolute imports do not begin at a folder that is itself a package.
    ancestors(from).filter(|folder| !is_package(project, folder)).find_map(|base| {
        python_at(project, &base, &path).or_else(|| python_at(project, &base.join("src").ok()?, &path))
    })
}

/// Returns true if `folder` is a package of Python with an `__init__.py`.
pub(crate) fn is_package(project: &Project<'_>, folder: &WorkspacePath) -> bool {
    folder.join("__init__.py").is_ok_and(|init| project.workspace.stamp(&init).is_ok())
}

/// Returns the module `path` below `base`; the package `base` itself if `path` is empty.
pub(super) fn python_at(project: &Project<'_>, base: &WorkspacePath, path: &str) -> Option<Module> {
    if path.is_empty() {
        let init = ["__init__.py".to_owned(), "__init__.pyi".to_owned()];
        return first_file(project, base, &init).or_else(|| Some(Module::Folder(base.clone())));
    }
    let names = [
        format!("{path}/__init__.py"),
        format!("{path}.py"),
        format!("{path}/__init__.pyi"),
        format!("{path}.pyi"),
    ];
    first_file(project, base, &names).or_else(|| {
        let folder = base.join(path).ok()?;
        project.workspace.absolute(&folder).is_dir().then_some(Module::Folder(folder))
    })
}

const JS_ENDINGS: [&str; 9] = ["", ".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts"];

fn javascript(project: &Project<'_>, from: &WorkspacePath, spec: &str) -> Option<Module> {
    if spec.starts_with('.') {
        return javascript_at(project, &from.parent()?, spec);
    }
    if let Some(below) = spec.strip_prefix("@/").or_else(|| spec.strip_prefix("~/")) {
        return ancestors(from).find_map(|base| {
            javascript_at(project, &base.join("src").ok()?, below)
                .or_else(|| javascript_at(project, &base, below))
        });
    }
    // The name of a package of this workspace, then a path inside it.
    let names = if spec.starts_with('@') { 2 } else { 1 };
    let mut parts = spec.splitn(names + 1, '/');
    let package: Vec<&str> = parts.by_ref().take(names).collect();
    let below = parts.next().unwrap_or("index");
    let folder = package.last()?;
    let is_named = |path: &&WorkspacePath| {
        path.file_name() == Some("package.json")
            && path.parent().is_some_and(|parent| parent.is_root() || parent.file_name() == Some(folder))
    };
    let manifests: Vec<&WorkspacePath> = project.files().iter().filter(is_named).collect();
    manifests.into_iter().find_map(|manifest| {
        let text = project.workspace.read_text(manifest).ok()?.text;
        if serde_json::from_str::<PackageManifest>(&text).ok()?.name != package.join("/") {
            return None;
        }
        let base = manifest.parent()?;
        javascript_at(project, &base.join("src").ok()?, below)
            .or_else(|| javascript_at(project, &base, below))
    })
}

/// The part of a `package.json` that is read.
#[derive(Deserialize)]
struct PackageManifest {
    name: String,
}

fn javascript_at(project: &Project<'_>, base: &WorkspacePath, spec: &str) -> Option<Module> {
    // `./x.js` is written for a file that is `./x.ts` before it is compiled.
    let bare = [".js", ".mjs", ".cjs", ".jsx"].iter().find_map(|ending| spec.strip_suffix(ending));
    let mut names: Vec<String> = JS_ENDINGS.iter().map(|ending| format!("{spec}{ending}")).collect();
    if let Some(bare) = bare {
        names.extend([".ts", ".tsx", ".mts", ".cts", ".d.ts"].iter().map(|ending| format!("{bare}{ending}")));
    }
    names.extend(JS_ENDINGS[1..].iter().map(|ending| format!("{spec}/index{ending}")));
    first_file(project, base, &names)
}

fn go(project: &Project<'_>, from: &WorkspacePath, spec: &str) -> Option<Module> {
    ancestors(from).find_map(|base| {
        let manifest = base.join("go.mod").ok()?;
        let text = project.workspace.read_text(&manifest).ok()?.text;
        let name = text
            .lines()
            .find_map(|line| line.trim().strip_prefix("module "))?
            .trim()
            .trim_matches('"')
            .to_owned();
        let rest = spec.strip_prefix(&name)?;
        let folder = base.join(rest.trim_start_matches('/')).ok()?;
        project.workspace.absolute(&folder).is_dir().then_some(Module::Folder(folder))
    })
}

fn java(project: &Project<'_>, spec: &str) -> Option<Module> {
    let path = spec.replace('.', "/");
    if let Some(file) = project.files_ending_in(&format!("{path}.java")).into_iter().next() {
        return Some(Module::File(file));
    }
    let folder = std::path::Path::new(&path);
    let is_in =
        |path: &&WorkspacePath| path.as_path().parent().is_some_and(|parent| parent.ends_with(folder));
    project.files().iter().find(is_in).and_then(|path| path.parent()).map(Module::Folder)
}

/// The folder whose path shares the most last names with the namespace `spec`.
fn php(project: &Project<'_>, from: &WorkspacePath, spec: &str) -> Option<Module> {
    let parts: Vec<&str> = spec.split('\\').filter(|part| !part.is_empty()).collect();
    (0..parts.len()).find_map(|skipped| {
        let folder: std::path::PathBuf = parts[skipped..].iter().collect();
        let is_in = |path: &&WorkspacePath| {
            path.extension() == from.extension()
                && path.as_path().parent().is_some_and(|parent| parent.ends_with(&folder))
        };
        project.files().iter().find(is_in).and_then(|path| path.parent()).map(Module::Folder)
    })
}

/// A file by its name: beside `from`, else anywhere below the root by the end of its path.
fn by_name(project: &Project<'_>, from: &WorkspacePath, spec: &str, endings: &[&str]) -> Option<Module> {
    // The parts that a shell expands (`$dir/x.sh`, `$(…)/x.sh`) are unknown; the rest of the path
    // is known.
    let spec = match spec.rfind(['$', '}', ')']) {
        Some(_) => spec.rsplit('/').next().unwrap_or(spec),
        None => spec,
    };
    let names: Vec<String> = endings.iter().map(|ending| format!("{spec}{ending}")).collect();
    if let Some(found) = from.parent().and_then(|base| first_file(project, &base, &names)) {
        return Some(found);
    }
    let tail = spec.trim_start_matches("./").trim_start_matches("../");
    if tail.is_empty() || tail.starts_with('/') {
        return None;
    }
    endings
        .iter()
        .find_map(|ending| project.files_ending_in(&format!("{tail}{ending}")).into_iter().next())
        .map(Module::File)
}

/// The file of the child module `name` of the Rust file `from`.
pub(super) fn rust_child(project: &Project<'_>, from: &WorkspacePath, name: &str) -> Option<WorkspacePath> {
    let stem = from.as_path().file_stem()?.to_str()?;
    let parent = from.parent()?;
    let below = parent.join(stem).ok()?;
    let tried =
        if is_rust_root(project, from) || stem == "mod" { [&parent, &below] } else { [&below, &parent] };
    let names = [format!("{name}.rs"), format!("{name}/mod.rs")];
    tried.into_iter().find_map(|base| match first_file(project, base, &names) {
        Some(Module::File(path)) => Some(path),
        _ => None,
    })
}

/// The file of the module around the Rust file `from`.
pub(super) fn rust_parent(project: &Project<'_>, from: &WorkspacePath) -> Option<WorkspacePath> {
    let folder = from.parent()?;
    let folder = if from.file_name() == Some("mod.rs") { folder.parent()? } else { folder };
    let beside = folder.file_name().map(|name| format!("../{name}.rs"));
    let names: Vec<String> =
        ["mod.rs".to_owned(), "lib.rs".to_owned(), "main.rs".to_owned()].into_iter().chain(beside).collect();
    match first_file(project, &folder, &names) {
        Some(Module::File(path)) => Some(path),
        _ => None,
    }
}

fn is_rust_root(project: &Project<'_>, path: &WorkspacePath) -> bool {
    rust_root(project, path).as_ref() == Some(path)
}

/// The root file of the crate that the Rust file `from` belongs to.
pub(super) fn rust_root(project: &Project<'_>, from: &WorkspacePath) -> Option<WorkspacePath> {
    if matches!(from.file_name(), Some("lib.rs" | "main.rs")) {
        return Some(from.clone());
    }
    let folder = from.parent()?;
    if matches!(folder.file_name(), Some("bin" | "tests" | "benches" | "examples")) {
        return Some(from.clone());
    }
    ancestors(from).find_map(|base| rust_root_at(project, &base))
}

/// The root file of the package whose manifest lies in `folder`.
pub(super) fn rust_root_at(project: &Project<'_>, folder: &WorkspacePath) -> Option<WorkspacePath> {
    let names = ["src/lib.rs", "src/main.rs", "lib.rs", "main.rs"].map(str::to_owned);
    match first_file(project, folder, &names) {
        Some(Module::File(path)) => Some(path),
        _ => None,
    }
}
