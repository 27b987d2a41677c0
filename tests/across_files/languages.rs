//! The servers, each with a small project of its language.

/// A file that the user may import and that does not exist at first.
#[derive(Debug, Clone, Copy)]
pub struct Made {
    pub path: &'static str,
    pub text: &'static str,
    /// The line of its definition, 0-based.
    pub line: u32,
    /// The user that imports it; it calls `made` on the line with the call of `helper`.
    pub user_text: &'static str,
}

/// A server and its project.
#[derive(Debug, Clone, Copy)]
pub struct Language {
    /// The key in the catalogue.
    pub server: &'static str,
    /// The languages that it should answer for.
    pub keys: &'static [&'static str],
    /// Files that make a project of it.
    pub more: &'static [(&'static str, &'static str)],
    /// The file that defines `helper`, and the 0-based line of the definition.
    pub library: &'static str,
    pub library_text: &'static str,
    pub line: u32,
    /// The moved folder.
    pub folder: &'static str,
    /// The file that calls it, and the line of the call.
    pub user: &'static str,
    pub user_text: &'static str,
    pub call_line: u32,
    /// A line that causes an error in the user.
    pub error: &'static str,
    /// A comment, twice on separate lines.
    pub comments: &'static str,
    pub made: Option<Made>,
    /// True if a file's definitions are known in any folder.
    pub global: bool,
    /// The content of fifty files.
    pub crowd_text: &'static str,
    /// A configuration that causes an error in the user, and one that does not.
    pub configuration: Option<(&'static str, &'static str, &'static str)>,
    /// True if it reports errors in other files.
    pub sees_other_files: bool,
}

impl Language {
    pub fn files(&self) -> Vec<(&'static str, &'static str)> {
        let own = [(self.library, self.library_text), (self.user, self.user_text)];
        self.more.iter().copied().chain(own).collect()
    }

    pub fn broken_user(&self) -> String {
        format!("{}{}\n", self.user_text, self.error)
    }

    pub fn shifted(&self) -> String {
        format!("{}{}", self.comments, self.library_text)
    }

    pub fn crowd(&self, number: usize) -> String {
        let extension = self.user.rsplit('.').next().unwrap_or_default();
        format!("{}/crowd{number}.{extension}", self.folder)
    }
}

const TYPESCRIPT: Language = Language {
    server: "typescript-language-server",
    keys: &["typescript", "javascript"],
    more: &[("tsconfig.json", TSCONFIG)],
    library: "src/lib/helping.ts",
    library_text: "export function helper(value: number): number {\n    return value;\n}\n",
    line: 0,
    folder: "src/lib",
    user: "src/user.ts",
    user_text: "import { helper } from \"./lib/helping\";\n\nexport function use(value) {\n    return helper(value);\n}\n",
    call_line: 3,
    error: "export const wrong: number = \"text\";",
    comments: "// one\n// two\n",
    made: Some(MADE_TYPESCRIPT),
    global: false,
    crowd_text: "export const one = 1;\n",
    configuration: Some(("tsconfig.json", STRICT_TSCONFIG, TSCONFIG)),
    sees_other_files: true,
};
const MADE_TYPESCRIPT: Made = Made {
    path: "src/lib/made.ts",
    text: "export function made(value: number): number {\n    return value;\n}\n",
    line: 0,
    user_text: "import { made } from \"./lib/made\";\n\nexport function use(value) {\n    return made(value);\n}\n",
};
const TSCONFIG: &str = "{\"compilerOptions\": {\"module\": \"esnext\", \"moduleResolution\": \"bundler\", \"noEmit\": true, \"strict\": false}, \"include\": [\"src\"]}\n";
const STRICT_TSCONFIG: &str = "{\"compilerOptions\": {\"module\": \"esnext\", \"moduleResolution\": \"bundler\", \"noEmit\": true, \"strict\": true}, \"include\": [\"src\"]}\n";

const PYTHON: Language = Language {
    server: "pyright",
    keys: &["python"],
    more: &[
        ("pyrightconfig.json", "{}\n"),
        ("lib/__init__.py", ""),
        ("pyproject.toml", "[project]\nname = \"p\"\nversion = \"1\"\n"),
    ],
    library: "lib/helping.py",
    library_text: "def helper(value: int) -> int:\n    return value\n",
    line: 0,
    folder: "lib",
    user: "user.py",
    user_text: "from lib.helping import helper\n\n\ndef use(value) -> int:\n    return helper(value)\n",
    call_line: 4,
    error: "wrong = undefined_name",
    comments: "# one\n# two\n",
    made: Some(Made {
        path: "lib/making.py",
        text: "def made(value: int) -> int:\n    return value\n",
        line: 0,
        user_text: "from lib.making import made\n\n\ndef use(value) -> int:\n    return made(value)\n",
    }),
    global: false,
    crowd_text: "one = 1\n",
    configuration: Some(("pyrightconfig.json", "{\"typeCheckingMode\": \"strict\"}\n", "{}\n")),
    sees_other_files: true,
};

const C: Language = Language {
    server: "clangd",
    keys: &["c", "cpp"],
    more: &[("compile_flags.txt", "-Iinc\n-Wall\n")],
    library: "inc/helping.h",
    library_text: "#pragma once\nstatic inline int helper(int value) { return value; }\n",
    line: 1,
    folder: "inc",
    user: "user.c",
    user_text: "#include \"helping.h\"\n\nint use(int value) {\n    return helper(value);\n}\n",
    call_line: 3,
    error: "int wrong = undefined_name;",
    comments: "// one\n// two\n",
    made: Some(Made {
        path: "inc/made.h",
        text: "#pragma once\nstatic inline int made(int value) { return value; }\n",
        line: 1,
        user_text: "#include \"made.h\"\n\nint use(int value) {\n    return made(value);\n}\n",
    }),
    global: false,
    crowd_text: "int one(void);\n",
    configuration: None,
    sees_other_files: true,
};

const PHP: Language = Language {
    server: "intelephense",
    keys: &["php"],
    more: &[("composer.json", "{}\n")],
    library: "lib/helping.php",
    library_text: "<?php\nfunction helper(int $value): int { return $value; }\n",
    line: 1,
    folder: "lib",
    user: "user.php",
    user_text: "<?php\n\nfunction use_it(int $value): int {\n    return helper($value);\n}\n",
    call_line: 3,
    error: "undefined_function();",
    comments: "<?php // one\n?>\n",
    made: Some(Made {
        path: "lib/made.php",
        text: "<?php\nfunction made(int $value): int { return $value; }\n",
        line: 1,
        user_text: "<?php\n\nfunction use_it(int $value): int {\n    return made($value);\n}\n",
    }),
    global: true,
    crowd_text: "<?php\n",
    configuration: None,
    sees_other_files: true,
};

const FORTRAN: Language = Language {
    server: "fortls",
    keys: &["fortran"],
    more: &[("fpm.toml", "name = \"p\"\n")],
    library: "lib/helping.f90",
    library_text: "module helping\n  implicit none\ncontains\n  integer function helper(value)\n    integer, intent(in) :: value\n    helper = value\n  end function helper\nend module helping\n",
    line: 3,
    folder: "lib",
    user: "user.f90",
    user_text: "module user\n  use helping, only: helper\n  implicit none\ncontains\n  integer function use_it(value)\n    integer, intent(in) :: value\n    use_it = helper(value)\n  end function use_it\nend module user\n",
    call_line: 6,
    error: "module user2\n  use not_there\nend module user2",
    comments: "! one\n! two\n",
    made: None,
    global: false,
    crowd_text: "! nothing\n",
    configuration: None,
    sees_other_files: false,
};

const GO: Language = Language {
    server: "gopls",
    keys: &["go"],
    more: &[("go.mod", "module example.com/p\n\ngo 1.19\n")],
    library: "lib/helping.go",
    library_text: "package lib\n\nfunc helper(value int) int { return value }\n",
    line: 2,
    folder: "lib",
    user: "lib/user.go",
    user_text: "package lib\n\nfunc Use() int { return helper(1) }\n",
    call_line: 2,
    error: "var wrong int = \"text\"",
    comments: "// one\n// two\n",
    made: None,
    global: false,
    crowd_text: "package lib\n",
    configuration: None,
    sees_other_files: true,
};

const JAVA: Language = Language {
    server: "jdtls",
    keys: &["java"],
    more: &[(".project", ECLIPSE_PROJECT), (".classpath", ECLIPSE_CLASSPATH)],
    library: "src/lib/Helping.java",
    library_text: "package lib;\n\npublic class Helping {\n    public static int helper(int value) { return value; }\n}\n",
    line: 3,
    folder: "src/lib",
    user: "src/app/User.java",
    user_text: "package app;\n\nimport lib.Helping;\n\nclass User {\n    int use(int value) {\n        return Helping.helper(value);\n    }\n}\n",
    call_line: 6,
    error: "class Wrong { int wrong = undefined; }",
    comments: "// one\n// two\n",
    made: Some(Made {
        path: "src/lib/Making.java",
        text: "package lib;\n\npublic class Making {\n    public static int made(int value) { return value; }\n}\n",
        line: 3,
        user_text: "package app;\n\nimport lib.Making;\n\nclass User {\n    int use(int value) {\n        return Making.made(value);\n    }\n}\n",
    }),
    global: false,
    crowd_text: "// nothing\n",
    configuration: None,
    sees_other_files: true,
};
const ECLIPSE_PROJECT: &str = include_str!("../../fixtures/java/.project");
const ECLIPSE_CLASSPATH: &str = include_str!("../../fixtures/java/.classpath");

/// All servers.
pub fn all() -> &'static [Language] {
    const TSC: Language = Language { server: "tsc", ..TYPESCRIPT };
    const VTSLS: Language = Language { server: "vtsls", ..TYPESCRIPT };
    const DENO: Language = Language {
        server: "deno",
        more: &[("deno.json", "{\"compilerOptions\": {\"strict\": false}}\n")],
        user_text: "import { helper } from \"./lib/helping.ts\";\n\nexport function use(value: number) {\n    return helper(value);\n}\n",
        made: Some(Made {
            user_text: "import { made } from \"./lib/made.ts\";\n\nexport function use(value: number) {\n    return made(value);\n}\n",
            ..MADE_TYPESCRIPT
        }),
        configuration: None,
        ..TYPESCRIPT
    };
    const BASEDPYRIGHT: Language = Language {
        server: "basedpyright",
        more: &[("pyrightconfig.json", BASIC), ("lib/__init__.py", "")],
        configuration: Some(("pyrightconfig.json", "{\"typeCheckingMode\": \"strict\"}\n", BASIC)),
        ..PYTHON
    };
    const BASIC: &str = "{\"typeCheckingMode\": \"standard\"}\n";
    const TY: Language = Language { server: "ty", configuration: None, ..PYTHON };
    const PYREFLY: Language = Language { server: "pyrefly", configuration: None, ..PYTHON };
    const ZUBAN: Language = Language { server: "zuban", configuration: None, ..PYTHON };
    const PYLSP: Language =
        Language { server: "pylsp", configuration: None, sees_other_files: false, ..PYTHON };
    const JEDI: Language = Language {
        server: "jedi-language-server",
        configuration: None,
        sees_other_files: false,
        error: "wrong = (",
        ..PYTHON
    };
    const ALL: &[Language] = &[
        TYPESCRIPT,
        VTSLS,
        TSC,
        DENO,
        PYTHON,
        BASEDPYRIGHT,
        TY,
        PYREFLY,
        ZUBAN,
        PYLSP,
        JEDI,
        C,
        PHP,
        FORTRAN,
        GO,
        JAVA,
    ];
    ALL
}

/// The server of this key.
pub fn named(server: &str) -> &'static Language {
    all().iter().find(|language| language.server == server).expect("a server of the list")
}
