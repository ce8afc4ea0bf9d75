//! `models`: providers, what is known of models, which one a mode has, and asking it for one word. It
//! must not know how a protocol speaks.

use engine::{ModelSource, Problem, ProblemKind};
use futures_util::StreamExt;
use llm::{Block, Effort, ErrorKind, Facts, Message, ModelError, Part, Price, Request, RequestContext, Response};
use modes::Mode;
use serde::Serialize;

use super::named;
use crate::arguments::{ModelArguments, ModelsAct};
use crate::exit::Exit;
use crate::house::House;
use crate::models::ProviderView;
use crate::near::near;
use crate::print::{Mark, Printer, Reader, shortened};

/// What the model is asked.
const QUESTION: &str = "Answer with the one word: ready";

pub(super) async fn models(house: &House, act: ModelsAct) -> Result<Exit, Problem> {
    match act {
        ModelsAct::List { json } => list(house, json),
        ModelsAct::Show { model, json } => show(house, model.as_deref(), json),
        ModelsAct::Explain { mode, json, model } => explain(house, mode, json, &model),
        ModelsAct::Test { mode, json, model } => test(house, mode, json, &model).await,
    }
}

fn printer(house: &House, json: bool) -> Printer {
    Printer::new(&house.environment, if json { Reader::Program } else { Reader::Person })
}

fn list(house: &House, json: bool) -> Result<Exit, Problem> {
    let mut printer = printer(house, json);
    let providers = house.models(&house.settings()?.sound()?, None).providers();
    if json {
        printer.json(&providers)?;
        return Ok(Exit::FINE);
    }
    for provider in &providers {
        printer.line(if provider.ready { Mark::Done } else { Mark::Note }, &told(provider));
    }
    printer.line(
        Mark::Note,
        "stance models test --provider NAME --model NAME asks one of them",
    );
    Ok(Exit::FINE)
}

fn told(provider: &ProviderView) -> String {
    let address = provider.address.as_deref().unwrap_or("at an address of your own");
    let head = format!("{} · {} · {address}", provider.name, provider.protocol);
    match provider.missing.as_slice() {
        [] if provider.address.is_none() => format!("{head} · set [providers.{}] base_url", provider.name),
        [] => head,
        missing => format!("{head} · {} is not set", missing.join(" or ")),
    }
}

/// A model as it is shown.
#[derive(Debug, Serialize)]
struct ModelView<'a> {
    model: &'a str,
    known: bool,
    /// Tokens.
    context: Option<u64>,
    /// Tokens.
    output: Option<u64>,
    /// Words for how hard to think; none: the usual three.
    efforts: Option<Vec<&'static str>>,
    /// US dollars for a million tokens, by kind.
    price: Option<PriceView>,
    /// The day this was looked up.
    date: &'static str,
}

#[derive(Debug, Serialize)]
struct PriceView {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
}

impl<'a> ModelView<'a> {
    fn of(model: &'a str, facts: Option<&Facts>) -> ModelView<'a> {
        let price = |price: Price| PriceView {
            input: price.input,
            output: price.output,
            cache_read: price.cache_read.unwrap_or(price.input),
            cache_write: price.cache_write.unwrap_or(price.input),
        };
        let words = |efforts: &Vec<Effort>| efforts.iter().map(|effort| effort.word()).collect();
        ModelView {
            model,
            known: facts.is_some(),
            context: facts.and_then(|facts| facts.context),
            output: facts.and_then(|facts| facts.output),
            efforts: facts.and_then(|facts| facts.efforts.as_ref()).map(words),
            price: facts.and_then(|facts| facts.price).map(price),
            date: Facts::date(),
        }
    }

    fn words(&self) -> String {
        let tokens = |name: &str, tokens: Option<u64>| match tokens {
            Some(tokens) => format!("{name} {tokens} tokens"),
            None => format!("{name} unknown"),
        };
        let price = match &self.price {
            Some(price) => format!(
                "${} input, ${} output, ${} from a cache, ${} into one, for a million tokens",
                price.input, price.output, price.cache_read, price.cache_write
            ),
            None => "price unknown".to_owned(),
        };
        let window = tokens("window", self.context);
        let output = tokens("output", self.output);
        format!("{} · {window} · {output} · {price}", self.model)
    }
}

fn show(house: &House, model: Option<&str>, json: bool) -> Result<Exit, Problem> {
    let mut printer = printer(house, json);
    let views: Vec<ModelView<'_>> = match model {
        Some(model) => vec![ModelView::of(model, Facts::of(model))],
        None => Facts::all()
            .iter()
            .map(|facts| ModelView::of(&facts.name, Some(facts)))
            .collect(),
    };
    if json {
        match (model, views.as_slice()) {
            (Some(_), [one]) => printer.json(one)?,
            (_, all) => printer.json(&all)?,
        }
        return Ok(Exit::FINE);
    }
    for view in &views {
        printer.line(Mark::Note, &view.words());
        if model.is_some() {
            details(&mut printer, view);
        }
    }
    printer.line(Mark::Note, &format!("looked up on {}", Facts::date()));
    Ok(Exit::FINE)
}

fn details(printer: &mut Printer, view: &ModelView<'_>) {
    let efforts = match &view.efforts {
        Some(words) if words.is_empty() => "it takes no effort".to_owned(),
        Some(words) => format!("effort {}", words.join(", ")),
        None => "effort as its provider has it: low, medium or high where nothing else is known".to_owned(),
    };
    printer.line(Mark::Note, &efforts);
    if view.known {
        return;
    }
    printer.line(
        Mark::Note,
        "nothing is known of this model; it is asked all the same, and its output is limited where `max_output` is set",
    );
    let names = Facts::all().iter().map(|facts| facts.name.as_str());
    if let Some(near) = near(view.model, names).first() {
        printer.line(Mark::Note, &format!("a name like it: {near}"));
    }
}

/// The model of a mode as it is shown.
#[derive(Debug, Serialize)]
struct Explained {
    mode: String,
    settings: Vec<String>,
    /// What is sent otherwise than it was set.
    changed: Vec<String>,
}

fn explain(house: &House, mode: Mode, json: bool, model: &ModelArguments) -> Result<Exit, Problem> {
    let mut printer = printer(house, json);
    let settings = house.settings()?.sound()?;
    let models = house.models(&settings, named(house, model)?.as_ref());
    let explained = Explained {
        mode: mode.to_string(),
        settings: models.described(mode)?,
        changed: models.choose(mode)?.notices,
    };
    if json {
        printer.json(&explained)?;
        return Ok(Exit::FINE);
    }
    printer.line(Mark::Note, &format!("{}:", explained.mode));
    for line in &explained.settings {
        printer.line(Mark::Done, line);
    }
    for line in &explained.changed {
        printer.line(Mark::Asks, line);
    }
    Ok(Exit::FINE)
}

/// How a model answered.
#[derive(Debug, Serialize)]
struct Tried {
    provider: String,
    model: String,
    /// The model that answered, in the provider's words.
    answered_as: String,
    tokens: u64,
    text: String,
}

async fn test(house: &House, mode: Mode, json: bool, model: &ModelArguments) -> Result<Exit, Problem> {
    let mut printer = printer(house, json);
    let settings = house.settings()?.sound()?;
    let chosen = house.models(&settings, named(house, model)?.as_ref()).choose(mode)?;
    let request = Request {
        system: String::new(),
        tools: Vec::new(),
        messages: vec![Message::user(vec![Block::Text(QUESTION.to_owned())])],
        settings: chosen.settings.clone(),
        cursor: None,
        entering: None,
        context: RequestContext {
            mode: mode.settings_key().to_owned(),
            ..RequestContext::default()
        },
    };
    let last = chosen
        .model
        .stream(request)
        .fold(None, async |_, part| Some(part))
        .await;
    let answer = match last {
        Some(Ok(Part::Done(answer))) => answer,
        Some(Err(error)) => return Err(failed(&chosen.settings.provider, &error)),
        _ => return Err(Problem::new(ProblemKind::Model, "The model gave no answer.".to_owned())),
    };
    let tried = tried(chosen.settings.provider, chosen.settings.model, &answer);
    if json {
        printer.json(&tried)?;
        return Ok(Exit::FINE);
    }
    let Tried {
        provider,
        model,
        answered_as,
        tokens,
        text,
    } = tried;
    printer.line(
        Mark::Done,
        &format!("{provider}:{model} answers as {answered_as} · {tokens} tokens"),
    );
    printer.foreign(&shortened(&text));
    Ok(Exit::FINE)
}

fn tried(provider: String, model: String, answer: &Response) -> Tried {
    let texts = answer.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        _ => None,
    });
    Tried {
        provider,
        model,
        answered_as: answer.actual_model.clone(),
        tokens: answer.usage.total(),
        text: texts.collect(),
    }
}

fn failed(provider: &str, error: &ModelError) -> Problem {
    let status = error
        .status
        .map(|status| format!(" (status {status})"))
        .unwrap_or_default();
    let problem = Problem::new(ProblemKind::Model, format!("`{provider}`{status}: {error}"));
    match error.kind {
        ErrorKind::Auth => problem.hint("stance models list shows which variable the key is read from."),
        ErrorKind::Dropped => problem.hint("Is it running, and is the address right? stance models list shows it."),
        ErrorKind::BadRequest => problem.hint("Is the name of the model the one its provider uses?"),
        _ => problem,
    }
}
