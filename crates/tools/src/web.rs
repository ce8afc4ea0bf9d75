//! Pages of the web, one at a time and only read. Knows hosts by the gate of its permit alone.

mod charset;
mod client;
mod markdown;
mod search;
mod web_fetch;
mod web_search;

use std::sync::Arc;

use modes::descriptor;

use self::web_search::WebSearch;
use crate::tool::{Tool, Toolbox};
use crate::typed::TypedTool as _;

pub use search::{SEARCH_ENGINES, Search, SearchEngine};
pub(crate) use web_fetch::WebFetch;

/// The toolbox with the search of the web, for who chose an engine.
#[must_use]
pub fn with_search(toolbox: &Toolbox) -> Toolbox {
    let search: Arc<dyn Tool> = Arc::new(WebSearch);
    toolbox.with(toolbox.built().clone().with(descriptor(WebSearch::NAME)), [search])
}
