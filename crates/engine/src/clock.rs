//! The one clock and the one source of ids. Nothing else in the house asks for either.

use std::fs;

use store::Holder;
use uuid::Uuid;

/// Milliseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
pub fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// A new id: a letter that says of what, and twelve hexadecimal digits.
#[expect(clippy::disallowed_methods, reason = "the one place that makes ids")]
pub(crate) fn new_id(letter: char) -> String {
    let digits = Uuid::now_v7().simple().to_string();
    let random: String = digits.chars().skip(20).collect();
    format!("{letter}_{random}")
}

/// 32 unguessable bytes.
#[expect(clippy::disallowed_methods, reason = "the one place that makes secrets")]
pub(crate) fn secret() -> [u8; 32] {
    let mut bytes = [0; 32];
    let (first, second) = bytes.split_at_mut(16);
    first.copy_from_slice(Uuid::new_v4().as_bytes());
    second.copy_from_slice(Uuid::new_v4().as_bytes());
    *blake3::hash(&bytes).as_bytes()
}

/// This process, so that others can tell whether it still lives.
pub(crate) fn holder(label: &str) -> Holder {
    let pid = std::process::id();
    Holder {
        pid,
        start_ticks: start_ticks(pid).unwrap_or_default(),
        boot_id: boot_id(),
        label: label.to_owned(),
    }
}

/// Whether the process that holds a lease still lives, on this boot of this machine.
pub(crate) fn is_alive(holder: &Holder) -> bool {
    holder.boot_id == boot_id() && start_ticks(holder.pid) == Some(holder.start_ticks)
}

fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map(|id| id.trim().to_owned())
        .unwrap_or_default()
}

/// Field 22 of `/proc/PID/stat`; the name in field 2 may hold spaces and brackets. None when the
/// process is gone or only waits to be reaped.
fn start_ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_an_impostor_does_not() {
        let own = holder("test");
        assert!(is_alive(&own));
        assert!(!is_alive(&Holder {
            start_ticks: own.start_ticks + 1,
            ..own.clone()
        }));
        assert!(!is_alive(&Holder {
            boot_id: "another".to_owned(),
            ..own
        }));
    }

    #[test]
    fn ids_say_of_what_and_differ() {
        let (a, b) = (new_id('r'), new_id('r'));
        assert!(a.starts_with("r_") && a.len() == 14, "{a}");
        assert_ne!(a, b);
    }
}
