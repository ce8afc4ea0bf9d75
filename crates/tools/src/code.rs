//! The outline of source files. What parses foreign text with C libraries stands in a process of its own
//! inside walls; what comes back from it is numbers.

mod apart;
mod language;
mod list_code_definition_names;
mod outline;

pub use apart::outline_if_asked;
pub(crate) use list_code_definition_names::ListCodeDefinitionNames;
