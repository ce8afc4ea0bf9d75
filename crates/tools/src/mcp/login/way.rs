//! The way to whom a server names for its login: over https, to addresses that were judged, never on to where an
//! answer leads. It must not know what is sent.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use reqwest::{Client, Method, Url};
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest};
use sandbox::Network;

use crate::https::{body, client_for, is_this_machine, words};

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// Largest answer, in bytes.
const LARGEST: usize = 256 * 1024;

/// How a login, or its renewal, speaks to the world.
pub(super) struct Way {
    server: Url,
    network: Network,
    reach: Reach,
    /// Why the last request came to nothing: who asks through this way does not always say it on.
    trouble: Mutex<Option<String>>,
}

/// Whom it speaks to.
enum Reach {
    /// Whom the server names; a person is there and started it. Those reached so far are kept in mind.
    Named(Mutex<BTreeSet<String>>),
    /// Those that took part in the login, and the server.
    Known(BTreeSet<String>),
}

impl Way {
    /// For a login that a person started.
    pub(super) fn of_login(server: Url, network: Network) -> Way {
        Way::new(server, network, Reach::Named(Mutex::default()))
    }

    /// For what follows a login with these origins.
    pub(super) fn after_login(server: Url, network: Network, origins: BTreeSet<String>) -> Way {
        Way::new(server, network, Reach::Known(origins))
    }

    fn new(server: Url, network: Network, reach: Reach) -> Way {
        Way {
            server,
            network,
            reach,
            trouble: Mutex::default(),
        }
    }

    /// Why the last request came to nothing, if it did.
    pub(super) fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The origins that took part.
    pub(super) fn origins(&self) -> BTreeSet<String> {
        match &self.reach {
            Reach::Named(origins) => origins.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            Reach::Known(origins) => origins.clone(),
        }
    }

    async fn client(&self, url: &Url) -> Result<Client, String> {
        let origin = url.origin().ascii_serialization();
        let beside = is_this_machine(url) && is_this_machine(&self.server);
        if url.scheme() != "https" && !beside {
            return Err(format!(
                "{origin} speaks without encryption, and a login goes over https alone"
            ));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(format!("its address at {origin} holds a user name or a password"));
        }
        let is_own = url.origin() == self.server.origin();
        match &self.reach {
            Reach::Known(origins) if !is_own && !origins.contains(&origin) => {
                return Err(format!("{origin} had no part in the login"));
            }
            Reach::Known(_) => {}
            Reach::Named(origins) => {
                origins.lock().unwrap_or_else(PoisonError::into_inner).insert(origin);
            }
        }
        let mut client = client_for(url)?;
        if !is_own && !beside {
            let host = url.host_str().unwrap_or_default();
            let port = url.port_or_known_default().unwrap_or_default();
            let addresses = self.network.addresses_named(host, port).await.map_err(words)?;
            client = client.resolve_to_addrs(host, &addresses);
        }
        client.build().map_err(words)
    }

    async fn ask(&self, request: http::Request<Vec<u8>>) -> Result<http::Response<Vec<u8>>, String> {
        let request = reqwest::Request::try_from(request).map_err(words)?;
        let (url, carries) = (request.url().clone(), request.method() != Method::GET);
        let client = self.client(&url).await?;
        let mut response = client
            .execute(request)
            .await
            .map_err(|error| words(error.without_url()))?;
        if carries && response.status().is_redirection() {
            return Err(format!(
                "{url} leads elsewhere with what was sent, which is not followed"
            ));
        }
        let kind = response.headers().get("content-type");
        // A stream of events has no end to wait for, and nothing to say here.
        let is_stream = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        let (bytes, cut) = if is_stream {
            Default::default()
        } else {
            body(&mut response, LARGEST).await?
        };
        if cut {
            return Err(format!("{url} answers with more than {LARGEST} bytes"));
        }
        Ok(http::Response::from(response).map(|_| bytes))
    }
}

impl OAuthHttpClient for Way {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let answered = match tokio::time::timeout(PATIENCE, self.ask(request.request)).await {
                Ok(answered) => answered,
                Err(_) => Err(format!("no answer came within {} s", PATIENCE.as_secs())),
            };
            *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = answered.as_ref().err().cloned();
            answered.map_err(Into::into)
        })
    }
}
