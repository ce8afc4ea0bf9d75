//! A tool with typed arguments, from which the port of tools follows. The typed arguments travel
//! with what was opened from the proposal to the act inside the call itself.

use std::future::Future;

use futures_util::future::BoxFuture;
use modes::{HostGate, Permit, ProposedCall, Target};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::arguments::{read, schema};
use crate::desk::{Desk, DeskRefusal};
use crate::scope::Scope;
use crate::tool::{BadArguments, Incoming, Tool, ToolResult};

/// What surrounds an act.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    /// The provider's id of the call.
    pub(crate) call_id: &'a str,
    /// What it acts on, as judged.
    pub(crate) targets: &'a [Target],
    /// The hosts it may reach.
    pub(crate) hosts: &'a HostGate,
    /// Where it acts.
    pub(crate) scope: &'a Scope,
    /// The engine's side.
    pub(crate) desk: &'a dyn Desk,
}

/// A tool as its family writes it.
pub(crate) trait TypedTool: Send + Sync + 'static {
    /// A row of the table of tools.
    const NAME: &'static str;
    /// When to use it.
    const DESCRIPTION: &'static str;
    /// Arguments as an example, for errors.
    const EXAMPLE: &'static str;
    /// Its arguments.
    type Arguments: DeserializeOwned + JsonSchema;
    /// Its arguments with all it opened.
    type Ready: Send + 'static;

    /// Opens what the call acts on and adds targets and effects to the call.
    fn prepare(
        arguments: Self::Arguments,
        call: ProposedCall,
        scope: &Scope,
    ) -> Result<(ProposedCall, Self::Ready), BadArguments>;

    /// Performs the call.
    fn act(ready: Self::Ready, around: Around<'_>) -> impl Future<Output = ToolResult> + Send;
}

impl<T: TypedTool> Tool for T {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn description(&self) -> &str {
        T::DESCRIPTION
    }

    fn schema(&self) -> Value {
        schema::<T::Arguments>()
    }

    fn propose(&self, incoming: Incoming, scope: &Scope) -> Result<ProposedCall, BadArguments> {
        let Incoming {
            descriptor,
            call_id,
            arguments,
        } = incoming;
        let typed = read::<T::Arguments>(T::NAME, T::EXAMPLE, &arguments)?;
        let (call, ready) = T::prepare(typed, ProposedCall::new(descriptor, call_id, arguments), scope)?;
        Ok(call.with_handle(ready))
    }

    fn execute<'a>(&'a self, mut permit: Permit, scope: &'a Scope, desk: &'a dyn Desk) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let Some(ready) = permit.take_handle::<T::Ready>() else {
                return ToolResult::error(format!(
                    "{} was not prepared by its own proposal; nothing was done.",
                    T::NAME
                ));
            };
            T::act(
                ready,
                Around {
                    call_id: permit.call_id(),
                    targets: permit.targets(),
                    hosts: permit.hosts(),
                    scope,
                    desk,
                },
            )
            .await
        })
    }
}

/// The result of a call the desk may refuse.
pub(crate) fn settled(result: Result<ToolResult, DeskRefusal>) -> ToolResult {
    result.unwrap_or_else(|DeskRefusal(why)| ToolResult::error(why))
}
