//! Test builds only: reads from `STANCE_FAULT` where this process is to die. No release has it.

use engine::{Engine, FaultMoment, FaultPoint, Problem};

use crate::environment::Environment;

/// Arms what `KIND:before|after|effect:NUMBER` names, such as `tool_started:after:1`.
pub(crate) fn arm(engine: &Engine, environment: &Environment) -> Result<(), Problem> {
    let Some(text) = environment.fault() else { return Ok(()) };
    let point = read(&text).ok_or_else(|| Problem::usage(format!("STANCE_FAULT={text} names no moment to die at")))?;
    engine.arm_fault(point);
    Ok(())
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
