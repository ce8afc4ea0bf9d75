//! A revision of a plan as a terminal shows it before somebody decides about it.
//!
//! Everything the digest covers is shown. Our own lines never hold words of the plan, and each line of
//! the plan stands behind a bar. This file must not know how a decision is made.

use std::fmt::Write as _;

use super::comment::{Comment, Place};
use super::content::Node;
use super::revision::{Base, RevisionContent, revision_digest};
use super::status::PlanStatus;
use crate::text::{NARROWEST, framed, printable};

const BAR: &str = "  │ ";

/// The text for a terminal of `width` columns. Comments whose words are gone are shown as such.
pub fn show(revision: &RevisionContent, status: PlanStatus, comments: &[Comment], width: usize) -> String {
    let mut page = Page {
        out: String::new(),
        width,
    };
    page.head(revision, status);
    let content = revision.content.content();
    page.part("Goal", &content.goal);
    page.line(&format!(
        "Steps ({}), in the order they can be done",
        content.nodes.len()
    ));
    for (place, node) in revision.content.in_order().into_iter().enumerate() {
        page.step(place + 1, node);
    }
    if !content.checks.is_empty() {
        page.line("Checks at the end");
        page.each(&content.checks);
    }
    for asked in &content.clarifications {
        page.part("Asked", &asked.question);
        page.part("Answered", &asked.answer);
    }
    for comment in comments {
        page.comment(comment, comment.place(&revision.content));
    }
    page.out
}

struct Page {
    out: String,
    width: usize,
}

impl Page {
    fn head(&mut self, revision: &RevisionContent, status: PlanStatus) {
        let digest = revision_digest(revision);
        let plan = printable(&revision.plan);
        self.line(&format!("Plan {plan} · revision {} · {status}", revision.revision));
        self.line(&format!("digest {}", digest.short()));
        self.line(&format!("       {digest}"));
        self.line(&starting_point(&revision.base));
        for (agent, agent_revision) in &revision.agents {
            let (agent, agent_revision) = (printable(agent), printable(agent_revision));
            self.line(&format!("agent {agent} at revision {agent_revision}"));
        }
    }

    fn step(&mut self, number: usize, node: &Node) {
        let mut head = format!("{number}. {} · {}", node.key, node.kind);
        if !node.depends_on.is_empty() {
            let needed: Vec<&str> = node.depends_on.iter().map(super::StepKey::as_str).collect();
            // Writing into a string cannot fail.
            let _ = write!(head, " · after {}", needed.join(", "));
        }
        if node.priority != super::Priority::None {
            let _ = write!(head, " · priority {}", node.priority);
        }
        self.line(&head);
        self.framed(&node.title);
        if !node.description.trim().is_empty() {
            self.part("  what to do", &node.description);
        }
        if let Some(role) = &node.role {
            self.part("  role", role);
        }
        match node.files.as_deref() {
            None => {}
            Some([]) => self.line("  files: none"),
            Some(files) => {
                self.line("  files");
                self.each(files);
            }
        }
        if let Some(acceptance) = &node.acceptance {
            self.part("  done when", acceptance);
        }
        if let Some(schema) = &node.output_schema {
            self.part("  hands back (JSON Schema)", &format!("{schema:#}"));
        }
        for provenance in &node.provenance {
            let trust = if provenance.trusted {
                "seen"
            } else {
                "not seen by Stance"
            };
            self.part(
                &format!("  comes from the {} ({trust})", provenance.kind),
                &provenance.reference,
            );
        }
    }

    fn comment(&mut self, comment: &Comment, place: Place) {
        let about = match &comment.node {
            Some(key) => format!("step {key}"),
            None => "the plan".to_owned(),
        };
        let gone = match place {
            Place::Found => "",
            Place::QuoteGone => "; the quoted words are gone",
            Place::NodeGone => "; the step is gone",
        };
        let (id, author) = (printable(&comment.id), printable(&comment.author));
        self.line(&format!("Comment {id} by {author} on {about}{gone}"));
        if let Some(quote) = &comment.quote {
            self.part("  about the words", quote);
            self.line("  says");
        }
        self.framed(&comment.text);
    }

    fn part(&mut self, heading: &str, text: &str) {
        self.line(heading);
        self.framed(text);
    }

    fn each(&mut self, texts: &[String]) {
        for text in texts {
            self.framed(text);
        }
    }

    fn framed(&mut self, text: &str) {
        self.out.push_str(&framed(text, BAR, self.width));
    }

    /// One line of ours: it holds our words, keys, numbers and ids only. It is broken here rather than
    /// by the terminal, so that no key begins a line.
    fn line(&mut self, line: &str) {
        let mut used = 0;
        for character in line.chars() {
            if used >= self.width.max(NARROWEST) {
                self.out.push_str("\n    ");
                used = 4;
            }
            self.out.push(character);
            used += if character.is_ascii() { 1 } else { 2 };
        }
        self.out.push('\n');
    }
}

fn starting_point(base: &Base) -> String {
    let mut line = match &base.commit {
        Some(commit) => format!("starts from commit {}", printable(commit)),
        None => "starts from a repository without a commit".to_owned(),
    };
    if let Some(tree) = &base.snapshot_tree {
        let _ = write!(line, " + uncommitted changes (tree {})", printable(tree));
    }
    line
}
