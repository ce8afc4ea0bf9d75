//! Where requests go: beneath the base URL, and at Azure to a deployment or the undated interface.

use secrecy::SecretString;
use stance_llm::{Preset, Provider};

use super::fixture::{Reply, Server, events, parts, request, sent_to, whole};

async fn path(preset: &str, base: &str, api_version: Option<&str>) -> (String, Option<String>, Option<String>) {
    let server = Server::start([Reply::stream(&events(&whole()))]).await;
    let mut preset = Preset::named(preset).unwrap().clone();
    preset.dialect.api_version = api_version.map(str::to_owned);
    let provider = Provider {
        name: "azure".into(),
        preset,
        base_url: format!("{}{base}", server.url),
        key: Some(SecretString::from("k-1")),
        credentials: None,
    };
    parts(provider.connect().unwrap().as_ref(), request("my-deployment")).await;
    let seen = server.seen();
    let header = |name: &str| seen.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
    let query = seen.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
    (seen.path.clone() + &query, header("authorization"), header("api-key"))
}

#[tokio::test]
async fn a_base_without_a_path_means_its_first_version() {
    for (base, expected) in [
        ("", "/v1/chat/completions"),
        ("/", "/v1/chat/completions"),
        ("/v1", "/v1/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("/api/paas/v4", "/api/paas/v4/chat/completions"),
    ] {
        let (path, bearer, key) = path("openai-chat", base, None).await;
        assert_eq!(path, expected, "base {base}");
        assert_eq!((bearer.as_deref(), key), (Some("Bearer k-1"), None));
    }
}

#[tokio::test]
async fn azure_with_and_without_a_date() {
    for base in ["", "/openai", "/openai/v1/"] {
        let undated = path("azure-chat", base, None).await;
        assert_eq!(
            undated,
            ("/openai/v1/chat/completions".into(), None, Some("k-1".into()))
        );
        let (dated, ..) = path("azure-chat", base, Some("2025-04-01-preview")).await;
        assert_eq!(
            dated,
            "/openai/deployments/my-deployment/chat/completions?api-version=2025-04-01-preview"
        );
        let (undated, ..) = path("azure", base, None).await;
        assert_eq!(undated, "/openai/v1/responses");
        let (dated, ..) = path("azure", base, Some("2025-04-01-preview")).await;
        assert_eq!(dated, "/openai/responses?api-version=2025-04-01-preview");
    }
}

#[tokio::test]
async fn headers_a_provider_wants_of_everybody() {
    let seen = sent_to("openrouter", request("m")).await;
    assert_eq!(seen.headers["x-title"], "Stance");
    assert!(seen.headers["user-agent"].to_str().unwrap().starts_with("stance/"));
}
