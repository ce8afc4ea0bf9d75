//! The listed exceptions: `.config/tidy.toml`.

use anyhow::Context;
use serde::Deserialize;

use crate::checkout::Checkout;

/// Every exception there is.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// Files past the hard limit of length.
    #[serde(default)]
    pub(crate) long: Vec<Long>,
    /// Files that name what is banned in their room.
    #[serde(default)]
    pub(crate) lifted: Vec<Lifted>,
}

/// A file that may be long.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Long {
    /// Its path from the root.
    pub(crate) file: String,
    /// Since when.
    pub(crate) since: toml::value::Datetime,
    /// Why it is not split.
    pub(crate) reason: String,
}

/// A file that may lift a ban.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lifted {
    /// Its path from the root.
    pub(crate) file: String,
    /// Why it is the one that has to.
    pub(crate) reason: String,
}

impl Settings {
    /// Reads the file of the checkout.
    pub(crate) fn read(checkout: &Checkout) -> anyhow::Result<Self> {
        let path = checkout.at(".config/tidy.toml");
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("cannot read {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_needs_all_its_parts() {
        let whole = "[[long]]\nfile = 'a.rs'\nsince = 2030-01-02\nreason = 'one table'\n";
        let settings: Settings = toml::from_str(whole).unwrap();
        assert_eq!(settings.long[0].since.to_string(), "2030-01-02");
        for part in ["file", "since", "reason"] {
            let less: Vec<&str> = whole.lines().filter(|line| !line.starts_with(part)).collect();
            assert!(
                toml::from_str::<Settings>(&less.join(
                    "
"
                ))
                .is_err(),
                "without {part}"
            );
        }
        assert!(toml::from_str::<Settings>("[[lifted]]\nfile = 'a.rs'\nreason = 'x'\nroom = 'b'\n").is_err());
    }
}
