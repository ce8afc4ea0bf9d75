//! Which hosts a process reaches, and where their names lead: a name is resolved once, and what is
//! connected to is the address that was judged. Knows the gate it is handed, and no run.

mod addresses;

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use modes::{HostDecision, HostGate, host_key};

pub use addresses::globally_routable;

/// An answer about a name, later.
pub type Lookup<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'a>>;

/// Where names lead.
pub trait Names: Send + Sync {
    /// The addresses of a name with this port.
    fn lookup<'a>(&'a self, name: &'a str, port: u16) -> Lookup<'a>;

    /// Whether an address belongs to the world, and to no network of the person's own.
    fn is_public(&self, address: IpAddr) -> bool {
        globally_routable(address)
    }
}

/// Names as this system resolves them.
#[derive(Debug, Clone, Copy)]
pub struct SystemNames;

impl Names for SystemNames {
    fn lookup<'a>(&'a self, name: &'a str, port: u16) -> Lookup<'a> {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, port)).await?.collect()) })
    }
}

/// The network of one call.
#[derive(Clone)]
pub struct Network {
    /// Which hosts may be reached.
    pub gate: HostGate,
    /// Where names lead.
    pub names: Arc<dyn Names>,
}

impl fmt::Debug for Network {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Network")
            .field("gate", &self.gate)
            .finish_non_exhaustive()
    }
}

/// Why a host is not reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreachable {
    /// It may not be.
    #[error("{host} is not reached: {why}")]
    Refused {
        /// The host, as rules name it.
        host: String,
        /// Why not.
        why: String,
        /// Whether a call that names it may be allowed to.
        can_ask: bool,
    },
    /// Its name leads nowhere, or nobody answers there.
    #[error("{host} cannot be reached: {why}")]
    Failed {
        /// The host, as rules name it.
        host: String,
        /// What went wrong.
        why: String,
    },
}

impl Network {
    /// The judged addresses of a host: what to connect to, without asking for the name again.
    pub async fn addresses(&self, name: &str, port: u16) -> Result<Vec<SocketAddr>, Unreachable> {
        let host = key(name, port)?;
        let refused = |why: String, can_ask: bool| Unreachable::Refused {
            host: host.clone(),
            why,
            can_ask,
        };
        match self.gate.decide(&host) {
            HostDecision::Allowed => self.addresses_named(name, port).await,
            HostDecision::Asks(why) => Err(refused(why, true)),
            HostDecision::Denied(why) => Err(refused(why, false)),
        }
    }

    /// The judged addresses of a host that a person named: no list is asked, a rule that denies it holds,
    /// and addresses of the person's own network count where a rule names that very host.
    pub async fn addresses_named(&self, name: &str, port: u16) -> Result<Vec<SocketAddr>, Unreachable> {
        let host = key(name, port)?;
        if let HostDecision::Denied(why) = self.gate.decide(&host) {
            return Err(Unreachable::Refused {
                host,
                why,
                can_ask: false,
            });
        }
        let found = self.resolved(name, port).await?;
        if self.gate.names(&host) {
            return Ok(found);
        }
        let own = |address: &SocketAddr| !self.names.is_public(address.ip());
        let first_own = found.iter().copied().find(own);
        let public: Vec<SocketAddr> = found.into_iter().filter(|address| !own(address)).collect();
        match (public.is_empty(), first_own) {
            (false, _) => Ok(public),
            (true, Some(address)) => {
                let own = address.ip();
                let why = format!(
                    "it leads to {own}, an address of your own network; only a rule that names it, net({host}), opens that"
                );
                Err(Unreachable::Refused {
                    host,
                    why,
                    can_ask: false,
                })
            }
            (true, None) => Err(Unreachable::Failed {
                host,
                why: "its name leads nowhere".to_owned(),
            }),
        }
    }

    async fn resolved(&self, name: &str, port: u16) -> Result<Vec<SocketAddr>, Unreachable> {
        let host = key(name, port)?;
        let bare = host_key(name, 443).unwrap_or_default();
        match bare.parse::<IpAddr>() {
            Ok(address) => Ok(vec![SocketAddr::new(address, port)]),
            Err(_) => self
                .names
                .lookup(&bare, port)
                .await
                .map_err(|error| Unreachable::Failed {
                    host,
                    why: error.to_string(),
                }),
        }
    }
}

fn key(name: &str, port: u16) -> Result<String, Unreachable> {
    host_key(name, port).ok_or_else(|| Unreachable::Refused {
        host: format!("{name:?}"),
        why: "it names no host".to_owned(),
        can_ask: false,
    })
}
