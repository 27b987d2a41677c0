//! TypeScript with its server: titled tests, methods behind an interface, and the commands of jest
//! and vitest.

use super::{commands, since_head, tests};
use crate::changes::Repository;

const SHAPE: &str = "export interface Shape { area(): number }\n\nexport class Square implements Shape {\n  \
                     constructor(private side: number) {}\n  area(): number { return this.side * this.side }\n}\n\n\
                     export function total(shapes: Shape[]): number {\n  return shapes.reduce((sum, shape) => sum + shape.area(), 0)\n}\n";
const TESTS: &str = "import { Square, total } from './shape'\n\ndescribe('shapes', () => {\n  it(\"don't overlap\", () => {\n    \
                     expect(total([new Square(1)])).toBe(1)\n  })\n  test.each([1])('have %i side', side => {\n    \
                     expect(new Square(side)).toBeDefined()\n  })\n})\n";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn titled_tests_reach_a_method_behind_its_interface() {
    let shapes = Repository::new(
        &["typescript-language-server"],
        &[
            ("package.json", r#"{"name": "shapes", "devDependencies": {"jest": "30"}}"#),
            ("tsconfig.json", r#"{"compilerOptions": {"strict": true}, "include": ["src"]}"#),
            ("src/shape.ts", SHAPE),
            ("src/shape.test.ts", TESTS),
        ],
    );
    shapes.project.write("src/shape.ts", SHAPE.replace("this.side * this.side", "this.side ** 2"));
    let answer = since_head(&shapes).await;
    let found = tests(&answer);
    assert!(
        found
            .iter()
            .any(|test| test.contains("src/shape.test.ts::shapes don't overlap ← src/shape.ts:total")),
        "{answer}"
    );
    let command = commands(&answer)[0];
    let words = shlex::split(command).unwrap_or_default();
    assert_eq!(words[..4], ["npx", "--no-install", "jest", "src/shape.test.ts"], "{command}");
    assert!(words[5].contains("shapes don't overlap"), "{command}");
    shapes.runtime.shutdown().await;
}

const PACKAGE: &str = r#"{"name": "rates", "scripts": {"test": "tap"}}"#;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn modules_that_export_one_function_and_programs_that_tests_start_are_followed() {
    let rate = "const rate = country => country.length\nmodule.exports = rate\n";
    let total = "const rate = require('./rate')\nmodule.exports = (prices, country) => prices.length * rate(country)\n";
    let program = "#!/usr/bin/env node\nconst total = require('../total')\nconsole.log(total([1], 'de'))\n";
    let by_call = "const t = require('tap')\nconst sum = require('../total.js')\nt.test('sums', t => {\n  t.equal(sum([1], 'de'), 2)\n  t.end()\n})\n";
    let by_program = "const t = require('tap')\nconst { execFileSync } = require('child_process')\n\
                      const bin = require.resolve('../bin/print')\nt.equal(execFileSync('node', [bin]).toString(), '2')\n";
    let other = "const t = require('tap')\nt.test('stands alone', t => t.end())\n";
    let rates = Repository::new(
        &["typescript-language-server"],
        &[
            ("package.json", PACKAGE),
            ("rate.js", rate),
            ("total.js", total),
            ("bin/print.js", program),
            ("test/total.js", by_call),
            ("test/print.js", by_program),
            ("test/other.js", other),
        ],
    );
    rates.project.write("rate.js", rate.replace("country.length", "country.length + 0"));
    let found = tests(&since_head(&rates).await);
    let files: Vec<&str> = found.iter().filter_map(|test| test.split(' ').nth(1)).collect();
    assert!(files.contains(&"test/total.js") && files.contains(&"test/print.js"), "{found:?}");
    assert!(!files.contains(&"test/other.js"), "{found:?}");
    rates.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn files_whose_imports_run_what_changed_are_named_as_a_whole() {
    let make = "function make(word) {\n  return new RegExp(word)\n}\nmodule.exports = make\n";
    let table = "const make = require('./make')\nconst table = {}\nfor (const word of ['a', 'b']) {\n  table[word] = make(word)\n}\nmodule.exports = table\n";
    let test = "const { test } = require('node:test')\nconst table = require('../table')\ntest('has words', () => {\n  if (!table) throw new Error()\n})\n";
    let rates = Repository::new(
        &["typescript-language-server"],
        &[("package.json", PACKAGE), ("make.js", make), ("table.js", table), ("test/table.test.js", test)],
    );
    rates.project.write("make.js", make.replace("RegExp(word)", "RegExp(word, 'u')"));
    let found = tests(&since_head(&rates).await);
    assert_eq!(found, ["references test/table.test.js ← table.js"]);
    rates.runtime.shutdown().await;
}
