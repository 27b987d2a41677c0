//! Pairs of branches without conflicts, in several languages: each breaking pair is found, no sound
//! one is reported.

use super::{Repository, findings};
use crate::support::real_servers;
use serde_json::{Value, json};

/// A language: its server, its project, and the edits that are combined in pairs.
pub struct Language {
    pub server: &'static str,
    /// True if the findings need code of the branches to run, which needs permission.
    pub runs_code: bool,
    pub files: &'static [(&'static str, &'static str)],
    /// Renames a definition with all its uses.
    pub rename: Edits,
    /// Adds a call, in another file.
    pub call: Edits,
    /// Gives another definition one more parameter, with all its uses.
    pub parameter: Edits,
    /// Adds a use of that definition, in another file.
    pub use_it: Edits,
    /// Removes an unused definition.
    pub remove: Edits,
    /// Adds an import of that definition.
    pub import: Edits,
}

/// Paths, each with its whole new text.
type Edits = &'static [(&'static str, &'static str)];

const PYTHON: Language = Language {
    server: "pyright",
    runs_code: false,
    files: &[
        (
            "lib.py",
            "def price(name: str) -> int:\n    return 1\n\n\ndef add(one: int) -> int:\n    return one\n\n\ndef spare() -> int:\n    return 2\n",
        ),
        ("user.py", "from lib import add, price\n\nprint(price(\"a\"), add(1))\n"),
        ("other.py", "print(\"other\")\n"),
    ],
    rename: &[
        (
            "lib.py",
            "def price_of(name: str) -> int:\n    return 1\n\n\ndef add(one: int) -> int:\n    return one\n\n\ndef spare() -> int:\n    return 2\n",
        ),
        ("user.py", "from lib import add, price_of\n\nprint(price_of(\"a\"), add(1))\n"),
    ],
    call: &[("other.py", "from lib import price\n\nprint(price(\"b\"))\n")],
    parameter: &[
        (
            "lib.py",
            "def price(name: str) -> int:\n    return 1\n\n\ndef add(one: int, two: int) -> int:\n    return one + two\n\n\ndef spare() -> int:\n    return 2\n",
        ),
        ("user.py", "from lib import add, price\n\nprint(price(\"a\"), add(1, 2))\n"),
    ],
    use_it: &[("other.py", "from lib import add\n\nprint(add(3))\n")],
    remove: &[(
        "lib.py",
        "def price(name: str) -> int:\n    return 1\n\n\ndef add(one: int) -> int:\n    return one\n",
    )],
    import: &[("other.py", "from lib import spare\n\nprint(spare())\n")],
};

const TYPESCRIPT: Language = Language {
    server: "typescript-language-server",
    runs_code: false,
    files: &[
        ("tsconfig.json", "{\"compilerOptions\": {\"strict\": true, \"noEmit\": true}}\n"),
        (
            "lib.ts",
            "export function price(name: string): number {\n  return name.length;\n}\n\nexport function add(one: number): number {\n  return one;\n}\n\nexport const spare = 2;\n",
        ),
        ("user.ts", "import { add, price } from \"./lib\";\n\nconsole.log(price(\"a\"), add(1));\n"),
        ("other.ts", "console.log(\"other\");\n"),
    ],
    rename: &[
        (
            "lib.ts",
            "export function priceOf(name: string): number {\n  return name.length;\n}\n\nexport function add(one: number): number {\n  return one;\n}\n\nexport const spare = 2;\n",
        ),
        ("user.ts", "import { add, priceOf } from \"./lib\";\n\nconsole.log(priceOf(\"a\"), add(1));\n"),
    ],
    call: &[("other.ts", "import { price } from \"./lib\";\n\nconsole.log(price(\"b\"));\n")],
    parameter: &[
        (
            "lib.ts",
            "export function price(name: string): number {\n  return name.length;\n}\n\nexport function add(one: number, two: number): number {\n  return one + two;\n}\n\nexport const spare = 2;\n",
        ),
        ("user.ts", "import { add, price } from \"./lib\";\n\nconsole.log(price(\"a\"), add(1, 2));\n"),
    ],
    use_it: &[("other.ts", "import { add } from \"./lib\";\n\nconsole.log(add(3));\n")],
    remove: &[(
        "lib.ts",
        "export function price(name: string): number {\n  return name.length;\n}\n\nexport function add(one: number): number {\n  return one;\n}\n",
    )],
    import: &[("other.ts", "import { spare } from \"./lib\";\n\nconsole.log(spare);\n")],
};

const C: Language = Language {
    server: "clangd",
    runs_code: false,
    files: &[
        ("lib.h", "int price(const char *name);\n\nint add(int one);\n\nint spare(void);\n"),
        ("user.c", "#include \"lib.h\"\n\nint use(void) { return price(\"a\") + add(1); }\n"),
        ("other.c", "int other(void) { return 0; }\n"),
    ],
    rename: &[
        ("lib.h", "int price_of(const char *name);\n\nint add(int one);\n\nint spare(void);\n"),
        ("user.c", "#include \"lib.h\"\n\nint use(void) { return price_of(\"a\") + add(1); }\n"),
    ],
    call: &[("other.c", "#include \"lib.h\"\n\nint other(void) { return price(\"b\"); }\n")],
    parameter: &[
        ("lib.h", "int price(const char *name);\n\nint add(int one, int two);\n\nint spare(void);\n"),
        ("user.c", "#include \"lib.h\"\n\nint use(void) { return price(\"a\") + add(1, 2); }\n"),
    ],
    use_it: &[("other.c", "#include \"lib.h\"\n\nint other(void) { return add(3); }\n")],
    remove: &[("lib.h", "int price(const char *name);\n\nint add(int one);\n")],
    import: &[("other.c", "#include \"lib.h\"\n\nint other(void) { return spare(); }\n")],
};

async fn merged(repository: &Repository, language: &Language, one: &str, other: &str) -> Value {
    let answer = match language.runs_code {
        false => repository.changes(json!({"merge_branches": [one, other], "min_severity": "error"})).await,
        true => {
            let mut check = repository.project.command(Some(&real_servers(&[language.server])));
            check.args(["check", "--merge-branches", one, other, "--severity", "error", "--format", "json"]);
            let done = check.args(["--trust-trees", "--timeout", "120"]).output().expect("the program runs");
            serde_json::from_slice(&done.stdout).unwrap_or_else(|_| panic!("{done:?}"))
        }
    };
    assert_eq!(answer["merge"]["conflicts"], Value::Null, "git calls {one} and {other} clean: {answer}");
    answer
}

async fn check(language: &Language) {
    check_in(Repository::new(&[language.server], language.files), language).await;
}

/// Runs in a repository with the language's files.
pub async fn check_in(repository: Repository, language: &Language) {
    let sides = [
        ("rename", language.rename),
        ("call", language.call),
        ("parameter", language.parameter),
        ("use-it", language.use_it),
        ("remove", language.remove),
        ("import", language.import),
    ];
    for (name, edits) in sides {
        repository.branch(name, "main", |project| {
            edits.iter().for_each(|(path, text)| project.write(path, text));
        });
    }
    // Each merge of a language that is compiled for it takes a minute.
    let pairs = if language.runs_code { 1 } else { 3 };
    for (one, other) in
        [("rename", "call"), ("parameter", "use-it"), ("remove", "import")].into_iter().take(pairs)
    {
        let answer = merged(&repository, language, one, other).await;
        let found = findings(&answer);
        let used_anew = language.call[0].0;
        assert!(found.iter().any(|found| found.starts_with(used_anew)), "{one} and {other}: {answer}");
        assert_eq!(answer["merge"]["by_combination"], found.len(), "{one} and {other}: {answer}");
    }
    for (one, other) in
        [("rename", "use-it"), ("parameter", "import"), ("remove", "call")].into_iter().take(pairs)
    {
        let answer = merged(&repository, language, one, other).await;
        assert_eq!(findings(&answer), Vec::<String>::new(), "{one} and {other}: {answer}");
    }
    repository.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "rare: just rare"]
async fn breaking_pairs_in_python_are_found_and_sound_ones_pass() {
    check(&PYTHON).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "rare: just rare"]
async fn breaking_pairs_in_typescript_are_found_and_sound_ones_pass() {
    check(&TYPESCRIPT).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "rare: just rare"]
async fn breaking_pairs_in_c_are_found_and_sound_ones_pass() {
    check(&C).await;
}
