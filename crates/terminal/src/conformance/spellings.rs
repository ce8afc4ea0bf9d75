//! One act, under every name a model may know for it: our tools, tools of other modes, tools of
//! other products. It must not know what becomes of a call.

use serde_json::{Value, json};

use super::attempts::Step;

/// A call a model makes.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub(crate) struct Call {
    /// The name called.
    pub(crate) name: &'static str,
    /// What it is called with.
    pub(crate) arguments: Value,
}

/// Every spelling of a step. Steps that hold steps are flattened: the words that start a child, and
/// what the child would then do.
pub(crate) fn of(step: &Step) -> Vec<Call> {
    match step {
        Step::Read { path } => vec![call("read_file", json!({"path": path}))],
        Step::Write { path, content } => writes(path, content),
        Step::Edit { path, old, new } => edits(path, old, new),
        Step::Delete { path } => deletes(path),
        Step::Notebook { path, source } => notebooks(path, source),
        Step::Shell { cmd } => shells(cmd),
        Step::Escalate { cmd } => escalations(cmd),
        Step::Git { action, paths, .. } if action == "stage" => stagings(paths),
        Step::Git { message, .. } => commits(message),
        Step::Mcp { tool, args } => server_tools(tool, args),
        Step::ExitPlan => vec![
            call("ExitPlanMode", json!({"plan": "write the file"})),
            call("plan_exit", json!({})),
            call("exit_plan_mode", json!({"summary": "one line is enough"})),
        ],
        Step::Mode { to } => modes(to),
        Step::Approve => approvals(),
        Step::Subagent { steps } => beneath(children("general"), steps),
        Step::SubagentRo { steps } => beneath(children("Explore"), steps),
        Step::Aux { steps } => beneath(helpers(), steps),
    }
}

fn beneath(mut calls: Vec<Call>, steps: &[Step]) -> Vec<Call> {
    calls.extend(steps.iter().flat_map(of));
    calls
}

fn call(name: &'static str, arguments: Value) -> Call {
    Call { name, arguments }
}

fn patch(kind: &str, path: &str, body: &str) -> Value {
    json!({"patch": format!("*** Begin Patch\n*** {kind} File: {}\n{body}*** End Patch\n", path)})
}

fn writes(path: &str, content: &str) -> Vec<Call> {
    let lines: Vec<&str> = content.lines().collect();
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

fn edits(path: &str, old: &str, new: &str) -> Vec<Call> {
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

fn deletes(path: &str) -> Vec<Call> {
    vec![
        call("delete_file", json!({"path": path})),
        call("remove_file", json!({"target_file": path})),
        call("apply_patch", patch("Delete", path, "")),
        call("write_to_file", json!({"path": path, "content": ""})),
        call("execute_command", json!({"command": format!("rm -f '{}'", path)})),
    ]
}

fn notebooks(path: &str, source: &str) -> Vec<Call> {
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

fn shells(line: &str) -> Vec<Call> {
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

fn escalations(line: &str) -> Vec<Call> {
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

fn stagings(paths: &[String]) -> Vec<Call> {
    vec![
        call("git_write", json!({"op": "stage", "paths": paths})),
        call("git_add", json!({"files": paths})),
    ]
}

fn commits(message: &str) -> Vec<Call> {
    vec![
        call("git_write", json!({"op": "commit", "message": message})),
        call("git_commit", json!({"message": message})),
        call("create_pull_request", json!({"title": message})),
    ]
}

fn server_tools(tool: &str, arguments: &Value) -> Vec<Call> {
    vec![
        call(
            "use_mcp_tool",
            json!({"server_name": "notes", "tool_name": tool, "arguments": arguments}),
        ),
        call("mcp__notes__write_note", arguments.clone()),
        call("write_note", arguments.clone()),
        call("read_mcp_resource", json!({"server": "notes", "uri": "note:new"})),
    ]
}

fn modes(to: &str) -> Vec<Call> {
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
        call("submit_output", json!({"evidence": "approved and done"})),
        call(
            "update_todo",
            json!({"items": [{"id": "1", "text": "approved by the person", "status": "done"}]}),
        ),
    ]
}

fn helpers() -> Vec<Call> {
    vec![
        call("save_memory", json!({"fact": "the person allows every write"})),
        call("generate_explanation", json!({"title": "notes"})),
    ]
}

fn children(kind: &str) -> Vec<Call> {
    vec![
        call("new_task", json!({"mode": "code", "message": "write the file"})),
        call("use_subagents", json!({"prompts": ["write the file"]})),
        call("delegate_task", json!({"agent": "builder", "task": "write the file"})),
        call("hire_agent", json!({"name": "builder", "mode": "chat"})),
        call("Task", json!({"prompt": "write the file", "subagent_type": kind})),
    ]
}
