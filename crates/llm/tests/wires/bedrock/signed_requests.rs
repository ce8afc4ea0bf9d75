//! Requests without a key are signed, over what is really sent.

use std::sync::Arc;

use secrecy::SecretString;
use stance_llm::{Credentials, Preset, Provider};

use super::fixture::{CLAUDE, PRESET, Seen, Server, hello, parts, request, stream};

/// A request to a server, signed for `region` at 2015-08-30 12:36:00.
async fn signed(region: &str, key: Option<&str>) -> Seen {
    let server = Server::start([stream(&hello())]).await;
    let provider = Provider {
        name: PRESET.into(),
        preset: Preset::named(PRESET).unwrap().clone(),
        base_url: server.url.clone(),
        key: key.map(SecretString::from),
        credentials: Some(Credentials {
            access_key: "AKIDEXAMPLE".into(),
            secret_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into(),
            session_token: Some("session".into()),
            region: region.into(),
            clock: Arc::new(|| 1_440_938_160_000),
        }),
    };
    parts(provider.connect().unwrap().as_ref(), request(CLAUDE)).await;
    server.seen()
}

#[tokio::test]
async fn the_signature_names_who_when_and_where() {
    let seen = signed("eu-central-1", None).await;
    let header = |name: &str| seen.headers[name].to_str().unwrap().to_owned();
    assert_eq!(header("x-amz-date"), "20150830T123600Z");
    assert_eq!(header("x-amz-security-token"), "session");
    let authorization = header("authorization");
    let (before, signature) = authorization.split_once("Signature=").unwrap();
    assert_eq!(
        before,
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/eu-central-1/bedrock/aws4_request, \
         SignedHeaders=host;x-amz-date;x-amz-security-token, "
    );
    assert_eq!(signature.len(), 64);
}

#[tokio::test]
async fn a_key_comes_first() {
    let seen = signed("eu-central-1", Some("key")).await;
    assert_eq!(seen.headers["authorization"], "Bearer key");
    assert_eq!(seen.headers.get("x-amz-date"), None);
}
