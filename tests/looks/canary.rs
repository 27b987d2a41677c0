//! The file to which executed code writes its name, and code in many languages that does so.

use std::fs;
use std::path::{Path, PathBuf};

/// The file outside the workspace to which executed code writes its name. The methods named after
/// languages generate code that does so.
#[derive(Debug)]
pub struct Canary(PathBuf);

impl Canary {
    /// The canary at this path, which need not exist.
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The names in the file, each once.
    pub fn names(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.0).unwrap_or_default();
        let mut names: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
        names.sort();
        names.dedup();
        names
    }

    /// On one line, and without modules that Python has not imported yet when it searches for its
    /// own codecs.
    pub fn python(&self, name: &str) -> String {
        let path = &self.0;
        format!(
            "p = __import__('posix'); f = p.open({path:?}, p.O_WRONLY | p.O_CREAT | p.O_APPEND, 0o600); p.write(f, b'{name}\\n'); p.close(f)\n"
        )
    }

    pub fn common_js(&self, name: &str) -> String {
        format!("require('node:fs').appendFileSync({:?}, '{name}\\n');\nmodule.exports = {{}};\n", self.0)
    }

    pub fn module_js(&self, name: &str) -> String {
        format!(
            "import {{ appendFileSync }} from 'node:fs';\nappendFileSync({:?}, '{name}\\n');\nexport default {{}};\n",
            self.0
        )
    }

    pub fn shell(&self, name: &str) -> String {
        format!("#!/bin/sh\necho '{name}' >> '{}'\n", self.0.display())
    }

    pub fn lua(&self, name: &str) -> String {
        format!("local f = io.open({:?}, 'a') f:write('{name}\\n') f:close()\n", self.0)
    }

    pub fn c(&self, name: &str) -> String {
        format!(
            "#include <stdio.h>\n__attribute__((constructor)) static void run(void) {{\n    FILE *f = fopen({:?}, \"a\");\n    \
             if (f) {{ fputs(\"{name}\\n\", f); fclose(f); }}\n}}\n",
            self.0
        )
    }

    pub fn cmake(&self, name: &str) -> String {
        let path = self.0.display();
        format!(
            "file(APPEND \"{path}\" \"{name}\\n\")\nexecute_process(COMMAND sh -c \"echo {name}: >> '{path}'\")\n"
        )
    }
}
