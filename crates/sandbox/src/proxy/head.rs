//! The head of a request to a proxy: whom it is for, and what of it is passed on. Connects to nobody.

use std::io::{Error, ErrorKind};

use modes::host_key;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Longest head, in bytes.
const LONGEST: usize = 32 * 1024;
/// Most fields of a head.
const MOST_FIELDS: usize = 100;
/// Fields that are about this connection and not about the request.
const OURS: &[&str] = &[
    "host",
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authorization",
    "upgrade",
];

/// A request that has arrived, with what came behind its head.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) head: Head,
    pub(super) rest: Vec<u8>,
}

/// Whom a request is for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) name: String,
    pub(super) port: u16,
    /// What is passed on; none when a tunnel is asked for.
    pub(super) forward: Option<Forward>,
}

impl Head {
    /// The host as rules name it.
    pub(super) fn host(&self) -> String {
        host_key(&self.name, self.port).unwrap_or_default()
    }
}

/// A request as its host gets it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Forward {
    pub(super) text: Vec<u8>,
    /// Bytes of its body at most.
    pub(super) body: u64,
}

pub(super) async fn read_head(client: &mut (impl AsyncRead + Unpin)) -> std::io::Result<Asked> {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let length = client.read(&mut piece).await?;
        if length == 0 {
            return Err(wrong("the request ends within its head"));
        }
        bytes.extend(piece.iter().take(length));
        if let Some(asked) = parsed(&bytes)? {
            return Ok(asked);
        }
        if bytes.len() > LONGEST {
            return Err(wrong("the head of the request is too long"));
        }
    }
}

fn wrong(why: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidData, why.into())
}

/// None while the head is not whole.
fn parsed(bytes: &[u8]) -> std::io::Result<Option<Asked>> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    let length = match request.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(wrong(error.to_string())),
    };
    let (Some(method), Some(target)) = (request.method, request.path) else {
        return Err(wrong("the request has no target"));
    };
    let head = if method == "CONNECT" {
        let (name, port) = authority(target, None)?;
        Head {
            name,
            port,
            forward: None,
        }
    } else {
        plain(method, target, request.headers)?
    };
    let rest = bytes.get(length..).unwrap_or_default().to_vec();
    Ok(Some(Asked { head, rest }))
}

fn plain(method: &str, target: &str, fields: &[httparse::Header<'_>]) -> std::io::Result<Head> {
    let rest = target
        .strip_prefix("http://")
        .or_else(|| target.strip_prefix("HTTP://"))
        .ok_or_else(|| wrong("this is a proxy: it takes CONNECT, and requests for http:// addresses"))?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (place, path) = rest.split_at(end);
    let (name, port) = authority(place, Some(80))?;
    let slash = if path.starts_with('/') { "" } else { "/" };
    let mut text = format!("{method} {slash}{path} HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n").into_bytes();
    let mut body = 0;
    for field in fields {
        let name = field.name.to_ascii_lowercase();
        if OURS.contains(&name.as_str()) {
            continue;
        }
        match name.as_str() {
            "transfer-encoding" => body = u64::MAX,
            "content-length" if body == 0 => {
                let length = std::str::from_utf8(field.value)
                    .ok()
                    .and_then(|text| text.trim().parse().ok());
                body = length.ok_or_else(|| wrong("the length of the body cannot be read"))?;
            }
            _ => {}
        }
        text.extend(field.name.as_bytes());
        text.extend(b": ");
        text.extend(field.value);
        text.extend(b"\r\n");
    }
    text.extend(b"\r\n");
    Ok(Head {
        name,
        port,
        forward: Some(Forward { text, body }),
    })
}

/// Name and port; whoever names a person is refused.
fn authority(text: &str, usual: Option<u16>) -> std::io::Result<(String, u16)> {
    let unread = || wrong(format!("{text:?} names no host and port"));
    let colon = text
        .rfind(':')
        .filter(|colon| !text.get(*colon..).unwrap_or_default().contains(']'));
    let (name, port) = match (colon, usual) {
        (Some(colon), _) => {
            let (name, port) = text.split_at(colon);
            (name, port.trim_start_matches(':').parse().map_err(|_| unread())?)
        }
        (None, Some(usual)) => (text, usual),
        (None, None) => return Err(unread()),
    };
    if name.contains('@') || host_key(name, port).is_none() {
        return Err(unread());
    }
    Ok((name.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Asked, String> {
        let asked = parsed(text.as_bytes()).map_err(|error| error.to_string())?;
        asked.ok_or_else(|| "not whole".to_owned())
    }

    #[test]
    fn a_tunnel_names_host_and_port() {
        let asked = read("CONNECT [::1]:443 HTTP/1.1\r\nHost: x\r\n\r\nbytes").unwrap();
        assert_eq!((asked.head.name.as_str(), asked.head.port), ("[::1]", 443));
        assert_eq!((asked.head.forward, asked.rest.as_slice()), (None, b"bytes".as_slice()));
        for target in ["docs.rs", "ada@docs.rs:443", "docs.rs:x", ":443", "docs.rs:70000"] {
            assert!(read(&format!("CONNECT {target} HTTP/1.1\r\n\r\n")).is_err(), "{target}");
        }
    }

    #[test]
    fn a_plain_request_is_passed_on_for_its_own_host_alone() {
        let asked = read(
            "POST http://docs.rs:8080?a=b HTTP/1.1\r\nHost: other.example\r\nProxy-Authorization: x\r\nAccept: */*\r\n\
             Content-Length: 3\r\n\r\nabcGET http://evil.example/ HTTP/1.1",
        )
        .unwrap();
        assert_eq!(asked.head.host(), "docs.rs:8080");
        let forward = asked.head.forward.unwrap();
        assert_eq!(
            String::from_utf8(forward.text).unwrap(),
            "POST /?a=b HTTP/1.1\r\nHost: docs.rs:8080\r\nConnection: close\r\nAccept: */*\r\nContent-Length: 3\r\n\r\n"
        );
        assert_eq!(forward.body, 3);
        for target in ["/path", "https://docs.rs/", "http://ada@docs.rs/", "http:///x"] {
            assert!(read(&format!("GET {target} HTTP/1.1\r\n\r\n")).is_err(), "{target}");
        }
        assert_eq!(read("GET http://docs.rs/ HTTP/1.1\r\n").unwrap_err(), "not whole");
    }
}
