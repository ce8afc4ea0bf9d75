//! What may happen: modes, the one capability table, and its projections on every layer.
//! Pure: no clock, no randomness, no file, no environment, no runtime.
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::disallowed_types
    )
)]

mod built_in;
mod call;
mod canonical;
mod capability;
mod containment;
mod contract;
mod decision;
mod effect;
mod hosts;
mod judge;
mod line;
mod matter;
mod mode;
mod names;
pub mod paths;
mod profile;
mod prompt;
mod rules;
mod spec;
mod surface;
mod tool;

pub use built_in::{BuiltIn, defaults, never_let_through};
pub use call::{ProposedCall, Target};
pub use canonical::{canonical, digest, names_digest, short_digest};
pub use capability::{AllowList, Capability, narrow};
pub use containment::{Containment, Network, Posture};
pub use contract::{
    AtStop, Conclusion, Ending, ErrorFamily, Liveness, Next, Outcome, Status, conclude, when_model_stops,
};
pub use decision::{Answer, Ask, Decision, DecisionRecord, Judged, Layer, Permit, Question, Refusal, Weight};
pub use effect::{Effect, EffectSet};
pub use hosts::{
    HostDecision, HostGate, SHIPPED_HOSTS, ThreadReach, host_key, host_of_page, hosts_of_remote, page_key, parse_host,
    parse_pattern, urls_in,
};
pub use judge::{foreign_shell, judge, weights};
pub use line::{Found, LinePlace, LineReading, Shown, Unseen};
pub use mode::{Mode, ModeChoiceRefused, UnresolvedMode, after_approval, without_space};
pub use profile::{ADAPTER_READS, Profile, profile, read_only_capability};
pub use prompt::{ModelView, model_view};
pub use rules::{Reach, RememberedRule, Rule, RuleRefused, RuleText, Scope, Verdict};
pub use spec::{
    Approver, Autonomy, Cause, Inspection, NoInspection, Role, RunRecipe, RunSpec, RunSpecRefused, WallsStanding,
    run_spec,
};
pub use surface::{Absence, NotInSurface, Surface};
pub use tool::{Built, Descriptor, ForeignTool, NoDescriptor, Tier, descriptor, descriptors};
