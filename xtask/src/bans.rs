//! The one table of what a room may not touch. Each room's `clippy.toml` is rendered from it, and tidy plants one
//! violation of every line. Whoever must break a ban in one file says so in `.config/tidy.toml`.

/// The rooms, by their folder; `xtask` counts as one.
pub(crate) const ROOMS: &[&str] = &[
    "modes", "work", "llm", "sandbox", "store", "repo", "tools", "engine", "server", "terminal", "xtask",
];

/// Things that only some rooms may name.
pub(crate) struct Ban {
    /// Types, by their full path.
    pub(crate) types: &'static [&'static str],
    /// Functions and methods, by their full path.
    pub(crate) functions: &'static [&'static str],
    /// Why, and what to use instead: clippy shows it at the place.
    pub(crate) reason: &'static str,
    rooms: Rooms,
}

enum Rooms {
    All,
    Only(&'static [&'static str]),
    AllBut(&'static [&'static str]),
}

impl Ban {
    /// Whether the ban stands in a room.
    pub(crate) fn binds(&self, room: &str) -> bool {
        match self.rooms {
            Rooms::All => true,
            Rooms::Only(rooms) => rooms.contains(&room),
            Rooms::AllBut(rooms) => !rooms.contains(&room),
        }
    }
}

/// The table.
pub(crate) const BANS: &[Ban] = &[
    Ban {
        types: &["std::process::Command", "tokio::process::Command"],
        functions: &[],
        reason: "a process outside the walls is never started: use `sandbox::spawn`",
        rooms: Rooms::AllBut(&["sandbox", "xtask"]),
    },
    Ban {
        types: &[],
        functions: &[
            "std::env::var",
            "std::env::var_os",
            "std::env::vars",
            "std::env::vars_os",
            "std::env::temp_dir",
            "std::env::home_dir",
        ],
        reason: "the environment is read once, in `terminal`: take the value as an argument",
        rooms: Rooms::AllBut(&["terminal", "xtask"]),
    },
    Ban {
        types: &[
            "std::fs::File",
            "std::fs::OpenOptions",
            "std::fs::DirBuilder",
            "tokio::fs::File",
            "tokio::fs::OpenOptions",
            "tokio::fs::DirBuilder",
        ],
        functions: &[
            "std::fs::write",
            "std::fs::rename",
            "std::fs::copy",
            "std::fs::hard_link",
            "std::fs::create_dir",
            "std::fs::create_dir_all",
            "std::fs::remove_file",
            "std::fs::remove_dir",
            "std::fs::remove_dir_all",
            "std::fs::set_permissions",
            "std::os::unix::fs::symlink",
            "tokio::fs::write",
            "tokio::fs::rename",
            "tokio::fs::copy",
            "tokio::fs::hard_link",
            "tokio::fs::create_dir",
            "tokio::fs::create_dir_all",
            "tokio::fs::remove_file",
            "tokio::fs::remove_dir",
            "tokio::fs::remove_dir_all",
            "tokio::fs::set_permissions",
            "tokio::fs::symlink",
            "rustix::fs::mkdirat",
            "rustix::fs::unlinkat",
            "rustix::fs::renameat",
            "rustix::fs::renameat_with",
            "rustix::fs::linkat",
            "rustix::fs::symlinkat",
            "rustix::fs::chmodat",
            "rustix::fs::ftruncate",
        ],
        reason: "only `tools`, `store`, `sandbox` and `terminal` write files; reading is free (`std::fs::read`): \
                 write through one of them",
        rooms: Rooms::AllBut(&["tools", "store", "sandbox", "terminal", "xtask"]),
    },
    Ban {
        types: &[],
        functions: &[
            "std::time::SystemTime::now",
            "std::time::Instant::now",
            "tokio::time::Instant::now",
            "jiff::Timestamp::now",
            "jiff::Zoned::now",
        ],
        reason: "the time comes from the engine's clock: take it as an argument",
        rooms: Rooms::All,
    },
    Ban {
        types: &[],
        functions: &["uuid::Uuid::now_v7", "uuid::Uuid::new_v4", "rustix::rand::getrandom"],
        reason: "new ids and randomness come from the engine's clock: take them as arguments",
        rooms: Rooms::All,
    },
    Ban {
        types: &["std::collections::HashMap", "std::collections::HashSet"],
        functions: &[],
        reason: "a pure room gives one answer, in one order: use `BTreeMap` or `BTreeSet`",
        rooms: Rooms::Only(&["modes", "work"]),
    },
    Ban {
        types: &["reqwest::Client", "reqwest::ClientBuilder"],
        functions: &["reqwest::get"],
        reason: "only `llm`, and `tools` for pages of the web, speak HTTP to the outside: ask one of them",
        rooms: Rooms::AllBut(&["llm", "tools"]),
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn nothing_is_banned_twice() {
        let mut seen = BTreeSet::new();
        for path in BANS.iter().flat_map(|ban| ban.types.iter().chain(ban.functions)) {
            assert!(seen.insert(path), "{path} stands twice in the table");
        }
    }

    #[test]
    fn every_ban_binds_a_room_and_every_room_named_exists() {
        for ban in BANS {
            assert!(ROOMS.iter().any(|room| ban.binds(room)), "{}", ban.reason);
            if let Rooms::Only(rooms) | Rooms::AllBut(rooms) = ban.rooms {
                for room in rooms {
                    assert!(ROOMS.contains(room), "{room}");
                }
            }
        }
    }

    #[test]
    fn pure_rooms_are_bound_by_every_ban() {
        for room in ["modes", "work"] {
            assert!(BANS.iter().all(|ban| ban.binds(room)), "{room}");
        }
    }
}
