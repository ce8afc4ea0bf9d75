//! Variables a line sets: which of them change what is started or evaluated, as data. Knows no program.

use brush_parser::ast::{Assignment, AssignmentName, AssignmentValue};

use super::found::{Finding, Here};

impl Finding<'_> {
    pub(super) fn assignment(&mut self, assignment: &Assignment, here: &Here) {
        match &assignment.name {
            AssignmentName::VariableName(name) => self.sets(name),
            AssignmentName::ArrayElementName(..) => self.opaque("an index is evaluated"),
        }
        match &assignment.value {
            AssignmentValue::Scalar(word) => {
                self.word(word, here);
            }
            AssignmentValue::Array(elements) => {
                for (index, value) in elements {
                    if index.is_some() {
                        self.opaque("an index is evaluated");
                    }
                    self.word(value, here);
                }
            }
        }
    }

    /// Notes that a variable is set.
    pub(super) fn sets(&mut self, name: &str) {
        let starts_otherwise =
            STEERING.contains(&name) || STEERING_PREFIXES.iter().any(|start| name.starts_with(start));
        if starts_otherwise {
            self.opaque(format!("the variable {name} changes what is started"));
        } else if !heeded_by_nobody(name) {
            self.variables_set = true;
        }
        self.steered |= !only_looks(name);
    }
}

/// Variables that change which programs are started, or what the shell evaluates.
const STEERING: &[&str] = &[
    "PATH",
    "IFS",
    "ENV",
    "SHELL",
    "SHELLOPTS",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "PROMPT_COMMAND",
    "CDPATH",
    "HOME",
    "PWD",
    "OLDPWD",
    "GLOBIGNORE",
    "HISTFILE",
    "EXECIGNORE",
    "FIGNORE",
    "MAIL",
    "MAILPATH",
    "POSIXLY_CORRECT",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "MANPAGER",
    "BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
    "LESS",
    "NODE_OPTIONS",
    "RUBYOPT",
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "CC",
    "CXX",
    "LD",
    "TAR_OPTIONS",
    "SSH_ASKPASS",
    "RSYNC_RSH",
    "CVS_RSH",
    "MAKEFLAGS",
    "MAKEFILES",
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "RIPGREP_CONFIG_PATH",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "OPTIND",
    "RANDOM",
    "SECONDS",
];

/// Beginnings of such names.
const STEERING_PREFIXES: &[&str] = &[
    "LD_", "DYLD_", "BASH", "GIT_", "PYTHON", "MALLOC_", "GLIBC_", "XDG_", "_",
];

/// Whether a variable of this name only changes how things look.
fn only_looks(name: &str) -> bool {
    const LOOKS: &[&str] = &[
        "LANG",
        "TZ",
        "NO_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "COLUMNS",
        "LINES",
        "TERM",
    ];
    LOOKS.contains(&name) || name.starts_with("LC_")
}

/// Whether no program that is a proven read heeds a variable of this name.
fn heeded_by_nobody(name: &str) -> bool {
    let small = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    only_looks(name) || (name.bytes().all(small) && !name.ends_with("_proxy"))
}
