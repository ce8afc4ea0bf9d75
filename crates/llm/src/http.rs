//! The one HTTP client of this room. It takes no proxy from the environment, follows no redirect
//! and bounds what it reads. What is asked and answered is the wires' business.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use reqwest::redirect;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::{ErrorKind, ModelError, SetupError};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// Providers send a sign of life far more often, even while a model thinks.
const SILENCE_TIMEOUT: Duration = Duration::from_mins(5);
/// Four times what the longest outputs take when every token comes in a frame of its own. What is
/// kept of an answer has narrower bounds.
const MOST_BYTES: usize = 64 * 1024 * 1024;
const MOST_ERROR_BYTES: usize = 64 * 1024;

/// A client for `address`. For https it trusts the roots the system trusts; for http it trusts
/// nobody, so that a machine without roots can use a model of its own. The cryptography is handed
/// in, since a default for the whole process would be somebody else's to choose.
pub(crate) fn client(address: &reqwest::Url) -> Result<reqwest::Client, SetupError> {
    let fault = |problem: &dyn std::fmt::Display| SetupError::Https(problem.to_string());
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| fault(&error))?;
    let tls = if address.scheme() == "https" {
        tls.with_platform_verifier().map_err(|error| fault(&error))?
    } else {
        tls.with_root_certificates(RootCertStore::empty())
    };
    let mut tls = tls.with_no_client_auth();
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .no_gzip()
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(SILENCE_TIMEOUT)
        .user_agent(concat!("stance/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| fault(&error))
}

/// A configured base URL, checked.
pub(crate) fn base(text: &str) -> Result<reqwest::Url, SetupError> {
    let fault = |url: &str, problem: &str| SetupError::BaseUrl {
        url: url.into(),
        problem: problem.into(),
    };
    let url = reqwest::Url::parse(text)
        // A text that is no URL may still hold a password, so it is not repeated.
        .map_err(|error| fault("…", &error.to_string()))?;
    if !url.username().is_empty() || url.password().is_some() {
        let shown = url.host_str().unwrap_or_default().to_owned();
        return Err(fault(&shown, "a user name or password does not belong there"));
    }
    if !matches!(url.scheme(), "http" | "https") {
        return Err(fault(url.as_str(), "expected http or https"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(fault(url.as_str(), "a query or fragment does not belong there"));
    }
    Ok(url)
}

/// `path` beneath a base URL.
pub(crate) fn beneath(base: &reqwest::Url, path: &str) -> reqwest::Url {
    let mut url = base.clone();
    let stem = base.path().trim_end_matches('/');
    url.set_path(&format!("{stem}/{path}"));
    url
}

/// `text` as one segment of a path, or a part of one: all but plain letters, digits and `-._~` are
/// encoded.
pub(crate) fn segment(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

/// A connection that could not be made or did not last.
pub(crate) fn dropped(error: reqwest::Error) -> ModelError {
    // The chain below the first line says what went wrong; the URL is left out of all of it.
    let error = error.without_url();
    let mut words = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(deeper) = cause {
        words = format!("{words}: {deeper}");
        cause = deeper.source();
    }
    ModelError::new(ErrorKind::Dropped, words)
}

/// The pieces of a body, ending with an error once more than [`MOST_BYTES`] have come.
pub(crate) fn bounded<Piece: AsRef<[u8]>>(
    pieces: impl Stream<Item = reqwest::Result<Piece>>,
) -> impl Stream<Item = Result<Piece, ModelError>> {
    let mut read = 0_usize;
    pieces.map(move |piece| {
        let piece = piece.map_err(dropped)?;
        read = read.saturating_add(piece.as_ref().len());
        if read > MOST_BYTES {
            return Err(ModelError::new(
                ErrorKind::Malformed,
                format!("the answer takes more than {MOST_BYTES} bytes on the wire"),
            ));
        }
        Ok(piece)
    })
}

/// The beginning of a body that is read for its words only.
pub(crate) async fn beginning(answer: reqwest::Response) -> String {
    let mut pieces = std::pin::pin!(answer.bytes_stream());
    let mut bytes = Vec::new();
    while let Some(Ok(piece)) = pieces.next().await {
        bytes.extend_from_slice(&piece);
        if bytes.len() > MOST_ERROR_BYTES {
            bytes.truncate(MOST_ERROR_BYTES);
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
