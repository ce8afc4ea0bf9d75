//! What going on in a long thread costs when the mode or the model is another one: said before the first
//! request, because no provider keeps what another mode or model has read.

use llm::{Price, Request, Usage};

use crate::active::{Active, words};
use crate::fact::{Fact, SwitchPrice};
use crate::problem::Problem;

/// Tokens from which a conversation is large enough to be spoken of.
const LARGE: u64 = 20_000;

/// Says what the first request of a run costs anew, where that is much.
pub(super) async fn before_first(run: &mut Active, request: &Request) -> Result<(), Problem> {
    if run.state.requests > 0 || run.state.priced {
        return Ok(());
    }
    if let Some(price) = price(run, request) {
        run.record(vec![Fact::SwitchPriced(price)]).await?;
    }
    Ok(())
}

fn price(run: &Active, request: &Request) -> Option<SwitchPrice> {
    let (before, now) = (run.previous.as_ref()?, &run.state.start);
    let settings = &run.chosen.settings;
    if before.recipe.mode == now.recipe.mode && before.model == *settings {
        return None;
    }
    let tokens = request.size().total().tokens;
    let read = Usage {
        input: tokens,
        ..Usage::default()
    };
    (tokens >= LARGE).then(|| SwitchPrice {
        from_mode: before.recipe.mode.stored().to_owned(),
        from_model: words(&before.model),
        to_mode: now.recipe.mode.stored().to_owned(),
        to_model: words(settings),
        tokens,
        usd: Price::at(&settings.provider, &settings.model).map(|price| price.of(&read)),
    })
}
