//! Test builds only: reads from `STANCE_FAULT` where this process is to die, from `STANCE_NAMES` where names of
//! hosts lead, and from `STANCE_LINES` whether lines are read. No release has it.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use engine::{Engine, FaultMoment, FaultPoint, Problem};

use crate::environment::Environment;

/// Turns the reading of lines off where `STANCE_LINES` is `unread`.
pub(crate) fn turn_off(environment: &Environment) {
    if environment.lines().as_deref() == Some("unread") {
        engine::read_no_lines();
    }
}

/// Arms what `KIND:before|after|effect:NUMBER` names, such as `tool_started:after:1`.
pub(crate) fn arm(engine: &Engine, environment: &Environment) -> Result<(), Problem> {
    let Some(text) = environment.fault() else { return Ok(()) };
    let point = read(&text).ok_or_else(|| Problem::usage(format!("STANCE_FAULT={text} names no moment to die at")))?;
    engine.arm_fault(point);
    Ok(())
}

/// The names that `NAME=ADDRESS:PORT,…` lists, and no others; their addresses count as the world's.
pub(crate) fn names(environment: &Environment) -> Result<Option<Arc<dyn sandbox::Names>>, Problem> {
    let Some(text) = environment.names() else {
        return Ok(None);
    };
    let pair = |pair: &str| Some(pair.split_once('=')?).map(|(name, address)| (name.to_owned(), address.parse()));
    let mut listed = BTreeMap::new();
    for (name, address) in text.split(',').filter_map(pair) {
        let address = address.map_err(|_| Problem::usage(format!("STANCE_NAMES={text} names no addresses")))?;
        listed.insert(name, address);
    }
    Ok(Some(Arc::new(Listed(listed))))
}

struct Listed(BTreeMap<String, SocketAddr>);

impl sandbox::Names for Listed {
    fn lookup<'a>(&'a self, name: &'a str, _port: u16) -> sandbox::Lookup<'a> {
        let found = self.0.get(name).copied();
        let unknown = || io::Error::new(io::ErrorKind::NotFound, "no such name");
        Box::pin(async move { Ok(vec![found.ok_or_else(unknown)?]) })
    }

    fn is_public(&self, address: IpAddr) -> bool {
        // The servers of tests answer on 127.0.0.2; what must never be reached listens on 127.0.0.1.
        self.0.values().any(|listed| listed.ip() == address) && address != IpAddr::from([127, 0, 0, 1])
    }
}

fn read(text: &str) -> Option<FaultPoint> {
    let mut parts = text.split(':');
    let kind = parts.next()?.to_owned();
    let when = match parts.next()? {
        "before" => FaultMoment::BeforeCommit,
        "after" => FaultMoment::AfterCommit,
        "effect" => FaultMoment::BeforeEffect,
        _ => return None,
    };
    let occurrence = parts.next()?.parse().ok()?;
    Some(FaultPoint { kind, when, occurrence })
}
