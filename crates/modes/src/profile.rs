//! The one table. What each mode guarantees stands here once; every layer is projected from it.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::capability::{AllowList, Capability};
use crate::containment::{Network, Posture};
use crate::effect::{Effect, EffectSet};
use crate::mode::{Kind, Mode};
use crate::tool::{Tier, descriptors};

/// What a mode is, whole.
#[derive(Debug, Clone, Serialize)]
pub struct Profile {
    /// The name people see beside the badge.
    pub label: &'static str,
    /// One sentence: what a run in this mode is for.
    pub intent: &'static str,
    /// What a run in it delivers.
    pub deliverable: &'static str,
    /// The mode verbs it owns.
    pub verbs: &'static [&'static str],
    /// The verb that must succeed before a run is done.
    pub required: Option<&'static str>,
    /// The verb that asks to leave the mode.
    pub exit: Option<&'static str>,
    /// What may happen.
    pub capability: Capability,
    /// How to work well in it; the end of the prompt block.
    pub guidance: &'static str,
    /// The one reminder when the required verb is missing.
    pub nudge: &'static str,
    /// What the thread shows when it stays missing.
    pub unmet: &'static str,
    /// Minutes of silence after which an outside agent counts as stalled.
    pub silence_limit_minutes: u32,
    /// Whether a person can choose it.
    pub selectable: bool,
}

/// The effects every read-only mode refuses: all but the two that research needs.
const REFUSED: EffectSet = EffectSet::all_but(&[Effect::NetworkEgress, Effect::SecretAccess]);

fn mutators() -> BTreeSet<&'static str> {
    descriptors()
        .iter()
        .filter(|row| row.mutates_worktree)
        .map(|row| row.name)
        .collect()
}

fn read_only(allow: &[&'static str]) -> Capability {
    Capability {
        max_tier: Tier::Write,
        allow: AllowList::Only(allow.iter().copied().collect()),
        deny: mutators(),
        refused: REFUSED,
        worktree: Posture::ReadOnly,
        network: Network::None,
        inspection: true,
    }
}

/// The capability part of plan mode: what every read-only helper, research step and
/// read-only-once run is narrowed by.
pub fn read_only_capability() -> Capability {
    profile(Mode(Kind::Plan)).capability
}

/// The profile of a mode. Total: every mode has one.
pub fn profile(mode: Mode) -> Profile {
    match mode.0 {
        Kind::Chat => Profile {
            label: "Agent",
            intent: "Do the work the person asks for, in this checkout.",
            deliverable: "result",
            verbs: &["act_mode_respond", "attempt_completion"],
            required: None,
            exit: None,
            capability: Capability {
                max_tier: Tier::Exec,
                allow: AllowList::Everything,
                deny: BTreeSet::new(),
                refused: EffectSet::EMPTY,
                worktree: Posture::Writable,
                network: Network::EgressGate,
                inspection: false,
            },
            guidance: "Read before you change. Keep each change small and check it by running what the \
                       project runs. When a call is refused, read the reason and take another way; \
                       do not repeat it.",
            nudge: "",
            unmet: "",
            silence_limit_minutes: 15,
            selectable: true,
        },
        Kind::Review => Profile {
            label: "Review (read-only)",
            intent: "Read a change and report findings and a verdict. Nothing is repaired here.",
            deliverable: "review",
            verbs: &[
                "get_review",
                "list_review_nodes",
                "add_review_node",
                "update_review_node",
                "confirm_review_node",
                "dismiss_review_node",
                "resolve_review_node",
                "report_axis",
                "finalize_review",
            ],
            required: None,
            exit: None,
            capability: read_only(&[
                "create_ticket",
                "update_ticket",
                "comment_on_ticket",
                "close_ticket",
                "fail_ticket",
                "assign_ticket",
                "link_tickets",
            ]),
            guidance: "Report what you can show in the code, each finding once, at its place. Say how \
                       sure you are. A repair may be described; it is never made here.",
            nudge: "",
            unmet: "",
            silence_limit_minutes: 10,
            selectable: false,
        },
        Kind::Plan => Profile {
            label: "Plan (read-only)",
            intent: "Find out what has to be done and deliver it as a typed plan. Nothing is changed here.",
            deliverable: "plan",
            verbs: &["submit_plan", "exit_plan_mode", "plan_mode_respond"],
            required: Some("submit_plan"),
            exit: Some("exit_plan_mode"),
            capability: read_only(&["update_ticket", "comment_on_ticket", "close_ticket", "fail_ticket"]),
            guidance: "Read the code that matters before you plan. Make each step small enough to be \
                       checked: name its files, what it depends on and how one sees that it is done. \
                       Name the commands that prove the whole. Write steps in words, not as code.",
            nudge: "Nothing exists until `submit_plan` succeeds. Call it now with the plan; or, if this \
                    needs no plan, call `plan_mode_respond` with `no_plan_needed: true` and one sentence why.",
            unmet: "Ended without submitting a plan (no `submit_plan` call).",
            silence_limit_minutes: 10,
            selectable: true,
        },
        Kind::Orchestrate => Profile {
            label: "Orchestrate (read-only)",
            intent: "Find out who should do what and propose it as a team plan. Nothing is changed here.",
            deliverable: "proposal",
            verbs: &["propose_orchestration", "decline_orchestration"],
            required: Some("propose_orchestration"),
            exit: None,
            capability: read_only(&["propose_orchestration"]),
            guidance: "Split the work so that each role can do its part alone. Give every part an owner, \
                       its dependencies and a budget.",
            nudge: "Nothing exists until `propose_orchestration` succeeds. Call it now; or, if this needs \
                    no team, call `decline_orchestration` with one sentence why.",
            unmet: "Ended without proposing a team (no `propose_orchestration` call).",
            silence_limit_minutes: 15,
            selectable: true,
        },
    }
}

/// Read-tier names that an outside agent may be served in a read-only mode, besides its verbs.
pub const ADAPTER_READS: &[&str] = &[
    "read_file",
    "list_files",
    "search_files",
    "list_code_definition_names",
    "git_read",
    "web_fetch",
    "web_search",
    "ask_user",
    "update_todo",
    "submit_output",
    "send_message",
    "get_messages",
    "search_messages",
    "get_ticket",
    "list_tickets",
    "list_agents",
    "list_repos",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::descriptor;

    #[test]
    fn every_listed_name_has_a_descriptor() {
        for mode in Mode::all() {
            let profile = profile(mode);
            let mut names: Vec<&str> = profile.verbs.to_vec();
            names.extend(profile.required);
            names.extend(profile.exit);
            names.extend(profile.capability.deny.iter());
            if let AllowList::Only(allow) = &profile.capability.allow {
                names.extend(allow.iter());
            }
            for name in names {
                assert!(descriptor(name).is_some(), "{mode}: {name}");
            }
        }
        for name in ADAPTER_READS {
            assert_eq!(descriptor(name).map(|row| row.tier), Some(Tier::Read), "{name}");
        }
    }

    #[test]
    fn a_tool_above_read_tier_is_listed_or_says_why_not() {
        for row in descriptors().iter().filter(|row| row.tier > Tier::Read) {
            let listed = Mode::all().into_iter().map(profile).any(|profile| {
                profile.capability.deny.contains(row.name)
                    || matches!(&profile.capability.allow, AllowList::Only(names) if names.contains(row.name))
            });
            assert_ne!(listed, row.unlisted.is_some(), "{}", row.name);
        }
    }

    #[test]
    fn required_and_exit_verbs_are_owned() {
        for mode in Mode::all() {
            let profile = profile(mode);
            for verb in profile.required.iter().chain(profile.exit.iter()) {
                assert!(profile.verbs.contains(verb), "{mode}: {verb}");
            }
            assert_eq!(profile.required.is_some(), !profile.nudge.is_empty(), "{mode}");
            assert_eq!(profile.required.is_some(), !profile.unmet.is_empty(), "{mode}");
        }
    }

    #[test]
    fn read_only_modes_refuse_eleven_effects_and_hold_no_mutator() {
        for mode in Mode::all()
            .into_iter()
            .filter(|mode| *mode != crate::mode::after_approval())
        {
            let capability = profile(mode).capability;
            assert_eq!(capability.refused.iter().count(), 11, "{mode}");
            assert!(!capability.refused.contains(Effect::NetworkEgress));
            assert!(!capability.refused.contains(Effect::SecretAccess));
            assert!(capability.deny.contains("apply_patch"), "{mode}");
            assert_eq!(capability.worktree, Posture::ReadOnly);
            assert_eq!(capability.network, Network::None);
        }
    }
}
