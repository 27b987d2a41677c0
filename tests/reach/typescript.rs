//! TypeScript with its server: titled tests, methods behind an interface, and the commands of jest and vitest.

use super::{commands, since_head, tests};
use crate::changes::Repository;

const SHAPE: &str = "export interface Shape { area(): number }\n\nexport class Square implements Shape {\n  \
                     constructor(private side: number) {}\n  area(): number { return this.side * this.side }\n}\n\n\
                     export function total(shapes: Shape[]): number {\n  return shapes.reduce((sum, shape) => sum + shape.area(), 0)\n}\n";
const TESTS: &str = "import { Square, total } from './shape'\n\ndescribe('shapes', () => {\n  it(\"don't overlap\", () => {\n    \
                     expect(total([new Square(1)])).toBe(1)\n  })\n  test.each([1])('have %i side', side => {\n    \
                     expect(new Square(side)).toBeDefined()\n  })\n})\n";

#[tokio::test(flavor = "multi_thread")]
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
