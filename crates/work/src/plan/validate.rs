//! The rules a plan must keep. Every broken one is found in one pass.
//!
//! It must not know who wrote the plan: a model's submission, an operator's edit and an imported file
//! are held to the same rules.

use std::collections::{BTreeMap, BTreeSet};

use super::content::{Node, NodeKind, PlanContent, Priority, Provenance, ProvenanceKind, StepKey, ValidPlan, is_plain};
use super::draft::{NodeDraft, PlanDraft};
use super::fences::fenced_lines;
use super::limits;
use super::schema::OutputSchema;
use super::violation::{FileFault, StepLabel, Violation};
use crate::graph::Dependencies;

/// A plan without faults, or all its faults. Dependencies named twice are kept once, and no
/// provenance is trusted (see [`ValidPlan::with_trust`]).
pub fn validate(draft: PlanDraft) -> Result<ValidPlan, Vec<Violation>> {
    let found = violations(&draft);
    if !found.is_empty() {
        return Err(found);
    }
    let nodes = draft.nodes.into_iter().map(typed).collect::<Result<_, _>>()?;
    Ok(ValidPlan::proven(PlanContent {
        goal: draft.goal,
        nodes,
        checks: draft.checks,
        clarifications: draft.clarifications,
    }))
}

/// Every rule the draft breaks: the plan's first, then each step's in turn, then the graph's.
pub(super) fn violations(draft: &PlanDraft) -> Vec<Violation> {
    let mut found = Found(Vec::new());
    found.plan(draft);
    for (place, node) in draft.nodes.iter().enumerate() {
        found.node(&label(place, node), node);
    }
    found.keys(draft);
    found.graph(draft);
    found.0
}

fn label(place: usize, node: &NodeDraft) -> StepLabel {
    StepLabel {
        number: place + 1,
        key: node.key.clone(),
    }
}

struct Found(Vec<Violation>);

impl Found {
    fn plan(&mut self, draft: &PlanDraft) {
        if draft.goal.trim().is_empty() {
            self.0.push(Violation::EmptyGoal);
        }
        self.bytes("the goal", &draft.goal, limits::GOAL_BYTES);
        if draft.nodes.is_empty() {
            self.0.push(Violation::NoSteps);
        } else if draft
            .nodes
            .iter()
            .all(|node| NodeKind::from_word(&node.kind).is_some_and(|kind| kind != NodeKind::Work))
        {
            self.0.push(Violation::NoWorkStep);
        }
        if draft.nodes.len() > limits::STEPS {
            self.0.push(Violation::TooManySteps {
                count: draft.nodes.len(),
            });
        }
        self.count("checks", draft.checks.len(), limits::CHECKS);
        for (place, check) in draft.checks.iter().enumerate() {
            let what = format!("check number {}", place + 1);
            self.bytes(&what, check, limits::CHECK_BYTES);
            self.not_blank(&what, check);
        }
        self.count("clarifications", draft.clarifications.len(), limits::CLARIFICATIONS);
        for (place, clarification) in draft.clarifications.iter().enumerate() {
            let number = place + 1;
            let question = format!("the question of clarification number {number}");
            let answer = format!("the answer of clarification number {number}");
            self.bytes(&question, &clarification.question, limits::CLARIFICATION_BYTES);
            self.not_blank(&question, &clarification.question);
            self.bytes(&answer, &clarification.answer, limits::CLARIFICATION_BYTES);
        }
        let lines = fenced_lines(&draft.goal)
            + draft.checks.iter().map(|check| fenced_lines(check)).sum::<usize>()
            + draft
                .clarifications
                .iter()
                .map(|asked| fenced_lines(&asked.question) + fenced_lines(&asked.answer))
                .sum::<usize>()
            + draft.nodes.iter().map(fenced_lines_of).sum::<usize>();
        if lines > limits::FENCED_LINES_PLAN {
            self.0.push(Violation::FencedPlan { lines });
        }
    }

    fn node(&mut self, step: &StepLabel, node: &NodeDraft) {
        if node.title.trim().is_empty() {
            self.0.push(Violation::EmptyTitle { step: step.clone() });
        }
        self.characters(&format!("{step}: the title"), &node.title, limits::TITLE_CHARACTERS);
        self.bytes(
            &format!("{step}: the description"),
            &node.description,
            limits::DESCRIPTION_BYTES,
        );
        if let Some(role) = &node.role {
            self.characters(&format!("{step}: the role"), role, limits::ROLE_CHARACTERS);
        }
        if let Some(acceptance) = &node.acceptance {
            self.bytes(&format!("{step}: the acceptance"), acceptance, limits::ACCEPTANCE_BYTES);
        }
        self.words(step, node);
        self.files(step, node.files.as_deref().unwrap_or_default());
        if let Some(schema) = &node.output_schema
            && let Err(fault) = OutputSchema::compile(schema)
        {
            self.0.push(Violation::OutputSchema {
                step: step.clone(),
                fault,
            });
        }
        let lines = fenced_lines_of(node);
        if lines > limits::FENCED_LINES_STEP {
            self.0.push(Violation::FencedStep {
                step: step.clone(),
                lines,
            });
        }
    }

    fn words(&mut self, step: &StepLabel, node: &NodeDraft) {
        if NodeKind::from_word(&node.kind).is_none() {
            self.0.push(Violation::UnknownKind {
                step: step.clone(),
                word: node.kind.clone(),
            });
        }
        if let Some(word) = &node.priority
            && Priority::from_word(word).is_none()
        {
            self.0.push(Violation::UnknownPriority {
                step: step.clone(),
                word: word.clone(),
            });
        }
        self.count(
            &format!("{step}: provenance"),
            node.provenance.len(),
            limits::PROVENANCE,
        );
        for provenance in &node.provenance {
            if ProvenanceKind::from_word(&provenance.kind).is_none() {
                self.0.push(Violation::UnknownProvenance {
                    step: step.clone(),
                    word: provenance.kind.clone(),
                });
            }
            let what = format!("{step}: a provenance reference");
            self.bytes(&what, &provenance.reference, limits::PROVENANCE_BYTES);
        }
    }

    fn files(&mut self, step: &StepLabel, files: &[String]) {
        self.count(&format!("{step}: files"), files.len(), limits::FILES);
        for file in files {
            if let Some(fault) = file_fault(file) {
                self.0.push(Violation::File {
                    step: step.clone(),
                    file: file.clone(),
                    fault,
                });
            }
        }
    }

    fn keys(&mut self, draft: &PlanDraft) {
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        for (place, node) in draft.nodes.iter().enumerate() {
            let number = place + 1;
            let key = node.key.as_str();
            if key.trim().is_empty() {
                self.0.push(Violation::BlankKey { number });
                continue;
            }
            let step = label(place, node);
            let characters = key.chars().count();
            if characters > limits::KEY_CHARACTERS {
                self.0.push(Violation::LongKey {
                    step: step.clone(),
                    characters,
                });
            }
            if !is_plain(key) {
                self.0.push(Violation::MalformedKey { step });
            }
            if let Some(&first) = first.get(key) {
                self.0.push(Violation::DuplicateKey {
                    key: key.to_owned(),
                    first,
                    number,
                });
            } else {
                first.insert(key, number);
            }
        }
    }

    /// Dependencies; cycles only where every name means one step, for otherwise the cycle found may
    /// not be the one that was written.
    fn graph(&mut self, draft: &PlanDraft) {
        let places: BTreeMap<&str, usize> = draft
            .nodes
            .iter()
            .enumerate()
            .map(|(place, node)| (node.key.as_str(), place))
            .collect();
        let mut sound = places.len() == draft.nodes.len() && !places.keys().any(|key| key.trim().is_empty());
        let mut needs = Vec::with_capacity(draft.nodes.len());
        for (place, node) in draft.nodes.iter().enumerate() {
            let mut needed = Vec::new();
            for dependency in node.depends_on.iter().collect::<BTreeSet<_>>() {
                let step = label(place, node);
                match places.get(dependency.as_str()) {
                    None => {
                        sound = false;
                        let dependency = dependency.clone();
                        self.0.push(Violation::UnknownDependency { step, dependency });
                    }
                    Some(_) if *dependency == node.key => {
                        sound = false;
                        self.0.push(Violation::SelfDependency { step });
                    }
                    Some(&before) => needed.push(before),
                }
            }
            needs.push(needed);
        }
        if !sound {
            return;
        }
        for cycle in Dependencies::new(&needs).cycles() {
            let keys = cycle
                .into_iter()
                .filter_map(|place| draft.nodes.get(place))
                .map(|node| node.key.clone())
                .collect();
            self.0.push(Violation::Cycle { keys });
        }
    }

    fn bytes(&mut self, what: &str, text: &str, limit: usize) {
        self.length(what, text.len(), limit, "bytes");
    }

    fn characters(&mut self, what: &str, text: &str, limit: usize) {
        self.length(what, text.chars().count(), limit, "characters");
    }

    fn length(&mut self, what: &str, length: usize, limit: usize, unit: &'static str) {
        if length > limit {
            let what = what.to_owned();
            self.0.push(Violation::TooLong {
                what,
                length,
                limit,
                unit,
            });
        }
    }

    fn count(&mut self, what: &str, count: usize, limit: usize) {
        if count > limit {
            self.0.push(Violation::TooMany {
                what: what.to_owned(),
                count,
                limit,
            });
        }
    }

    fn not_blank(&mut self, what: &str, text: &str) {
        if text.trim().is_empty() {
            self.0.push(Violation::Blank { what: what.to_owned() });
        }
    }
}

fn fenced_lines_of(node: &NodeDraft) -> usize {
    fenced_lines(&node.title) + fenced_lines(&node.description) + node.acceptance.as_deref().map_or(0, fenced_lines)
}

/// Both kinds of slash are read as separators, so that no entry means something else on another
/// system.
fn file_fault(file: &str) -> Option<FileFault> {
    let drive = matches!(file.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    if file.trim().is_empty() {
        Some(FileFault::Empty)
    } else if file.len() > limits::FILE_BYTES {
        Some(FileFault::Long)
    } else if file.chars().any(char::is_control) {
        Some(FileFault::Control)
    } else if file.starts_with(['/', '\\']) || drive {
        Some(FileFault::Absolute)
    } else if file.split(['/', '\\']).any(|part| part == "..") {
        Some(FileFault::Upward)
    } else {
        None
    }
}

/// A node whose words were all found good. The errors repeat what the rules would have said.
fn typed(draft: NodeDraft) -> Result<Node, Vec<Violation>> {
    let step = StepLabel {
        number: 0,
        key: draft.key,
    };
    let key = |text: &str| StepKey::parse(text).map_err(|_| vec![Violation::MalformedKey { step: step.clone() }]);
    let mut depends_on: Vec<StepKey> = Vec::new();
    for dependency in &draft.depends_on {
        let dependency = key(dependency)?;
        if !depends_on.contains(&dependency) {
            depends_on.push(dependency);
        }
    }
    let kind = NodeKind::from_word(&draft.kind).ok_or_else(|| {
        vec![Violation::UnknownKind {
            step: step.clone(),
            word: draft.kind.clone(),
        }]
    })?;
    let priority = match draft.priority.as_deref() {
        None => Priority::None,
        Some(word) => Priority::from_word(word).ok_or_else(|| {
            vec![Violation::UnknownPriority {
                step: step.clone(),
                word: word.to_owned(),
            }]
        })?,
    };
    let provenance = draft
        .provenance
        .into_iter()
        .map(|given| match ProvenanceKind::from_word(&given.kind) {
            Some(kind) => Ok(Provenance {
                kind,
                reference: given.reference,
                trusted: false,
            }),
            None => Err(vec![Violation::UnknownProvenance {
                step: step.clone(),
                word: given.kind,
            }]),
        })
        .collect::<Result<_, _>>()?;
    Ok(Node {
        key: key(&step.key)?,
        title: draft.title,
        description: draft.description,
        depends_on,
        kind,
        role: draft.role,
        files: draft.files,
        acceptance: draft.acceptance,
        output_schema: draft.output_schema,
        priority,
        provenance,
    })
}
