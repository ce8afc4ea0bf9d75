//! The closed set of thirteen effects a call can have on the world, and sets of them.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! effects {
    ($($variant:ident $name:literal $phrase:literal),+ $(,)?) => {
        /// One way a call changes the world outside its own worktree files.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[expect(missing_docs, reason = "each variant's phrase is its documentation")]
        pub enum Effect { $($variant),+ }

        impl Effect {
            /// Every effect, in their settled order.
            pub const ALL: [Effect; 13] = [$(Effect::$variant),+];

            /// The word in settings, events and the table.
            pub const fn name(self) -> &'static str {
                match self { $(Effect::$variant => $name),+ }
            }

            /// What a person reads: "it would PHRASE".
            pub const fn phrase(self) -> &'static str {
                match self { $(Effect::$variant => $phrase),+ }
            }
        }
    };
}

effects! {
    FileDelete "file_delete" "delete files",
    FileWriteOutsideWorktree "file_write_outside_worktree" "write outside the project",
    GitCommit "git_commit" "change the repository",
    GitPush "git_push" "push",
    PrCreate "pr_create" "open a pull request",
    PrPublish "pr_publish" "publish a review",
    VendorSyncWrite "vendor_sync_write" "change another service",
    NetworkEgress "network_egress" "use the network",
    SecretAccess "secret_access" "read secrets",
    PackageInstall "package_install" "install packages",
    ProcessSpawn "process_spawn" "start a program",
    WorkspaceMutation "workspace_mutation" "change agents of the workspace",
    EnclosureControl "enclosure_control" "change the walls",
}

impl Effect {
    /// Reads an effect's word.
    pub fn from_name(name: &str) -> Option<Effect> {
        Effect::ALL.into_iter().find(|effect| effect.name() == name)
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A set of effects.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct EffectSet(u16);

impl EffectSet {
    /// No effect.
    pub const EMPTY: EffectSet = EffectSet(0);

    /// The set of the effects given.
    pub const fn of(effects: &[Effect]) -> EffectSet {
        let mut bits = 0;
        let mut rest = effects;
        while let [first, others @ ..] = rest {
            bits |= first.bit();
            rest = others;
        }
        EffectSet(bits)
    }

    /// Every effect but those given.
    pub const fn all_but(effects: &[Effect]) -> EffectSet {
        EffectSet(EffectSet::of(&Effect::ALL).0 & !EffectSet::of(effects).0)
    }

    /// Whether no effect is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the effect is in it.
    pub const fn contains(self, effect: Effect) -> bool {
        self.0 & effect.bit() != 0
    }

    /// Whether each effect of `other` is in it.
    pub const fn contains_all(self, other: EffectSet) -> bool {
        self.0 & other.0 == other.0
    }

    /// Effects in either.
    #[must_use]
    pub const fn union(self, other: EffectSet) -> EffectSet {
        EffectSet(self.0 | other.0)
    }

    /// Effects in both.
    #[must_use]
    pub const fn intersection(self, other: EffectSet) -> EffectSet {
        EffectSet(self.0 & other.0)
    }

    /// Effects that are not in `other`.
    #[must_use]
    pub const fn without(self, other: EffectSet) -> EffectSet {
        EffectSet(self.0 & !other.0)
    }

    /// The set with one more.
    #[must_use]
    pub const fn with(self, effect: Effect) -> EffectSet {
        EffectSet(self.0 | effect.bit())
    }

    /// Its effects, in their settled order.
    pub fn iter(self) -> impl Iterator<Item = Effect> {
        Effect::ALL.into_iter().filter(move |effect| self.contains(*effect))
    }

    /// What a person reads: "push and read secrets".
    pub fn phrase(self) -> String {
        let phrases: Vec<&str> = self.iter().map(Effect::phrase).collect();
        match phrases.split_last() {
            None => "do nothing".to_owned(),
            Some((only, [])) => (*only).to_owned(),
            Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        }
    }
}

impl FromIterator<Effect> for EffectSet {
    fn from_iter<I: IntoIterator<Item = Effect>>(effects: I) -> Self {
        effects.into_iter().fold(EffectSet::EMPTY, EffectSet::with)
    }
}

impl fmt::Debug for EffectSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.iter()).finish()
    }
}

impl Serialize for EffectSet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for EffectSet {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Effect>::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_are_the_thirteen() {
        assert_eq!(Effect::ALL.len(), 13);
        for effect in Effect::ALL {
            assert_eq!(Effect::from_name(effect.name()), Some(effect));
            assert_eq!(serde_json::to_value(effect).unwrap(), effect.name());
        }
        assert_eq!(Effect::from_name("git-push"), None);
    }

    #[test]
    fn a_phrase_reads_as_a_sentence() {
        let set = EffectSet::of(&[Effect::GitPush, Effect::SecretAccess, Effect::FileDelete]);
        assert_eq!(set.phrase(), "delete files, push and read secrets");
        assert_eq!(EffectSet::EMPTY.phrase(), "do nothing");
    }
}
