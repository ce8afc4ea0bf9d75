//! The environment of a walled process, rebuilt from nothing. Never reads the one of this process.

use std::ffi::OsString;

use crate::{SandboxError, Toolchains, proxy};

/// The private home folder inside the walls.
pub(crate) const HOME: &str = "/home/stance";
/// The private runtime folder inside the walls.
pub(crate) const RUNTIME: &str = "/run/user/1000";

/// Bubblewrap starts with this environment too, outside of its own walls: a variable that steers
/// the loader or the C library would act there. Those of a shell would run code before its line.
const REFUSED_PREFIXES: [&str; 3] = ["LD_", "MALLOC_", "BASH_FUNC_"];
const REFUSED: [&str; 6] = ["BASH_ENV", "ENV", "GCONV_PATH", "GLIBC_TUNABLES", "LOCPATH", "NLSPATH"];

/// All variables of a process: the fixed ones, those that lead to the proxy, the toolchains', then the caller's, a later pair
/// winning over an earlier one of the same name.
pub(crate) fn rebuild(
    toolchains: &Toolchains,
    proxied: bool,
    handed_in: &[(String, String)],
) -> Result<Vec<(OsString, OsString)>, SandboxError> {
    let mut path: Vec<String> = toolchains
        .path
        .iter()
        .filter_map(|folder| folder.to_str().map(str::to_owned))
        .collect();
    path.extend(["/usr/local/bin", "/usr/bin", "/bin"].map(str::to_owned));
    let fixed = [
        ("PATH", path.join(":")),
        ("HOME", HOME.to_owned()),
        ("USER", "stance".to_owned()),
        ("LOGNAME", "stance".to_owned()),
        ("SHELL", "/bin/bash".to_owned()),
        ("TMPDIR", "/tmp".to_owned()),
        ("XDG_RUNTIME_DIR", RUNTIME.to_owned()),
        ("LANG", "C.UTF-8".to_owned()),
        ("TERM", "dumb".to_owned()),
    ];
    let to_proxy = if proxied { proxy::VARIABLES } else { &[] };
    for (name, value) in handed_in {
        let acts_on_the_walls =
            REFUSED.contains(&name.as_str()) || REFUSED_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        if acts_on_the_walls || name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return Err(SandboxError::Environment(name.clone()));
        }
    }
    Ok(fixed
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .chain(to_proxy.iter().map(|(name, value)| ((*name).into(), (*value).into())))
        .chain(
            toolchains
                .environment
                .iter()
                .chain(handed_in)
                .map(|(name, value)| (name.into(), value.into())),
        )
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_act_on_the_loader_or_shell_are_refused() {
        for name in ["LD_PRELOAD", "BASH_ENV", "BASH_FUNC_ls%%", "", "A=B", "GLIBC_TUNABLES"] {
            let error = rebuild(&Toolchains::default(), false, &[(name.into(), "x".into())]).unwrap_err();
            assert!(matches!(&error, SandboxError::Environment(named) if named == name));
        }
    }

    #[test]
    fn toolchains_come_before_the_system_and_the_caller_comes_last() {
        let toolchains = Toolchains {
            path: vec!["/opt/tool/bin".into()],
            ..Toolchains::default()
        };
        let pairs = rebuild(&toolchains, false, &[("LANG".into(), "de_DE.UTF-8".into())]).unwrap();
        assert!(pairs.contains(&("PATH".into(), "/opt/tool/bin:/usr/local/bin:/usr/bin:/bin".into())));
        assert_eq!(pairs.last(), Some(&("LANG".into(), "de_DE.UTF-8".into())));
    }
}
