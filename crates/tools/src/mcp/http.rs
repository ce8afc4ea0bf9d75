//! The way to a server at an address: no proxy of the environment, no redirect, no header that was not
//! configured. It must not know what is asked.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;

use super::server::Template;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// Largest answer, in bytes.
const LARGEST: usize = 4 * 1024 * 1024;

/// Makes the way to `url`; why it cannot be made.
pub(super) fn transport(
    url: &str,
    headers: &BTreeMap<String, Template>,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
    let address = reqwest::Url::parse(url).map_err(|error| format!("its URL cannot be read: {error}"))?;
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(values(headers)?)
        .max_json_response_size(LARGEST)
        .max_sse_event_size(LARGEST);
    Ok(StreamableHttpClientTransport::with_client(client(&address)?, config))
}

fn values(headers: &BTreeMap<String, Template>) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    headers
        .iter()
        .map(|(name, text)| {
            let value = text
                .value()
                .map_err(|variable| format!("the variable {variable} is not set"))?;
            let header = HeaderName::try_from(name.as_str()).map_err(|_| format!("{name:?} is no name of a header"))?;
            let mut value =
                HeaderValue::try_from(value.trim()).map_err(|_| format!("the header {name} cannot have its value"))?;
            value.set_sensitive(true);
            Ok((header, value))
        })
        .collect()
}

/// For http nobody is trusted, so that a machine without roots can use a server of its own.
fn client(address: &reqwest::Url) -> Result<reqwest::Client, String> {
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let tls = if address.scheme() == "https" {
        tls.with_platform_verifier().map_err(|error| error.to_string())?
    } else {
        tls.with_root_certificates(RootCertStore::empty())
    };
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls.with_no_client_auth())
        .no_proxy()
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_max_idle_per_host(0)
        .user_agent(concat!("stance/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| error.to_string())
}
