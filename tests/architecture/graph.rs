//! The imports between the files of `src`: the modules of the library as the compiler finds them,
//! without tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};

/// The folder of types for another system, which share their names with those for Linux.
const OTHER_SYSTEM: &str = "platform/windows/";

/// A module's path from the root of the crate; the root's is empty.
type Module = Vec<String>;

/// The files of the library and their imports of each other.
pub struct Graph {
    imports: BTreeMap<String, BTreeSet<String>>,
    /// The paths in each file that do not begin with `crate`, `self` or `super`, verbatim.
    outside: BTreeMap<String, BTreeSet<String>>,
    /// The names of all types that the library defines on Linux.
    pub type_names: Vec<String>,
    /// The number of functions, types, modules, constants and re-exports that are `pub` without
    /// restriction.
    pub public_items: usize,
}

struct ParsedFile {
    /// Relative to `src`.
    path: String,
    syntax: syn::File,
}

impl Graph {
    pub fn of_the_library() -> Self {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut files = BTreeMap::new();
        add(&src, &src.join("lib.rs"), Vec::new(), &mut files);
        let (mut imports, mut outside) = (BTreeMap::new(), BTreeMap::new());
        for (module, file) in &files {
            let paths = Paths::of_file(module, file);
            imports.insert(file.path.clone(), paths.imports(file, &files));
            outside.insert(file.path.clone(), paths.outside);
        }
        let mut names = TypeNames(Vec::new());
        let on_linux = files.values().filter(|file| !file.path.starts_with(OTHER_SYSTEM));
        on_linux.for_each(|file| names.visit_file(&file.syntax));
        let mut public = PublicItems(0);
        files.values().for_each(|file| public.visit_file(&file.syntax));
        Self { imports, outside, type_names: names.0, public_items: public.0 }
    }

    /// Every path of another crate, or of a file's imports, verbatim: for a renamed import the path
    /// and ` as`, for a glob import the path and `*`, `env::var(PATH)` for a read of that variable,
    /// and `cfg(WORD)` for each word of a condition.
    pub fn outside_paths(&self) -> impl Iterator<Item = (&str, &str)> {
        self.outside.iter().flat_map(|(file, all)| all.iter().map(move |path| (file.as_str(), path.as_str())))
    }

    /// The files of the library, relative to `src`.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.imports.keys().map(String::as_str)
    }

    /// Every import, from the importing to the imported file.
    pub fn arrows(&self) -> impl Iterator<Item = (&str, &str)> {
        self.imports.iter().flat_map(|(from, all)| all.iter().map(move |to| (from.as_str(), to.as_str())))
    }

    /// Groups of files that import each other in a cycle, except groups of `mod.rs` files only: a
    /// folder's module list points down, and shared items are imported upwards.
    pub fn circles(&self) -> Vec<BTreeSet<&str>> {
        let mut circles: Vec<BTreeSet<&str>> = Vec::new();
        for file in self.imports.keys() {
            if circles.iter().any(|circle| circle.contains(file.as_str())) {
                continue;
            }
            let reached = self.reached_from(file);
            if !reached.contains(file.as_str()) {
                continue;
            }
            let circle: BTreeSet<&str> = reached
                .iter()
                .copied()
                .filter(|other| self.reached_from(other).contains(file.as_str()))
                .collect();
            if circle.len() > 1 && !circle.iter().all(|file| file.ends_with("mod.rs")) {
                circles.push(circle);
            }
        }
        circles
    }

    fn reached_from(&self, file: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut next = vec![file];
        while let Some(file) = next.pop() {
            for to in self.imports.get(file).into_iter().flatten() {
                if reached.insert(to.as_str()) {
                    next.push(to);
                }
            }
        }
        reached
    }
}

/// Parses `path` as `module`, and the files of the modules that it declares.
fn add(src: &Path, path: &Path, module: Module, files: &mut BTreeMap<Module, ParsedFile>) {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let folder = match path.file_name().is_some_and(|name| name == "mod.rs" || name == "lib.rs") {
        true => path.parent().expect("a file lies in a folder").to_owned(),
        false => path.with_extension(""),
    };
    for item in &syntax.items {
        if let syn::Item::Mod(child) = item
            && child.content.is_none()
            && !for_tests(&child.attrs)
        {
            let name = child.ident.to_string();
            let file = file_of(&folder, &name);
            add(src, &file, module.iter().cloned().chain([name]).collect(), files);
        }
    }
    let path = path.strip_prefix(src).expect("below src").to_string_lossy().into_owned();
    files.insert(module, ParsedFile { path, syntax });
}

fn file_of(folder: &Path, name: &str) -> PathBuf {
    let file = folder.join(format!("{name}.rs"));
    if file.exists() { file } else { folder.join(name).join("mod.rs") }
}

fn for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Meta>().is_ok_and(|condition| needs_test(&condition))
    })
}

/// Returns true if code with this condition is not part of the program: `test`, `all(test, …)`, and
/// `any` of such and of fuzzing.
fn needs_test(condition: &syn::Meta) -> bool {
    let parts = || {
        let list = condition.require_list().ok()?;
        list.parse_args_with(Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated).ok()
    };
    match condition.path().get_ident().map(ToString::to_string).as_deref() {
        Some("test") => true,
        Some("feature") => {
            condition.require_name_value().is_ok_and(|feature| is_text(&feature.value, "fuzzing"))
        }
        Some("all") => parts().is_some_and(|parts| parts.iter().any(needs_test)),
        Some("any") => parts().is_some_and(|parts| parts.iter().all(needs_test)),
        _ => false,
    }
}

fn is_text(value: &syn::Expr, text: &str) -> bool {
    matches!(value, syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(found), .. }) if found.value() == text)
}

/// Collects the paths of a file.
struct Paths {
    module: Module,
    /// Paths that begin with `crate`, `super` or `self`, from the crate's root.
    found: Vec<Module>,
    /// All other paths.
    outside: BTreeSet<String>,
}

impl Paths {
    fn of_file(module: &Module, file: &ParsedFile) -> Self {
        let mut paths = Self { module: module.clone(), found: Vec::new(), outside: BTreeSet::new() };
        paths.visit_file(&file.syntax);
        paths
    }

    /// The files among `files` that `file` imports.
    fn imports(&self, file: &ParsedFile, files: &BTreeMap<Module, ParsedFile>) -> BTreeSet<String> {
        let owner = |path: &Module| (1..=path.len()).rev().find_map(|length| files.get(&path[..length]));
        let owners = self.found.iter().filter_map(owner).map(|owner| owner.path.clone());
        owners.filter(|owner| owner != &file.path).collect()
    }

    fn add(&mut self, written: &[String]) {
        let mut base = self.module.clone();
        let mut rest = written;
        match rest.first().map(String::as_str) {
            Some("crate") => {
                base.clear();
                rest = &rest[1..];
            }
            Some("super" | "self") => {}
            _ => {
                self.outside.insert(written.join("::"));
                return;
            }
        }
        while let Some(word @ ("super" | "self")) = rest.first().map(String::as_str) {
            if word == "super" {
                base.pop();
            }
            rest = &rest[1..];
        }
        base.extend_from_slice(rest);
        self.found.push(base);
    }

    fn add_tokens(&mut self, tokens: &impl ToString) {
        let written = tokens.to_string().replace(" :: ", "::");
        for word in
            written.split(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == ':'))
        {
            let words: Vec<String> = word.split("::").map(str::to_owned).collect();
            if words.len() > 1 {
                self.add(&words);
            }
        }
    }

    fn add_condition(&mut self, tokens: &impl ToString) {
        let written = tokens.to_string();
        let words = written.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
        self.outside.extend(words.filter(|word| !word.is_empty()).map(|word| format!("cfg({word})")));
    }

    fn add_tree(&mut self, head: &[String], tree: &syn::UseTree) {
        let with = |name: &syn::Ident| head.iter().cloned().chain([name.to_string()]).collect::<Vec<_>>();
        match tree {
            syn::UseTree::Path(path) => self.add_tree(&with(&path.ident), &path.tree),
            syn::UseTree::Name(name) => self.add(&with(&name.ident)),
            syn::UseTree::Rename(name) => {
                self.add(&with(&name.ident));
                self.outside.insert(format!("{} as", with(&name.ident).join("::")));
            }
            syn::UseTree::Glob(_) => {
                self.add(head);
                self.outside.insert(format!("{}::*", head.join("::")));
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_tree(head, tree)),
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, inner: &'ast syn::ItemMod) {
        if inner.content.is_some() {
            self.module.push(inner.ident.to_string());
            visit::visit_item_mod(self, inner);
            self.module.pop();
        } else {
            inner.attrs.iter().for_each(|attribute| self.visit_attribute(attribute));
        }
    }

    fn visit_item_use(&mut self, import: &'ast syn::ItemUse) {
        self.add_tree(&[], &import.tree);
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        visit::visit_expr_call(self, call);
        let is_variable = |path: &syn::Path| {
            path.segments.last().is_some_and(|name| name.ident == "var" || name.ident == "var_os")
        };
        let is_path = |name: &syn::Expr| match name {
            syn::Expr::Path(name) => name.path.segments.last().is_some_and(|name| name.ident == "PATH"),
            text => is_text(text, "PATH"),
        };
        if let syn::Expr::Path(called) = &*call.func
            && is_variable(&called.path)
            && call.args.first().is_some_and(is_path)
        {
            self.outside.insert("env::var(PATH)".to_owned());
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let words: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.add(&words);
        visit::visit_path(self, path);
    }

    /// Paths in the arguments of macros, which are only tokens.
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        visit::visit_macro(self, call);
        self.add_tokens(&call.tokens);
        if call.path.is_ident("cfg") {
            self.add_condition(&call.tokens);
        }
    }

    /// Paths in attributes; serde has its own in string literals.
    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        visit::visit_attribute(self, attribute);
        if let syn::Meta::List(list) = &attribute.meta {
            self.add_tokens(&list.tokens);
            let is_condition = list.path.is_ident("cfg") || list.path.is_ident("cfg_attr");
            if is_condition && !for_tests(std::slice::from_ref(attribute)) {
                self.add_condition(&list.tokens);
            }
        }
    }
}

/// Returns true for a condition of code that is not compiled on Linux.
fn is_for_another_system(attributes: &[syn::Attribute]) -> bool {
    let conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    conditions.filter_map(|attribute| attribute.meta.require_list().ok()).any(|condition| {
        let condition = condition.tokens.to_string().replace(' ', "");
        condition == "windows" || condition.contains("not(linux_kernel)")
    })
}

struct TypeNames(Vec<String>);

impl<'ast> Visit<'ast> for TypeNames {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let (attributes, name) = match item {
            syn::Item::Struct(item) => (&item.attrs, &item.ident),
            syn::Item::Enum(item) => (&item.attrs, &item.ident),
            syn::Item::Trait(item) => (&item.attrs, &item.ident),
            syn::Item::Type(item) => (&item.attrs, &item.ident),
            syn::Item::Union(item) => (&item.attrs, &item.ident),
            syn::Item::Mod(item) if for_tests(&item.attrs) || is_for_another_system(&item.attrs) => return,
            _ => return visit::visit_item(self, item),
        };
        if !for_tests(attributes) {
            self.0.push(name.to_string());
        }
    }
}

struct PublicItems(usize);

impl PublicItems {
    fn count(&mut self, visibility: &syn::Visibility) {
        self.0 += usize::from(matches!(visibility, syn::Visibility::Public(_)));
    }
}

impl<'ast> Visit<'ast> for PublicItems {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        match item {
            syn::Item::Mod(item) if for_tests(&item.attrs) => return,
            syn::Item::Const(item) => self.count(&item.vis),
            syn::Item::Enum(item) => self.count(&item.vis),
            syn::Item::Fn(item) => self.count(&item.vis),
            syn::Item::Mod(item) => self.count(&item.vis),
            syn::Item::Static(item) => self.count(&item.vis),
            syn::Item::Struct(item) => self.count(&item.vis),
            syn::Item::Trait(item) => self.count(&item.vis),
            syn::Item::Type(item) => self.count(&item.vis),
            syn::Item::Union(item) => self.count(&item.vis),
            syn::Item::Use(item) => self.count(&item.vis),
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        match item {
            syn::ImplItem::Const(item) => self.count(&item.vis),
            syn::ImplItem::Fn(item) => self.count(&item.vis),
            _ => {}
        }
    }
}
