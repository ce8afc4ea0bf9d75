//! JSON Schemas that came from a model: kept closed and small, then used.
//!
//! A schema never makes Stance fetch or open anything, and checking a value against one takes time
//! bounded by the schema's and the value's size. It must not know what the values mean.

use std::collections::BTreeMap;

use jsonschema::{PatternOptions, Validator};
use serde::Serialize;
use serde_json::Value;

use super::limits;
use crate::text::printable;

/// Bytes a compiled regular expression may take.
const PATTERN_BYTES: usize = 512 * 1024;
/// Characters of a foreign message that are repeated in ours.
const MESSAGE_CHARACTERS: usize = 300;
/// Faults of one value that are named.
const NAMED_FAULTS: usize = 20;

/// Why a schema is refused. The sentences follow `output_schema`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum SchemaFault {
    /// It is not an object.
    #[error("must be a JSON object")]
    NotAnObject,
    /// It is too long.
    #[error("is {bytes} bytes long; at most {} are taken", limits::SCHEMA_BYTES)]
    TooLarge {
        /// Its length without spaces.
        bytes: usize,
    },
    /// It is nested too deeply.
    #[error("is nested more than {} levels deep", limits::SCHEMA_DEPTH)]
    TooDeep,
    /// It holds too many values.
    #[error(
        "holds more than {} values, counting what its references point at",
        limits::SCHEMA_VALUES
    )]
    TooManyValues,
    /// It holds too many regular expressions.
    #[error("holds more than {} regular expressions", limits::SCHEMA_PATTERNS)]
    TooManyPatterns,
    /// It points outside itself.
    #[error("has `{keyword}` with the target `{}`: only targets inside the schema, beginning with `#`, are taken; nothing is fetched", clipped(.target))]
    Outside {
        /// The keyword.
        keyword: String,
        /// Where it points.
        target: String,
    },
    /// A reference points at nothing.
    #[error("has a reference to `{}`, and there is nothing", clipped(.target))]
    Dangling {
        /// Where it points.
        target: String,
    },
    /// A reference leads back to itself.
    #[error("refers to itself through `{}`: write the levels out", clipped(.target))]
    Recursive {
        /// The reference that closes the circle.
        target: String,
    },
    /// References lead to references too often.
    #[error("has a chain of more than {} references", limits::SCHEMA_REFERENCES)]
    LongChain,
    /// It is not a JSON Schema.
    #[error("is not a valid JSON Schema at `{at}`: {message}")]
    Invalid {
        /// A JSON pointer; empty for the whole.
        at: String,
        /// What is wrong there.
        message: String,
    },
}

/// A schema that was found closed, small and valid.
#[derive(Debug)]
pub struct OutputSchema(Validator);

impl OutputSchema {
    /// Checks a schema and makes it ready for use.
    pub fn compile(schema: &Value) -> Result<OutputSchema, SchemaFault> {
        if !schema.is_object() {
            return Err(SchemaFault::NotAnObject);
        }
        if !is_shallow(schema, limits::SCHEMA_DEPTH) {
            return Err(SchemaFault::TooDeep);
        }
        let bytes = schema.to_string().len();
        if bytes > limits::SCHEMA_BYTES {
            return Err(SchemaFault::TooLarge { bytes });
        }
        let mut survey = Survey::default();
        survey.visit(schema)?;
        let mut unfolding = Unfolding {
            root: schema,
            anchors: survey.anchors,
            values: 0,
            followed: Vec::new(),
        };
        unfolding.visit(schema)?;
        jsonschema::options()
            .offline()
            .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_BYTES))
            .build(schema)
            .map(OutputSchema)
            .map_err(|error| SchemaFault::Invalid {
                at: clipped(&error.instance_path().to_string()),
                message: clipped(&error.to_string()),
            })
    }

    /// What is wrong with a value, one sentence for each fault (the first twenty); empty when it fits.
    pub fn faults(&self, output: &Value) -> Vec<String> {
        self.0
            .iter_errors(output)
            .take(NAMED_FAULTS)
            .map(|error| {
                let at = error.instance_path().to_string();
                let at = if at.is_empty() {
                    "the output".to_owned()
                } else {
                    clipped(&at)
                };
                format!("{at}: {}", clipped(&error.to_string()))
            })
            .collect()
    }
}

fn clipped(text: &str) -> String {
    let mut shown: String = text.chars().take(MESSAGE_CHARACTERS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    printable(&shown)
}

/// Whether no object or array lies deeper than `levels`.
fn is_shallow(value: &Value, levels: usize) -> bool {
    let below = |child: &Value| levels > 0 && is_shallow(child, levels - 1);
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(below),
        Value::Object(fields) => levels > 0 && fields.values().all(below),
        _ => true,
    }
}

/// Looks at every value once: where it points, what it names, how many regular expressions it has.
/// Words that only look like keywords, in a `const` for example, are held to the same rules: telling
/// them apart would need the very resolution that is being guarded.
#[derive(Default)]
struct Survey<'a> {
    anchors: BTreeMap<&'a str, &'a Value>,
    patterns: usize,
}

impl<'a> Survey<'a> {
    fn visit(&mut self, value: &'a Value) -> Result<(), SchemaFault> {
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| self.visit(item)),
            Value::Object(fields) => {
                for (keyword, field) in fields {
                    self.keyword(keyword, field, value)?;
                    self.visit(field)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn keyword(&mut self, keyword: &str, field: &'a Value, owner: &'a Value) -> Result<(), SchemaFault> {
        match (keyword, field) {
            ("$ref" | "$dynamicRef" | "$recursiveRef" | "$schema" | "$id", Value::String(target))
                if !target.starts_with('#') =>
            {
                return Err(SchemaFault::Outside {
                    keyword: keyword.to_owned(),
                    target: target.clone(),
                });
            }
            ("$anchor" | "$dynamicAnchor", Value::String(name)) => {
                self.anchors.insert(name, owner);
            }
            ("pattern", Value::String(_)) => self.patterns += 1,
            ("patternProperties", Value::Object(patterns)) => self.patterns += patterns.len(),
            _ => {}
        }
        if self.patterns > limits::SCHEMA_PATTERNS {
            return Err(SchemaFault::TooManyPatterns);
        }
        Ok(())
    }
}

/// Follows every reference to where it points, counting. A schema whose references are replaced by
/// their targets must stay small: otherwise a few lines can ask for years of checking.
struct Unfolding<'a> {
    root: &'a Value,
    anchors: BTreeMap<&'a str, &'a Value>,
    values: usize,
    followed: Vec<&'a str>,
}

impl<'a> Unfolding<'a> {
    fn visit(&mut self, value: &'a Value) -> Result<(), SchemaFault> {
        self.values += 1;
        if self.values > limits::SCHEMA_VALUES {
            return Err(SchemaFault::TooManyValues);
        }
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| self.visit(item)),
            Value::Object(fields) => {
                for (keyword, field) in fields {
                    self.visit(field)?;
                    if let ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(target)) = (keyword.as_str(), field)
                    {
                        self.follow(target)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn follow(&mut self, target: &'a str) -> Result<(), SchemaFault> {
        if self.followed.contains(&target) {
            return Err(SchemaFault::Recursive {
                target: target.to_owned(),
            });
        }
        if self.followed.len() >= limits::SCHEMA_REFERENCES {
            return Err(SchemaFault::LongChain);
        }
        let found = self.resolve(target).ok_or_else(|| SchemaFault::Dangling {
            target: target.to_owned(),
        })?;
        self.followed.push(target);
        self.visit(found)?;
        self.followed.pop();
        Ok(())
    }

    fn resolve(&self, target: &str) -> Option<&'a Value> {
        let fragment = target.strip_prefix('#')?;
        if fragment.is_empty() || fragment.starts_with('/') {
            self.root.pointer(fragment)
        } else {
            self.anchors.get(fragment).copied()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(schema: &Value) -> SchemaFault {
        OutputSchema::compile(schema).expect_err("the schema should be refused")
    }

    #[test]
    fn nothing_outside_the_schema_is_ever_a_target() {
        for (keyword, target) in [
            ("$ref", "http://127.0.0.1/latest"),
            ("$ref", "file:///etc/passwd"),
            ("$ref", "other.json#/$defs/x"),
            ("$ref", ""),
            ("$dynamicRef", "https://example.org/x#y"),
            ("$schema", "https://json-schema.org/draft/2020-12/schema"),
            ("$id", "https://example.org/mine"),
            ("$recursiveRef", "urn:x"),
        ] {
            let fault = SchemaFault::Outside {
                keyword: keyword.to_owned(),
                target: target.to_owned(),
            };
            assert_eq!(refused(&json!({ keyword: target })), fault);
            let nested = json!({"properties": {"a": {"items": [{"allOf": [{ keyword: target }]}]}}});
            assert_eq!(refused(&nested), fault);
        }
    }

    #[test]
    fn references_inside_the_schema_work() {
        let schema = OutputSchema::compile(&json!({
            "$defs": {"name": {"type": "string", "pattern": "^[a-z]+$"}, "count": {"$anchor": "n", "type": "integer"}},
            "type": "object",
            "properties": {"name": {"$ref": "#/$defs/name"}, "count": {"$ref": "#n"}, "$ref": {"type": "null"}},
            "required": ["name"]
        }))
        .unwrap();
        assert_eq!(schema.faults(&json!({"name": "ab", "count": 2})), Vec::<String>::new());
        assert_eq!(
            schema.faults(&json!({})),
            ["the output: \"name\" is a required property"]
        );
        let faults = schema.faults(&json!({"name": "A", "count": "x"}));
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(
            faults[0].starts_with("/name: ") && faults[1].starts_with("/count: "),
            "{faults:?}"
        );
    }

    #[test]
    fn references_that_lead_nowhere_or_round_are_refused() {
        assert!(matches!(
            refused(&json!({"$ref": "#/$defs/x"})),
            SchemaFault::Dangling { .. }
        ));
        assert!(matches!(refused(&json!({"$ref": "#x"})), SchemaFault::Dangling { .. }));
        for round in [
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#"}]}),
            json!({"properties": {"child": {"$ref": "#"}}}),
            json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        ] {
            assert!(matches!(refused(&round), SchemaFault::Recursive { .. }), "{round}");
        }
    }

    #[test]
    fn a_small_schema_cannot_unfold_into_a_large_one() {
        let mut definitions = serde_json::Map::new();
        for level in 0..15 {
            let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
            definitions.insert(format!("l{level}"), json!({"allOf": [next, next]}));
        }
        definitions.insert("l15".into(), json!({"type": "string"}));
        assert_eq!(refused(&json!({"$defs": definitions})), SchemaFault::TooManyValues);

        let mut chain = serde_json::Map::new();
        for level in 0..30 {
            chain.insert(format!("l{level}"), json!({"$ref": format!("#/$defs/l{}", level + 1)}));
        }
        chain.insert("l30".into(), json!({}));
        assert_eq!(refused(&json!({"$defs": chain})), SchemaFault::LongChain);
    }

    #[test]
    fn size_depth_and_count_are_bounded() {
        let long = json!({"description": "x".repeat(limits::SCHEMA_BYTES)});
        assert!(matches!(refused(&long), SchemaFault::TooLarge { .. }));
        let fits = json!({"description": "x".repeat(limits::SCHEMA_BYTES - 18)});
        assert_eq!(fits.to_string().len(), limits::SCHEMA_BYTES);
        assert!(OutputSchema::compile(&fits).is_ok());

        let nested = |levels| (1..levels).fold(json!({}), |inner, _| json!({"not": inner}));
        assert!(OutputSchema::compile(&nested(limits::SCHEMA_DEPTH)).is_ok());
        assert_eq!(refused(&nested(limits::SCHEMA_DEPTH + 1)), SchemaFault::TooDeep);

        let many = json!({"enum": (0..limits::SCHEMA_VALUES).collect::<Vec<_>>()});
        assert_eq!(refused(&many), SchemaFault::TooManyValues);

        let pattern = json!({"pattern": "a"});
        let patterns = json!({"allOf": vec![pattern; limits::SCHEMA_PATTERNS + 1]});
        assert_eq!(refused(&patterns), SchemaFault::TooManyPatterns);
        let named: serde_json::Map<_, _> = (0..=limits::SCHEMA_PATTERNS)
            .map(|number| (format!("^{number}"), json!({})))
            .collect();
        let patterns = json!({ "patternProperties": named });
        assert_eq!(refused(&patterns), SchemaFault::TooManyPatterns);
    }

    #[test]
    fn what_is_no_schema_says_where() {
        assert_eq!(refused(&json!(true)), SchemaFault::NotAnObject);
        assert_eq!(refused(&json!([])), SchemaFault::NotAnObject);
        let SchemaFault::Invalid { at, .. } = refused(&json!({"properties": {"a": {"type": "strnig"}}})) else {
            panic!("not refused as invalid");
        };
        assert_eq!(at, "/properties/a/type");
        assert!(matches!(refused(&json!({"pattern": "("})), SchemaFault::Invalid { .. }));
    }

    #[test]
    fn a_regular_expression_takes_little_room_and_no_backtracking() {
        for (pattern, taken) in [
            ("^\\w{1,8}-[0-9]+$", true),
            ("\\p{L}{120}", false),
            ("(\\w{900}){900}", false),
            ("(a)\\1", false),
            ("a(?=b)", false),
        ] {
            let schema = OutputSchema::compile(&json!({ "pattern": pattern }));
            assert_eq!(schema.is_ok(), taken, "{pattern}");
            let named = OutputSchema::compile(&json!({"patternProperties": {pattern: {}}}));
            assert_eq!(named.is_ok(), taken, "{pattern}");
        }
    }
}
