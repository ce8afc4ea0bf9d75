//! One request to one page: no proxy of the environment, no redirect followed, and a connection to the
//! addresses that were judged and to no other. What a page says is nobody's business here.

use std::net::SocketAddr;

use reqwest::Url;

use crate::https::{body, client_for, words};

/// What a server answered, its body cut at a length.
pub(super) struct Answer {
    pub(super) status: u16,
    /// Where it leads, when it leads elsewhere.
    pub(super) leads_to: Option<String>,
    /// Its kind, without parameters; empty when it does not say.
    pub(super) media_type: String,
    /// The encoding of its text, as it says.
    pub(super) charset: Option<String>,
    pub(super) body: Vec<u8>,
    /// Whether there was more.
    pub(super) cut: bool,
}

/// Asks for a page. The body is read up to `most` bytes, counted when it is unpacked; that of an answer
/// which leads elsewhere, or is of a kind that is not wanted, is not read.
pub(super) async fn get(
    url: &Url,
    addresses: &[SocketAddr],
    most: usize,
    wanted: impl Fn(&str) -> bool,
) -> Result<Answer, String> {
    let host = url.host_str().unwrap_or_default();
    let client = client_for(url)?
        .resolve_to_addrs(host, addresses)
        .build()
        .map_err(words)?;
    let mut response = client
        .get(url.clone())
        .header("accept", "text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.1")
        .send()
        .await
        .map_err(words)?;
    let field = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
    let mut kind = field("content-type").unwrap_or_default().split(';').map(str::trim);
    let media_type = kind.next().unwrap_or_default().to_ascii_lowercase();
    let charset = kind.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim()
            .eq_ignore_ascii_case("charset")
            .then(|| value.trim_matches([' ', '"']).to_owned())
    });
    let packed = field("content-encoding").filter(|packing| !packing.eq_ignore_ascii_case("identity"));
    if let Some(packing) = packed {
        return Err(format!("the page is packed as {packing:?}, which was not asked for"));
    }
    let leads_to = response.status().is_redirection().then(|| field("location")).flatten();
    let mut answer = Answer {
        status: response.status().as_u16(),
        leads_to: leads_to.map(str::to_owned),
        media_type,
        charset,
        body: Vec::new(),
        cut: false,
    };
    if answer.leads_to.is_some() || !wanted(&answer.media_type) {
        return Ok(answer);
    }
    (answer.body, answer.cut) = body(&mut response, most).await?;
    Ok(answer)
}
