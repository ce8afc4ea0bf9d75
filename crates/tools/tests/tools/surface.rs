//! The tools as a whole: their names, order, schemas and size.

use modes::{Approver, Autonomy, Inspection, Mode, Role, RunRecipe, WallsStanding, descriptor, descriptors, run_spec};
use stance_tools::{canonical_name, toolbox};

const BUILT: [&str; 23] = [
    "read_file",
    "list_files",
    "search_files",
    "list_code_definition_names",
    "git_read",
    "git_write",
    "write_to_file",
    "replace_in_file",
    "apply_patch",
    "execute_command",
    "inspect_command",
    "web_fetch",
    "ask_user",
    "plan_mode_respond",
    "act_mode_respond",
    "attempt_completion",
    "submit_plan",
    "exit_plan_mode",
    "submit_output",
    "update_todo",
    "condense",
    "new_task",
    "use_skill",
];

#[test]
fn every_built_tool_has_its_row_in_order() {
    let tools = toolbox().unwrap();
    let names: Vec<&str> = tools.built().rows().iter().map(|row| row.name).collect();
    assert_eq!(names, BUILT);
    for row in descriptors() {
        assert_eq!(tools.find(row).is_some(), BUILT.contains(&row.name), "{}", row.name);
    }
}

#[test]
fn a_taught_name_leads_to_the_one_in_the_table() {
    assert_eq!(canonical_name("ask_followup_question"), "ask_user");
    for name in BUILT {
        assert_eq!(canonical_name(name), name);
    }
    assert_eq!(canonical_name("ask_user_question"), "ask_user_question");
}

#[test]
fn schemas_are_closed_objects_without_noise() {
    let tools = toolbox().unwrap();
    for name in BUILT {
        let tool = tools.find(descriptor(name).unwrap()).unwrap();
        let schema = tool.schema();
        assert_eq!(schema["type"], "object", "{name}");
        assert_eq!(schema["additionalProperties"], false, "{name}");
        let text = schema.to_string();
        for noise in [
            "$schema",
            "$defs",
            "$ref",
            "\"format\"",
            "\"null\"",
            "\"default\"",
            "\"title\":\"",
        ] {
            assert!(!text.contains(noise), "{name} has {noise}: {text}");
        }
        let sentences = tool.description().matches(['.', '?', '!']).count();
        assert!(
            tool.description().len() > 40 && sentences <= 4,
            "{name}: {}",
            tool.description()
        );
    }
}

#[test]
fn what_plan_mode_tells_a_model_is_small() {
    let tools = toolbox().unwrap();
    let recipe = RunRecipe {
        mode: Mode::chosen("plan").unwrap(),
        chain: Vec::new(),
        role: Role::Main,
        read_only_once: false,
        autonomy: Autonomy::ActWithApproval,
        approver: Approver::Person,
        walls: WallsStanding::Proven,
        inspection: Inspection::On,
        rules: Vec::new(),
        hosts: Vec::new(),
        answers: Vec::new(),
    };
    let spec = run_spec(recipe, tools.built()).unwrap();
    let surface = spec.surface();
    let size: usize = surface
        .tools()
        .iter()
        .map(|row| {
            let tool = tools.find(row).unwrap();
            row.name.len() + tool.description().len() + tool.schema().to_string().len()
        })
        .sum();
    assert!(surface.tools().iter().any(|row| row.name == "submit_plan"));
    assert!(!surface.tools().iter().any(|row| row.name == "write_to_file"));
    assert!(size < 12 * 1024, "{size} bytes");
}
