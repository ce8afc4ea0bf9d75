//! One model request, streamed: the answer or the failure ends up in the journal, whole.

use std::time::Duration;

use futures_util::StreamExt as _;
use llm::{ErrorKind, ModelError, Part, Request, Response};
use modes::ErrorFamily;

use super::{Flow, settle};
use crate::active::{Active, words};
use crate::fact::Fact;
use crate::problem::Problem;
use crate::view::FeedItem;

/// Whoever asks to wait longer than this is not waited for: the person decides.
const LONGEST_PAUSE: Duration = Duration::from_mins(15);

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The next piece of the conversation.
    Answer,
    /// The words that are to stand for the conversation.
    Summary,
}

/// How a request came to its end.
pub(super) enum Asked {
    /// Answered.
    Answered(Response),
    /// It does not fit the window of the model.
    Overflowed,
    /// Neither, and this becomes of the run.
    Halted(Flow),
}

/// Asks the model for what comes next. None: the answer is in the state.
pub(super) async fn sample(run: &mut Active, request: Request) -> Result<Option<Flow>, Problem> {
    match ask(run, request, Purpose::Answer).await? {
        Asked::Answered(response) => {
            run.record(vec![Fact::Responded { response }]).await?;
            Ok(None)
        }
        // The next turn compacts, or says that this does not help.
        Asked::Overflowed => Ok(Some(Flow::Goes)),
        Asked::Halted(flow) => Ok(Some(flow)),
    }
}

/// Asks the model, again after passing faults.
pub(super) async fn ask(run: &mut Active, request: Request, purpose: Purpose) -> Result<Asked, Problem> {
    let mut request = request;
    loop {
        let size = request.size().total();
        run.record(vec![Fact::Requested {
            turn: run.state.requests + 1,
            hash: hash(&request),
            bytes: size.bytes,
            tokens: size.tokens,
            mode: run.spec.mode().stored().to_owned(),
            model: words(&run.chosen.settings),
        }])
        .await?;
        let answer = tokio::select! {
            answer = listen(run, request.clone(), purpose) => answer,
            () = run.stop.cancelled() => return settle::cancel(run).await.map(Asked::Halted),
        };
        let mut error = match answer {
            Ok(response) => return Ok(Asked::Answered(response)),
            Err(error) => error,
        };
        let attempt = run.state.failures_in_row + 1;
        let pause = pause(run, attempt, &error);
        let passing = error.kind.retryable() && attempt <= run.inner.config.limits.retries;
        let again = passing && pause <= LONGEST_PAUSE;
        if purpose == Purpose::Summary {
            // The beginning of a summary is asked for again, whole.
            error.partial.blocks.clear();
        }
        let cut = !error.partial.blocks.is_empty();
        run.record(vec![Fact::RequestFailed {
            failure: error.kind.to_string(),
            message: error.message.clone(),
            status: error.status,
            attempt,
            cursor: error.cursor.clone(),
            partial: error.partial.blocks.clone(),
            usage: error.partial.usage,
        }])
        .await?;
        if error.kind == ErrorKind::ContextOverflow {
            return Ok(Asked::Overflowed);
        }
        if !again {
            let message = if passing {
                format!("{} (asked to wait for {})", error.message, shown(pause))
            } else {
                error.message
            };
            return settle::fail(run, family(error.kind), message).await.map(Asked::Halted);
        }
        run.inner.notice(format!(
            "{} ({}); trying again in {}, attempt {attempt} of {}",
            error.kind,
            error.message,
            shown(pause),
            run.inner.config.limits.retries
        ));
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = run.stop.cancelled() => return settle::cancel(run).await.map(Asked::Halted),
        }
        if cut {
            request = super::assemble::request(run);
        } else {
            request.cursor.clone_from(&run.state.cursor);
        }
    }
}

async fn listen(run: &Active, request: Request, purpose: Purpose) -> Result<Response, ModelError> {
    let mut parts = run.chosen.model.stream(request);
    while let Some(part) = parts.next().await {
        match part? {
            Part::Text(piece) if purpose == Purpose::Answer => {
                run.inner.journal.show(FeedItem::Text {
                    run: run.state.start.run.clone(),
                    piece,
                });
            }
            Part::Done(response) => return Ok(response),
            Part::Text(_) | Part::Thinking(_) | Part::CallStarted { .. } | Part::CallArguments { .. } => {}
        }
    }
    Err(ModelError::new(ErrorKind::Dropped, "the answer ended without an end"))
}

/// Doubling from the first pause, spread by a fourth from the run's own id so that runs do not
/// knock together; what the provider asks for wins.
fn pause(run: &Active, attempt: u32, error: &ModelError) -> Duration {
    if let Some(asked) = error.retry_after {
        return asked;
    }
    let doubled = run
        .inner
        .config
        .limits
        .retry_pause_ms
        .saturating_mul(1 << attempt.min(8).saturating_sub(1));
    let spread = run
        .state
        .start
        .run
        .bytes()
        .fold(0_u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte))
        % 256;
    Duration::from_millis(doubled + doubled * spread / 1024)
}

/// A time in units, such as `1m 30s`.
fn shown(time: Duration) -> String {
    jiff::SignedDuration::try_from(time).map_or_else(|_| "ever".to_owned(), |time| format!("{time:#}"))
}

fn hash(request: &Request) -> String {
    let value = serde_json::json!({
        "system": request.system,
        "tools": request.tools.iter().map(|tool| &tool.name).collect::<Vec<_>>(),
        "messages": request.messages,
        "settings": request.settings,
    });
    modes::digest(&value)
}

fn family(kind: ErrorKind) -> ErrorFamily {
    match kind {
        ErrorKind::RateLimited | ErrorKind::Overloaded | ErrorKind::Server | ErrorKind::Dropped => {
            ErrorFamily::TransientUpstream
        }
        ErrorKind::Auth => ErrorFamily::Auth,
        ErrorKind::Refused => ErrorFamily::Refusal,
        ErrorKind::ContextOverflow => ErrorFamily::ContextOverflow,
        _ => ErrorFamily::Unknown,
    }
}
