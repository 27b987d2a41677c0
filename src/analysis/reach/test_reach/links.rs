//! The links of a path from a test to a change: the reached code, and its users.

use super::output::ReachKind;
use crate::syntax::CodeIndex;
use crate::text::Position;

/// A unit by the numbers of its file and itself.
pub(super) type UnitAt = (usize, usize);

/// Code that a walk has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Reached {
    /// A unit.
    Unit(UnitAt),
    /// A test as it runs in a class that inherits it, or in a module that its class is imported
    /// into.
    InheritedTest {
        /// The file that it runs in.
        file: usize,
        /// The class that it runs in.
        class: UnitAt,
        /// The test.
        test: UnitAt,
    },
    /// The top level of a file.
    Top(usize),
    /// A file of tests as a whole, because none of its tests is recognised.
    File(usize),
    /// The tests of a folder: of the one that contains the file with this number, and below.
    Folder(usize),
}

impl Reached {
    /// The code that encloses the position `at` of a file.
    pub(super) fn around(index: &CodeIndex, file: usize, at: Position) -> Self {
        index.files[file].unit_at(at).map_or(Self::Top(file), |unit| Self::Unit((file, unit)))
    }
}

/// A user of a unit, and the kind of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UserOf {
    pub(super) reached: Reached,
    pub(super) kind: ReachKind,
}
