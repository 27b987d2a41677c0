//! A small project in each language of the contract.

/// A small project in one language: `total` calls `helper`, and `spare` is unused.
#[derive(Clone, Copy)]
pub struct Language {
    pub server: Option<&'static str>,
    pub files: &'static [(&'static str, &'static str)],
    pub file: &'static str,
    /// The name of `total`, a new body for it, and its new return value in the text.
    pub symbol: &'static str,
    pub body: &'static str,
    pub after_body: &'static str,
    /// A function beside `total`.
    pub neighbour: &'static str,
    /// `total` and the neighbour after the edit, one after the other.
    pub together: &'static str,
    /// A text that occurs in `spare` only.
    pub spare: &'static str,
    /// The call of `helper`, before and after `helper` is renamed to `assist`.
    pub call: &'static str,
    pub renamed_call: &'static str,
    /// A body with an error that the server finds.
    pub broken: &'static str,
    /// The points of the contract that the server cannot fulfil.
    pub lacks: &'static [&'static str],
}

pub const PYTHON: Language = Language {
    server: Some("pyright"),
    files: &[
        ("pyproject.toml", "[tool.pyright]\n"),
        (
            "shop/cart.py",
            "import functools\n\n\nclass Cart:\n    @functools.cache\n    def total(self) -> int:\n        return helper(1)\n\n    \
             def spare(self) -> int:\n        return 99\n\n\ndef helper(n: int) -> int:\n    return n\n",
        ),
    ],
    file: "shop/cart.py",
    symbol: "Cart.total",
    body: "def total(self) -> int:\n    return helper(2)\n",
    after_body: "    @functools.cache\n    def total(self) -> int:\n        return helper(2)\n\n    def spare",
    neighbour: "def count(self) -> int:\n    return 3",
    together: "return helper(2)\n\n    def count(self) -> int:\n        return 3\n\n    def spare",
    spare: "99",
    call: "helper(1)",
    renamed_call: "assist(2)",
    broken: "def total(self) -> int:\n    return missing(1)\n",
    lacks: &[],
};

pub const TYPESCRIPT: Language = Language {
    server: Some("typescript-language-server"),
    files: &[
        ("tsconfig.json", "{\"compilerOptions\": {\"strict\": true}}"),
        (
            "src/cart.ts",
            "export class Cart {\n  total(): number {\n    return helper(1);\n  }\n\n  /** Nobody calls it. */\n  spare(): number {\n    \
             return 99;\n  }\n}\n\nexport function helper(n: number): number {\n  return n;\n}\n",
        ),
    ],
    file: "src/cart.ts",
    symbol: "Cart.total",
    body: "total(): number {\n  return helper(2);\n}",
    after_body: "{\n  total(): number {\n    return helper(2);\n  }\n\n  /** Nobody",
    neighbour: "count(): number {\n  return 3;\n}",
    together: "return helper(2);\n  }\n\n  count(): number {\n    return 3;\n  }\n\n  /** Nobody",
    spare: "Nobody calls it",
    call: "helper(1)",
    renamed_call: "assist(2)",
    broken: "total(): number {\n  return missing(1);\n}",
    lacks: &[],
};

pub const C: Language = Language {
    server: Some("clangd"),
    files: &[(
        "cart.c",
        "static int helper(int n) {\n  return n;\n}\n\nint total(void) {\n  return helper(1);\n}\n\n// Nobody calls it.\nint \
         spare(void) {\n  return 99;\n}\n",
    )],
    file: "cart.c",
    symbol: "total",
    body: "int total(void) {\n  return helper(2);\n}\n",
    after_body: "\n\nint total(void) {\n  return helper(2);\n}\n\n// Nobody",
    neighbour: "int count(void) {\n  return 3;\n}",
    together: "return helper(2);\n}\n\nint count(void) {\n  return 3;\n}\n\n// Nobody",
    spare: "Nobody calls it",
    call: "helper(1)",
    renamed_call: "assist(2)",
    broken: "int total(void) {\n  return missing;\n}\n",
    lacks: &[],
};

pub const SHELL: Language = Language {
    server: Some("bash-language-server"),
    files: &[(
        "cart.sh",
        "#!/bin/bash\n\nhelper() {\n  echo \"$1\"\n}\n\ntotal() {\n  helper 1\n}\n\nspare() {\n  echo 99\n}\n\ntotal\n",
    )],
    file: "cart.sh",
    symbol: "total",
    body: "total() {\n  helper 2\n}\n",
    after_body: "\n\ntotal() {\n  helper 2\n}\n\nspare",
    neighbour: "count() {\n  echo 3\n}",
    together: "helper 2\n}\n\ncount() {\n  echo 3\n}\n\nspare",
    spare: "99",
    call: "helper 1",
    renamed_call: "assist 2",
    broken: "total() {\n  helper 1 )\n}\n",
    lacks: &["hovered"],
};

pub const JAVASCRIPT: Language = Language {
    files: &[
        ("jsconfig.json", "{\"compilerOptions\": {\"checkJs\": true}}"),
        (
            "src/cart.js",
            "export class Cart {\n  total() {\n    return helper(1);\n  }\n\n  /** Nobody calls it. */\n  spare() {\n    \
             return 99;\n  }\n}\n\nexport function helper(n) {\n  return n;\n}\n",
        ),
    ],
    file: "src/cart.js",
    body: "total() {\n  return helper(2);\n}",
    after_body: "{\n  total() {\n    return helper(2);\n  }\n\n  /** Nobody",
    neighbour: "count() {\n  return 3;\n}",
    together: "return helper(2);\n  }\n\n  count() {\n    return 3;\n  }\n\n  /** Nobody",
    broken: "total() {\n  return missing(1);\n}",
    ..TYPESCRIPT
};

pub const CPP: Language = Language {
    server: Some("clangd"),
    files: &[(
        "cart.cpp",
        "int helper(int n) {\n  return n;\n}\n\nclass Cart {\n public:\n  int total() {\n    return helper(1);\n  }\n\n  // Nobody calls \
         it.\n  int spare() {\n    return 99;\n  }\n};\n",
    )],
    file: "cart.cpp",
    symbol: "Cart.total",
    body: "int total() {\n  return helper(2);\n}",
    after_body: "\n  int total() {\n    return helper(2);\n  }\n\n  // Nobody",
    neighbour: "int count() {\n  return 3;\n}",
    together: "return helper(2);\n  }\n\n  int count() {\n    return 3;\n  }\n\n  // Nobody",
    spare: "Nobody calls it",
    call: "helper(1)",
    renamed_call: "assist(2)",
    broken: "int total() {\n  return missing;\n}",
    lacks: &[],
};
