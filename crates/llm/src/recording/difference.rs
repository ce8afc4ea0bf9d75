//! How a request differs from the recorded one, in words. What it means is not known here.

use serde_json::Value;

/// So many differences are told; the others follow from them, or tell no more.
const TOLD: usize = 3;
/// Letters shown before the first that differs, and from there on.
const SHOWN: (usize, usize) = (30, 60);

/// The first differences, each with its place.
pub(crate) fn differences(recorded: &Value, found: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    compare(recorded, found, "", &mut lines);
    lines.truncate(TOLD);
    lines
}

fn compare(recorded: &Value, found: &Value, place: &str, lines: &mut Vec<String>) {
    match (recorded, found) {
        _ if recorded == found || lines.len() >= TOLD => {}
        (Value::Object(before), Value::Object(now)) => {
            for (name, value) in before {
                match now.get(name) {
                    Some(other) => compare(value, other, &format!("{place}/{name}"), lines),
                    None => lines.push(format!("at `{place}`: `{name}` is recorded, and not there now")),
                }
            }
            let new = now.keys().filter(|name| !before.contains_key(*name));
            lines.extend(new.map(|name| format!("at `{place}`: `{name}` is there now, and not recorded")));
        }
        (Value::Array(before), Value::Array(now)) => {
            for (number, (value, other)) in before.iter().zip(now).enumerate() {
                compare(value, other, &format!("{place}/{number}"), lines);
            }
            if before.len() != now.len() {
                lines.push(format!("at `{place}`: recorded {}, found {}", before.len(), now.len()));
            }
        }
        _ => {
            let (before, now) = (text(recorded), text(found));
            let same = before
                .chars()
                .zip(now.chars())
                .take_while(|(one, other)| one == other)
                .count();
            lines.push(format!(
                "at `{place}`: recorded `{}`, found `{}`",
                excerpt(&before, same),
                excerpt(&now, same)
            ));
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What stands around letter `at`.
fn excerpt(text: &str, at: usize) -> String {
    let from = at.saturating_sub(SHOWN.0);
    let shown: String = text.chars().skip(from).take(at - from + SHOWN.1).collect();
    let before = if from > 0 { "…" } else { "" };
    let after = if text.chars().count() > at + SHOWN.1 { "…" } else { "" };
    format!("{before}{shown}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_difference_names_its_place() {
        let check = |recorded, found, expected: &[&str]| assert_eq!(differences(&recorded, &found), expected);
        check(json!({"a": 1}), json!({"a": 1}), &[]);
        check(
            json!({"a": "x1"}),
            json!({"a": "x2"}),
            &["at `/a`: recorded `x1`, found `x2`"],
        );
        check(
            json!({"a": [1], "b": 1}),
            json!({"a": [1, 2], "c": 1}),
            &[
                "at `/a`: recorded 1, found 2",
                "at ``: `b` is recorded, and not there now",
                "at ``: `c` is there now, and not recorded",
            ],
        );
        check(
            json!([1, 2, 3, 4]),
            json!([5, 6, 7, 8]),
            &[
                "at `/0`: recorded `1`, found `5`",
                "at `/1`: recorded `2`, found `6`",
                "at `/2`: recorded `3`, found `7`",
            ],
        );
        let long = |middle: &str| json!(format!("{}{middle}{}", "a".repeat(50), "é".repeat(80)));
        let expected = |middle: &str| format!("…{}{middle}{}…", "a".repeat(30), "é".repeat(59));
        assert_eq!(
            differences(&long("x"), &long("y")),
            [format!(
                "at ``: recorded `{}`, found `{}`",
                expected("x"),
                expected("y")
            )]
        );
    }
}
