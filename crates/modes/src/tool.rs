//! The reviewed table of every tool: its tier and the effects of each of its calls. A tool that is
//! not built yet is in no surface; a tool without a row here cannot be registered at all. The tools of
//! another program have rows of two kinds alone: one that reads, or one with every effect.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::effect::{Effect, EffectSet};

/// How far a tool reaches. The order is the ceiling's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Changes nothing outside the local store.
    Read,
    /// Writes files of the worktree or records of the workspace.
    Write,
    /// Starts programs or changes repositories.
    Exec,
}

/// One row of the table. Compared by identity: two rows are the same tool only when they are the
/// same row.
#[derive(Debug, Serialize)]
pub struct Descriptor {
    /// The name the model calls.
    pub name: &'static str,
    /// How far it reaches.
    pub tier: Tier,
    /// Effects of EVERY call; a call may add more.
    pub effects: EffectSet,
    /// Whether it exists only with a throw-away view.
    pub needs_inspection: bool,
    /// Whether calls of one response may run together.
    pub parallel: bool,
    /// Whether it writes files of the worktree.
    pub mutates_worktree: bool,
    /// The table of settings that it needs.
    pub setting: Option<&'static str>,
    /// Why a tool above read tier stands on no allow-list.
    pub unlisted: Option<&'static str>,
}

impl PartialEq for Descriptor {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}
impl Eq for Descriptor {}

const fn row(name: &'static str, tier: Tier, effects: &[Effect]) -> Descriptor {
    Descriptor {
        name,
        tier,
        effects: EffectSet::of(effects),
        needs_inspection: false,
        parallel: false,
        mutates_worktree: false,
        setting: None,
        unlisted: None,
    }
}

const fn read(name: &'static str) -> Descriptor {
    Descriptor {
        parallel: true,
        ..row(name, Tier::Read, &[])
    }
}

const fn verb(name: &'static str) -> Descriptor {
    row(name, Tier::Read, &[])
}

const fn mutator(name: &'static str) -> Descriptor {
    Descriptor {
        mutates_worktree: true,
        ..row(name, Tier::Write, &[])
    }
}

const fn ticket(name: &'static str) -> Descriptor {
    row(name, Tier::Write, &[])
}

const fn agent_only(mut descriptor: Descriptor, why: &'static str) -> Descriptor {
    descriptor.unlisted = Some(why);
    descriptor
}

static TABLE: &[Descriptor] = &[
    read("read_file"),
    read("list_files"),
    read("search_files"),
    read("list_code_definition_names"),
    read("git_read"),
    agent_only(row("git_write", Tier::Exec, &[]), "changes the repository"),
    mutator("write_to_file"),
    mutator("replace_in_file"),
    mutator("apply_patch"),
    agent_only(
        row("create_pull_request", Tier::Exec, &[Effect::PrCreate, Effect::GitPush]),
        "changes the repository and the forge",
    ),
    agent_only(
        row("execute_command", Tier::Exec, &[Effect::ProcessSpawn]),
        "runs any program",
    ),
    Descriptor {
        needs_inspection: true,
        ..row("inspect_command", Tier::Read, &[])
    },
    Descriptor {
        parallel: true,
        ..row("web_fetch", Tier::Read, &[Effect::NetworkEgress])
    },
    Descriptor {
        parallel: true,
        setting: Some("[search]"),
        ..row("web_search", Tier::Read, &[Effect::NetworkEgress])
    },
    agent_only(
        row(
            "browser_action",
            Tier::Exec,
            &[Effect::ProcessSpawn, Effect::NetworkEgress],
        ),
        "acts on live pages",
    ),
    row("read_mcp_resource", Tier::Read, &[]),
    row("load_mcp_documentation", Tier::Read, &[]),
    row("ask_user", Tier::Read, &[]),
    verb("plan_mode_respond"),
    verb("act_mode_respond"),
    verb("attempt_completion"),
    verb("submit_plan"),
    verb("exit_plan_mode"),
    row("propose_orchestration", Tier::Write, &[]),
    verb("decline_orchestration"),
    verb("get_review"),
    verb("list_review_nodes"),
    verb("add_review_node"),
    verb("update_review_node"),
    verb("confirm_review_node"),
    verb("dismiss_review_node"),
    verb("resolve_review_node"),
    verb("report_axis"),
    verb("finalize_review"),
    agent_only(
        row("publish_review", Tier::Write, &[Effect::PrPublish]),
        "publishing is an act of its own, never part of a review",
    ),
    row("update_todo", Tier::Read, &[]),
    row("condense", Tier::Read, &[]),
    row("new_task", Tier::Read, &[]),
    read("use_skill"),
    row("use_subagents", Tier::Read, &[]),
    read("generate_explanation"),
    ticket("create_ticket"),
    ticket("update_ticket"),
    ticket("comment_on_ticket"),
    ticket("close_ticket"),
    ticket("fail_ticket"),
    ticket("link_tickets"),
    ticket("assign_ticket"),
    read("get_ticket"),
    read("list_tickets"),
    read("list_agents"),
    read("list_repos"),
    read("get_messages"),
    read("search_messages"),
    row("send_message", Tier::Read, &[]),
    row("submit_output", Tier::Read, &[]),
    agent_only(
        row("delegate_task", Tier::Write, &[Effect::ProcessSpawn]),
        "starts work of another agent",
    ),
    agent_only(
        row("hire_agent", Tier::Write, &[Effect::WorkspaceMutation]),
        "changes who works here",
    ),
    agent_only(
        row("update_agent", Tier::Write, &[Effect::WorkspaceMutation]),
        "changes who works here",
    ),
    agent_only(
        row("fire_agent", Tier::Write, &[Effect::WorkspaceMutation]),
        "changes who works here",
    ),
];

/// Every tool there is, in the order of the table.
pub fn descriptors() -> &'static [Descriptor] {
    TABLE
}

/// The row of a name.
pub fn descriptor(name: &str) -> Option<&'static Descriptor> {
    TABLE.iter().find(|row| row.name == name)
}

/// A tool of an MCP server, as far as it matters to what may happen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ForeignTool {
    /// The server: ASCII letters, digits, `-` and single `_` within, at most 32.
    pub server: String,
    /// The tool, as its server calls it.
    pub tool: String,
    /// Whether it only reads: its server says so, and the operator believes the server.
    pub reads: bool,
}

/// Longest name of a tool that providers take.
const LONGEST_NAME: usize = 64;

/// Characters of the digest that tells a changed name from others that would read alike.
const TOLD_APART_BY: usize = 8;

impl ForeignTool {
    /// The name the model calls: `mcp__SERVER__TOOL`. One that is too long, or has characters no
    /// provider takes, is changed, and ends with a digest of what it was.
    pub fn name(&self) -> String {
        let whole = format!("mcp__{}__{}", self.server, self.tool);
        let taken = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if whole.len() <= LONGEST_NAME && whole.chars().all(taken) {
            return whole;
        }
        let digest = crate::digest(&serde_json::json!([self.server, self.tool]));
        let start: String = whole
            .chars()
            .map(|c| if taken(c) { c } else { '_' })
            .take(LONGEST_NAME - TOLD_APART_BY - 1)
            .collect();
        let end: String = digest.chars().take(TOLD_APART_BY).collect();
        format!("{start}-{end}")
    }

    /// Its row, made at its first use and then always the same.
    pub fn row(&self) -> &'static Descriptor {
        static MADE: Mutex<BTreeMap<(String, bool), &'static Descriptor>> = Mutex::new(BTreeMap::new());
        let name = self.name();
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        made.entry((name.clone(), self.reads)).or_insert_with(|| {
            let name: &'static str = name.leak();
            Box::leak(Box::new(if self.reads {
                row(name, Tier::Read, &[])
            } else {
                Descriptor {
                    mutates_worktree: true,
                    unlisted: Some("another program does whatever it does"),
                    ..row(name, Tier::Exec, &Effect::ALL)
                }
            }))
        })
    }
}

/// The tools that are built, in registration order: what a surface is computed over.
#[derive(Debug, Clone, Default)]
pub struct Built(Vec<&'static Descriptor>);

/// A tool was registered without a row in the table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tool {name} has no row in the table of tools")]
pub struct NoDescriptor {
    /// The name registered.
    pub name: String,
}

impl Built {
    /// Takes the names of built tools in registration order; the first wins a name clash.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Built, NoDescriptor> {
        let mut rows: Vec<&'static Descriptor> = Vec::new();
        for name in names {
            let row = descriptor(name).ok_or_else(|| NoDescriptor { name: name.to_owned() })?;
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
        Ok(Built(rows))
    }

    /// Every row of the table counts as built: what the documentation is rendered from.
    pub fn everything() -> Built {
        Built(TABLE.iter().collect())
    }

    /// The same, and further rows that only some runs have. The first wins a name clash.
    #[must_use]
    pub fn with(mut self, rows: impl IntoIterator<Item = &'static Descriptor>) -> Built {
        for row in rows {
            if !self.0.iter().any(|known| known.name == row.name) {
                self.0.push(row);
            }
        }
        self
    }

    /// The rows in registration order.
    pub fn rows(&self) -> &[&'static Descriptor] {
        &self.0
    }

    /// Whether the tool is built.
    pub fn contains(&self, descriptor: &Descriptor) -> bool {
        self.0.contains(&descriptor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn foreign(server: &str, tool: &str, reads: bool) -> ForeignTool {
        ForeignTool {
            server: server.to_owned(),
            tool: tool.to_owned(),
            reads,
        }
    }

    #[test]
    fn a_foreign_name_is_kept_where_it_can_be_and_told_apart_where_not() {
        assert_eq!(
            foreign("forge", "create_issue", false).name(),
            "mcp__forge__create_issue"
        );
        let long = ["a", "b"].map(|last| foreign("forge", &format!("{}{last}", "x".repeat(80)), false).name());
        let odd = ["a b", "a/b", "a\u{200c}b"].map(|tool| foreign("forge", tool, false).name());
        for name in long.iter().chain(&odd) {
            assert!(name.len() <= 64 && name.is_ascii(), "{name}");
            assert!(name.starts_with("mcp__forge__"), "{name}");
        }
        let apart: std::collections::BTreeSet<_> = long.iter().chain(&odd).collect();
        assert_eq!(apart.len(), 5);
    }

    #[test]
    fn a_foreign_tool_reads_or_has_every_effect() {
        let reads = foreign("forge", "get", true).row();
        assert_eq!((reads.tier, reads.effects), (Tier::Read, EffectSet::EMPTY));
        let acts = foreign("forge", "get", false).row();
        assert_eq!((acts.tier, acts.effects), (Tier::Exec, EffectSet::of(&Effect::ALL)));
        assert_ne!(reads, acts);
        assert_eq!(acts, foreign("forge", "get", false).row());
    }

    #[test]
    fn a_foreign_tool_takes_the_name_of_no_other() {
        let built = Built::new(["read_file"])
            .unwrap()
            .with([true, false].map(|reads| foreign("forge", "get", reads).row()));
        let rows: Vec<_> = built.rows().iter().map(|row| (row.name, row.tier)).collect();
        assert_eq!(rows, [("read_file", Tier::Read), ("mcp__forge__get", Tier::Read)]);
    }
}
