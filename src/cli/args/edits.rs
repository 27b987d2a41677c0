//! Arguments of the commands that change files.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::at::AddressArgs;

/// The commands that change files. All of them can be undone.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum EditingCommand {
    /// Replace exact text in a file; or replace, delete or extend a symbol
    #[command(
        after_help = "Examples:\n  lsp-tools edit src/app.py --old 'def greet(' --new 'def welcome('\n  \
                            lsp-tools edit src/app.py:Greeter.greet --body - < greet.py    the whole method, from stdin\n  \
                            lsp-tools edit src/app.py:helper --delete                      only if nothing uses it\n  \
                            lsp-tools edit src/app.py --old greet --new welcome --all --dry-run --diagnostics\n\n\
                            Exit status: 1 the text is not there, or not there once; with --diagnostics also: new problems."
    )]
    Edit(EditCommandArgs),
    /// Write a whole file
    #[command(after_help = "Examples:\n  lsp-tools write notes.md --content '# Notes'\n  \
                            generate | lsp-tools write src/generated.rs")]
    Write(WriteCommandArgs),
    /// Apply a patch to one or many files, all of it or nothing
    #[command(
        after_help = "Examples:\n  lsp-tools patch fix.diff\n  git diff HEAD~1 -R | lsp-tools patch\n\n\
                            Exit status: 1 the patch does not fit; with --diagnostics also: new problems."
    )]
    Patch(PatchCommandArgs),
    /// Move or rename a file or folder; language servers change the imports of it
    #[command(after_help = "Example: lsp-tools move src/util.ts src/text/util.ts")]
    Move(MoveCommandArgs),
    /// Delete a file or folder; `undo` brings it back
    #[command(after_help = "Example: lsp-tools delete -r build")]
    Delete(DeleteCommandArgs),
    /// Take back an edit: the newest, one by its id, or a group
    #[command(after_help = "Examples:\n  lsp-tools undo --list   what can be taken back\n  \
                            lsp-tools undo          take the newest edit back")]
    Undo(UndoCommandArgs),
    /// Rename a symbol in every file that uses it
    #[command(after_help = "Example: lsp-tools rename src/app.py:12:greet welcome --dry-run")]
    Rename(RenameCommandArgs),
    /// What servers offer to do at a place (quick fixes, refactorings), or do one of it
    #[command(after_help = "Examples:\n  lsp-tools actions src/app.ts:12\n  \
                            lsp-tools actions src/app.ts --kind source.organizeImports\n  \
                            lsp-tools actions src/app.ts:12 --apply 'Add missing import'\n\n\
                            Exit status: 0 some offered, 1 none.")]
    Actions(ActionsCommandArgs),
    /// Format files as their language servers do
    #[command(after_help = "Examples:\n  lsp-tools format src/app.py src/util.py\n  \
                            lsp-tools format --check src/app.py   change nothing, tell by the exit status")]
    Format(FormatFiles),
    /// Have servers do one kind of action in whole files: organize imports, fix all that can be fixed
    #[command(after_help = "Examples:\n  lsp-tools fix source.organizeImports src\n  \
                            lsp-tools fix source.fixAll src/app.py --dry-run\n\n\
                            All files are changed by one edit; `lsp-tools undo` takes it back.")]
    Fix(FixCommandArgs),
}

/// `fix`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct FixCommandArgs {
    /// The kind of action, as LSP calls it: source.organizeImports, source.fixAll, source.fixAll.ruff, …; quickfix with --rule
    pub(crate) kind: String,
    /// Make the quick fixes of all findings with this code: F401, 6133, …
    #[arg(long, value_name = "CODE")]
    pub(crate) rule: Option<String>,
    /// How the quick fix's title begins; else it is the one that the server prefers
    #[arg(long, value_name = "START")]
    pub(crate) title: Option<String>,
    /// Files and folders
    #[arg(required = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,
    /// How.
    #[command(flatten)]
    pub(crate) manner: EditOptionArgs,
}

/// How an edit is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub(crate) struct EditOptionArgs {
    /// Change nothing; only show what would be
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Tell which problems the edit brings, starting servers for it; exit with 1 if there are new ones
    #[arg(long, overrides_with = "no_diagnostics")]
    pub(crate) diagnostics: bool,
    /// Do not ask servers what the edit breaks, even if they run already
    #[arg(long, overrides_with = "diagnostics")]
    pub(crate) no_diagnostics: bool,
}

impl EditOptionArgs {
    /// Returns the tools' argument `diagnostics`; `None` without one of the options.
    pub(crate) fn diagnostics_flag(self) -> Option<bool> {
        (self.diagnostics || self.no_diagnostics).then_some(self.diagnostics)
    }
}

/// `edit`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct EditCommandArgs {
    /// The file; with --body, --before, --after or --delete the symbol: FILE:NAME, FILE:LINE:NAME or NAME
    #[arg(value_name = "FILE|SYMBOL", value_hint = ValueHint::FilePath)]
    pub(crate) address: OsString,
    /// Exact text, with enough around it to be there once; may be given several times, each with its --new
    #[arg(long, value_name = "TEXT", required_unless_present = "of_symbol", allow_hyphen_values = true)]
    pub(crate) old: Vec<String>,
    /// What takes its place
    #[arg(long, value_name = "TEXT", required_unless_present = "of_symbol", allow_hyphen_values = true)]
    pub(crate) new: Vec<String>,
    /// Replace every occurrence
    #[arg(long)]
    pub(crate) all: bool,
    /// What becomes of the symbol, where one is meant.
    #[command(flatten)]
    pub(crate) of_symbol: Option<SymbolEditArgs>,
    /// How.
    #[command(flatten)]
    pub(crate) manner: EditOptionArgs,
}

/// What `edit` does to a symbol
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[group(id = "of_symbol", required = false, multiple = false, conflicts_with_all = ["old", "new", "all"])]
pub(crate) struct SymbolEditArgs {
    /// The whole new definition of the symbol, signature included; `-` takes it from stdin
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) body: Option<String>,
    /// Code to insert before the symbol; `-` takes it from stdin
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) before: Option<String>,
    /// Code to insert after the symbol; `-` takes it from stdin
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) after: Option<String>,
    /// Delete the symbol, if nothing uses it
    #[arg(long)]
    pub(crate) delete: bool,
    /// Move the symbol to this file, with its imports where the server can
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) to: Option<PathBuf>,
}

impl SymbolEditArgs {
    /// Returns true if the code comes from stdin.
    pub(crate) fn takes_input(&self) -> bool {
        [&self.body, &self.before, &self.after].into_iter().any(|text| text.as_deref() == Some("-"))
    }
}

/// `write`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct WriteCommandArgs {
    /// The file; missing folders are made
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Its whole new text [default: what comes from stdin]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) content: Option<String>,
    /// How.
    #[command(flatten)]
    pub(crate) manner: EditOptionArgs,
}

/// `patch`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct PatchCommandArgs {
    /// A unified diff, or `*** Begin Patch`; its paths are relative to the workspace [default: -, stdin]
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// How.
    #[command(flatten)]
    pub(crate) manner: EditOptionArgs,
}

/// `move`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct MoveCommandArgs {
    /// A file or folder
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) from: PathBuf,
    /// Its new path; a folder that is there takes it in
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) to: PathBuf,
    /// Replace a file that is there
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Leave imports as they are
    #[arg(long)]
    pub(crate) no_imports: bool,
    /// How.
    #[command(flatten)]
    pub(crate) manner: EditOptionArgs,
}

/// `delete`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct DeleteCommandArgs {
    /// A file, link or folder
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) path: PathBuf,
    /// A folder with all that is in it
    #[arg(short, long)]
    pub(crate) recursive: bool,
    /// How.
    #[command(flatten)]
    pub(crate) manner: EditOptionArgs,
}

/// `undo`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct UndoCommandArgs {
    /// The id that the edit's answer told [default: the newest edit]
    #[arg(conflicts_with_all = ["group", "list"])]
    pub(crate) id: Option<String>,
    /// All edits of this group
    #[arg(long, conflicts_with = "list")]
    pub(crate) group: Option<String>,
    /// Only list the edits, newest first
    #[arg(long)]
    pub(crate) list: bool,
}

/// `rename`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct RenameCommandArgs {
    /// What.
    #[command(flatten)]
    pub(crate) at: AddressArgs,
    /// The new name alone, not qualified
    pub(crate) new_name: String,
    /// How.
    #[command(flatten)]
    pub(crate) manner: EditOptionArgs,
}

/// `actions`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ActionsCommandArgs {
    /// FILE, FILE:LINE, FILE:LINE-LINE, FILE:LINE:COL or FILE:LINE:NAME, counted from 1
    #[arg(value_name = "ADDRESS", value_hint = ValueHint::FilePath)]
    pub(crate) address: OsString,
    /// Only these: quickfix, refactor, source.organizeImports, source.fixAll
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Do the one with this title
    #[arg(long, value_name = "TITLE")]
    pub(crate) apply: Option<String>,
    /// How.
    #[command(flatten)]
    pub(crate) manner: EditOptionArgs,
}

/// `format`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct FormatFiles {
    /// Files, or lines of them
    #[arg(value_name = "FILE[:LINE-LINE]", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<OsString>,
    /// Change nothing, and exit with 1 if there is something to change
    #[arg(long)]
    pub(crate) check: bool,
    /// Change nothing; only show what would be
    #[arg(long)]
    pub(crate) dry_run: bool,
}
