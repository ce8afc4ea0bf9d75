//! `list_code_definition_names`: outlines, and hostile files that end the process that parses them and nothing else.

use modes::Effect;
use serde_json::json;

use crate::ground::Ground;

#[tokio::test]
async fn a_file_and_a_folder_are_outlined_line_by_line() {
    let ground = Ground::planning().walled();
    ground.write("src/price.rs", "//! Prices.\n\npub struct Price(u64);\n\nimpl Price {\n    pub fn half(&self) -> u64 {\n        self.0 / 2\n    }\n}\n");
    ground.write("src/tool.py", "class Tool:\n    def run(self):\n        pass\n");
    ground.write("src/empty.go", "package empty\n");
    ground.write("src/notes.txt", "fn no() {}\n");
    ground.write("src/beneath/deep.rs", "fn deep() {}\n");
    let file = ground
        .call("list_code_definition_names", json!({"path": "src/price.rs"}))
        .await
        .good();
    assert_eq!(
        file,
        "src/price.rs\n     3  pub struct Price(u64);\n     5  impl Price {\n     6    pub fn half(&self) -> u64 {"
    );
    let folder = ground
        .call("list_code_definition_names", json!({"path": "src"}))
        .await
        .good();
    assert_eq!(
        folder,
        format!("{file}\nsrc/tool.py\n     1  class Tool:\n     2    def run(self):")
    );
    let nothing = ground
        .call("list_code_definition_names", json!({"path": "src/empty.go"}))
        .await
        .good();
    assert_eq!(nothing, "src/empty.go\n[nothing is defined here]");
    let other = ground
        .call("list_code_definition_names", json!({"path": "src/notes.txt"}))
        .await
        .fault();
    assert!(other.contains("read it with read_file"), "{other}");
}

#[tokio::test]
async fn without_walls_nothing_is_parsed() {
    let ground = Ground::new();
    ground.write("a.rs", "fn a() {}\n");
    let why = ground
        .call("list_code_definition_names", json!({"path": "a.rs"}))
        .await
        .fault();
    assert!(why.contains("only inside proven walls"), "{why}");
}

#[tokio::test]
async fn secrets_are_judged_when_named_and_left_out_of_a_folder() {
    let ground = Ground::new().walled();
    ground.write(".env.py", "def key(): pass\n");
    ground.write("a.py", "def a(): pass\n");
    let (effects, _) = ground.judged("list_code_definition_names", json!({"path": ".env.py"}));
    assert!(effects.contains(Effect::SecretAccess));
    let folder = ground
        .call("list_code_definition_names", json!({"path": "."}))
        .await
        .good();
    assert_eq!(
        folder,
        "a.py\n     1  def a(): pass\n[1 file left out: shaped like secrets; to outline one, give it as `path`]"
    );
}

#[tokio::test]
async fn hostile_files_cost_themselves_alone() {
    let ground = Ground::new().walled();
    ground.write("a.py", "def first(): pass\n");
    // Without an end in time, and without an end in memory.
    ground.write("endless.js", "{".repeat(200_000));
    ground.write("huge.java", "a<".repeat(100_000));
    for end in [
        "sh", "c", "cs", "cpp", "go", "java", "js", "php", "py", "rb", "rs", "tsx", "ts",
    ] {
        let noise: Vec<u8> = (0..2_000_u32)
            .map(|at| at.wrapping_mul(2_654_435_761).to_be_bytes()[0])
            .collect();
        ground.write(&format!("noise.{end}"), noise);
    }
    ground.write("too-long.rs", "/".repeat((4 << 20) + 1));
    ground.write("z.rs", "fn last() {}\n");
    let folder = ground
        .call("list_code_definition_names", json!({"path": "."}))
        .await
        .good();
    for line in [
        "     1  def first(): pass",
        "endless.js: could not be parsed within the bounds",
        "huge.java: could not be parsed within the bounds",
        "     1  fn last() {}",
        "[1 file left out: too long to be parsed; find the part you need with search_files]",
    ] {
        assert!(folder.lines().any(|told| told == line), "{line} is not in:\n{folder}");
    }
    assert_eq!(folder.matches("could not be parsed").count(), 2, "{folder}");
    let single = ground
        .call("list_code_definition_names", json!({"path": "huge.java"}))
        .await
        .fault();
    assert_eq!(
        single,
        "huge.java: could not be parsed within the bounds; read it with read_file."
    );
}
