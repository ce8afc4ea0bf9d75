//! The tools that exist for one run, and for each other tool the reason why it does not.

use std::fmt;

use serde::Serialize;

use crate::capability::Shut;
use crate::effect::EffectSet;
use crate::mode::Mode;
use crate::profile::profile;
use crate::spec::{NoInspection, RunSpec};
use crate::tool::{Descriptor, descriptors};

/// The projection of a run specification on the table of tools.
#[derive(Debug, Clone)]
pub struct Surface {
    label: String,
    tools: Vec<&'static Descriptor>,
    absent: Vec<(&'static Descriptor, Absence)>,
}

/// Why a tool does not exist for a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    /// Nobody has built it yet.
    NotBuilt,
    /// This table of the person's settings says nothing.
    NotConfigured(&'static str),
    /// It is a verb of these modes.
    VerbOf(Vec<Mode>),
    /// It is a verb of the run's own mode, and a step owns none.
    VerbInStep,
    /// The mode strips it.
    DenyListed,
    /// It reaches further than the mode.
    AboveCeiling,
    /// It changes something and the mode does not list it.
    NotOnAllowList,
    /// Each of its calls has effects the mode refuses.
    RefusedEffect(EffectSet),
    /// It needs a throw-away view and the run has none.
    NoInspection(NoInspection),
}

impl fmt::Display for Absence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Absence::NotBuilt => formatter.write_str("it is not built"),
            Absence::NotConfigured(table) => write!(formatter, "it needs `{table}` in your settings"),
            Absence::VerbOf(modes) => {
                let names: Vec<String> = modes.iter().map(Mode::to_string).collect();
                write!(formatter, "it belongs to {}", names.join(" and "))
            }
            Absence::VerbInStep => formatter.write_str("a step of a plan ends with `submit_output`"),
            Absence::DenyListed => formatter.write_str("it writes the worktree, which is read-only here"),
            Absence::AboveCeiling => formatter.write_str("it reaches further than this mode may"),
            Absence::NotOnAllowList => formatter.write_str("it changes something this mode does not list"),
            Absence::RefusedEffect(effects) => write!(formatter, "it would {}", effects.phrase()),
            Absence::NoInspection(why) => why.fmt(formatter),
        }
    }
}

/// Whether the tool of that name exists for a run, without a look at all others. Where it does not,
/// [`Surface::find`] says why.
pub(crate) fn offers(spec: &RunSpec, name: &str) -> bool {
    let verbs = verbs();
    let mut named = spec.built().rows().iter().filter(|row| row.name == name);
    named.any(|row| standing(spec, &verbs, row).is_ok())
}

impl Surface {
    pub(crate) fn of(spec: &RunSpec) -> Surface {
        let verbs = verbs();
        let standing = |row| standing(spec, &verbs, row);
        let mut tools = Vec::new();
        let mut absent = Vec::new();
        for row in spec.built().rows() {
            match standing(row) {
                Ok(()) => tools.push(*row),
                Err(absence) => absent.push((*row, absence)),
            }
        }
        for row in descriptors().iter().filter(|row| !spec.built().contains(row)) {
            let absence = match standing(row) {
                Err(absence) => absence,
                Ok(()) => row.setting.map_or(Absence::NotBuilt, Absence::NotConfigured),
            };
            absent.push((row, absence));
        }
        Surface {
            label: spec.label(),
            tools,
            absent,
        }
    }

    /// The tools of the run, in registration order.
    pub fn tools(&self) -> &[&'static Descriptor] {
        &self.tools
    }

    /// Every other tool, with its reason.
    pub fn absent(&self) -> &[(&'static Descriptor, Absence)] {
        &self.absent
    }

    /// The tool of that name, or the sentence that the model reads.
    pub fn find(&self, name: &str) -> Result<&'static Descriptor, NotInSurface> {
        if let Some(tool) = self.tools.iter().find(|tool| tool.name == name) {
            return Ok(tool);
        }
        let absent = self.absent.iter().find(|(row, _)| row.name == name);
        let absence = absent.map(|(_, absence)| absence.clone());
        Err(NotInSurface {
            name: name.to_owned(),
            label: self.label.clone(),
            absence,
        })
    }
}

/// A call of a tool that does not exist for the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotInSurface {
    /// The name called.
    pub name: String,
    /// The run's label.
    pub label: String,
    /// Why; none when no tool has the name.
    pub absence: Option<Absence>,
}

impl fmt::Display for NotInSurface {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.absence {
            None => write!(
                formatter,
                "unknown tool {:?}: this run ({}) has no such tool",
                self.name, self.label
            ),
            Some(absence) => {
                write!(
                    formatter,
                    "unknown tool {}: not in {}: {absence}",
                    self.name, self.label
                )
            }
        }
    }
}

/// The verbs of each mode.
type Verbs = [(Mode, &'static [&'static str]); 4];

fn verbs() -> Verbs {
    Mode::all().map(|mode| (mode, profile(mode).verbs))
}

fn standing(spec: &RunSpec, verbs: &Verbs, tool: &'static Descriptor) -> Result<(), Absence> {
    if spec.pinned(tool) {
        return Ok(());
    }
    let owners: Vec<Mode> = verbs
        .iter()
        .filter(|(_, verbs)| verbs.contains(&tool.name))
        .map(|(mode, _)| *mode)
        .collect();
    if owners.contains(&spec.mode()) && !spec.verbs().contains(&tool.name) {
        return Err(Absence::VerbInStep);
    }
    if !owners.is_empty() && !spec.verbs().contains(&tool.name) {
        return Err(Absence::VerbOf(owners));
    }
    spec.capability().admits(tool).map_err(|shut| match shut {
        Shut::DenyListed => Absence::DenyListed,
        Shut::AboveCeiling => Absence::AboveCeiling,
        Shut::NotOnAllowList => Absence::NotOnAllowList,
        Shut::RefusedEffect(effects) => Absence::RefusedEffect(effects),
    })?;
    if tool.needs_inspection {
        spec.inspection().map_err(Absence::NoInspection)?;
    }
    Ok(())
}
