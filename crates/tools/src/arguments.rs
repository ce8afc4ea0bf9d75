//! Reading what the model wrote as arguments: one JSON object, then one type. Knows no tool.

use std::collections::HashSet;
use std::fmt;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::tool::BadArguments;

/// Longest text of arguments, in bytes.
const LONGEST: usize = 4 * 1024 * 1024;

/// Deepest nesting of objects and lists, the outermost object counted.
const DEEPEST: usize = 64;

/// Reads the text of a call's arguments: one JSON object, no key twice at any depth, nested at most
/// 64 deep, at most 4 MiB. Blank text counts as an empty object.
pub fn parse_arguments(text: &str) -> Result<Value, BadArguments> {
    if text.len() > LONGEST {
        return Err(BadArguments(format!(
            "the arguments are {} bytes long and at most {LONGEST} are taken: make several smaller calls.",
            text.len()
        )));
    }
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict { depth: 1 }
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value));
    match value {
        Ok(Value::Object(object)) => Ok(Value::Object(object)),
        Ok(other) => Err(BadArguments(format!(
            "the arguments must be one JSON object such as {{\"path\": \"src/main.rs\"}}; this is {}.",
            kind(&other)
        ))),
        Err(error) => Err(BadArguments(format!(
            "the arguments cannot be read as JSON: {error}. Write one complete JSON object, each key once."
        ))),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Reads a value, refusing what a lenient reader would silently settle.
struct Strict {
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Strict {
    fn inner<E: Error>(&self) -> Result<Strict, E> {
        if self.depth > DEEPEST {
            return Err(E::custom(format_args!("nested more than {DEEPEST} deep")));
        }
        Ok(Strict { depth: self.depth + 1 })
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number is out of range"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        self.inner::<A::Error>()?;
        let mut list = Vec::new();
        while let Some(element) = sequence.next_element_seed(self.inner()?)? {
            list.push(element);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        self.inner::<A::Error>()?;
        let mut object = Map::new();
        let mut keys = HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if !keys.insert(key.clone()) {
                return Err(A::Error::custom(format_args!(
                    "the key {key:?} stands twice in one object"
                )));
            }
            object.insert(key, entries.next_value_seed(self.inner()?)?);
        }
        Ok(Value::Object(object))
    }
}

/// Reads arguments as a tool's own type. The error names what is wrong and where, what the tool
/// takes, and an example.
pub(crate) fn read<T: DeserializeOwned + JsonSchema>(
    tool: &str,
    example: &str,
    arguments: &Value,
) -> Result<T, BadArguments> {
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." {
            String::new()
        } else {
            format!("`{path}`: ")
        };
        BadArguments(format!(
            "{tool} cannot take these arguments: {place}{}. It takes {}. Example: {example}",
            error.into_inner(),
            signature(&schema::<T>()),
        ))
    })
}

/// The JSON Schema of a type, without what a model does not need.
pub(crate) fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    trim(&mut schema);
    schema
}

/// Drops titles of types, formats, defaults and the alternative `null` of optional fields.
fn trim(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            for noise in ["$schema", "format", "default"] {
                object.remove(noise);
            }
            if object.get("title").is_some_and(Value::is_string) {
                object.remove("title");
            }
            without_null(object);
            for (key, part) in object.iter_mut() {
                match (key.as_str(), part) {
                    ("properties", Value::Object(properties)) => properties.values_mut().for_each(trim),
                    (_, part) => trim(part),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(trim),
        _ => {}
    }
}

fn without_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|one| one != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|one| !one.is_null());
    }
    let Some(Value::Array(alternatives)) = object.get_mut("anyOf") else {
        return;
    };
    alternatives.retain(|one| one.get("type").is_none_or(|kind| kind != "null"));
    if let [Value::Object(only)] = alternatives.as_slice() {
        let only = only.clone();
        object.remove("anyOf");
        for (key, value) in only {
            object.entry(key).or_insert(value);
        }
    }
}

/// The fields of an object schema in one line: `path: string, recursive?: boolean`.
fn signature(schema: &Value) -> String {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let fields: Vec<String> = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, field)| {
            let mark = if required.contains(&name.as_str()) { "" } else { "?" };
            format!("{name}{mark}: {}", wanted(field))
        })
        .collect();
    if fields.is_empty() {
        "no arguments".to_owned()
    } else {
        fields.join(", ")
    }
}

fn wanted(field: &Value) -> String {
    if let Some(words) = field.get("enum").and_then(Value::as_array) {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        return words.join("|");
    }
    match field.get("type").and_then(Value::as_str) {
        Some("array") => format!(
            "list of {}",
            field.get("items").map_or_else(|| "anything".to_owned(), wanted)
        ),
        Some(kind) => kind.to_owned(),
        None => "anything".to_owned(),
    }
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
