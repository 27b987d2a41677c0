//! The users of one unit: by the server, by names of members whose type it does not know, and by
//! rules of languages that call without a name.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::links::{Reached, UnitAt, UserOf};
use super::output::ReachKind;
use super::server_uses::{IndexedPlace, NameMeaning, ServerUses};
use crate::syntax::{CodeIndex, CodeUnit, CodeUnitKind, NameUse, UnitFile};
use crate::workspace::WorkspacePath;

/// The depth to which base types are followed.
const MAX_BASE_DEPTH: usize = 16;
/// External types that call no method of their subtypes, or only methods with a recognizable name.
const PLAIN_BASES: [&str; 18] = [
    "object",
    "ABC",
    "ABCMeta",
    "type",
    "Protocol",
    "Generic",
    "Enum",
    "IntEnum",
    "StrEnum",
    "Flag",
    "IntFlag",
    "NamedTuple",
    "TypedDict",
    "Exception",
    "TestCase",
    "Error",
    "RuntimeError",
    "ValueError",
];

/// All users of the unit `at`.
pub(super) async fn users(index: &CodeIndex, at: UnitAt, server: &mut ServerUses<'_>) -> Vec<UserOf> {
    let unit = index.unit(at);
    let mut found = UserCollector::new(index, at);
    match server.uses(index, at.0, unit).await {
        Some(places) => {
            let places: HashSet<IndexedPlace> = places.into_iter().collect();
            for place in &places {
                found.add_place(*place);
            }
            found.add_unlisted(&places, server).await;
        }
        None => by_name(index, Some(at), &unit.name).into_iter().for_each(|user| found.add(user)),
    }
    found.add_users_of_whole_module();
    let is_used = !found.users.is_empty();
    found.add_overridden();
    // A member that nothing names may be read by a name that is made at run time.
    if unit.kind == CodeUnitKind::Callable || !is_used && found.owner(unit).is_some() {
        found.add_unnamed_callers(is_used);
    }
    found.users.into_iter().map(|(reached, kind)| UserOf { reached, kind }).collect()
}

/// The users of `name` according to the text alone; `of` is its definition, if it still exists.
pub(super) fn by_name(index: &CodeIndex, of: Option<UnitAt>, name: &str) -> Vec<UserOf> {
    let is_meant = |found: &&NameUse| {
        let file = &index.files[found.file];
        let imported = || file.imports.iter().any(|(local, _)| local == name || local.is_empty());
        let is_near = of.is_none_or(|(own, _)| {
            own == found.file
                || index.files[own].path.parent() == file.path.parent() && file.imports.is_empty()
        });
        !found.is_quoted && (found.is_member || is_near || imported())
    };
    let mut found = UserCollector { index, of, kinds: BTreeMap::new(), users: BTreeMap::new() };
    let aliased = aliased_uses(index, name);
    for place in index.uses(name).iter().filter(is_meant).chain(&aliased) {
        found.add_user((place.file, place.at), ReachKind::Names);
    }
    found.users.into_iter().map(|(reached, kind)| UserOf { reached, kind }).collect()
}

/// The places where `name` may be used under an alias of an import: in that file, and in those that
/// import the alias.
fn aliased_uses(index: &CodeIndex, name: &str) -> Vec<NameUse> {
    let aliases = index.aliases(name).iter();
    let seen_in =
        |file: usize, local: &str| index.files[file].imports.iter().any(|(known, _)| known == local);
    let uses = aliases.flat_map(|(_, local)| {
        let is_meant =
            move |place: &&NameUse| !place.is_quoted && !place.is_member && seen_in(place.file, local);
        index.uses(local).iter().filter(is_meant)
    });
    let mut found: Vec<NameUse> = uses.copied().collect();
    found.sort_by_key(|place| (place.file, place.at));
    found.dedup();
    found
}

struct UserCollector<'a> {
    index: &'a CodeIndex,
    of: Option<UnitAt>,
    /// The places of the unit's name, each with the kind of use.
    kinds: BTreeMap<IndexedPlace, ReachKind>,
    users: BTreeMap<Reached, ReachKind>,
}

impl<'a> UserCollector<'a> {
    fn new(index: &'a CodeIndex, of: UnitAt) -> Self {
        let uses = index.uses(&index.unit(of).name);
        let kinds = uses.iter().map(|place| ((place.file, place.at), kind_of(place))).collect();
        Self { index, of: Some(of), kinds, users: BTreeMap::new() }
    }

    fn unit(&self) -> Option<&'a CodeUnit> {
        self.of.map(|of| self.index.unit(of))
    }

    fn add(&mut self, user: UserOf) {
        let known = self.users.entry(user.reached).or_insert(user.kind);
        *known = user.kind.min(*known);
    }

    /// Adds a place that the server listed.
    fn add_place(&mut self, place: IndexedPlace) {
        // The list contains definitions of the same name: overloads and overriding members.
        if self.index.unit_defined_at(place.0, place.1).is_some() {
            return;
        }
        self.add_user(place, self.kinds.get(&place).copied().unwrap_or(ReachKind::References));
    }

    /// Adds the code that encloses a place, unless it is the unit itself or an import.
    fn add_user(&mut self, (file, at): IndexedPlace, kind: ReachKind) {
        let units = &self.index.files[file];
        if units.is_import(at) {
            return;
        }
        // Importing the file does not run the part for its use as a program.
        let kind = if units.is_program_part(at) { kind.max(ReachKind::Names) } else { kind };
        let reached = Reached::around(self.index, file, at);
        if self.of.map(Reached::Unit) != Some(reached) {
            self.add(UserOf { reached, kind });
        }
    }

    /// Adds places of the name that the server did not list: those in files outside its project,
    /// and members of values whose type it does not know.
    async fn add_unlisted(&mut self, listed: &HashSet<IndexedPlace>, server: &mut ServerUses<'_>) {
        let (Some(of), Some(unit)) = (self.of, self.unit()) else { return };
        let own = (of.0, unit.selection);
        let known: HashSet<usize> = listed.iter().map(|(file, _)| *file).collect();
        let may_be = |place: &&NameUse| {
            let imported =
                || self.index.files[place.file].imports.iter().any(|(local, _)| *local == unit.name);
            let is_plain = !place.is_member && !known.contains(&place.file) && imported();
            let is_member =
                place.is_member && (unit.owner.is_some() || place.is_key || !known.contains(&place.file));
            !place.is_quoted && !listed.contains(&(place.file, place.at)) && (is_plain || is_member)
        };
        let places = self.index.uses(&unit.name).iter().filter(may_be).copied();
        // Some servers search for uses by name, and miss those under an alias.
        let aliased = aliased_uses(self.index, &unit.name);
        let aliased = aliased.into_iter().filter(|place| !listed.contains(&(place.file, place.at)));
        let places: Vec<NameUse> = places.chain(aliased).collect();
        let loading: HashSet<usize> = self.index.quoting(of.0).iter().map(|(file, _)| *file).collect();
        for place in places {
            let at = (place.file, place.at);
            match server.meaning(self.index, at).await {
                // Servers do not know the type of members of a module that is loaded by path, or of
                // values taken by key.
                NameMeaning::Unknown
                    if unit.owner.is_some()
                        || !place.is_member
                        || place.is_key
                        || loading.contains(&place.file) =>
                {
                    self.add_user(at, ReachKind::Names);
                }
                NameMeaning::Defined(places) if places.contains(&own) => self.add_place(at),
                NameMeaning::Unknown | NameMeaning::Defined(_) => {}
            }
        }
    }

    /// Adds the users of `module.exports = …`: servers list the modules' names for it, and not the
    /// uses of the modules.
    fn add_users_of_whole_module(&mut self) {
        let Some(of) = self.of.filter(|of| self.index.unit(*of).qualified == "module.exports") else {
            return;
        };
        for importer in self.index.importers(of.0) {
            for local in self.index.whole_locals(importer, of.0) {
                for place in self.index.uses(local).iter().filter(|place| place.file == importer) {
                    self.add_user((importer, place.at), kind_of(place));
                }
            }
        }
    }

    /// Adds the members of base types that the unit overrides: their callers may call it.
    fn add_overridden(&mut self) {
        let Some(unit) = self.unit() else { return };
        let Some(owner) = self.owner(unit) else { return };
        for base in self.bases_of(owner).0 {
            let inside = |(file, at): &&UnitAt| {
                *file == base.0 && self.index.files[*file].units[*at].parent == Some(base.1)
            };
            let same: Vec<UnitAt> = self.index.named(&unit.name).iter().filter(inside).copied().collect();
            for overridden in same {
                self.add(UserOf { reached: Reached::Unit(overridden), kind: ReachKind::References });
            }
        }
        for member in self.structural_members(unit, owner) {
            self.add(UserOf { reached: Reached::Unit(member), kind: ReachKind::Names });
        }
    }

    /// The members of structural types that `unit` may implement, because `owner` has all methods
    /// of these types.
    fn structural_members(&self, unit: &CodeUnit, owner: UnitAt) -> Vec<UnitAt> {
        let structural = |(file, at): &&UnitAt| {
            let parent = self.index.files[*file].units[*at].parent?;
            let is_other = self.index.unit((*file, parent)).is_structural && (*file, parent) != owner;
            is_other.then_some((*file, parent))
        };
        let (bases, is_open) = self.bases_of(owner);
        let mut own: BTreeSet<&str> = BTreeSet::new();
        for (file, class) in bases.iter().chain([&owner]) {
            own.extend(members_of(&self.index.files[*file], *class).map(|member| member.name.as_str()));
        }
        let fits = |(file, of): UnitAt| {
            let mut methods = members_of(&self.index.files[file], of)
                .filter(|member| member.kind == CodeUnitKind::Callable);
            is_open || methods.all(|method| own.contains(method.name.as_str()))
        };
        let named = self.index.named(&unit.name).iter();
        named.filter(|at| structural(at).is_some_and(fits)).copied().collect()
    }

    /// Adds the users of a function that call it without its name: the user of its type, for
    /// functions that the language or a library calls, and the enclosing function.
    fn add_unnamed_callers(&mut self, is_used: bool) {
        let (Some(of), Some(unit)) = (self.of, self.unit()) else { return };
        let around = unit.parent.map(|parent| (of.0, parent));
        if let Some(around) = around.filter(|around| self.index.unit(*around).kind == CodeUnitKind::Callable)
        {
            self.add(UserOf { reached: Reached::Unit(around), kind: ReachKind::References });
            return;
        }
        match self.owner(unit) {
            Some(owner) => {
                let kind = match () {
                    // A call of the class by its name runs the constructor.
                    () if matches!(unit.name.as_str(), "__init__" | "__new__" | "constructor") => {
                        ReachKind::Calls
                    }
                    () if is_called_by_language(&unit.name) => ReachKind::References,
                    () if !is_used || self.bases_of(owner).1 => ReachKind::Names,
                    () => return,
                };
                self.add(UserOf { reached: Reached::Unit(owner), kind });
            }
            None if !is_used => {
                self.add(UserOf { reached: Reached::Top(of.0), kind: ReachKind::Names });
            }
            None => {}
        }
    }

    /// The type that `unit` is a member of.
    fn owner(&self, unit: &CodeUnit) -> Option<UnitAt> {
        let of = self.of?;
        let parent = unit.parent.filter(|at| self.index.files[of.0].units[*at].kind == CodeUnitKind::Type);
        if let Some(parent) = parent {
            return Some((of.0, parent));
        }
        type_beside(self.index, &self.index.files[of.0].path, unit.owner.as_deref()?)
    }

    /// The base types of `owner`. The flag is true if one of them is external and may call methods
    /// that are unknown here.
    fn bases_of(&self, owner: UnitAt) -> (BTreeSet<UnitAt>, bool) {
        let (mut found, mut is_open) = (BTreeSet::new(), false);
        let mut level = vec![owner];
        for _ in 0..MAX_BASE_DEPTH {
            let mut next = Vec::new();
            for base in level.iter().flat_map(|at| &self.index.unit(*at).bases) {
                let types = types_named(self.index, base);
                is_open |= types.is_empty()
                    && !PLAIN_BASES.contains(&base.as_str())
                    && !base.ends_with("Error")
                    && !base.ends_with("Exception")
                    && !base.ends_with("Warning");
                next.extend(types.into_iter().filter(|at| *at != owner && found.insert(*at)));
            }
            if next.is_empty() {
                break;
            }
            level = next;
        }
        (found, is_open)
    }
}

fn kind_of(place: &NameUse) -> ReachKind {
    match (place.is_call, place.is_type) {
        (true, _) => ReachKind::Calls,
        (false, true) => ReachKind::Mentions,
        (false, false) => ReachKind::References,
    }
}

fn members_of(file: &UnitFile, of: usize) -> impl Iterator<Item = &CodeUnit> {
    file.units.iter().filter(move |unit| unit.parent == Some(of))
}

fn types_named(index: &CodeIndex, name: &str) -> Vec<UnitAt> {
    let named = index.named(name).iter();
    named.filter(|at| index.unit(**at).kind == CodeUnitKind::Type).copied().collect()
}

/// The type with the name `name` in the folder of the file at `path`: Go and Rust have methods
/// outside the type.
pub(super) fn type_beside(index: &CodeIndex, path: &WorkspacePath, name: &str) -> Option<UnitAt> {
    let folder = path.parent();
    types_named(index, name).into_iter().find(|(file, _)| index.files[*file].path.parent() == folder)
}

/// Returns true for names that a language calls implicitly: operators, constructors, conversions.
pub(super) fn is_called_by_language(name: &str) -> bool {
    name.starts_with("__") && name.ends_with("__") && name.len() > 4
        || matches!(name, "constructor" | "drop" | "deref" | "fmt" | "from" | "toString" | "String" | "Error")
}
