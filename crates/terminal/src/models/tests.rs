//! Which model a mode gets, and where each part of it was said.

use std::fs;
use std::sync::Mutex;

use axum::http::HeaderMap;
use futures_util::StreamExt as _;

use super::*;
use crate::settings::{Places, load};

fn mode(word: &str) -> Mode {
    Mode::named(word).unwrap()
}

/// Settings of a person's and a project's file; the folder they lie in.
fn settings(person: &str, project: &str) -> (tempfile::TempDir, Result<Settings, Problem>) {
    let root = tempfile::tempdir().unwrap();
    let checkout = root.path().join("checkout");
    fs::create_dir_all(checkout.join(".stance")).unwrap();
    fs::write(root.path().join("person.toml"), person).unwrap();
    fs::write(checkout.join(".stance/settings.toml"), project).unwrap();
    let places = Places {
        managed: root.path().join("managed.toml"),
        person: root.path().join("person.toml"),
        checkout,
    };
    let settings = load(&places).unwrap().sound();
    (root, settings)
}

fn models(person: &str, named: Option<&NamedModel>, variables: &[(&str, &str)]) -> Models {
    let (root, settings) = settings(person, "");
    let environment = Arc::new(Environment::of(variables));
    Models::new(&settings.unwrap(), named, environment, &root.path().join("person.toml"))
}

#[test]
fn a_model_on_the_command_line_stands_above_every_table() {
    let person = "[models.plan]\nprovider = \"anthropic\"\nmodel = \"claude-x\"\neffort = \"high\"\n";
    let named = NamedModel::Answering {
        provider: "scripted".to_owned(),
        model: "/s.json".to_owned(),
        base_url: None,
    };
    let models = models(person, Some(&named), &[]);
    for word in ["agent", "plan", "review", "orchestrate"] {
        let folded = models.settings_of(mode(word)).unwrap();
        assert_eq!(
            (folded.settings.provider.as_str(), folded.settings.model.as_str()),
            ("scripted", "/s.json")
        );
        assert_eq!(
            folded.origins["model"].to_string(),
            format!("command line [models.{word}]")
        );
        assert_eq!(folded.settings.effort.is_some(), word == "plan");
    }
}

#[test]
fn the_words_of_the_command_line_make_one_model_or_say_why_not() {
    let read = |model, provider, base_url| NamedModel::read(model, provider, base_url, Path::new("/here"));
    assert_eq!(read(None, None, None), Ok(None));
    let answering = |provider: &str, model: &str, base_url: Option<&str>| {
        Ok(Some(NamedModel::Answering {
            provider: provider.to_owned(),
            model: model.to_owned(),
            base_url: base_url.map(str::to_owned),
        }))
    };
    for (named, word) in [("scripted:s.json", "scripted"), ("replay:s.json", "replay")] {
        assert_eq!(read(Some(named), None, None), answering(word, "/here/s.json", None));
    }
    let recorded = Ok(Some(NamedModel::Recorded {
        file: "/here/s.json".into(),
    }));
    assert_eq!(read(Some("record:s.json"), None, None), recorded);
    assert_eq!(
        read(Some("qwen3:4b"), Some("ollama"), Some("http://127.0.0.1:9")),
        answering("ollama", "qwen3:4b", Some("http://127.0.0.1:9"))
    );
    for (model, provider, base_url, why) in [
        (Some("claude-x"), None, None, "travel together"),
        (None, Some("anthropic"), None, "travel together"),
        (None, None, Some("http://x"), "needs `--provider`"),
        (
            Some("scripted:s"),
            Some("anthropic"),
            None,
            "names its provider already",
        ),
        (Some("scripted:s"), None, Some("http://x"), "has no address"),
        (Some("record:s"), Some("anthropic"), None, "names its provider already"),
        (Some("x"), Some("scripted"), None, "in one word"),
        (Some("x"), Some("antropic"), None, "did you mean `anthropic`?"),
    ] {
        let problem = read(model, provider, base_url).unwrap_err();
        assert!(problem.message.contains(why), "{problem}");
        assert_eq!(problem.kind, ProblemKind::Usage);
    }
}

#[test]
fn without_a_model_the_exact_lines_to_write_are_told() {
    let problem = models("", None, &[]).choose(mode("plan")).err().unwrap();
    assert_eq!(problem.message, "No model is configured for [models.plan].");
    let hints = problem.hints.join("\n");
    for line in [
        "person.toml",
        "[models.default]",
        "provider = \"anthropic\"",
        "ANTHROPIC_API_KEY",
        "--model scripted:FILE",
    ] {
        assert!(hints.contains(line), "{line}: {hints}");
    }
}

#[test]
fn without_a_key_its_variable_is_named() {
    let person = "[models.default]\nprovider = \"anthropic\"\nmodel = \"claude-x\"\n[providers.anthropic]\nkey_env = \"TEAM_KEY\"\n";
    let problem = models(person, None, &[("ANTHROPIC_API_KEY", "k")])
        .choose(mode("agent"))
        .err()
        .unwrap();
    assert!(problem.message.contains("TEAM_KEY is not set"), "{problem}");
    assert!(models(person, None, &[("TEAM_KEY", "k")]).choose(mode("agent")).is_ok());
}

#[test]
fn a_script_that_cannot_be_played_is_told_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.json");
    let named = NamedModel::Answering {
        provider: "scripted".to_owned(),
        model: file.display().to_string(),
        base_url: None,
    };
    let problem = models("", Some(&named), &[]).choose(mode("plan")).err().unwrap();
    assert!(problem.message.contains("s.json cannot be read"), "{problem}");
    fs::write(&file, r#"{"turns": [{"txt": "x"}]}"#).unwrap();
    let problem = models("", Some(&named), &[]).choose(mode("plan")).err().unwrap();
    assert!(
        problem.message.contains("turns[0]") && problem.message.contains("txt"),
        "{problem}"
    );
    fs::write(&file, r#"{"turns": []}"#).unwrap();
    assert!(
        models("", Some(&named), &[])
            .choose(mode("plan"))
            .unwrap()
            .model
            .identity()
            .simulated
    );
}

#[test]
fn a_budget_that_does_not_fit_is_clamped_and_told() {
    let person = "[models.default]\nprovider = \"anthropic\"\nmodel = \"claude-sonnet-4-5\"\n[models.plan]\nthinking_budget = 8000\nmax_output = 8000\n";
    let chosen = models(person, None, &[("ANTHROPIC_API_KEY", "k")])
        .choose(mode("plan"))
        .unwrap();
    assert!(chosen.settings.thinking_budget < chosen.settings.max_output);
    assert!(
        chosen
            .notices
            .iter()
            .any(|notice| notice.contains("thinking_budget = 8000") && notice.contains("person.toml:5")),
        "{:?}",
        chosen.notices
    );
}

#[test]
fn the_settings_of_a_mode_are_told_with_their_places() {
    let person = "[models.default]\nprovider = \"anthropic\"\nmodel = \"claude-x\"\n[models.plan]\neffort = \"high\"\n";
    let words = models(person, None, &[]).described(mode("plan")).unwrap().join(" · ");
    assert!(
        words.contains("model claude-x (") && words.contains("person.toml:3 [models.default])"),
        "{words}"
    );
    assert!(
        words.contains("effort high (") && words.contains("person.toml:5 [models.plan])"),
        "{words}"
    );
}

#[test]
fn requests_to_bedrock_go_with_a_key_or_signed() {
    let person = "[models.default]\nprovider = \"bedrock\"\nmodel = \"us.amazon.nova-pro-v1:0\"\n";
    let region = ("AWS_REGION", "eu-central-1");
    let choose = |set: &[(&str, &str)]| models(person, None, set).choose(mode("plan"));
    assert!(choose(&[region, ("AWS_BEARER_TOKEN_BEDROCK", "k")]).is_ok());
    assert!(choose(&[region, ("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "s")]).is_ok());
    let missing = choose(&[region, ("AWS_ACCESS_KEY_ID", "a")]).err().unwrap();
    assert!(
        missing
            .message
            .ends_with("needs a key: AWS_BEARER_TOKEN_BEDROCK is not set."),
        "{}",
        missing.message
    );
    assert_eq!(
        missing.hints[1],
        "Or let requests be signed: export AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=… AWS_REGION=…"
    );
    let nowhere = choose(&[("AWS_BEARER_TOKEN_BEDROCK", "k")]).err().unwrap();
    assert!(nowhere.message.contains("AWS_REGION is not set"), "{}", nowhere.message);
}

/// A server that counts requests and keeps their keys.
async fn listener() -> (String, Arc<Mutex<Vec<String>>>) {
    let keys: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&keys);
    let answer = move |headers: HeaderMap| {
        let key = headers
            .get("x-api-key")
            .and_then(|key| key.to_str().ok())
            .unwrap_or_default()
            .to_owned();
        seen.lock().unwrap().push(key);
        async { (axum::http::StatusCode::UNAUTHORIZED, "no") }
    };
    let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", socket.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(socket, axum::Router::new().fallback(answer)).await });
    (address, keys)
}

async fn ask(chosen: &ChosenModel) {
    let request = llm::Request {
        system: "s".to_owned(),
        tools: Vec::new(),
        messages: vec![llm::Message::user(vec![llm::Block::Text("hello".to_owned())])],
        settings: chosen.settings.clone(),
        cursor: None,
        entering: None,
        context: llm::RequestContext::default(),
    };
    let parts: Vec<_> = chosen.model.stream(request).collect().await;
    assert!(parts.iter().any(Result::is_err));
}

#[tokio::test]
async fn the_key_goes_to_the_persons_address_and_a_projects_address_hears_nothing() {
    let (good, good_keys) = listener().await;
    let (evil, evil_keys) = listener().await;
    let person = format!(
        "[models.default]\nprovider = \"anthropic\"\nmodel = \"claude-x\"\n[providers.anthropic]\nbase_url = \"{good}\"\n"
    );
    let project = format!("[providers.anthropic]\nbase_url = \"{evil}\"\n");
    let (_root, refused) = settings(&person, &project);
    assert!(
        refused
            .unwrap_err()
            .message
            .contains("does not say where `anthropic` answers")
    );
    let chosen = models(&person, None, &[("ANTHROPIC_API_KEY", "k-1")])
        .choose(mode("plan"))
        .unwrap();
    ask(&chosen).await;
    assert_eq!(*good_keys.lock().unwrap(), ["k-1"]);
    assert!(evil_keys.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_address_on_the_command_line_stands_above_the_files() {
    let (here, keys) = listener().await;
    let person = "[models.default]\nprovider = \"anthropic\"\nmodel = \"claude-x\"\n[providers.anthropic]\nbase_url = \"http://127.0.0.1:1\"\n";
    let named = NamedModel::Answering {
        provider: "anthropic".to_owned(),
        model: "claude-y".to_owned(),
        base_url: Some(here),
    };
    let chosen = models(person, Some(&named), &[("ANTHROPIC_API_KEY", "k-2")])
        .choose(mode("agent"))
        .unwrap();
    assert_eq!(chosen.settings.model, "claude-y");
    ask(&chosen).await;
    assert_eq!(*keys.lock().unwrap(), ["k-2"]);
}
