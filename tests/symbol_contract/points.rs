//! The seventeen points of the contract, each tested separately, on one project.

use super::languages::Language;
use super::{edit_symbol, open};
use crate::support::{TestWorkspace, start_of};
use serde_json::{Value, json};

type Kept = Result<(), String>;

/// The points in order: the edits build on each other, and the last point undoes them.
const POINTS: [&str; 17] = [
    "located",
    "outlined",
    "read",
    "hovered",
    "defined",
    "referenced",
    "explored",
    "unknown",
    "tried",
    "replaced",
    "before",
    "after",
    "used",
    "deleted",
    "renamed",
    "breaks",
    "undone",
];

/// Every point holds except those that the language is known to lack, which must fail.
pub async fn keeps_contract(language: &Language) {
    let shop = open(language);
    let stage = Stage { original: shop.project.read(language.file), shop, language };
    let mut broken = Vec::new();
    for point in POINTS {
        if let Err(why) = Box::pin(stage.check(point)).await {
            broken.push((point, why));
        }
    }
    let names: Vec<&str> = broken.iter().map(|(point, _)| *point).collect();
    assert_eq!(names, language.lacks, "{:?}: {broken:#?}", language.server);
    stage.shop.shutdown().await;
}

struct Stage<'l> {
    shop: TestWorkspace,
    language: &'l Language,
    original: String,
}

impl Stage<'_> {
    async fn check(&self, point: &str) -> Kept {
        match point {
            "located" => self.located().await,
            "outlined" => self.outlined().await,
            "read" => self.read_by_name().await,
            "hovered" => self.hovered().await,
            "defined" => self.defined().await,
            "referenced" => self.referenced().await,
            "explored" => self.explored().await,
            "unknown" => self.unknown().await,
            "tried" => self.tried().await,
            "replaced" => self.replaced().await,
            "before" => self.inserted_before().await,
            "after" => self.inserted_after().await,
            "used" => self.used_stays().await,
            "deleted" => self.deleted().await,
            "renamed" => self.renamed().await,
            "breaks" => self.breaks().await,
            "undone" => self.undone().await,
            other => panic!("no point is called {other}"),
        }
    }

    fn text(&self) -> String {
        self.shop.project.read(self.language.file)
    }

    /// The last part of `Class.method`.
    fn name(&self) -> &str {
        let symbol = self.language.symbol;
        symbol.rsplit('.').next().unwrap_or(symbol)
    }

    /// The 0-based line of the first occurrence of `text`.
    fn line_of(&self, text: &str) -> usize {
        let lines = self.text();
        lines
            .lines()
            .position(|line| line.contains(text))
            .unwrap_or_else(|| panic!("no {text:?} in\n{lines}"))
    }

    async fn ask(&self, tool: &str, more: Value) -> Value {
        let mut arguments = json!({"path": self.language.file});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.shop.answer(tool, arguments).await
    }

    async fn edit(&self, symbol: &str, edit: Value) -> Value {
        edit_symbol(&self.shop, self.language.file, symbol, edit).await
    }

    async fn located(&self) -> Kept {
        let found = self.shop.answer("lsp_symbols", json!({"query": self.name()})).await;
        let all = found.to_string();
        must(found["ok"] == true && all.contains(self.language.file) && all.contains(self.name()), &found)
    }

    async fn outlined(&self) -> Kept {
        let outline = self.ask("lsp_symbols", json!({})).await;
        let names = [self.name(), "helper", "spare"];
        let all = outline["symbols"].to_string();
        must(names.iter().all(|name| all.contains(&format!("\"{name}"))), &outline)
    }

    async fn read_by_name(&self) -> Kept {
        let read = self.ask("read", json!({"symbol": self.language.symbol})).await;
        let content = read["content"].as_str().unwrap_or_default();
        must(content.contains(self.language.call) && !content.contains(self.language.spare), &read)
    }

    async fn hovered(&self) -> Kept {
        let hover = self.ask("lsp_hover", json!({"symbol": self.language.symbol})).await;
        must(hover["ok"] == true && hover["contents"].to_string().contains(self.name()), &hover)
    }

    async fn defined(&self) -> Kept {
        let line = self.line_of(self.language.call);
        let found = self.ask("lsp_definition", json!({"line": line, "symbol": "helper"})).await;
        let place = &found["locations"][0][self.language.file][0];
        let defined = place.is_array().then(|| start_of(place).0 as usize);
        let text = self.text();
        let is_definition =
            defined.and_then(|line| text.lines().nth(line)).is_some_and(|line| line.contains("helper"));
        must(is_definition && defined != Some(line), &found)
    }

    async fn referenced(&self) -> Kept {
        let found = self.ask("lsp_references", json!({"symbol": "helper"})).await;
        let line = self.line_of(self.language.call);
        let places = found["locations"][0][self.language.file].as_array().cloned().unwrap_or_default();
        let is_use = |place: &Value| {
            start_of(place).0 as usize == line
                && place[2].as_str().is_some_and(|name| name.ends_with(self.name()))
        };
        must(places.iter().any(is_use), &found)
    }

    async fn explored(&self) -> Kept {
        let explored = self.ask("explore", json!({"symbol": "helper"})).await;
        let callers = explored["callers"].to_string();
        must(explored["body"].to_string().contains("helper") && callers.contains(self.name()), &explored)
    }

    async fn unknown(&self) -> Kept {
        let refused = self.edit("nothing_here", json!({"body": self.language.body})).await;
        must(
            refused["ok"] == false && refused["code"] == "not_found" && self.text() == self.original,
            &refused,
        )
    }

    async fn tried(&self) -> Kept {
        let edit = json!({"body": self.language.body, "dry_run": true});
        let tried = self.edit(self.language.symbol, edit).await;
        let is_shown = tried["ok"] == true && tried["operation"] == "modified";
        must(is_shown && self.text() == self.original, &tried)
    }

    async fn replaced(&self) -> Kept {
        let replaced = self.edit(self.language.symbol, json!({"body": self.language.body})).await;
        self.must_have(&replaced, &[self.language.after_body])
    }

    async fn inserted_before(&self) -> Kept {
        let first = self.language.neighbour.replace("count", "first");
        let added = self.edit(self.language.symbol, json!({"before": first})).await;
        self.must_have(&added, &["first"])?;
        let text = self.text();
        must(
            text.find("first") < text.find("count").or(text.find(&self.language.call.replace('1', "2"))),
            &added,
        )
    }

    async fn inserted_after(&self) -> Kept {
        let added = self.edit(self.language.symbol, json!({"after": self.language.neighbour})).await;
        self.must_have(&added, &[self.language.together])
    }

    async fn used_stays(&self) -> Kept {
        let before = self.text();
        let used = self.edit("helper", json!({"delete": true})).await;
        let says = used["error"].as_str().is_some_and(|error| error.contains("is used once: "));
        let shows = used["code"] == "conflict" && used["locations"][0][self.language.file].is_array();
        must(says && shows && self.text() == before, &used)
    }

    async fn deleted(&self) -> Kept {
        let spare = self.language.symbol.replace("total", "spare");
        let deleted = self.edit(&spare, json!({"delete": true})).await;
        let text = self.text();
        must(
            deleted["ok"] == true && !text.contains(self.language.spare) && !text.contains("\n\n\n\n"),
            &deleted,
        )
    }

    async fn renamed(&self) -> Kept {
        let renamed = self.ask("lsp_rename", json!({"symbol": "helper", "new_name": "assist"})).await;
        self.must_have(&renamed, &[self.language.renamed_call])?;
        must(!self.text().contains("helper"), &renamed)
    }

    async fn breaks(&self) -> Kept {
        let edit = json!({"body": self.language.broken, "dry_run": true, "diagnostics": true});
        let tried = self.edit(self.language.symbol, edit).await;
        must(tried["diagnostics"]["added"].as_array().is_some_and(|added| !added.is_empty()), &tried)
    }

    /// Each edit is undone, the last one first.
    async fn undone(&self) -> Kept {
        let made = 4 + usize::from(!self.language.lacks.contains(&"renamed"));
        for _ in 0..made {
            let undone = self.shop.answer("undo", json!({})).await;
            must(undone["ok"] == true, &undone)?;
        }
        must(self.text() == self.original, &json!(self.text()))
    }

    fn must_have(&self, answer: &Value, texts: &[&str]) -> Kept {
        let text = self.text();
        let has = answer["ok"] == true && texts.iter().all(|wanted| text.contains(wanted));
        has.then_some(()).ok_or_else(|| format!("{answer}\n{text}"))
    }
}

fn must(holds: bool, answer: &Value) -> Kept {
    holds.then_some(()).ok_or_else(|| answer.to_string())
}
