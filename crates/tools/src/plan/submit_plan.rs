//! `submit_plan`: the delivery of plan mode. The shape shown to the model stands here; what is read
//! is the draft itself.

use std::borrow::Cow;

use modes::ProposedCall;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::Value;
use work::plan::PlanDraft;

use crate::scope::Scope;
use crate::tool::{BadArguments, Then, ToolResult};
use crate::typed::{Around, TypedTool, settled};

/// A draft, shown to the model by `Shape`.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct Arguments(PlanDraft);

impl JsonSchema for Arguments {
    fn schema_name() -> Cow<'static, str> {
        "Plan".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Shape::json_schema(generator)
    }
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
struct Shape {
    /// What shall be true when the plan is carried out.
    goal: String,
    /// 1 to 64 steps.
    nodes: Vec<Node>,
    /// Shell lines that show whether the goal is reached.
    checks: Option<Vec<String>>,
    /// What you asked and were told.
    clarifications: Option<Vec<Clarification>>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
struct Node {
    /// Unique: letters, digits, `-`, `_`.
    key: String,
    /// One line.
    title: String,
    /// What to do, in words; little code.
    description: Option<String>,
    /// Keys of steps that must be done before.
    depends_on: Option<Vec<String>>,
    kind: Kind,
    /// Who should do it.
    role: Option<String>,
    /// Globs: the only files it writes without asking.
    files: Option<Vec<String>>,
    /// How to see that it is done.
    acceptance: Option<String>,
    /// JSON Schema of what it hands back, without references to other documents.
    output_schema: Option<Value>,
    priority: Option<Priority>,
    /// Where it comes from.
    provenance: Option<Vec<Provenance>>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum Kind {
    Work,
    Research,
    Discussion,
    Synthesis,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum Priority {
    None,
    Low,
    Medium,
    High,
    Urgent,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
struct Provenance {
    kind: ProvenanceKind,
    /// The symbol, path, message or question.
    #[schemars(rename = "ref")]
    reference: String,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum ProvenanceKind {
    Symbol,
    File,
    Message,
    Goal,
    Answer,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
struct Clarification {
    question: String,
    answer: String,
}

pub(crate) struct SubmitPlan;

impl TypedTool for SubmitPlan {
    const NAME: &'static str = "submit_plan";
    const DESCRIPTION: &'static str = "Delivers the plan for approval and ends the run: a goal and steps with dependencies. The only way a plan comes to exist; submit again to revise.";
    const EXAMPLE: &'static str = r#"{"goal": "Prices round half up", "nodes": [{"key": "fix", "title": "Round half up", "kind": "work", "files": ["src/price.rs"], "acceptance": "cargo test passes"}], "checks": ["cargo test"]}"#;
    type Arguments = Arguments;
    type Ready = PlanDraft;

    fn prepare(
        Arguments(draft): Arguments,
        call: ProposedCall,
        _: &Scope,
    ) -> Result<(ProposedCall, PlanDraft), BadArguments> {
        Ok((call, draft))
    }

    async fn act(draft: PlanDraft, around: Around<'_>) -> ToolResult {
        settled(around.desk.submit_plan(around.call_id, draft).await.map(|receipt| {
            match serde_json::to_string(&receipt) {
                Ok(receipt) => ToolResult::text(receipt).then(Then::Delivered),
                Err(error) => ToolResult::error(format!("the receipt of the plan cannot be written: {error}")),
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{read, schema};

    fn names(schema: &Value) -> Vec<String> {
        let mut names: Vec<String> = schema["properties"].as_object().unwrap().keys().cloned().collect();
        names.sort();
        names
    }

    fn fields(value: &Value) -> Vec<String> {
        let mut names: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
        names.sort();
        names
    }

    #[test]
    fn the_shape_shown_is_the_draft_that_is_read() {
        let shown = schema::<Arguments>();
        let draft = serde_json::to_value(PlanDraft {
            nodes: vec![work::plan::NodeDraft {
                provenance: vec![work::plan::ProvenanceDraft::default()],
                ..Default::default()
            }],
            clarifications: vec![work::plan::Clarification::default()],
            ..Default::default()
        })
        .unwrap();
        assert_eq!(names(&shown), fields(&draft));
        let node = &shown["properties"]["nodes"]["items"];
        assert_eq!(names(node), fields(&draft["nodes"][0]));
        let provenance = &node["properties"]["provenance"]["items"];
        // The model's own claim of trust is read and never believed, so it is not invited.
        let mut of_draft = fields(&draft["nodes"][0]["provenance"][0]);
        of_draft.retain(|name| name != "trusted");
        assert_eq!(names(provenance), of_draft);
        assert_eq!(shown["required"], serde_json::json!(["goal", "nodes"]));
    }

    #[test]
    fn an_unknown_field_of_a_step_is_named_with_its_place() {
        let arguments = serde_json::json!({"goal": "g", "nodes": [{"key": "a", "titel": "t"}]});
        let refused = read::<Arguments>("submit_plan", SubmitPlan::EXAMPLE, &arguments)
            .err()
            .unwrap()
            .0;
        assert!(refused.contains("nodes[0]") && refused.contains("titel"), "{refused}");
    }
}
