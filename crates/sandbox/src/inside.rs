//! The first program inside the walls: our own executable, re-entered. It gives up what it holds,
//! tries the walls it stands in, and only then becomes the program that was asked for. Knows what
//! its arguments tell, nothing else.

mod boundary;
mod denied;
mod descriptors;
mod door;
mod kernel;
mod rights;
mod tries;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::fd::RawFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

pub(crate) use tries::{Attempt, Ground, attempts};

/// The argument that asks for the walls; nobody types it.
const ENTER: &str = "stance:enter-walls";
/// The argument that asks for the tries of the proof.
pub(crate) const TRY: &str = "stance:try-walls";
/// First line on standard error of a process whose walls held.
pub(crate) const PROVEN: &str = "stance walls: proven\n";
/// Start of that line when they did not.
pub(crate) const REFUSED: &str = "stance walls: refused: ";
/// What we write to standard input when the helper may go on.
pub(crate) const GO: &[u8] = b"\n";
/// Exit code of a refusal.
const REFUSAL: i32 = 125;
/// Exit code of a program that cannot be started, as shells have it.
const NOT_STARTED: i32 = 127;

/// What the helper is told about the view it stands in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Order {
    /// Paths that may be written.
    pub(crate) writable: Vec<PathBuf>,
    /// Paths that must not be writable.
    pub(crate) sealed: Vec<PathBuf>,
    /// Paths that must show nothing.
    pub(crate) hidden: Vec<PathBuf>,
    /// The descriptor on which the listener of the proxy is handed out; none: no network at all.
    pub(crate) proxy: Option<RawFd>,
}

impl Order {
    pub(crate) fn into_arguments(self) -> Vec<OsString> {
        let mut arguments = vec![ENTER.into()];
        let lists = [
            ("--write", self.writable),
            ("--seal", self.sealed),
            ("--hide", self.hidden),
        ];
        for (flag, paths) in lists {
            arguments.extend(paths.into_iter().flat_map(|path| [flag.into(), path.into()]));
        }
        if let Some(descriptor) = self.proxy {
            arguments.extend(["--proxy".into(), descriptor.to_string().into()]);
        }
        arguments.push("--".into());
        arguments
    }

    /// Takes its arguments off the front, leaving the program's.
    fn parse(arguments: &mut impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut order = Self::default();
        while let Some(flag) = arguments.next() {
            let list = match flag.to_str() {
                Some("--") => return Ok(order),
                Some("--write") => &mut order.writable,
                Some("--seal") => &mut order.sealed,
                Some("--hide") => &mut order.hidden,
                Some("--proxy") => {
                    let number = arguments.next().and_then(|number| number.to_str()?.parse().ok());
                    order.proxy = Some(number.ok_or("the proxy has no descriptor")?);
                    continue;
                }
                _ => break,
            };
            list.extend(arguments.next().map(PathBuf::from));
        }
        Err("the order is not complete".into())
    }
}

/// Every `main` calls this before anything else. Returns at once in an ordinary start; inside the
/// walls it never returns.
pub fn enter_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next().as_deref().and_then(OsStr::to_str) {
        Some(ENTER) => {
            let refusal = enter(arguments);
            say(&format!("{REFUSED}{refusal}\n"));
            std::process::exit(REFUSAL);
        }
        Some(TRY) => std::process::exit(tries::run(arguments)),
        _ => (),
    }
}

/// Returns why the program was not started.
fn enter(mut arguments: impl Iterator<Item = OsString>) -> String {
    match prove(&mut arguments) {
        Ok(()) => say(PROVEN),
        Err(refusal) => return refusal,
    }
    // Byte by byte from the descriptor: what follows belongs to the program.
    let mut go = [0; GO.len()];
    if rustix::io::read(std::io::stdin(), &mut go) != Ok(GO.len()) || go != GO {
        return "nobody is following".into();
    }
    let Some(program) = arguments.next() else {
        std::process::exit(NOT_STARTED);
    };
    let failure = Command::new(&program).args(arguments).exec();
    say(&format!("{} cannot be started: {failure}\n", program.display()));
    std::process::exit(NOT_STARTED);
}

fn prove(arguments: &mut impl Iterator<Item = OsString>) -> Result<(), String> {
    let order = Order::parse(arguments)?;
    if let Some(descriptor) = order.proxy {
        door::hand_out(descriptor)?;
    }
    descriptors::keep_three_pipes()?;
    descriptors::leave_no_core()?;
    descriptors::bound_files()?;
    boundary::mounts_hold(&order)?;
    rights::restrict(&order)?;
    denied::install(order.proxy.is_some())?;
    boundary::calls_are_denied(&order)
}

fn say(line: &str) {
    // With standard error gone there is nobody left to tell.
    drop(std::io::stderr().write_all(line.as_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::{array, prelude::*};

    #[test]
    fn an_order_survives_its_way_through_the_arguments() {
        let order = Order {
            writable: vec!["/tmp".into(), "/a b".into()],
            sealed: vec!["--".into()],
            hidden: vec!["/home/x".into()],
            proxy: Some(7),
        };
        let mut arguments = order.clone().into_arguments();
        arguments.push("ls".into());
        let mut arguments = arguments.into_iter().skip(1);
        assert_eq!(Order::parse(&mut arguments), Ok(order));
        assert_eq!(arguments.collect::<Vec<_>>(), ["ls"]);
    }

    #[test]
    fn a_cut_order_is_refused() {
        let mut arguments = ["--write", "/tmp"].map(OsString::from).into_iter();
        assert!(Order::parse(&mut arguments).is_err());
    }

    proptest! {
        #[test]
        fn any_order_survives_and_the_programs_arguments_are_left_whole(
            lists in array::uniform3(vec("[ -~]{1,12}", 0..4)),
            program in vec("[ -~]{0,8}", 0..4),
            proxy in proptest::option::of(3..1000_i32),
        ) {
            let [writable, sealed, hidden] = lists.map(|list| list.into_iter().map(PathBuf::from).collect());
            let order = Order { writable, sealed, hidden, proxy };
            let passed = order.clone().into_arguments().into_iter().skip(1);
            let mut passed = passed.chain(program.iter().map(OsString::from));
            prop_assert_eq!(Order::parse(&mut passed), Ok(order));
            prop_assert!(passed.eq(program.iter().map(OsString::from)));
        }
    }
}
