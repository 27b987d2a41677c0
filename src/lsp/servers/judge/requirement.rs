//! The versions that a project admits, in the notation of its ecosystem.

use std::fmt;
use std::str::FromStr;

/// The versions that a project admits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum VersionRequirement {
    /// One version, installed or locked.
    Exact(String),
    /// A range of npm ("^5.4").
    Range(nodejs_semver::Range),
    /// The newest release among those of a range, and newer ones.
    Newest(String, nodejs_semver::Range),
    /// Specifiers of PEP 440 ("==0.9.3").
    Specifiers(pep440_rs::VersionSpecifiers),
    /// The file that states the version cannot be read, for this reason.
    Unreadable(String),
}

impl VersionRequirement {
    /// The requirement of a dependency in a `package.json`. A reference to another place, or a tag
    /// that is not the newest release, names no version.
    pub(super) fn of_npm(text: &str) -> Self {
        if nodejs_semver::Version::parse(text).is_ok() {
            return Self::Exact(text.trim_start_matches('v').to_owned());
        }
        match nodejs_semver::Range::parse(text) {
            _ if text.trim() == "latest" => Self::Range(nodejs_semver::Range::any()),
            Ok(range) => Self::Range(range),
            Err(_) => Self::Unreadable(format!("`{text}` names no version")),
        }
    }

    /// The requirement of specifiers of PEP 440, or of a bare version, which means that one.
    pub(super) fn of_python(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(version) = pep440_rs::Version::from_str(text) {
            return Some(Self::Exact(version.to_string()));
        }
        let specifiers = pep440_rs::VersionSpecifiers::from_str(text).ok().filter(|all| !all.is_empty())?;
        match &specifiers[..] {
            [one] if *one.operator() == pep440_rs::Operator::Equal => {
                Some(Self::Exact(one.version().to_string()))
            }
            _ => Some(Self::Specifiers(specifiers)),
        }
    }

    /// The newest of `releases` that it admits, if it is a range; otherwise itself.
    pub(super) fn newest_of(self, releases: &[String]) -> Self {
        let Self::Range(range) = self else { return self };
        let admits =
            |release: &&String| nodejs_semver::Version::parse(release).is_ok_and(|it| range.satisfies(&it));
        match releases.iter().rfind(admits) {
            Some(release) => Self::Newest(release.clone(), range),
            None => Self::Range(range),
        }
    }

    /// The version, unless it is a range without a known release.
    pub(super) fn exact(&self) -> Option<&str> {
        match self {
            Self::Exact(version) | Self::Newest(version, _) => Some(version),
            _ => None,
        }
    }

    /// The requirement of a setting that is a specifier of PEP 440, or states the oldest version
    /// ("1.22", "go1.22.3").
    pub(super) fn of_setting(text: &str, at_least: bool) -> Self {
        let word = text.split_whitespace().next().unwrap_or_default();
        let number = word.trim_start_matches(|first: char| !first.is_ascii_digit());
        // A toolchain may have a suffix of its maker ("go1.22.3-corp").
        let oldest = format!(">={}", number.split('-').next().unwrap_or_default());
        Self::of_python(if at_least { &oldest } else { text })
            .unwrap_or_else(|| Self::Unreadable(format!("`{text}` is not a version specifier")))
    }

    /// The version, or the oldest of a range of npm.
    pub(super) fn oldest(&self) -> Option<String> {
        match self {
            Self::Range(range) => Some(range.min_version()?.to_string()),
            other => other.exact().map(str::to_owned),
        }
    }

    /// Returns true if `version` is among them.
    pub(super) fn admits(&self, version: &str) -> bool {
        match self {
            Self::Exact(wanted) => wanted == version || same_version(wanted, version),
            Self::Range(range) => {
                nodejs_semver::Version::parse(version).is_ok_and(|version| range.satisfies(&version))
            }
            Self::Newest(release, range) => {
                let parse = |text| nodejs_semver::Version::parse(text).ok();
                parse(version).is_some_and(|it| Some(&it) >= parse(release).as_ref() && range.satisfies(&it))
            }
            Self::Specifiers(specifiers) => {
                pep440_rs::Version::from_str(version).is_ok_and(|version| specifiers.contains(&version))
            }
            Self::Unreadable(_) => false,
        }
    }

    /// Returns true if some version from the major version `from` on, and before `before`, is among
    /// them.
    pub(super) fn allows_majors(&self, from: Option<u64>, before: Option<u64>) -> bool {
        let Self::Range(range) = self else { return true };
        let bounds = format!(
            ">={}.0.0 {}",
            from.unwrap_or(0),
            before.map(|before| format!("<{before}.0.0")).unwrap_or_default()
        );
        nodejs_semver::Range::parse(&bounds).map_or(true, |bounds| range.allows_any(&bounds))
    }
}

impl fmt::Display for VersionRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(version) | Self::Newest(version, _) => f.write_str(version),
            Self::Range(range) => write!(f, "{range}"),
            Self::Specifiers(specifiers) => write!(f, "{specifiers}"),
            Self::Unreadable(reason) => f.write_str(reason),
        }
    }
}

/// Returns true if two texts are one version of PEP 440 ("1.0" and "1.0.0").
fn same_version(one: &str, other: &str) -> bool {
    let parse = |text: &str| pep440_rs::Version::from_str(text).ok();
    parse(one).is_some_and(|one| parse(other) == Some(one))
}

/// Returns true if `text` is a version of npm or PyPI, and nothing else that a package manager
/// would follow.
pub(super) fn is_version(text: &str) -> bool {
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-+".contains(&byte));
    plain
        && text.starts_with(|first: char| first.is_ascii_digit())
        && (nodejs_semver::Version::parse(text).is_ok() || pep440_rs::Version::from_str(text).is_ok())
}
