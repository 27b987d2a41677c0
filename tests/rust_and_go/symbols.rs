//! The contract of symbols with rust-analyzer and gopls.

use crate::symbol_contract::languages::Language;
use crate::symbol_contract::points::keeps_contract;

const RUST: Language = Language {
    server: Some("rust-analyzer"),
    files: &[
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        (
            "src/lib.rs",
            "pub struct Cart;\n\nimpl Cart {\n    /// The sum.\n    #[must_use]\n    pub fn total(&self) -> u32 {\n        helper(1)\n    }\n\n    \
             /// Nobody calls it.\n    pub fn spare(&self) -> u32 {\n        99\n    }\n}\n\nfn helper(n: u32) -> u32 {\n    n\n}\n",
        ),
    ],
    file: "src/lib.rs",
    symbol: "total",
    body: "pub fn total(&self) -> u32 {\n    helper(2)\n}",
    after_body: "    /// The sum.\n    #[must_use]\n    pub fn total(&self) -> u32 {\n        helper(2)\n    }\n\n    /// Nobody",
    neighbour: "pub fn count(&self) -> u32 {\n    3\n}",
    together: "helper(2)\n    }\n\n    pub fn count(&self) -> u32 {\n        3\n    }\n\n    /// Nobody",
    spare: "Nobody calls it",
    call: "helper(1)",
    renamed_call: "assist(2)",
    broken: "pub fn total(&self) -> u32 {\n    assist(1, 2)\n}",
    lacks: &[],
};

const GO: Language = Language {
    server: Some("gopls"),
    files: &[
        ("go.mod", "module example.com/shop\n\ngo 1.22\n"),
        (
            "cart.go",
            "package shop\n\n// Total is the sum.\nfunc total() int {\n\treturn helper(1)\n}\n\n// Nobody calls it.\nfunc spare() int {\n\treturn 99\n}\n\n\
             func helper(n int) int {\n\treturn n\n}\n",
        ),
    ],
    file: "cart.go",
    symbol: "total",
    body: "func total() int {\n\treturn helper(2)\n}\n",
    after_body: "// Total is the sum.\nfunc total() int {\n\treturn helper(2)\n}\n\n// Nobody",
    neighbour: "func count() int {\n\treturn 3\n}",
    together: "return helper(2)\n}\n\nfunc count() int {\n\treturn 3\n}\n\n// Nobody",
    spare: "Nobody calls it",
    call: "helper(1)",
    renamed_call: "assist(2)",
    broken: "func total() int {\n\treturn missing(1)\n}\n",
    lacks: &[],
};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs rust-analyzer: just rust-go"]
async fn rust_symbols_are_edited_with_rust_analyzer() {
    keeps_contract(&RUST).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs gopls: just rust-go"]
async fn go_symbols_are_edited_with_gopls() {
    keeps_contract(&GO).await;
}
