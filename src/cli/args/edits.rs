//! Arguments of the commands that change files.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::at::AddressArgs;

/// The commands that change files. Every change can be undone.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum EditingCommand {
    /// Replace exact text in a file; or replace, delete or extend a symbol
    #[command(
        after_help = "Examples:\n  lsp-tools edit src/app.py --old 'def greet(' --new 'def welcome('\n  \
                            lsp-tools edit src/app.py:Greeter.greet --body - < greet.py    the whole method, from stdin\n  \
                            lsp-tools edit src/app.py:helper --delete                      only if nothing uses it\n  \
                            lsp-tools edit src/app.py --old greet --new welcome --all --dry-run --diagnostics\n\n\
                            Exit status: 1 the text is missing or not unique; with --diagnostics also: new problems."
    )]
    Edit(EditCommandArgs),
    /// Write a whole file
    #[command(after_help = "Examples:\n  lsp-tools write notes.md --content '# Notes'\n  \
                            generate | lsp-tools write src/generated.rs")]
    Write(WriteCommandArgs),
    /// Apply a patch to one or many files, all or nothing
    #[command(
        after_help = "Examples:\n  lsp-tools patch fix.diff\n  git diff HEAD~1 -R | lsp-tools patch\n\n\
                            Exit status: 1 the patch does not fit; with --diagnostics also: new problems."
    )]
    Patch(PatchCommandArgs),
    /// Move or rename a file or folder; language servers update imports
    #[command(after_help = "Example: lsp-tools move src/util.ts src/text/util.ts")]
    Move(MoveCommandArgs),
    /// Delete a file or folder; `undo` restores it
    #[command(after_help = "Example: lsp-tools delete -r build")]
    Delete(DeleteCommandArgs),
    /// Undo an edit: the newest, one by its id, or a group
    #[command(after_help = "Examples:\n  lsp-tools undo --list   what can be taken back\n  \
                            lsp-tools undo          take the newest edit back")]
    Undo(UndoCommandArgs),
    /// Rename a symbol in every file that uses it
    #[command(after_help = "Example: lsp-tools rename src/app.py:12:greet welcome --dry-run")]
    Rename(RenameCommandArgs),
    /// List the code actions of servers at a position (quick fixes, refactorings), or apply one
    #[command(after_help = "Examples:\n  lsp-tools actions src/app.ts:12\n  \
                            lsp-tools actions src/app.ts --kind source.organizeImports\n  \
                            lsp-tools actions src/app.ts:12 --apply 'Add missing import'\n\n\
                            Exit status: 0 actions found, 1 none.")]
    Actions(ActionsCommandArgs),
    /// Format files with their language servers
    #[command(after_help = "Examples:\n  lsp-tools format src/app.py src/util.py\n  \
                            lsp-tools format --check src/app.py   only set the exit status")]
    Format(FormatFiles),
    /// Apply one kind of code action to whole files: organize imports, fix all
    #[command(after_help = "Examples:\n  lsp-tools fix source.organizeImports src\n  \
                            lsp-tools fix source.fixAll src/app.py --dry-run\n\n\
                            All changes are one edit; `lsp-tools undo` reverts it.")]
    Fix(FixCommandArgs),
}

/// `fix`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct FixCommandArgs {
    /// The kind of action in LSP's terms: source.organizeImports, source.fixAll,
    /// source.fixAll.ruff, …; quickfix with --rule
    pub(crate) kind: String,
    /// Apply the quick fixes of all findings with this code: F401, 6133, …
    #[arg(long, value_name = "CODE")]
    pub(crate) rule: Option<String>,
    /// The start of the quick fix's title [default: the fix that the server prefers]
    #[arg(long, value_name = "START")]
    pub(crate) title: Option<String>,
    /// Files and folders
    #[arg(required = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,
    /// Options of the edit.
    #[command(flatten)]
    pub(crate) manner: EditOptionArgs,
}

/// Options of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub(crate) struct EditOptionArgs {
    /// Change nothing; only preview
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Report new problems, starting servers if needed; exit with 1 if there are any
    #[arg(long, overrides_with = "no_diagnostics")]
    pub(crate) diagnostics: bool,
    /// Do not compare diagnostics, even if servers are running
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
    /// The file; with --body, --before, --after or --delete the symbol: FILE:NAME, FILE:LINE:NAME
    /// or NAME
    #[arg(value_name = "FILE|SYMBOL", value_hint = ValueHint::FilePath)]
    pub(crate) address: OsString,
    /// Exact text with enough context to be unique; may be repeated, each with its --new
    #[arg(long, value_name = "TEXT", required_unless_present = "of_symbol", allow_hyphen_values = true)]
    pub(crate) old: Vec<String>,
    /// The new text
    #[arg(long, value_name = "TEXT", required_unless_present = "of_symbol", allow_hyphen_values = true)]
    pub(crate) new: Vec<String>,
    /// Replace every occurrence
    #[arg(long)]
    pub(crate) all: bool,
    /// The changes to a symbol.
    #[command(flatten)]
    pub(crate) of_symbol: Option<SymbolEditArgs>,
    /// Options of the edit.
    #[command(flatten)]
    pub(crate) manner: EditOptionArgs,
}

/// The changes of `edit` to a symbol
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[group(id = "of_symbol", required = false, multiple = false, conflicts_with_all = ["old", "new", "all"])]
pub(crate) struct SymbolEditArgs {
    /// The whole new definition of the symbol, signature included; `-` reads it from stdin
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) body: Option<String>,
    /// Code to insert before the symbol; `-` reads it from stdin
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) before: Option<String>,
    /// Code to insert after the symbol; `-` reads it from stdin
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) after: Option<String>,
    /// Delete the symbol if it is unused
    #[arg(long)]
    pub(crate) delete: bool,
    /// Move the symbol to this file, with its imports if the server can
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
    /// The file; missing folders are created
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// The whole new text [default: stdin]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) content: Option<String>,
    /// Options of the edit.
    #[command(flatten)]
    pub(crate) manner: EditOptionArgs,
}

/// `patch`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct PatchCommandArgs {
    /// A unified diff, or `*** Begin Patch`; its paths are relative to the workspace [default: -,
    /// stdin]
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// Options of the edit.
    #[command(flatten)]
    pub(crate) manner: EditOptionArgs,
}

/// `move`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct MoveCommandArgs {
    /// A file or folder
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) from: PathBuf,
    /// The new path, or an existing folder to move it into
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) to: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Do not update imports
    #[arg(long)]
    pub(crate) no_imports: bool,
    /// Options of the edit.
    #[command(flatten)]
    pub(crate) manner: EditOptionArgs,
}

/// `delete`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct DeleteCommandArgs {
    /// A file, link or folder
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) path: PathBuf,
    /// Delete a folder with its contents
    #[arg(short, long)]
    pub(crate) recursive: bool,
    /// Options of the edit.
    #[command(flatten)]
    pub(crate) manner: EditOptionArgs,
}

/// `undo`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct UndoCommandArgs {
    /// The id from the edit's answer [default: the newest edit]
    #[arg(conflicts_with_all = ["group", "list"])]
    pub(crate) id: Option<String>,
    /// Undo all edits of this group
    #[arg(long, conflicts_with = "list")]
    pub(crate) group: Option<String>,
    /// List the edits, newest first
    #[arg(long)]
    pub(crate) list: bool,
}

/// `rename`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct RenameCommandArgs {
    /// The symbol.
    #[command(flatten)]
    pub(crate) at: AddressArgs,
    /// The new name, unqualified
    pub(crate) new_name: String,
    /// Options of the edit.
    #[command(flatten)]
    pub(crate) manner: EditOptionArgs,
}

/// `actions`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ActionsCommandArgs {
    /// FILE, FILE:LINE, FILE:LINE-LINE, FILE:LINE:COL or FILE:LINE:NAME, counted from 1
    #[arg(value_name = "ADDRESS", value_hint = ValueHint::FilePath)]
    pub(crate) address: OsString,
    /// Only actions of this kind: quickfix, refactor, source.organizeImports, source.fixAll
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Apply the action with this title
    #[arg(long, value_name = "TITLE")]
    pub(crate) apply: Option<String>,
    /// Options of the edit.
    #[command(flatten)]
    pub(crate) manner: EditOptionArgs,
}

/// `format`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct FormatFiles {
    /// Files, or lines of them
    #[arg(value_name = "FILE[:LINE-LINE]", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<OsString>,
    /// Change nothing; exit with 1 if a file would change
    #[arg(long)]
    pub(crate) check: bool,
    /// Change nothing; only preview
    #[arg(long)]
    pub(crate) dry_run: bool,
}
