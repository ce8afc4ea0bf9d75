//! How anything here speaks HTTP: certificates as the system trusts them, no proxy of the environment, no redirect
//! followed, bodies up to a length. It must not know what is asked, nor who may be.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{ClientBuilder, Response, Url, redirect};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use url::Host;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// What makes a client for `url`.
pub(crate) fn client_for(url: &Url) -> Result<ClientBuilder, String> {
    Ok(reqwest::Client::builder()
        .tls_backend_preconfigured(tls(url)?)
        .no_proxy()
        .redirect(redirect::Policy::none())
        .referer(false)
        .connect_timeout(CONNECT_TIMEOUT)
        .user_agent(concat!("stance/", env!("CARGO_PKG_VERSION"))))
}

/// For https it trusts the roots the system trusts, for http nobody: a machine without roots can use a server of
/// its own.
fn tls(url: &Url) -> Result<ClientConfig, String> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(words)?;
    let config = if url.scheme() == "https" {
        config.with_platform_verifier().map_err(words)?
    } else {
        config.with_root_certificates(RootCertStore::empty())
    };
    let mut config = config.with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// The body of an answer, unpacked, up to `most` bytes; whether there was more.
pub(crate) async fn body(response: &mut Response, most: usize) -> Result<(Vec<u8>, bool), String> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(words)? {
        let room = most.saturating_sub(body.len());
        body.extend(chunk.iter().take(room));
        if chunk.len() > room {
            return Ok((body, true));
        }
    }
    Ok((body, false))
}

/// Whether an address says itself that it is this machine.
pub(crate) fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// An error with what lies beneath it, in one line.
pub(crate) fn words(error: impl std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        text.push_str(": ");
        text.push_str(&deeper.to_string());
        cause = deeper.source();
    }
    text
}
