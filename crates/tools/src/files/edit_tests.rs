//! The laws of the edit ladder.

use proptest::prelude::*;

use super::*;

fn block(search: &str, replace: &str) -> Block {
    let lines = |text: &str| text.lines().map(str::to_owned).collect();
    Block {
        search: lines(search),
        replace: lines(replace),
    }
}

fn edited(text: &str, search: &str, replace: &str) -> String {
    apply(text, &[block(search, replace)]).unwrap().text
}

#[test]
fn endings_mark_and_final_line_end_stay() {
    assert_eq!(edited("a\r\nb\r\nc", "b", "x\ny"), "a\r\nx\r\ny\r\nc");
    assert_eq!(edited("a\nb", "b", "x\ny"), "a\nx\ny");
    assert_eq!(edited("a\nb\n", "b", "x"), "a\nx\n");
    assert_eq!(edited("\u{feff}a\nb\n", "a", "x"), "\u{feff}x\nb\n");
    assert_eq!(
        edited("a\nb\r\nc\n", "b", "x"),
        "a\nx\r\nc\n",
        "a mixed file keeps each line's own"
    );
    assert_eq!(edited("a\nb", "b", ""), "a", "no line end appears where none was");
    assert_eq!(edited("a\r\nb", "a\nb", "z"), "z");
    assert_eq!(edited("a\n", "a", ""), "");
}

#[test]
fn blocks_act_in_order_each_on_what_the_one_before_left() {
    let both = apply("a\nb\n", &[block("a", "b2"), block("b2", "c")]).unwrap();
    assert_eq!(both.text, "c\nb\n");
    assert_eq!(both.found, [(1, Rung::Exact), (1, Rung::Exact)]);
    let second_fails = apply("a\nb\n", &[block("a", "b"), block("b", "c")]).unwrap_err();
    assert!(
        second_fails.starts_with("block 2: SEARCH stands in 2 places (from lines 1, 2)"),
        "{second_fails}"
    );
}

#[test]
fn forgiven_indentation_moves_the_replacement_along() {
    let text = "class A:\n    def f(self):\n        return 1\n";
    assert_eq!(
        edited(
            text,
            "def f(self):\n    return 1",
            "def f(self):\n    if x:\n        return 2\n\n    return 1"
        ),
        "class A:\n    def f(self):\n        if x:\n            return 2\n\n        return 1\n"
    );
    assert_eq!(
        edited("\tif a {\n\t}\n", "    if a {\n    }", "    if b {\n    }"),
        "\tif b {\n\t}\n"
    );
    assert_eq!(
        edited("  a\n    b\n", "a\nb", "x\ny"),
        "x\ny\n",
        "lines that disagree are put in as written"
    );
}

#[test]
fn what_is_not_found_shows_the_nearest_lines_with_numbers() {
    let text = "use std::io;\n\nfn total(prices: &[u64]) -> u64 {\n    prices.iter().sum()\n}\n";
    let why = apply(
        text,
        &[block("fn total(prices: Vec<u64>) -> u64 {\n    prices.sum()", "x")],
    )
    .unwrap_err();
    assert!(
        why.contains("    3\tfn total(prices: &[u64]) -> u64 {\n    4\t    prices.iter().sum()"),
        "{why}"
    );
    let nothing = apply(text, &[block("completely different", "x")]).unwrap_err();
    assert!(nothing.contains("nothing is like it"), "{nothing}");
    assert!(apply(text, &[block("", "x")]).unwrap_err().contains("SEARCH is empty"));
    assert!(apply("", &[block("a", "x")]).is_err());
}

#[test]
fn a_new_text_is_dressed_like_the_old_one() {
    assert_eq!(dressed("a\r\nb\r\n", "x\ny\n"), "x\r\ny\r\n");
    assert_eq!(
        dressed("a\r\nb\r\n", "x\r\ny\n"),
        "x\r\ny\n",
        "endings the model wrote itself stay"
    );
    assert_eq!(dressed("a\nb\r\n", "x\n"), "x\n");
    assert_eq!(dressed("\u{feff}a\n", "x\n"), "\u{feff}x\n");
    assert_eq!(dressed("", "x\n"), "x\n");
}

fn text() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec("[abc]{0,2}[ ]{0,1}", 1..10)
}

proptest! {
    #[test]
    fn a_unique_exact_match_is_the_naive_replacement(
        lines in text(),
        start in 0_usize..10,
        length in 1_usize..3,
        replace in proptest::collection::vec("[xyz]{0,3}", 0..3),
        windows in any::<bool>(),
    ) {
        let start = start % lines.len();
        let end = (start + length).min(lines.len());
        let ending = if windows { "\r\n" } else { "\n" };
        let whole = |lines: &[String]| lines.iter().flat_map(|line| [line, ending]).collect::<String>();
        let search = lines[start..end].to_vec();
        let places = lines.windows(search.len()).filter(|part| *part == search.as_slice()).count();
        let old = whole(&lines);
        let result = apply(&old, &[Block { search, replace: replace.clone() }]);
        if places == 1 {
            let mut naive = lines.clone();
            naive.splice(start..end, replace);
            let result = result.unwrap();
            prop_assert_eq!(result.text, whole(&naive));
            prop_assert_eq!(result.found, vec![(start + 1, Rung::Exact)]);
        } else {
            prop_assert!(result.unwrap_err().contains("places"));
        }
    }

    #[test]
    fn replacing_lines_by_themselves_changes_nothing(lines in text(), start in 0_usize..10, end in any::<bool>()) {
        let start = start % lines.len();
        let mut old = lines.join("\n");
        if end {
            old.push('\n');
        }
        let same = Block { search: vec![lines[start].clone()], replace: vec![lines[start].clone()] };
        if let Ok(result) = apply(&old, &[same])
            && result.found == [(start + 1, Rung::Exact)]
        {
            prop_assert_eq!(result.text, old);
        }
    }
}
