//! The table of tools with caches: the user's cache, the variable that redirects it, and the
//! mirrored part. Knowledge about single tools is only here.

use super::mirror::{Mirror, MirrorEnd};

/// A tool with a cache.
#[derive(Debug)]
pub(super) struct CachingTool {
    /// The folder of the tool among the caches of commands.
    pub folder: &'static str,
    /// The location of the user's cache: the first of these whose variable is set, in the syntax of
    /// `bash.writable`.
    pub users: &'static [&'static str],
    /// The part that the tool writes all the time. If commands may write that part of the user's
    /// folder, the tool is not redirected.
    pub writes: &'static str,
    /// The variables that redirect the tool.
    pub leads: &'static [RedirectVariable],
    /// The mirrored parts of the user's cache; the rest starts empty.
    pub mirrors: &'static [Mirror],
    /// Files of the user that are copied, and again after a change: indexes that the tool writes.
    pub copies: &'static [&'static str],
}

/// A variable that redirects a tool to a cache of the commands' own.
#[derive(Debug)]
pub(super) struct RedirectVariable {
    pub variable: &'static str,
    /// The template of the value: `{own}` is the folder for commands, `{theirs}` the user's,
    /// `{given}` the present value, and `{others}` the present value from its first colon on.
    pub value: &'static str,
    pub when: VariableCondition,
}

/// The condition for a variable to be set for commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VariableCondition {
    Always,
    /// The user has set it: otherwise another variable redirects the tool, or files of the project
    /// choose.
    Given,
    /// This path exists below the user's folder of the tool.
    There(&'static str),
    /// No path in the value contains a blank, because the tool splits the value at blanks.
    Unbroken,
}

const fn always(variable: &'static str, value: &'static str) -> RedirectVariable {
    RedirectVariable { variable, value, when: VariableCondition::Always }
}

const fn given(variable: &'static str) -> RedirectVariable {
    RedirectVariable { variable, value: "{own}", when: VariableCondition::Given }
}

/// A tool that one variable redirects to an initially empty cache.
const fn empty(
    folder: &'static str,
    users: &'static [&'static str],
    leads: &'static [RedirectVariable],
) -> CachingTool {
    CachingTool { folder, users, writes: "", leads, mirrors: &[], copies: &[] }
}

const fn entries(of: &'static str, depth: u8) -> Mirror {
    Mirror { of, ending: MirrorEnd::Depth(depth), hidden: &[] }
}

/// The lock files of go, and its lists of versions, derived from the files beside them.
const GO_WRITES: &[&str] = &["list", "*.lock"];

pub(super) const TOOLS: &[CachingTool] = &[
    // https://doc.rust-lang.org/cargo/guide/cargo-home.html. Cargo's locks and counters are at the
    // top; a crate is an entry of the fourth level. If an index file is not writable, it is used as
    // it is, and requested again.
    CachingTool {
        folder: "cargo",
        users: &["$CARGO_HOME", "~/.cargo"],
        writes: "registry",
        leads: &[always("CARGO_HOME", "{own}")],
        mirrors: &[
            Mirror {
                of: "",
                ending: MirrorEnd::Depth(1),
                hidden: &["registry", "git", ".package-cache", ".package-cache-mutate", ".global-cache"],
            },
            entries("registry/cache", 2),
            entries("registry/src", 2),
            Mirror { of: "registry/index", ending: MirrorEnd::Files, hidden: &[".last-updated"] },
            entries("git/checkouts", 2),
            Mirror { of: "git/db", ending: MirrorEnd::Repositories, hidden: &["FETCH_HEAD", "*.lock"] },
        ],
        copies: &[],
    },
    // Build folders are redirected with their cache if the user keeps them in one place for all
    // projects.
    empty("cargo-target", &["$CARGO_TARGET_DIR"], &[given("CARGO_TARGET_DIR")]),
    empty("cargo-build", &["$CARGO_BUILD_BUILD_DIR"], &[given("CARGO_BUILD_BUILD_DIR")]),
    // https://specifications.freedesktop.org/basedir-spec. Mirrored are caches that take long to
    // download and are mostly read; uv, pip, go-build, yarn and all others start empty.
    // pre-commit's list names its hooks by absolute paths, so they are found.
    CachingTool {
        folder: "cache",
        users: &["$XDG_CACHE_HOME", "~/.cache"],
        writes: "",
        leads: &[always("XDG_CACHE_HOME", "{own}")],
        mirrors: &[
            Mirror { of: "ms-playwright", ending: MirrorEnd::Depth(1), hidden: &[".links", "__dirlock"] },
            entries("Cypress", 1),
            entries("electron", 1),
            entries("node-gyp", 1),
            entries("node/corepack", 3),
            entries("bazelisk", 4),
            entries("prisma", 4),
            entries("pyright-python", 1),
            entries("pypoetry/virtualenvs", 1),
            Mirror { of: "huggingface", ending: MirrorEnd::Depth(2), hidden: &[".locks"] },
            entries("torch", 3),
            entries("whisper", 1),
        ],
        copies: &["pre-commit/db.db"],
    },
    // It reads only its own variable: https://pptr.dev/guides/configuration.
    CachingTool {
        folder: "puppeteer",
        users: &["$PUPPETEER_CACHE_DIR", "~/.cache/puppeteer"],
        writes: "",
        leads: &[always("PUPPETEER_CACHE_DIR", "{own}")],
        mirrors: &[entries("", 2)],
        copies: &[],
    },
    // Caches below `XDG_CACHE_HOME` that a user can move elsewhere.
    empty("uv", &["$UV_CACHE_DIR"], &[given("UV_CACHE_DIR")]),
    empty("pip", &["$PIP_CACHE_DIR"], &[given("PIP_CACHE_DIR")]),
    empty("poetry", &["$POETRY_CACHE_DIR"], &[given("POETRY_CACHE_DIR")]),
    empty("pre-commit", &["$PRE_COMMIT_HOME"], &[given("PRE_COMMIT_HOME")]),
    empty("deno", &["$DENO_DIR"], &[given("DENO_DIR")]),
    empty("sccache", &["$SCCACHE_DIR"], &[given("SCCACHE_DIR")]),
    empty("coursier", &["$COURSIER_CACHE"], &[given("COURSIER_CACHE")]),
    empty("corepack", &["$COREPACK_HOME"], &[given("COREPACK_HOME")]),
    // Yarn 2 and later take the cache folder from the project's files, which this variable would
    // override.
    empty("yarn-cache", &["$YARN_CACHE_FOLDER"], &[given("YARN_CACHE_FOLDER")]),
    empty("yarn", &["$YARN_GLOBAL_FOLDER", "~/.yarn/berry"], &[always("YARN_GLOBAL_FOLDER", "{own}")]),
    // npm accepts its variables in any case, and the last one counts.
    empty(
        "npm",
        &["$npm_config_cache", "$NPM_CONFIG_CACHE", "~/.npm"],
        &[always("npm_config_cache", "{own}"), given("NPM_CONFIG_CACHE")],
    ),
    // No variable redirects its store without a warning of npm; the store is in this folder, like
    // versions of pnpm itself.
    CachingTool {
        folder: "pnpm",
        users: &["$PNPM_HOME", "~/.local/share/pnpm"],
        writes: "store",
        leads: &[always("PNPM_HOME", "{own}")],
        mirrors: &[entries(".tools/pnpm", 1)],
        copies: &[],
    },
    empty(
        "bun",
        &["$BUN_INSTALL_CACHE_DIR", "~/.bun/install/cache"],
        &[always("BUN_INSTALL_CACHE_DIR", "{own}")],
    ),
    // https://go.dev/ref/mod#module-cache. Mirrored are the modules as they were downloaded. Go
    // unpacks them again and checks them against the project's checksums, because it skips modules
    // whose folder is a link (`go vet all`). The results of the checksum database are beside them
    // and are written. Programs stay in the user's folder, where they are found but cannot be
    // added.
    CachingTool {
        folder: "go",
        users: &["$GOPATH", "~/go"],
        writes: "pkg/mod",
        leads: &[always("GOPATH", "{own}{others}")],
        mirrors: &[
            Mirror { of: "", ending: MirrorEnd::Depth(1), hidden: &["pkg"] },
            Mirror { of: "pkg/mod/cache/download", ending: MirrorEnd::Files, hidden: GO_WRITES },
        ],
        copies: &[],
    },
    CachingTool {
        folder: "go-modules",
        users: &["$GOMODCACHE"],
        writes: "",
        leads: &[given("GOMODCACHE")],
        mirrors: &[Mirror { of: "cache/download", ending: MirrorEnd::Files, hidden: GO_WRITES }],
        copies: &[],
    },
    empty("go-build", &["$GOCACHE"], &[given("GOCACHE")]),
    empty("golangci-lint", &["$GOLANGCI_LINT_CACHE"], &[given("GOLANGCI_LINT_CACHE")]),
    // https://maven.apache.org/resolver/local-repository.html: the tail is read, from Maven 3.9 on.
    empty(
        "maven",
        &["~/.m2/repository"],
        &[RedirectVariable {
            variable: "MAVEN_OPTS",
            value: "{given} -Dmaven.repo.local={own} -Dmaven.repo.local.tail={theirs}",
            when: VariableCondition::Unbroken,
        }],
    ),
    // https://docs.gradle.org/current/userguide/dependency_caching.html: the second cache is read,
    // and never written.
    CachingTool {
        folder: "gradle",
        users: &["$GRADLE_USER_HOME", "~/.gradle"],
        writes: "caches",
        leads: &[
            always("GRADLE_USER_HOME", "{own}"),
            RedirectVariable {
                variable: "GRADLE_RO_DEP_CACHE",
                value: "{theirs}/caches",
                when: VariableCondition::There("caches/modules-2"),
            },
        ],
        mirrors: &[
            Mirror {
                of: "",
                ending: MirrorEnd::Depth(1),
                hidden: &["caches", "wrapper", "daemon", "native", "notifications", "workers", ".tmp"],
            },
            Mirror { of: "wrapper/dists", ending: MirrorEnd::Depth(3), hidden: &["*.lck", "*.part"] },
        ],
        copies: &[],
    },
    // learn.microsoft.com/nuget/consume-packages/managing-the-global-packages-and-cache-folders
    empty(
        "nuget",
        &["$NUGET_PACKAGES", "~/.nuget/packages"],
        &[
            always("NUGET_PACKAGES", "{own}"),
            RedirectVariable {
                variable: "NUGET_FALLBACK_PACKAGES",
                value: "{theirs}",
                when: VariableCondition::There(""),
            },
        ],
    ),
    empty(
        "nuget-http",
        &["$NUGET_HTTP_CACHE_PATH", "~/.local/share/NuGet"],
        &[always("NUGET_HTTP_CACHE_PATH", "{own}")],
    ),
    empty(
        "composer",
        &["$COMPOSER_CACHE_DIR", "~/.composer/cache"],
        &[always("COMPOSER_CACHE_DIR", "{own}")],
    ),
    empty("bundle", &["$BUNDLE_USER_CACHE", "~/.bundle/cache"], &[always("BUNDLE_USER_CACHE", "{own}")]),
    // Packages are checked against the lock of the project whenever they are unpacked.
    CachingTool {
        folder: "hex",
        users: &["$HEX_HOME", "~/.hex"],
        writes: "packages",
        leads: &[always("HEX_HOME", "{own}")],
        mirrors: &[
            Mirror { of: "", ending: MirrorEnd::Depth(1), hidden: &["packages", "cache.ets"] },
            entries("packages", 2),
        ],
        copies: &[],
    },
    // The first writable folder is written, and all are read.
    empty(
        "conda",
        &["~/.conda/pkgs"],
        &[
            always("CONDA_PKGS_DIRS", "{own},{theirs}"),
            RedirectVariable {
                variable: "CONDA_PKGS_DIRS",
                value: "{own},{given}",
                when: VariableCondition::Given,
            },
        ],
    ),
    empty("ccache", &["$CCACHE_DIR", "~/.ccache"], &[always("CCACHE_DIR", "{own}")]),
    empty("zig", &["$ZIG_GLOBAL_CACHE_DIR"], &[given("ZIG_GLOBAL_CACHE_DIR")]),
];

/// The folders that commands may write if the settings share the user's caches: build tools write
/// to them as they work. Other programs of the user run files from there.
pub(in super::super) const SHARED: &[&str] = &[
    "~/.cache",
    "$XDG_CACHE_HOME",
    "~/.cargo/registry",
    "~/.cargo/git",
    "~/.cargo/.package-cache",
    "~/.cargo/.package-cache-mutate",
    "~/.cargo/.global-cache",
    "$CARGO_HOME/registry",
    "$CARGO_HOME/git",
    "$CARGO_HOME/.package-cache",
    "$CARGO_HOME/.package-cache-mutate",
    "$CARGO_HOME/.global-cache",
    "$CARGO_TARGET_DIR",
    "~/.npm",
    "~/.yarn/berry",
    "~/.pnpm-store",
    "~/.local/share/pnpm/store",
    "~/.bun/install/cache",
    "~/go/pkg",
    "$GOPATH/pkg",
    "$GOMODCACHE",
    "$GOCACHE",
    "~/.gradle/caches",
    "~/.gradle/daemon",
    "~/.gradle/native",
    "~/.gradle/notifications",
    "~/.m2/repository",
    "~/.ivy2/cache",
    "~/.nuget/packages",
    "~/.local/share/NuGet",
    "~/.composer/cache",
    "~/.bundle/cache",
    "~/.cabal/packages",
    "~/.hex/packages",
    "~/.conda/pkgs",
    "~/.ccache",
];
