//! The changes, one after the other, and the truth after each.

use std::fs;
use std::pin::Pin;

use serde_json::json;

use super::languages::Language;
use crate::support::{Project, TestWorkspace};

/// A change to files.
type Change = Box<dyn for<'a> Fn(&'a TestWorkspace, &'a Language) -> Pin<Box<dyn Future<Output = ()> + 'a>>>;

/// A change, and the truth after it.
pub struct Step {
    pub name: &'static str,
    pub change: Change,
    pub so: So,
}

/// The expected answers.
#[derive(Debug, Clone, Default)]
pub struct So {
    /// True if the user has errors.
    pub errors: bool,
    /// The file and 0-based line with the definition of the function that the user calls.
    pub definition: Option<(String, u32)>,
    /// The name in the user's call.
    pub name: &'static str,
}

/// The number of files in a big change.
const CROWD: usize = 50;

/// A step by another program.
fn outside(name: &'static str, so: So, change: impl Fn(&Project, &Language) + 'static) -> Step {
    let change: Change = Box::new(move |workspace, language| {
        change(&workspace.project, language);
        Box::pin(std::future::ready(()))
    });
    Step { name, change, so }
}

/// A step by one of our tools.
fn tool(
    name: &'static str,
    so: So,
    tool: &'static str,
    arguments: fn(&Language) -> serde_json::Value,
) -> Step {
    let change: Change = Box::new(move |workspace, language| {
        Box::pin(async move {
            workspace.ok(tool, arguments(language)).await;
        })
    });
    Step { name, change, so }
}

pub fn break_user(project: &Project, language: &Language) {
    project.write(language.user, language.broken_user());
}

fn mend_user(project: &Project, language: &Language) {
    project.write(language.user, language.user_text);
}

/// The user is broken while the server starts.
pub fn broken_while_it_starts() -> Step {
    outside("broken while it starts", So { errors: true, ..So::default() }, |_, _| {})
}

/// All steps; each begins in the state after the one before.
pub fn all(language: &Language) -> Vec<Step> {
    let at = |path: &str, line| Some((path.to_owned(), line));
    let clean = So { errors: false, definition: at(language.library, language.line), name: "helper" };
    let broken = So { errors: true, definition: None, name: "" };
    // A server that ignores imports reports no errors about missing files.
    let missed = So { errors: language.sees_other_files, ..broken.clone() };
    let quiet = So { errors: false, definition: None, name: "" };
    let mut steps = vec![
        outside("at the start", clean.clone(), |_, _| {}),
        outside("broken", broken.clone(), break_user),
        outside("mended", clean.clone(), mend_user),
        outside("twenty writes", broken.clone(), |project, language| {
            for turn in 0..20 {
                if turn % 2 == 0 { mend_user(project, language) } else { break_user(project, language) }
            }
        }),
        outside("mended again", clean.clone(), mend_user),
        outside("library broken", missed.clone(), |project, language| {
            project.write(language.library, language.library_text.replace("helper", "renamed"));
        }),
        outside("library mended", clean.clone(), |project, language| {
            project.write(language.library, language.library_text);
        }),
        outside(
            "library shifted",
            So { definition: at(language.library, language.line + 2), ..clean.clone() },
            |project, language| {
                project.write(language.library, language.shifted());
            },
        ),
        outside(
            "renamed in both",
            So { name: "renamed", definition: at(language.library, language.line), ..clean.clone() },
            |project, language| {
                project.write(language.library, language.library_text.replace("helper", "renamed"));
                project.write(language.user, language.user_text.replace("helper", "renamed"));
            },
        ),
        outside("named as before", clean.clone(), |project, language| {
            project.write(language.library, language.library_text);
            mend_user(project, language);
        }),
    ];
    if let Some(made) = language.made {
        let found = So { errors: false, definition: at(made.path, made.line), name: "made" };
        steps.extend([
            outside("uses a file that is not there", missed.clone(), |project, language| {
                project.write(language.user, language.made.expect("a file").user_text);
            }),
            outside("the file is created", found.clone(), |project, language| {
                let made = language.made.expect("a file");
                project.write(made.path, made.text);
            }),
            outside("the file is deleted", missed.clone(), |project, language| {
                fs::remove_file(project.path(language.made.expect("a file").path)).expect("deleted");
            }),
            tool("the file is written by a tool", found.clone(), "write", |language| {
                let made = language.made.expect("a file");
                json!({ "path": made.path, "content": made.text })
            }),
            tool("the file is deleted by a tool", missed.clone(), "delete", |language| {
                json!({ "path": language.made.expect("a file").path })
            }),
            tool("the file is made by a patch", found.clone(), "patch", |language| {
                let made = language.made.expect("a file");
                let lines: String = made.text.lines().map(|line| format!("+{line}\n")).collect();
                json!({ "patch": format!("*** Begin Patch\n*** Add File: {}\n{lines}*** End Patch\n", made.path) })
            }),
            outside("the folder is moved", So { errors: missed.errors && !language.global, ..broken.clone() }, |project, language| {
                let folder = project.path(language.folder);
                fs::rename(&folder, folder.with_extension("moved")).expect("moved");
            }),
            outside("the folder is moved back", found, |project, language| {
                let folder = project.path(language.folder);
                fs::rename(folder.with_extension("moved"), folder).expect("moved");
            }),
            outside("uses the library again", clean.clone(), mend_user),
        ]);
    }
    steps.extend([
        outside("a checkout of fifty files", broken.clone(), |project, language| {
            for number in 0..CROWD {
                project.write(&language.crowd(number), language.crowd_text);
            }
            break_user(project, language);
        }),
        outside("the checkout before", clean.clone(), |project, language| {
            for number in 0..CROWD {
                fs::remove_file(project.path(&language.crowd(number))).expect("deleted");
            }
            mend_user(project, language);
        }),
    ]);
    if language.configuration.is_some() {
        steps.extend([
            outside("a stricter configuration", broken, |project, language| {
                let (path, strict, _) = language.configuration.expect("a configuration");
                project.write(path, strict);
            }),
            outside("the configuration before", quiet, |project, language| {
                let (path, _, lax) = language.configuration.expect("a configuration");
                project.write(path, lax);
            }),
        ]);
    }
    steps
}
