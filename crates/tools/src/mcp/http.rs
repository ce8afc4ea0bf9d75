//! The way to a server at an address: no proxy of the environment, no redirect, no header that was not
//! configured. It must not know what is asked.

use std::collections::{BTreeMap, HashMap};

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use super::server::Template;
use crate::https::{client_for, words};

/// Largest answer, in bytes.
const LARGEST: usize = 4 * 1024 * 1024;

/// What is asked with each request to `url`; why it cannot be.
pub(super) fn config(
    url: &str,
    headers: &BTreeMap<String, Template>,
) -> Result<StreamableHttpClientTransportConfig, String> {
    Ok(StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(values(headers)?)
        .max_json_response_size(LARGEST)
        .max_sse_event_size(LARGEST))
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

/// What speaks to a server. An idle connection is not kept: servers end theirs when they like.
pub(super) fn client(url: &str) -> Result<reqwest::Client, String> {
    let address = reqwest::Url::parse(url).map_err(|error| format!("its URL cannot be read: {error}"))?;
    client_for(&address)?.pool_max_idle_per_host(0).build().map_err(words)
}
