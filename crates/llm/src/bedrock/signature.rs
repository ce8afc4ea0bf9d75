//! Amazon's request signature, version 4. Pure: the time is handed in.
//!
//! Our own, because the published signer brings a dozen libraries of a client that is not used;
//! proven by Amazon's test suite.

use std::fmt;
use std::sync::Arc;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use ring::{digest, hmac};
use secrecy::{ExposeSecret, SecretString};

use crate::http;

const DATE_HEADER: HeaderName = HeaderName::from_static("x-amz-date");
const TOKEN_HEADER: HeaderName = HeaderName::from_static("x-amz-security-token");
const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// Milliseconds since 1970, whenever asked.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// What requests are signed with, instead of a key that is sent.
#[derive(Clone)]
pub struct Credentials {
    /// Names the key; no secret.
    pub access_key: String,
    /// Never sent.
    pub secret_key: SecretString,
    /// For credentials that end.
    pub session_token: Option<SecretString>,
    /// Where the service runs, such as `eu-central-1`.
    pub region: String,
    /// Signatures hold for some minutes.
    pub clock: Clock,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Credentials")
            .field("access_key", &self.access_key)
            .field("region", &self.region)
            .finish_non_exhaustive()
    }
}

impl Credentials {
    /// Adds to `headers` what makes a request with this body the owner's, for `service`.
    pub(super) fn sign(
        &self,
        service: &str,
        method: &str,
        address: &reqwest::Url,
        headers: &mut HeaderMap,
        body: &str,
    ) {
        let time = stamp((self.clock)());
        insert(headers, DATE_HEADER, &time);
        if let Some(token) = &self.session_token {
            insert(headers, TOKEN_HEADER, token.expose_secret());
        }
        let day = time.get(..8).unwrap_or_default();
        let scope = format!("{day}/{}/{service}/aws4_request", self.region);
        let (names, canonical) = canonical(method, address, headers, body);
        let to_sign = format!("{ALGORITHM}\n{time}\n{scope}\n{}", sha256(&canonical));
        let first = format!("AWS4{}", self.secret_key.expose_secret());
        let key = [day, &self.region, service, "aws4_request"]
            .iter()
            .fold(first.into_bytes(), |key, part| mac(&key, part));
        let signature = hex::encode(mac(&key, &to_sign));
        let credential = &self.access_key;
        insert(
            headers,
            AUTHORIZATION,
            &format!("{ALGORITHM} Credential={credential}/{scope}, SignedHeaders={names}, Signature={signature}"),
        );
    }
}

/// The names of the headers that are signed, and the request in the one form both sides sign.
fn canonical(method: &str, address: &reqwest::Url, headers: &HeaderMap, body: &str) -> (String, String) {
    let host = match (address.host_str().unwrap_or_default(), address.port()) {
        (host, Some(port)) => format!("{host}:{port}"),
        (host, None) => host.to_owned(),
    };
    let mut signed = vec![("host", host)];
    for (name, value) in headers {
        signed.push((name.as_str(), value.to_str().unwrap_or_default().trim().to_owned()));
    }
    signed.sort();
    let names = signed.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
    let lines = signed.iter().map(|(name, value)| format!("{name}:{value}"));
    let lines = lines.collect::<Vec<_>>().join("\n");
    // What is sent is encoded once more, but for the slashes.
    let path = address
        .path()
        .split('/')
        .map(http::segment)
        .collect::<Vec<_>>()
        .join("/");
    let query = address.query().unwrap_or_default();
    let request = format!("{method}\n{path}\n{query}\n{lines}\n\n{names}\n{}", sha256(body));
    (names, request)
}

/// A header whose value fits; one that does not is left out, and the service says what is missing.
fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(mut value) = HeaderValue::from_str(value) {
        value.set_sensitive(true);
        headers.insert(name, value);
    }
}

/// A time as `20150830T123600Z`.
fn stamp(milliseconds: i64) -> String {
    jiff::Timestamp::from_millisecond(milliseconds)
        .unwrap_or_default()
        .strftime("%Y%m%dT%H%M%SZ")
        .to_string()
}

fn sha256(text: &str) -> String {
    hex::encode(digest::digest(&digest::SHA256, text.as_bytes()))
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    hmac::sign(&key, text.as_bytes()).as_ref().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials(session_token: Option<&str>) -> Credentials {
        Credentials {
            access_key: "AKIDEXAMPLE".into(),
            secret_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into(),
            session_token: session_token.map(SecretString::from),
            region: "us-east-1".into(),
            // 2015-08-30 12:36:00
            clock: Arc::new(|| 1_440_938_160_000),
        }
    }

    fn signed(credentials: &Credentials, method: &str, address: &str, headers: HeaderMap, body: &str) -> String {
        let mut headers = headers;
        let address = reqwest::Url::parse(address).unwrap();
        credentials.sign("service", method, &address, &mut headers, body);
        assert_eq!(headers[DATE_HEADER], "20150830T123600Z");
        headers[AUTHORIZATION].to_str().unwrap().to_owned()
    }

    /// Signatures out of Amazon's published test suite.
    #[test]
    fn signatures_are_those_of_the_published_suite() {
        let check = |given: &str, names: &str, signature: &str| {
            let expected = format!(
                "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
                 SignedHeaders={names}, Signature={signature}"
            );
            assert_eq!(given, expected);
        };
        let vanilla = "https://example.amazonaws.com/";
        check(
            &signed(&credentials(None), "POST", vanilla, HeaderMap::new(), ""),
            "host;x-amz-date",
            "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
        );
        let token = "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267";
        check(
            &signed(&credentials(Some(token)), "GET", vanilla, HeaderMap::new(), ""),
            "host;x-amz-date;x-amz-security-token",
            "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8",
        );
        let with_body = HeaderMap::from_iter(
            [
                ("content-length", "13"),
                ("content-type", "application/x-www-form-urlencoded; charset=utf-8"),
                (
                    "x-amz-content-sha256",
                    "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e",
                ),
            ]
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))),
        );
        check(
            &signed(&credentials(None), "POST", vanilla, with_body, "Param1=value1"),
            "content-length;content-type;host;x-amz-content-sha256;x-amz-date",
            "328d1b9eaadca9f5818ef05e8392801e091653bafec24fcab71e7344e7f51422",
        );
    }

    /// The signature Amazon's own client makes for the same request.
    #[test]
    fn a_path_that_is_encoded_is_encoded_once_more() {
        let address =
            "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-x-v1%3A0/converse-stream";
        let mut headers = HeaderMap::new();
        let address = reqwest::Url::parse(address).unwrap();
        credentials(None).sign("bedrock", "POST", &address, &mut headers, r#"{"messages":[]}"#);
        let signed = headers[AUTHORIZATION].to_str().unwrap();
        assert!(
            signed.ends_with("Signature=bf6b576b6c6a4015c4f2a3e3a3484638de68d1076553bb2cf54da1358239adbb"),
            "{signed}"
        );
    }

    #[test]
    fn nothing_secret_is_printed() {
        let printed = format!("{:?}", credentials(Some("token-secret")));
        assert!(printed.contains("AKIDEXAMPLE"));
        assert!(
            !printed.contains("wJalr") && !printed.contains("token-secret"),
            "{printed}"
        );
    }
}
