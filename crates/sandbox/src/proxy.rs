//! The one way out of a walled process: a listener of its own empty network, handed to us before its
//! program exists, on which we speak HTTP proxy. Each host is judged, resolved once and connected to
//! here; nothing of the process's own can name an address.

mod head;

use std::collections::BTreeMap;
use std::io::{ErrorKind, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketFlags, SocketType, recvmsg, socketpair,
};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use crate::SandboxError;
use crate::network::{Network, Unreachable};
use head::{Asked, Head, read_head};

/// The port inside; the network there is empty, so nobody else has it.
pub(crate) const PORT: u16 = 3128;
/// The address that programs are told.
const ADDRESS: &str = "http://127.0.0.1:3128";
/// Where no proxy is needed: programs of one process tree that talk to each other.
const NOT_FOR: &str = "localhost,127.0.0.1";
/// Options of programs on the Java machine.
const JAVA: &str =
    "-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=3128 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=3128";

/// The variables that lead programs to the proxy.
pub(crate) const VARIABLES: &[(&str, &str)] = &[
    ("HTTP_PROXY", ADDRESS),
    ("HTTPS_PROXY", ADDRESS),
    ("ALL_PROXY", ADDRESS),
    ("NO_PROXY", NOT_FOR),
    ("http_proxy", ADDRESS),
    ("https_proxy", ADDRESS),
    ("all_proxy", ADDRESS),
    ("no_proxy", NOT_FOR),
    ("npm_config_proxy", ADDRESS),
    ("npm_config_https_proxy", ADDRESS),
    ("PIP_PROXY", ADDRESS),
    ("CARGO_HTTP_PROXY", ADDRESS),
    ("NODE_USE_ENV_PROXY", "1"),
    ("MAVEN_OPTS", JAVA),
    ("GRADLE_OPTS", JAVA),
];

/// Connections served at a time; further ones wait.
const AT_A_TIME: usize = 64;
/// Hosts reported at most.
const MOST_REPORTED: usize = 200;
/// For the request itself, and for a connection to its host.
const PATIENCE: Duration = Duration::from_secs(15);

/// A host that a process reached, or did not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    /// The host, as rules name it.
    pub host: String,
    /// Why it was refused; none when it was let through.
    pub refused: Option<String>,
    /// Whether a call that names the host may be allowed to reach it.
    pub can_ask: bool,
    /// How often.
    pub times: u32,
}

/// The two ends on which the listener is handed over.
#[derive(Debug)]
pub(crate) struct Handover {
    pub(crate) ours: OwnedFd,
    pub(crate) theirs: OwnedFd,
}

impl Handover {
    pub(crate) fn new() -> Result<Self, SandboxError> {
        let pair = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None);
        let (ours, theirs) = pair.map_err(|error| SandboxError::System {
            doing: "making the way of the proxy",
            source: error.into(),
        })?;
        Ok(Self { ours, theirs })
    }
}

/// How often each host was reached, or refused and why.
type Seen = Arc<Mutex<BTreeMap<(String, Option<String>, bool), u32>>>;

/// The proxy of one process, while it lives.
#[derive(Debug)]
pub(crate) struct Proxy {
    serving: JoinHandle<()>,
    seen: Seen,
}

impl Proxy {
    /// Takes the listener that the first program inside has sent already, and serves it.
    pub(crate) fn serve(ours: &OwnedFd, network: Network) -> Result<Self, SandboxError> {
        let failed = |why: String| SandboxError::WallsFailed(format!("the proxy: {why}"));
        let listener = received(ours).map_err(failed)?;
        listener
            .set_nonblocking(true)
            .map_err(|error| failed(error.to_string()))?;
        let listener = TcpListener::from_std(listener).map_err(|error| failed(error.to_string()))?;
        let seen = Arc::default();
        let serving = tokio::spawn(accept(listener, network, Arc::clone(&seen)));
        Ok(Self { serving, seen })
    }

    /// What was reached and refused, by host.
    pub(crate) fn report(&self) -> Vec<Reached> {
        let seen = self.seen.lock().map(|seen| seen.clone()).unwrap_or_default();
        seen.into_iter()
            .map(|((host, refused, can_ask), times)| Reached {
                host,
                refused,
                can_ask,
                times,
            })
            .collect()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn received(ours: &OwnedFd) -> Result<std::net::TcpListener, String> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    recvmsg(ours, &mut [IoSliceMut::new(&mut byte)], &mut control, flags).map_err(|error| error.to_string())?;
    let descriptor = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    descriptor.map(Into::into).ok_or_else(|| "no listener came".to_owned())
}

async fn accept(listener: TcpListener, network: Network, seen: Seen) {
    let places = Arc::new(Semaphore::new(AT_A_TIME));
    let mut serving = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((client, _)) => {
                let (network, seen) = (network.clone(), Arc::clone(&seen));
                serving.spawn(async move {
                    // A client that goes away has nobody to be told.
                    drop(one(client, &network, &seen).await);
                    drop(place);
                });
                while serving.try_join_next().is_some() {}
            }
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => (),
            Err(_) => return,
        }
    }
}

async fn one(mut client: TcpStream, network: &Network, seen: &Seen) -> std::io::Result<()> {
    let asked = match timeout(PATIENCE, read_head(&mut client)).await {
        Ok(Ok(asked)) => asked,
        Ok(Err(error)) => return answer(&mut client, "400 Bad Request", &error.to_string()).await,
        Err(_) => return Ok(()),
    };
    let addresses = match network.addresses(&asked.head.name, asked.head.port).await {
        Ok(addresses) => addresses,
        Err(unreachable) => {
            let words = unreachable.to_string();
            return match unreachable {
                Unreachable::Refused { host, why, can_ask } => {
                    note(seen, (host, Some(why), can_ask));
                    answer(&mut client, "403 Forbidden", &words).await
                }
                Unreachable::Failed { .. } => answer(&mut client, "502 Bad Gateway", &words).await,
            };
        }
    };
    note(seen, (asked.head.host(), None, false));
    match connected(&addresses).await {
        Some(server) => pass(client, server, asked).await,
        None => answer(&mut client, "502 Bad Gateway", "nobody answers there").await,
    }
}

fn note(seen: &Seen, key: (String, Option<String>, bool)) {
    let Ok(mut seen) = seen.lock() else { return };
    if seen.len() < MOST_REPORTED || seen.contains_key(&key) {
        let times = seen.entry(key).or_default();
        *times = times.saturating_add(1);
    }
}

async fn connected(addresses: &[SocketAddr]) -> Option<TcpStream> {
    for address in addresses {
        if let Ok(Ok(server)) = timeout(PATIENCE, TcpStream::connect(address)).await {
            return Some(server);
        }
    }
    None
}

async fn answer(client: &mut TcpStream, status: &str, words: &str) -> std::io::Result<()> {
    let text = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{words}\n",
        words.len() + 1
    );
    client.write_all(text.as_bytes()).await?;
    client.shutdown().await
}

async fn pass(mut client: TcpStream, mut server: TcpStream, asked: Asked) -> std::io::Result<()> {
    let Asked { head, rest } = asked;
    let Head { forward, .. } = head;
    let Some(forward) = forward else {
        client.write_all(b"HTTP/1.1 200 Connection Established\r\n\r\n").await?;
        server.write_all(&rest).await?;
        copy_bidirectional(&mut client, &mut server).await?;
        return Ok(());
    };
    server.write_all(&forward.text).await?;
    let (from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    // One request a connection: what follows its body could be meant for another host.
    let mut body = (&rest[..]).chain(from_client).take(forward.body);
    let sending = async {
        copy(&mut body, &mut to_server).await?;
        std::future::pending::<std::io::Result<()>>().await
    };
    tokio::select! {
        sent = sending => sent?,
        received = copy(&mut from_server, &mut to_client) => drop(received?),
    }
    to_client.shutdown().await
}
