//! What the two protocols of `OpenAI` share: addresses, keys, dialects, failures. Neither protocol
//! itself is known here.

pub(crate) mod chat;
mod dialect;
mod family;
mod fault;
pub(crate) mod responses;

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName};
use secrecy::ExposeSecret;

use crate::wire::secret_header;
use crate::{Provider, SetupError, http};
pub use dialect::Dialect;
use dialect::{Addresses, KeyHeader};

const KEY_HEADER: HeaderName = HeaderName::from_static("api-key");

/// Where requests go and what goes with each.
#[derive(Debug, Clone)]
struct Place {
    provider: String,
    base: Url,
    headers: HeaderMap,
    dialect: Dialect,
}

impl Place {
    fn of(provider: &Provider) -> Result<Self, SetupError> {
        let dialect = provider.preset.dialect.clone();
        let mut base = http::base(&provider.base_url)?;
        match dialect.addresses {
            Addresses::Azure => base = http::beneath(&without(without(base, "v1"), "openai"), "openai"),
            Addresses::Plain if base.path() == "/" => base.set_path("/v1"),
            Addresses::Plain | Addresses::Bare => {}
        }
        let mut headers = provider.preset.headers()?;
        if let Some(key) = &provider.key {
            let key = key.expose_secret();
            match dialect.key_header {
                KeyHeader::Bearer => {
                    let bearer = secret_header(&provider.name, &format!("Bearer {key}"))?;
                    headers.insert(AUTHORIZATION, bearer);
                }
                KeyHeader::ApiKey => {
                    headers.insert(KEY_HEADER, secret_header(&provider.name, key)?);
                }
            }
        }
        Ok(Self {
            provider: provider.name.clone(),
            base,
            headers,
            dialect,
        })
    }

    /// Where `path` is answered. At Azure a dated interface has a path of its own, and there
    /// `dated` takes the place of `path`.
    fn address(&self, path: &str, dated: &str) -> Url {
        let version = &self.dialect.api_version;
        let mut address = match self.dialect.addresses {
            Addresses::Azure if version.is_some() => http::beneath(&self.base, dated),
            Addresses::Azure => http::beneath(&self.base, &format!("v1/{path}")),
            Addresses::Plain | Addresses::Bare => http::beneath(&self.base, path),
        };
        if let Some(version) = version {
            address.query_pairs_mut().append_pair("api-version", version);
        }
        address
    }
}

/// `url` without its last segment, if that is `segment`.
fn without(mut url: Url, segment: &str) -> Url {
    let path = url.path().trim_end_matches('/');
    if let Some((before, last)) = path.rsplit_once('/')
        && last == segment
    {
        let before = before.to_owned();
        url.set_path(&before);
    }
    url
}

/// The data of an image as both protocols take it.
fn data_url(media_type: &str, data_base64: &str) -> String {
    format!("data:{media_type};base64,{data_base64}")
}

/// What stands before the words of a result that is an error: neither protocol has a flag for it.
const ERROR_SIGN: &str = "error: ";
