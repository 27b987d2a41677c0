//! Answers from a code index, where no server answers, and the index that the program writes.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::first_contact::json;
use crate::support::{Project, real_servers};

/// The note on a foreign index.
const NOTE: &str = "index.scip, an index that scip-python 0.6.6 wrote";

fn shop() -> Project {
    Project::of_fixture("scip")
}

/// The answer of a command without any server.
fn ask(project: &Project, words: &[&str]) -> Value {
    json(project.command(None), words)
}

/// The places of an answer, as `path line:column`.
fn places(answer: &Value) -> Vec<String> {
    let mut places = Vec::new();
    for group in answer["locations"].as_array().into_iter().flatten() {
        for (path, items) in group.as_object().into_iter().flatten() {
            let items = items.as_array().into_iter().flatten();
            places.extend(items.map(|item| format!("{path} {}", item[0].as_str().unwrap_or_default())));
        }
    }
    places.sort();
    places
}

fn notes(answer: &Value) -> String {
    answer["notes"].to_string()
}

#[test]
fn index_of_scip_python_answers_without_a_server() {
    let project = shop();
    let cases: [(&[&str], &[&str]); 6] = [
        (&["definition", "shop/pay.py:5:add"], &["shop/cart.py 7:9"]),
        (&["definition", "shop/pay.py:6:add"], &["shop/cart.py 14:9"]),
        // The column counts the astral character before it once.
        (
            &["references", "shop/cart.py:Cart.add"],
            &["shop/cart.py 15:24", "shop/cart.py 7:9", "shop/pay.py 5:26"],
        ),
        (&["implementation", "shop/cart.py:Cart.add"], &["shop/cart.py 14:9"]),
        (&["implementation", "shop/cart.py:Cart"], &["shop/cart.py 13:7"]),
        // A local symbol, whose name is that of others in other files.
        (&["references", "shop/cart.py:9:total"], &["shop/cart.py 10:16", "shop/cart.py 9:9"]),
    ];
    for (words, expected) in cases {
        let answer = ask(&project, words);
        assert_eq!(places(&answer), expected, "{words:?}: {answer}");
        assert_eq!(answer["verdict"], "partial", "{words:?}: {answer}");
        assert!(notes(&answer).contains(NOTE), "{words:?}: {answer}");
    }
    let hover = ask(&project, &["hover", "shop/pay.py:5:add"]);
    assert!(hover["contents"].as_str().is_some_and(|text| text.contains("Adds an item.")), "{hover}");
    assert_eq!(hover["verdict"], "partial", "{hover}");
}

/// The text decides what an old index may still say.
#[test]
fn places_of_changed_files_are_hints_and_lost_names_are_left_out() {
    let project = shop();
    // Files are as old as their index unless they are written later.
    let later = std::time::SystemTime::now() + Duration::from_secs(60);
    let pay = project.read("shop/pay.py").replace("n = cart.add(s)", "n = cart.sub(s)");
    project.write("shop/pay.py", &pay);
    fs::File::options()
        .append(true)
        .open(project.path("shop/pay.py"))
        .and_then(|file| file.set_modified(later))
        .expect("a new time");
    let answer = ask(&project, &["references", "shop/cart.py:Cart.add"]);
    assert_eq!(places(&answer), ["shop/cart.py 15:24", "shop/cart.py 7:9"], "{answer}");
    assert_eq!(answer["verdict"], "hints", "{answer}");
    let said = notes(&answer);
    assert!(said.contains("1 place of the index no longer has the name"), "{answer}");
    assert!(said.contains("changed since the index was written") && said.contains("shop/pay.py"), "{answer}");
    // The name at the place of the question is not that of the index.
    let answer = ask(&project, &["definition", "shop/pay.py:5:sub"]);
    assert!(!notes(&answer).contains(NOTE), "{answer}");
}

/// Another name in a file that has not changed is an alias.
#[test]
fn uses_under_another_name_are_among_those_of_the_index() {
    let project = shop();
    // `Cart` of the index is another text here, of the same length.
    let text = project.read("shop/pay.py").replace("cart: Cart", "cart: Kart").replace(", Cart", ", Kart");
    project.write("shop/pay.py", text);
    project.write("index.scip", fs::read(project.path("index.scip")).expect("an index"));
    let answer = ask(&project, &["references", "shop/cart.py:Cart"]);
    let expected = ["shop/cart.py 13:15", "shop/cart.py 4:7", "shop/pay.py 1:32", "shop/pay.py 4:15"];
    assert_eq!(
        (places(&answer), &answer["verdict"]),
        (expected.map(Into::into).to_vec(), &"partial".into()),
        "{answer}"
    );
    let answer = ask(&project, &["definition", "shop/pay.py:4:Kart"]);
    assert_eq!(places(&answer), ["shop/cart.py 4:7"], "{answer}");
}

#[test]
fn damaged_indexes_and_paths_that_lead_out_change_no_answer() {
    let project = shop();
    let index = fs::read(project.path("index.scip")).expect("an index");
    let words = ["references", "shop/cart.py:Cart.add"];
    fs::remove_file(project.path("index.scip")).expect("an index");
    let without = ask(&project, &words);
    let huge = [&index[..20], &[0x12, 0xff, 0xff, 0xff, 0xff, 0x0f]].concat();
    let endless = [&[0xff; 64][..]].concat();
    let cut = [1, 2, 15, 700, 2000, index.len() - 3].map(|end| index[..end].to_vec());
    let damaged = cut.into_iter().chain([huge, endless, b"no index\n".to_vec(), Vec::new()]);
    for content in damaged {
        project.write("index.scip", &content);
        let answer = ask(&project, &words);
        assert_eq!(
            (places(&answer), &answer["verdict"]),
            (places(&without), &without["verdict"]),
            "{answer}"
        );
        assert!(notes(&answer).contains("index.scip was not used: "), "{} bytes: {answer}", content.len());
    }
    let text = String::from_utf8_lossy(&index).into_owned();
    assert!(text.contains("shop/pay.py"));
    // Of the same length, so that the index stays whole.
    let position = index.windows(11).position(|part| part == b"shop/pay.py").expect("the path");
    for outside in ["../../pay.x", "/etc/passwd", "shop/./a.py"] {
        let mut led = index.clone();
        led.splice(position..position + 11, outside.bytes());
        project.write("index.scip", &led);
        let answer = ask(&project, &words);
        assert_eq!(places(&answer), ["shop/cart.py 15:24", "shop/cart.py 7:9"], "{outside}: {answer}");
    }
}

#[test]
fn index_tells_nothing_of_files_that_a_rule_hides() {
    let project = shop();
    project.write_settings("[permissions]\ndeny = ['*(shop/cart.py)']\n");
    let hover = ask(&project, &["hover", "shop/pay.py:5:add"]);
    assert!(!hover.to_string().contains("Adds an item"), "{hover}");
    let definition = ask(&project, &["definition", "shop/pay.py:5:add"]);
    assert!(!definition.to_string().contains("def add"), "{definition}");
    project.write_settings("[permissions]\ndeny = ['index']\n");
    let denied = ask(&project, &["index", "--scip"]);
    assert_eq!(denied["code"], "denied", "{denied}");
}

/// Agents can read the index.
#[test]
fn written_index_tells_nothing_of_files_that_a_rule_hides() {
    let project = shop();
    project.write_settings("[permissions]\ndeny = ['*(shop/pay.py)']\n");
    let servers = real_servers(&["pyright"]);
    let written = json(project.command(Some(&servers)), &["index", "--scip", "--output", "a.scip"]);
    assert_eq!((&written["ok"], &written["files"]), (&true.into(), &2.into()), "{written}");
    let index = String::from_utf8_lossy(&fs::read(project.path("a.scip")).expect("an index")).into_owned();
    assert!(index.contains("Adds an item.") && !index.contains("pay"), "{index}");
}

/// Places and hovers of the written index are those of the server.
#[test]
fn written_index_answers_as_the_server_did() {
    let servers = real_servers(&["pyright"]);
    let project = shop();
    fs::remove_file(project.path("index.scip")).expect("an index");
    let with_server = |words: &[&str]| json(project.command(Some(&servers)), words);
    let addresses = ["shop/cart.py:Cart.add", "shop/cart.py:BigCart"];
    let commands = ["references", "definition", "hover"];
    let questions = Vec::from_iter(addresses.iter().flat_map(|at| commands.map(|command| [command, at])));
    let asked = Vec::from_iter(questions.iter().map(|words| with_server(words)));
    let written = with_server(&["index", "--scip"]);
    assert_eq!((&written["files"], &written["left_out"]), (&3.into(), &serde_json::json!([])), "{written}");
    for (words, expected) in questions.iter().zip(&asked) {
        assert_eq!(expected["verdict"], "complete", "{words:?}: {expected}");
        let answer = ask(&project, words);
        assert_eq!(places(&answer), places(expected), "{words:?}: {answer}");
        assert_eq!(answer["contents"], expected["contents"], "{words:?}: {answer}");
        assert_eq!(answer["verdict"], "partial", "{words:?}: {answer}");
    }
    // The hash of the text decides, not the time.
    project.write("shop/pay.py", project.read("shop/pay.py"));
    assert_eq!(ask(&project, &["references", addresses[0]])["verdict"], "partial");
    project.write("shop/pay.py", project.read("shop/pay.py") + "\n");
    assert_eq!(ask(&project, &["references", addresses[0]])["verdict"], "hints");
}

#[test]
#[ignore = "slow: just slow"]
fn interrupted_index_goes_on_where_it_ended() {
    let servers = real_servers(&["pyright"]);
    let project = Project::new([("pyproject.toml", "")]);
    let module = "def one():\n    pass\n\n\ndef two():\n    one()\n\n\nclass Three:\n    def four(self):\n        two()\n";
    for number in 0..16 {
        project.write(&format!("shop/m{number}.py"), module);
    }
    let mut command = project.command(Some(&servers));
    let mut first = command.args(["index", "--scip", "--output", "a.scip"]).spawn().expect("the program");
    let until = Instant::now() + Duration::from_secs(120);
    let written = || fs::metadata(project.path("a.scip.part")).map_or(0, |file| file.len());
    while written() < 2_000 {
        assert!(
            Instant::now() < until && first.try_wait().expect("a status").is_none(),
            "nothing is written"
        );
        std::thread::yield_now();
    }
    first.kill().expect("the program runs");
    first.wait().expect("the program has ended");
    let resumed = json(project.command(Some(&servers)), &["index", "--scip", "--output", "a.scip"]);
    assert!(resumed["resumed"].as_u64().is_some_and(|files| (1..16).contains(&files)), "{resumed}");
    let whole = json(project.command(Some(&servers)), &["index", "--scip", "--output", "b.scip"]);
    assert_eq!((&whole["resumed"], &whole["symbols"]), (&0.into(), &64.into()), "{whole}");
    let index = |name: &str| fs::read(project.path(name)).expect("an index");
    assert_eq!(index("a.scip"), index("b.scip"));
    assert_eq!(written(), 0);
    // Nothing but an index is replaced, and no link is followed: the project may have put it there.
    project.write("note.part", "mine");
    std::os::unix::fs::symlink(project.path("shop/m0.py"), project.path("d.scip.part")).expect("a link");
    for output in ["shop/m0.py", "shop", "note", "d.scip", "/dev/null", "nowhere/e.scip"] {
        let refused = json(project.command(Some(&servers)), &["index", "--scip", "--output", output]);
        assert_eq!(refused["code"], "invalid_args", "{output}: {refused}");
    }
    assert_eq!(
        (project.read("shop/m0.py"), project.read("note.part")),
        (module.to_owned(), "mine".to_owned())
    );
    // Changed sources are asked about again.
    fs::copy(project.path("b.scip"), project.path("c.scip.part")).expect("a copy");
    let again = json(project.command(Some(&servers)), &["index", "--scip", "--output", "c.scip"]);
    assert_eq!(again["resumed"], 0, "{again}");
}
