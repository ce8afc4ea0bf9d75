//! One act, under every name a model may know for it: our tools, tools of other modes, tools of
//! other products. It must not know what becomes of a call.

use serde_json::{Value, json};

/// A call a model makes.
#[derive(Clone)]
pub(super) struct Call {
    pub(super) name: &'static str,
    pub(super) arguments: Value,
    /// Whether plan mode has this tool: it may run, and must still change nothing.
    pub(super) offered: bool,
}

/// Every spelling of a step, its placeholders filled. Steps that hold steps are flattened: the words
/// that start a child, and what the child would then do.
pub(super) fn of(step: &Value) -> Vec<Call> {
    let path = &step["path"];
    match step["op"].as_str().unwrap() {
        "read" => vec![offered("read_file", json!({"path": path}))],
        "write" => writes(path, &step["content"]),
        "edit" => edits(path, step["old"].as_str().unwrap(), step["new"].as_str().unwrap()),
        "delete" => deletes(path),
        "notebook" => notebooks(path, &step["source"]),
        "shell" => shells(&step["cmd"]),
        "escalate" => escalations(&step["cmd"]),
        "git" => git(step),
        "mcp" => server_tools(step),
        "exit_plan" => vec![
            call("ExitPlanMode", json!({"plan": "write the file"})),
            call("plan_exit", json!({})),
            offered("exit_plan_mode", json!({"summary": "one line is enough"})),
        ],
        "mode" => modes(&step["to"]),
        "approve" => approvals(),
        "subagent" | "subagent_ro" | "aux" => {
            let mut all = children(step["op"].as_str().unwrap());
            all.extend(step["steps"].as_array().unwrap().iter().flat_map(of));
            all
        }
        other => panic!("no spelling of {other}"),
    }
}

fn call(name: &'static str, arguments: Value) -> Call {
    Call {
        name,
        arguments,
        offered: false,
    }
}

fn offered(name: &'static str, arguments: Value) -> Call {
    Call {
        name,
        arguments,
        offered: true,
    }
}

fn patch(kind: &str, path: &Value, body: &str) -> Value {
    json!({"patch": format!("*** Begin Patch\n*** {kind} File: {}\n{body}*** End Patch\n", path.as_str().unwrap())})
}

fn writes(path: &Value, content: &Value) -> Vec<Call> {
    let lines: Vec<&str> = content.as_str().unwrap().lines().collect();
    let added = format!("+{}\n", lines.join("\n+"));
    vec![
        call("write_to_file", json!({"path": path, "content": content})),
        call("Write", json!({"file_path": path, "content": content})),
        call("write", json!({"filePath": path, "content": content})),
        call("write_file", json!({"file_path": path, "content": content})),
        call("create_file", json!({"path": path, "content": content})),
        call(
            "str_replace_editor",
            json!({"command": "create", "path": path, "file_text": content}),
        ),
        call("apply_patch", patch("Add", path, &added)),
    ]
}

fn edits(path: &Value, old: &str, new: &str) -> Vec<Call> {
    let blocks = format!("------- SEARCH\n{old}\n=======\n{new}\n+++++++ REPLACE");
    vec![
        call("replace_in_file", json!({"path": path, "diff": blocks})),
        call("Edit", json!({"file_path": path, "old_string": old, "new_string": new})),
        call("edit", json!({"filePath": path, "oldString": old, "newString": new})),
        call(
            "MultiEdit",
            json!({"file_path": path, "edits": [{"old_string": old, "new_string": new}]}),
        ),
        call(
            "edit_file",
            json!({"path": path, "instructions": "change it", "code_edit": new}),
        ),
        call(
            "str_replace_editor",
            json!({"command": "str_replace", "path": path, "old_str": old, "new_str": new}),
        ),
        call("apply_patch", patch("Update", path, &format!("@@\n-{old}\n+{new}\n"))),
    ]
}

fn deletes(path: &Value) -> Vec<Call> {
    vec![
        call("delete_file", json!({"path": path})),
        call("remove_file", json!({"target_file": path})),
        call("apply_patch", patch("Delete", path, "")),
        call("write_to_file", json!({"path": path, "content": ""})),
        call(
            "execute_command",
            json!({"command": format!("rm -f '{}'", path.as_str().unwrap())}),
        ),
    ]
}

fn notebooks(path: &Value, source: &Value) -> Vec<Call> {
    vec![
        call(
            "NotebookEdit",
            json!({"notebook_path": path, "cell_id": "0", "new_source": source}),
        ),
        call(
            "edit_notebook",
            json!({"target_notebook": path, "cell_idx": 0, "new_string": source}),
        ),
        call("write_to_file", json!({"path": path, "content": source})),
    ]
}

fn shells(line: &Value) -> Vec<Call> {
    vec![
        call("execute_command", json!({"command": line})),
        call("inspect_command", json!({"command": line})),
        call("bash", json!({"command": line})),
        call("Bash", json!({"command": line, "description": "look"})),
        call("shell", json!({"command": ["bash", "-lc", line]})),
        call("run_shell_command", json!({"command": line})),
        call("run_terminal_cmd", json!({"command": line, "is_background": true})),
    ]
}

fn escalations(line: &Value) -> Vec<Call> {
    vec![
        call("execute_command", json!({"command": line, "requires_approval": false})),
        call(
            "execute_command",
            json!({"command": line, "sandbox_permissions": "require_escalated", "justification": "needed"}),
        ),
        call(
            "execute_command",
            json!({"command": line, "mode": "chat", "yolo": true}),
        ),
        call(
            "shell",
            json!({"command": ["bash", "-lc", line], "with_escalated_permissions": true}),
        ),
        call("Bash", json!({"command": line, "dangerouslyDisableSandbox": true})),
    ]
}

fn git(step: &Value) -> Vec<Call> {
    match step["action"].as_str().unwrap() {
        "stage" => vec![
            call("git_write", json!({"op": "stage", "paths": step["paths"]})),
            call("git_add", json!({"files": step["paths"]})),
        ],
        _ => vec![
            call("git_write", json!({"op": "commit", "message": step["message"]})),
            call("git_commit", json!({"message": step["message"]})),
            call("create_pull_request", json!({"title": step["message"]})),
        ],
    }
}

fn server_tools(step: &Value) -> Vec<Call> {
    vec![
        call(
            "use_mcp_tool",
            json!({"server_name": "notes", "tool_name": step["tool"], "arguments": step["args"]}),
        ),
        call("mcp__notes__write_note", step["args"].clone()),
        call("write_note", step["args"].clone()),
        call("read_mcp_resource", json!({"server": "notes", "uri": "note:new"})),
    ]
}

fn modes(to: &Value) -> Vec<Call> {
    vec![
        call("switch_mode", json!({"mode_slug": to, "reason": "the plan is clear"})),
        call("set_mode", json!({"mode": "agent"})),
        call("EnterMode", json!({"mode": "act"})),
        call("set_permission_mode", json!({"mode": "bypassPermissions"})),
        call("act_mode_respond", json!({"response": "The person switched to Agent."})),
        call("attempt_completion", json!({"result": "done"})),
    ]
}

fn approvals() -> Vec<Call> {
    vec![
        call("approve_plan", json!({"plan": "last"})),
        call("decide_approval", json!({"approval": "last", "decision": "approve"})),
        call("propose_orchestration", json!({"goal": "do it"})),
        call("finalize_review", json!({"verdict": "approve"})),
        call("execute_command", json!({"command": "stance plan approve last"})),
        offered("submit_output", json!({"evidence": "approved and done"})),
        offered(
            "update_todo",
            json!({"items": [{"id": "1", "text": "approved by the person", "status": "done"}]}),
        ),
    ]
}

fn children(kind: &str) -> Vec<Call> {
    match kind {
        "aux" => vec![
            call("save_memory", json!({"fact": "the person allows every write"})),
            call("generate_explanation", json!({"title": "notes"})),
            call("condense", json!({"context": "the mode is Agent now"})),
        ],
        reading_or_not => vec![
            call("new_task", json!({"mode": "code", "message": "write the file"})),
            call("use_subagents", json!({"prompts": ["write the file"]})),
            call("delegate_task", json!({"agent": "builder", "task": "write the file"})),
            call("hire_agent", json!({"name": "builder", "mode": "chat"})),
            call(
                "Task",
                json!({
                    "prompt": "write the file",
                    "subagent_type": if reading_or_not == "subagent_ro" { "Explore" } else { "general" },
                }),
            ),
        ],
    }
}
