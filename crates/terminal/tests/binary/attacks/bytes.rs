//! Bytes made to break whoever reads them: each ends as an error or as text, and the run goes on.

use std::fs;

use serde_json::{Value, json};

use super::evidence::told;
use crate::support::{Place, calls, says, turns};

fn deep(open: &str, count: usize) -> String {
    open.repeat(count)
}

#[test]
fn files_made_to_break_their_reader_do_not() {
    let place = Place::new();
    place.settings("[limits]\nmistakes = \"off\"\n");
    // A picture that claims to be four thousand million points wide.
    let mut picture = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\xff\xff\xff\xff\xff\xff\xff\xff\x10\x06\0\0\0".to_vec();
    picture.extend([0_u8; 64]);
    for (name, content) in [
        ("brackets.json", deep("[", 200_000).into_bytes()),
        ("braces.rs", deep("{", 200_000).into_bytes()),
        ("tags.html", deep("<div>", 200_000).into_bytes()),
        ("quotes.md", deep("> ", 200_000).into_bytes()),
        ("huge.png", picture),
        ("cut.png", b"\x89PNG\r\n\x1a\n".to_vec()),
        ("bomb.gz", [b"\x1f\x8b\x08\0".as_slice(), &[0xff; 4096]].concat()),
        ("not-text.txt", (0..=255).cycle().take(100_000).collect()),
        ("half.txt", b"\xf0\x9f\xa6".repeat(40_000)),
        ("nothing.txt", vec![0; 1_000_000]),
        (".gitignore", deep("**/", 50_000).into_bytes()),
        (".gitattributes", deep("[attr]", 50_000).into_bytes()),
        ("package.json", deep("{\"a\":", 100_000).into_bytes()),
    ] {
        fs::write(place.repo().join(name), content).unwrap();
    }
    let mut made: Vec<(&str, Value)> = [
        "brackets.json",
        "braces.rs",
        "tags.html",
        "quotes.md",
        "huge.png",
        "cut.png",
        "bomb.gz",
        "not-text.txt",
        "half.txt",
        "nothing.txt",
        ".gitignore",
    ]
    .into_iter()
    .map(|name| ("read_file", json!({"path": name})))
    .collect();
    for pattern in [
        deep("(", 50_000),
        deep("(a", 50_000) + &deep(")*", 50_000),
        "(((a*)*)*)*b".to_owned(),
        "a{1000}{1000}{1000}{1000}".to_owned(),
        "\\p{L}{900}{900}".to_owned(),
        deep("[", 50_000),
    ] {
        made.push(("search_files", json!({"path": ".", "regex": pattern})));
    }
    made.push((
        "search_files",
        json!({"path": ".", "regex": "x", "file_pattern": deep("{a,", 20_000)}),
    ));
    made.push((
        "search_files",
        json!({"path": ".", "regex": "x", "file_pattern": deep("**/", 20_000)}),
    ));
    made.push(("search_files", json!({"path": ".", "regex": "return"})));
    made.push(("list_files", json!({"path": ".", "recursive": true})));
    made.push(("git_read", json!({"op": "status"})));
    made.push(("git_read", json!({"op": "diff", "from": "HEAD"})));
    made.push(("read_file", json!({"path": deep("a/", 100_000)})));
    made.push(("read_file", json!({"path": deep("../", 100_000)})));
    made.push(("read_file", json!({"path": "README.md"})));
    let model = place.script("reads", &turns(&[calls(&made), says("still here")]));
    let (code, events, report) = place.stream(&model, &["--mode", "agent", "read all of it"]);
    assert_eq!((code, &report["text"]), (0, &json!("still here")), "{report:#}");
    let told = told(&events);
    assert_eq!(told.len(), made.len());
    for told in &told {
        assert!(
            told.text.len() < 450_000,
            "{} gave {} bytes",
            told.tool,
            told.text.len()
        );
    }
    assert!(told.last().unwrap().text.contains("# Sample"));
}

#[test]
fn plans_made_to_break_their_reader_do_not() {
    let place = Place::new();
    place.settings("[limits]\nmistakes = \"off\"\n");
    let plan = |schema: &str, text: &str| {
        format!(
            r#"{{"goal": "{text}", "nodes": [{{"key": "a", "title": "T", "kind": "work", "description": "D", "output_schema": {schema}}}]}}"#
        )
    };
    let texts = [
        plan(&(deep("{\"items\":", 100_000) + "{}" + &deep("}", 100_000)), "Deep"),
        plan(&(deep("{\"items\":", 120) + "{}" + &deep("}", 120)), "Less deep"),
        plan(&format!("{{\"pattern\": \"{}\"}}", deep("(", 50_000)), "Pattern"),
        plan("{\"pattern\": \"(a{1000}){1000}\"}", "Pattern"),
        plan("{\"$ref\": \"#\"}", "Round"),
        plan("{}", &deep("x", 3_000_000)),
        plan("{}", &deep("\\u202e", 50_000)),
    ];
    let submitted: Vec<Value> = texts
        .iter()
        .map(|text| calls(&[("submit_plan", json!(text))]))
        .collect();
    for (number, turn) in submitted.iter().enumerate() {
        let model = place.script("plans", &turns(&[turn.clone(), says("no plan"), says("still here")]));
        let (code, events, report) = place.stream(&model, &["--mode", "plan", "plan it"]);
        assert!(code == 0 || code == 3, "{number}: {code} {report:#}");
        assert_eq!(told(&events).len(), 1, "{number}");
    }
}

#[test]
fn code_made_to_break_its_parser_ends_a_process_and_no_run() {
    let place = Place::new();
    place.write("hostile/braces.rs", &deep("{", 200_000));
    place.write("hostile/angles.java", &deep("a<", 100_000));
    place.write("hostile/whole.py", "def whole(): pass\n");
    let made = [
        ("list_code_definition_names", json!({"path": "hostile/braces.rs"})),
        ("list_code_definition_names", json!({"path": "hostile"})),
        ("list_code_definition_names", json!({"path": "src/util.py"})),
    ];
    let model = place.script("outlines", &turns(&[calls(&made), says("still here")]));
    let before = place.world();
    let (code, events, report) = place.stream(&model, &["--mode", "agent", "outline it"]);
    assert_eq!((code, report["text"].as_str()), (0, Some("still here")));
    let told = told(&events);
    assert!(told[0].error, "{told:?}");
    assert_eq!(
        told[1].text,
        "hostile/angles.java: could not be parsed within the bounds\n\
         hostile/braces.rs: could not be parsed within the bounds\n\
         hostile/whole.py\n     1  def whole(): pass"
    );
    assert_eq!(told[2].text, "src/util.py\n     1  def add(a, b):");
    assert_eq!(place.world(), before);
}
