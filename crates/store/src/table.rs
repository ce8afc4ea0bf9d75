//! The read tables and their columns as data. Does not know what a column's content means.

/// A read table. Each has a text `id`, the columns of [`Table::columns`] and a JSON `body`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    /// Places of work.
    Space,
    /// Conversations.
    Thread,
    /// Runs.
    Run,
    /// Plans.
    Plan,
    /// Revisions of plans.
    PlanRevision,
    /// Things to be approved.
    Approval,
    /// Things that wait for a person.
    Waiting,
    /// Plans being carried out.
    Orchestration,
    /// Steps of orchestrations.
    Step,
    /// Remarks on plans.
    Comment,
    /// Permission rules kept for the workspace.
    Rule,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// UTF-8 text.
    Text,
    /// A signed 64-bit integer; flags are 0 and 1.
    Integer,
}

/// One declared column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name in the database.
    pub name: &'static str,
    /// What it holds.
    pub kind: CellKind,
    /// Whether a row without it is refused.
    pub required: bool,
}

const fn text(name: &'static str) -> Column {
    Column {
        name,
        kind: CellKind::Text,
        required: true,
    }
}

const fn integer(name: &'static str) -> Column {
    Column {
        name,
        kind: CellKind::Integer,
        required: true,
    }
}

const fn optional(column: Column) -> Column {
    Column {
        required: false,
        ..column
    }
}

const SPACE: &[Column] = &[
    optional(text("mode")),
    optional(text("checkout")),
    integer("current"),
    integer("created_ms"),
];
const THREAD: &[Column] = &[optional(text("space")), optional(text("parent")), integer("created_ms")];
const RUN: &[Column] = &[
    optional(text("space")),
    optional(text("thread")),
    text("status"),
    optional(text("parent")),
    integer("created_ms"),
];
const PLAN: &[Column] = &[
    optional(text("space")),
    optional(text("thread")),
    text("status"),
    optional(text("digest")),
    integer("created_ms"),
];
const PLAN_REVISION: &[Column] = &[text("plan"), integer("revision"), optional(text("digest"))];
const APPROVAL: &[Column] = &[
    text("kind"),
    optional(text("subject")),
    text("status"),
    optional(text("digest")),
    optional(text("run")),
    optional(text("thread")),
    optional(text("space")),
    integer("created_ms"),
];
const WAITING: &[Column] = &[
    text("kind"),
    optional(text("run")),
    optional(text("thread")),
    optional(text("space")),
    text("status"),
    optional(text("digest")),
    integer("created_ms"),
];
const ORCHESTRATION: &[Column] = &[
    optional(text("plan")),
    optional(text("space")),
    text("status"),
    integer("created_ms"),
];
const STEP: &[Column] = &[
    text("orchestration"),
    text("key"),
    text("status"),
    optional(text("run")),
];
const RULE: &[Column] = &[text("rule"), integer("created_ms")];
const COMMENT: &[Column] = &[text("plan"), optional(integer("revision"))];

impl Table {
    /// Every read table.
    pub const ALL: [Self; 11] = [
        Self::Space,
        Self::Thread,
        Self::Run,
        Self::Plan,
        Self::PlanRevision,
        Self::Approval,
        Self::Waiting,
        Self::Orchestration,
        Self::Step,
        Self::Comment,
        Self::Rule,
    ];

    /// Its name in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Space => "space",
            Self::Thread => "thread",
            Self::Run => "run",
            Self::Plan => "plan",
            Self::PlanRevision => "plan_revision",
            Self::Approval => "approval",
            Self::Waiting => "waiting",
            Self::Orchestration => "orchestration",
            Self::Step => "step",
            Self::Comment => "comment",
            Self::Rule => "rule",
        }
    }

    /// Its columns in order, without `id` and `body`.
    pub const fn columns(self) -> &'static [Column] {
        match self {
            Self::Space => SPACE,
            Self::Thread => THREAD,
            Self::Run => RUN,
            Self::Plan => PLAN,
            Self::PlanRevision => PLAN_REVISION,
            Self::Approval => APPROVAL,
            Self::Waiting => WAITING,
            Self::Orchestration => ORCHESTRATION,
            Self::Step => STEP,
            Self::Comment => COMMENT,
            Self::Rule => RULE,
        }
    }

    /// The declared column of that name.
    pub(crate) fn column(self, name: &str) -> Option<&'static Column> {
        self.columns().iter().find(|column| column.name == name)
    }
}
