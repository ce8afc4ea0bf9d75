//! The definitions of one text. Runs in the process apart alone: the grammars are C, and what they read is anybody's.

use serde::{Deserialize, Serialize};
use tree_sitter::{Parser, Query, QueryCursor, StreamingIterator};

use super::language::Language;

/// Definitions told of one text.
pub(crate) const MOST: usize = 2000;

/// Where a definition's name stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Definition {
    /// The line of its name, from 0.
    pub(crate) line: usize,
    /// In how many others it lies.
    pub(crate) depth: usize,
}

/// What a text defines, in the order of its lines; at most `MOST`. None: it cannot be parsed.
pub(crate) fn outline(language: &Language, text: &[u8]) -> Option<Vec<Definition>> {
    let grammar = language.grammar.into();
    let mut parser = Parser::new();
    parser.set_language(&grammar).ok()?;
    let tree = parser.parse(text, None)?;
    let query = Query::new(&grammar, language.query).ok()?;
    let [definition, name] = ["definition", "name"].map(|capture| query.capture_index_for_name(capture));
    let mut cursor = QueryCursor::new();
    let mut matches = cursor.matches(&query, tree.root_node(), text);
    let mut found = Vec::new();
    while let Some(one) = matches.next() {
        let node = |index| one.captures().iter().find(|capture| Some(capture.index) == index);
        if let (Some(whole), Some(name)) = (node(definition), node(name)) {
            found.push((whole.node.byte_range(), name.node.start_position().row));
        }
        if found.len() == MOST {
            break;
        }
    }
    found.sort_by_key(|(range, line)| (range.start, usize::MAX - range.end, *line));
    let mut around: Vec<usize> = Vec::new();
    let mut definitions: Vec<Definition> = Vec::new();
    for (range, line) in found {
        around.retain(|end| *end > range.start);
        if definitions.last().is_none_or(|last| last.line != line) {
            definitions.push(Definition {
                line,
                depth: around.len(),
            });
        }
        around.push(range.end);
    }
    Some(definitions)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each definition as its line, indented by its depth.
    fn told(path: &str, text: &str) -> Vec<String> {
        let lines: Vec<&str> = text.lines().collect();
        outline(Language::of(path).unwrap(), text.as_bytes())
            .unwrap()
            .into_iter()
            .map(|Definition { line, depth }| format!("{}{}", "  ".repeat(depth), lines[line].trim()))
            .collect()
    }

    /// A file, its text, and what it defines.
    const CASES: &[(&str, &str, &[&str])] = &[
        (
            "a.rs",
            "mod m {\n pub trait T {\n  fn f(&self);\n }\n}\nimpl T for S {\n fn f(&self) { g() }\n}\nstruct S;\nenum E { A }\ntype X = S;\nmacro_rules! x { () => {} }\nconst fn g() {}\nunion U { a: u8 }",
            &[
                "mod m {",
                "  pub trait T {",
                "    fn f(&self);",
                "impl T for S {",
                "  fn f(&self) { g() }",
                "struct S;",
                "enum E { A }",
                "type X = S;",
                "macro_rules! x { () => {} }",
                "const fn g() {}",
                "union U { a: u8 }",
            ],
        ),
        (
            "a.py",
            "import os\n@x\nclass A(B):\n    async def f(self):\n        def inner(): pass\n\ndef g(a,\n      b):\n    f()",
            &[
                "class A(B):",
                "  async def f(self):",
                "    def inner(): pass",
                "def g(a,",
            ],
        ),
        (
            "a.mjs",
            "export class A {\n f() {}\n}\nfunction* g() {}\nconst h = (x) => x;\nexports.k = function () {};\nlet n = 1;\nexport default function d() {}",
            &[
                "export class A {",
                "  f() {}",
                "function* g() {}",
                "const h = (x) => x;",
                "exports.k = function () {};",
                "export default function d() {}",
            ],
        ),
        (
            "a.ts",
            "interface I {\n f(): void;\n}\ntype T = string;\nenum E { A }\nnamespace N {\n export abstract class C {\n  abstract g(): void;\n }\n}\ndeclare function o(): void;\nconst h = async () => {};",
            &[
                "interface I {",
                "  f(): void;",
                "type T = string;",
                "enum E { A }",
                "namespace N {",
                "  export abstract class C {",
                "    abstract g(): void;",
                "declare function o(): void;",
                "const h = async () => {};",
            ],
        ),
        (
            "a.tsx",
            "export const App = () => <div><b/></div>;\nclass P {\n render() {}\n}",
            &[
                "export const App = () => <div><b/></div>;",
                "class P {",
                "  render() {}",
            ],
        ),
        (
            "a.go",
            "package a\ntype S struct{}\ntype (\n I interface{}\n)\nfunc F() {}\nfunc (s *S) M() {}",
            &["type S struct{}", "I interface{}", "func F() {}", "func (s *S) M() {}"],
        ),
        (
            "A.java",
            "class A {\n A() {}\n @Override\n void f() {}\n enum E { X }\n}\ninterface I {}\nrecord R(int a) {}\n@interface N {}",
            &[
                "class A {",
                "  A() {}",
                "  void f() {}",
                "  enum E { X }",
                "interface I {}",
                "record R(int a) {}",
                "@interface N {}",
            ],
        ),
        (
            "a.c",
            "#define MAX(a) (a)\nstruct s { int a; };\ntypedef struct { int b; } t;\nstatic int *\nf(void)\n{\n return g();\n}\nenum e { A };\nunion u { int a; };\nint g(int);",
            &[
                "#define MAX(a) (a)",
                "struct s { int a; };",
                "typedef struct { int b; } t;",
                "f(void)",
                "enum e { A };",
                "union u { int a; };",
                "int g(int);",
            ],
        ),
        (
            "a.h",
            "namespace n {\nclass A {\n ~A();\n int f() const;\n A& operator=(const A&);\n};\n}\nint A::f() const { return 0; }\nusing X = A;\ntemplate <class T> concept C = true;\nint main() {}",
            &[
                "namespace n {",
                "  class A {",
                "    ~A();",
                "    int f() const;",
                "    A& operator=(const A&);",
                "int A::f() const { return 0; }",
                "using X = A;",
                "template <class T> concept C = true;",
                "int main() {}",
            ],
        ),
        (
            "A.cs",
            "namespace N {\n class A {\n  public A() {}\n  int P { get; set; }\n  void F() {}\n }\n}\ninterface I {}\nstruct S {}\nrecord R(int A);\nenum E { X }\ndelegate void D();",
            &[
                "namespace N {",
                "  class A {",
                "    public A() {}",
                "    int P { get; set; }",
                "    void F() {}",
                "interface I {}",
                "struct S {}",
                "record R(int A);",
                "enum E { X }",
                "delegate void D();",
            ],
        ),
        (
            "a.rb",
            "module M\n class A < B\n  def f; end\n  def self.g; end\n end\nend",
            &["module M", "  class A < B", "    def f; end", "    def self.g; end"],
        ),
        (
            "a.php",
            "<html><?php\nnamespace N;\ninterface I {}\ntrait T {}\nclass A {\n function f() {}\n}\nfunction g() {}\nenum E {}",
            &[
                "namespace N;",
                "interface I {}",
                "trait T {}",
                "class A {",
                "  function f() {}",
                "function g() {}",
                "enum E {}",
            ],
        ),
        (
            "a.sh",
            "f() {\n g\n}\nfunction g { :; }",
            &["f() {", "function g { :; }"],
        ),
    ];

    #[test]
    fn every_language_tells_its_definitions() {
        for (path, text, expected) in CASES {
            assert_eq!(told(path, text), *expected, "{path}");
        }
        let told_of: Vec<_> = CASES.iter().filter_map(|(path, ..)| Language::of(path)).collect();
        for language in super::super::language::LANGUAGES {
            assert!(
                told_of.iter().any(|told| told.name == language.name),
                "{} has no case",
                language.name
            );
        }
    }

    #[test]
    fn broken_text_tells_what_is_whole_and_no_more_than_the_bound() {
        assert_eq!(
            told("a.rs", "fn a() {}\nfn (((\n\u{0}fn b() {}"),
            ["fn a() {}", "\u{0}fn b() {}"]
        );
        assert_eq!(outline(Language::of("a.py").unwrap(), b"\xff\xfe"), Some(Vec::new()));
        assert_eq!(told("a.sh", &"f() { :; }\n".repeat(MOST + 10)).len(), MOST);
    }
}
