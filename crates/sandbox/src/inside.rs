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
mod watch;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::fd::RawFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use crate::{Limits, lay};

pub(crate) use kernel::call;
pub(crate) use tries::{Attempt, Ground, Worktree, attempts};

/// The argument that asks for the walls; nobody types it.
const ENTER: &str = "stance:enter-walls";
/// The argument that asks for a watcher above the walls, where no process tree of its own ends them.
pub(crate) const WATCH: &str = "stance:watch";
/// The argument that asks for the tries of the proof.
pub(crate) const TRY: &str = "stance:try-walls";
/// First line on standard error of a process whose walls held.
pub(crate) const PROVEN: &str = "stance walls: proven\n";
/// Start of that line when they did not.
pub(crate) const REFUSED: &str = "stance walls: refused: ";
/// What we write to standard input when the helper may go on.
pub(crate) const GO: &[u8] = b"\n";
/// In the place of a number that bounds nothing.
const NO_BOUND: &str = "-";
/// Exit code of a refusal.
const REFUSAL: i32 = 125;
/// Exit code of a program that cannot be started, as shells have it.
const NOT_STARTED: i32 = 127;

/// What holds a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Held {
    /// A view, a process tree and a network of its own, and rules of the kernel.
    #[default]
    Namespaces,
    /// Rules of the kernel alone.
    Kernel,
    /// Nothing.
    Nothing,
}

impl Held {
    const ALL: [Self; 3] = [Self::Namespaces, Self::Kernel, Self::Nothing];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Kernel => "kernel",
            Self::Nothing => "nothing",
        }
    }

    fn of_word(word: &OsStr) -> Option<Self> {
        Self::ALL.into_iter().find(|held| word == held.word())
    }
}

/// What decides which calls are denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Filter {
    /// What holds the process.
    pub(crate) held: Held,
    /// Whether the proxy is there.
    pub(crate) proxied: bool,
}

/// What the helper is told about the view it stands in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Order {
    /// What holds the process.
    pub(crate) held: Held,
    /// Paths that may be read, where no view decides it.
    pub(crate) readable: Vec<PathBuf>,
    /// Folders whose names may be listed, where no view decides it.
    pub(crate) listed: Vec<PathBuf>,
    /// Paths that may be written.
    pub(crate) writable: Vec<PathBuf>,
    /// Paths that must not be writable.
    pub(crate) sealed: Vec<PathBuf>,
    /// Paths that must show nothing.
    pub(crate) hidden: Vec<PathBuf>,
    /// The descriptor on which the listener of the proxy is handed out; none: no network at all.
    pub(crate) proxy: Option<RawFd>,
    /// Bytes of memory for one process.
    pub(crate) memory: Option<u64>,
    /// Processes and threads of all.
    pub(crate) processes: Option<u64>,
    /// Paths that must lie in the memory of a throw-away view.
    pub(crate) thrown_away: Vec<PathBuf>,
}

impl Order {
    pub(crate) fn into_arguments(self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec![ENTER.into(), self.held.word().into()];
        for bound in [self.memory, self.processes] {
            arguments.push(
                bound
                    .map_or_else(|| NO_BOUND.to_owned(), |bound| bound.to_string())
                    .into(),
            );
        }
        let lists = [
            ("--read", self.readable),
            ("--list", self.listed),
            ("--write", self.writable),
            ("--seal", self.sealed),
            ("--hide", self.hidden),
            ("--throw-away", self.thrown_away),
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

    /// Which calls are denied.
    fn filter(&self) -> Filter {
        Filter {
            held: self.held,
            proxied: self.proxy.is_some(),
        }
    }

    /// Bounds what a single process may take.
    pub(crate) fn limit(&mut self, limits: &Limits) {
        self.memory = limits.memory_bytes();
        // A user's processes are counted apart only in a user namespace of their own.
        self.processes = (self.held == Held::Namespaces).then(|| u64::from(limits.processes));
    }

    /// Takes its arguments off the front, leaving the program's.
    fn parse(arguments: &mut impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut order = Self::default();
        let incomplete = || "the order is not complete".to_owned();
        order.held = arguments
            .next()
            .as_deref()
            .and_then(Held::of_word)
            .ok_or_else(incomplete)?;
        for bound in [&mut order.memory, &mut order.processes] {
            let word = arguments.next().ok_or_else(incomplete)?;
            *bound = word.to_str().and_then(|word| word.parse().ok());
        }
        while let Some(flag) = arguments.next() {
            let list = match flag.to_str() {
                Some("--") => return Ok(order),
                Some("--read") => &mut order.readable,
                Some("--list") => &mut order.listed,
                Some("--write") => &mut order.writable,
                Some("--seal") => &mut order.sealed,
                Some("--hide") => &mut order.hidden,
                Some("--throw-away") => &mut order.thrown_away,
                Some("--proxy") => {
                    let number = arguments.next().and_then(|number| number.to_str()?.parse().ok());
                    order.proxy = Some(number.ok_or("the proxy has no descriptor")?);
                    continue;
                }
                _ => break,
            };
            list.extend(arguments.next().map(PathBuf::from));
        }
        Err(incomplete())
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
        Some(WATCH) => std::process::exit(watch::watch(arguments)),
        Some(lay::LAY) => {
            let refusal = lay::lay(arguments);
            say(&format!("{refusal}\n"));
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
    descriptors::bound(&order)?;
    match order.held {
        Held::Namespaces => boundary::mounts_hold(&order)?,
        Held::Kernel => boundary::give_up_capabilities()?,
        Held::Nothing => return Ok(()),
    }
    rights::restrict(&order)?;
    denied::install(order.filter())?;
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
            thrown_away: vec!["/y".into()],
            held: Held::Kernel,
            memory: Some(7),
            ..Order::default()
        };
        let mut arguments = order.clone().into_arguments();
        arguments.push("ls".into());
        let mut arguments = arguments.into_iter().skip(1);
        assert_eq!(Order::parse(&mut arguments), Ok(order));
        assert_eq!(arguments.collect::<Vec<_>>(), ["ls"]);
    }

    #[test]
    fn a_cut_order_is_refused() {
        let mut arguments = ["kernel", "-", "-", "--write", "/tmp"].map(OsString::from).into_iter();
        assert!(Order::parse(&mut arguments).is_err());
    }

    proptest! {
        #[test]
        fn any_order_survives_and_the_programs_arguments_are_left_whole(
            lists in array::uniform6(vec("[ -~]{1,12}", 0..4)),
            program in vec("[ -~]{0,8}", 0..4),
            proxy in proptest::option::of(3..1000_i32),
        ) {
            let [readable, listed, writable, sealed, hidden, thrown_away] =
                lists.map(|list| list.into_iter().map(PathBuf::from).collect());
            let order = Order { readable, listed, writable, sealed, hidden, proxy, thrown_away, ..Order::default() };
            let passed = order.clone().into_arguments().into_iter().skip(1);
            let mut passed = passed.chain(program.iter().map(OsString::from));
            prop_assert_eq!(Order::parse(&mut passed), Ok(order));
            prop_assert!(passed.eq(program.iter().map(OsString::from)));
        }
    }
}
