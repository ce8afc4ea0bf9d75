//! The languages whose definitions are found: the ends of their files' names, their grammar and the query that
//! tells a definition. A table; knows no file.

use std::path::Path;

use tree_sitter_language::LanguageFn;

/// One language.
pub(crate) struct Language {
    /// Its name between us and the process that parses.
    pub(crate) name: &'static str,
    /// Ends of names, in lower case.
    ends: &'static [&'static str],
    pub(crate) grammar: LanguageFn,
    /// Captures each `@definition` with the `@name` in it.
    pub(crate) query: &'static str,
}

macro_rules! definitions {
    ($($language:literal)+) => { concat!($(include_str!(concat!("../../data/definitions/", $language, ".scm"))),+) };
}

/// C's own headers are told from those of C++ by nothing, and C++ reads both.
pub(crate) const LANGUAGES: &[Language] = &[
    Language {
        name: "bash",
        ends: &["bash", "sh"],
        grammar: tree_sitter_bash::LANGUAGE,
        query: definitions!("bash"),
    },
    Language {
        name: "c",
        ends: &["c"],
        grammar: tree_sitter_c::LANGUAGE,
        query: definitions!("c"),
    },
    Language {
        name: "c#",
        ends: &["cs"],
        grammar: tree_sitter_c_sharp::LANGUAGE,
        query: definitions!("c-sharp"),
    },
    Language {
        name: "c++",
        ends: &["cc", "cpp", "cxx", "h", "hh", "hpp", "hxx"],
        grammar: tree_sitter_cpp::LANGUAGE,
        query: definitions!("c" "cpp"),
    },
    Language {
        name: "go",
        ends: &["go"],
        grammar: tree_sitter_go::LANGUAGE,
        query: definitions!("go"),
    },
    Language {
        name: "java",
        ends: &["java"],
        grammar: tree_sitter_java::LANGUAGE,
        query: definitions!("java"),
    },
    Language {
        name: "javascript",
        ends: &["cjs", "js", "jsx", "mjs"],
        grammar: tree_sitter_javascript::LANGUAGE,
        query: definitions!("javascript"),
    },
    Language {
        name: "php",
        ends: &["php"],
        grammar: tree_sitter_php::LANGUAGE_PHP,
        query: definitions!("php"),
    },
    Language {
        name: "python",
        ends: &["py", "pyi"],
        grammar: tree_sitter_python::LANGUAGE,
        query: definitions!("python"),
    },
    Language {
        name: "ruby",
        ends: &["rake", "rb"],
        grammar: tree_sitter_ruby::LANGUAGE,
        query: definitions!("ruby"),
    },
    Language {
        name: "rust",
        ends: &["rs"],
        grammar: tree_sitter_rust::LANGUAGE,
        query: definitions!("rust"),
    },
    Language {
        name: "tsx",
        ends: &["tsx"],
        grammar: tree_sitter_typescript::LANGUAGE_TSX,
        query: definitions!("javascript" "typescript"),
    },
    Language {
        name: "typescript",
        ends: &["cts", "mts", "ts"],
        grammar: tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        query: definitions!("javascript" "typescript"),
    },
];

impl Language {
    /// The language of a file, by the end of its name.
    pub(crate) fn of(path: &str) -> Option<&'static Language> {
        let end = Path::new(path).extension()?.to_str()?.to_ascii_lowercase();
        LANGUAGES.iter().find(|language| language.ends.contains(&end.as_str()))
    }

    /// The language of a name.
    pub(crate) fn named(name: &str) -> Option<&'static Language> {
        LANGUAGES.iter().find(|language| language.name == name)
    }
}
