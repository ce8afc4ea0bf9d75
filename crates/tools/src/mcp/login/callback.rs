//! Where the browser comes back to after a login: a port of this machine that hears one answer. It must not know
//! what the answer is worth.

use std::io;
use std::time::Duration;

use reqwest::Url;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// The path of the address.
const PATH: &str = "/callback";
/// Longest head of a request, in bytes.
const LONGEST: usize = 16 * 1024;
/// Headers of a request at most.
const MOST_HEADERS: usize = 100;
/// How long one who connects may take.
const PATIENCE: Duration = Duration::from_secs(10);

const HEARD: &str = "200 OK\r\n\r\nStance has the answer. You can close this page and go back to the terminal.\n";
const OTHER: &str = "400 Bad Request\r\n\r\nThis is not the answer that Stance waits for.\n";

/// A port that is open until it is dropped.
pub(super) struct Callback {
    listener: TcpListener,
    address: String,
}

impl Callback {
    /// Opens a port of this machine that nobody else has.
    pub(super) async fn open() -> io::Result<Callback> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = format!("http://{}{PATH}", listener.local_addr()?);
        Ok(Callback { listener, address })
    }

    /// The address to come back to.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// The whole address by which somebody came back who knows `state`. Others are sent away.
    pub(super) async fn answer(&self, state: &str) -> io::Result<Url> {
        let mut callers = JoinSet::new();
        loop {
            tokio::select! {
                caller = self.listener.accept() => {
                    let (stream, base, state) = (caller?.0, self.address.clone(), state.to_owned());
                    callers.spawn(async move {
                        let heard = tokio::time::timeout(PATIENCE, heard(stream, &base, &state)).await;
                        heard.ok().and_then(Result::ok).flatten()
                    });
                }
                Some(heard) = callers.join_next() => {
                    if let Ok(Some(answer)) = heard {
                        return Ok(answer);
                    }
                }
            }
        }
    }
}

async fn heard(mut stream: TcpStream, base: &str, state: &str) -> io::Result<Option<Url>> {
    let answer = asked(&mut stream, base).await?.filter(|url| is_answer(url, state));
    let said = if answer.is_some() { HEARD } else { OTHER };
    let (status, text) = said.split_once("\r\n\r\n").unwrap_or_default();
    let head = "content-type: text/plain; charset=utf-8\r\ncache-control: no-store\r\nreferrer-policy: no-referrer\r\n\
                connection: close";
    let whole = format!(
        "HTTP/1.1 {status}\r\n{head}\r\ncontent-length: {}\r\n\r\n{text}",
        text.len()
    );
    stream.write_all(whole.as_bytes()).await?;
    stream.shutdown().await?;
    Ok(answer)
}

/// The address a request asks for, if it is one that asks.
async fn asked(stream: &mut TcpStream, base: &str) -> io::Result<Option<Url>> {
    let mut head = Vec::new();
    let mut stream = stream.take(LONGEST as u64);
    loop {
        if stream.read_buf(&mut head).await? == 0 {
            return Ok(None);
        }
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(&head) {
            Ok(httparse::Status::Partial) => {}
            Ok(httparse::Status::Complete(_)) if request.method == Some("GET") => {
                let joined = Url::parse(base).and_then(|base| base.join(request.path.unwrap_or_default()));
                return Ok(joined.ok());
            }
            _ => return Ok(None),
        }
    }
}

fn is_answer(url: &Url, state: &str) -> bool {
    let states: Vec<_> = url.query_pairs().filter(|(name, _)| name == "state").collect();
    url.path() == PATH && matches!(states.as_slice(), [(_, said)] if said == state)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn say(address: &str, text: &str) -> String {
        let url = Url::parse(address).unwrap();
        let mut stream = TcpStream::connect(("127.0.0.1", url.port().unwrap())).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).await.unwrap();
        said
    }

    #[tokio::test]
    async fn only_who_knows_the_state_is_heard_and_nobody_holds_the_port() {
        let callback = Callback::open().await.unwrap();
        let address = callback.address().to_owned();
        // Browsers open connections in advance and say nothing on them.
        let silent = TcpStream::connect(callback.listener.local_addr().unwrap())
            .await
            .unwrap();
        let strangers = async {
            for target in [
                "/callback?code=evil&state=guess",
                "/callback?code=evil",
                "/callback?code=evil&state=guess&state=s-1",
                "/other?code=evil&state=s-1",
                "/",
            ] {
                let said = say(&address, &format!("GET {target} HTTP/1.1\r\n\r\n")).await;
                assert!(said.starts_with("HTTP/1.1 400"), "{target}: {said}");
            }
            let said = say(&address, "POST /callback?code=evil&state=s-1 HTTP/1.1\r\n\r\n").await;
            assert!(said.starts_with("HTTP/1.1 400"), "{said}");
            let said = say(&address, "\0\0\r\n\r\n").await;
            assert!(said.starts_with("HTTP/1.1 400"), "{said}");
            say(
                &address,
                "GET /callback?code=good&state=s-1 HTTP/1.1\r\nhost: x\r\n\r\n",
            )
            .await
        };
        let (answer, said) = tokio::join!(callback.answer("s-1"), strangers);
        assert_eq!(answer.unwrap().query(), Some("code=good&state=s-1"));
        assert!(said.starts_with("HTTP/1.1 200"), "{said}");
        drop(silent);
    }
}
