//! Finding options among words as the GNU tools read them: abbreviated, in clusters, anywhere before
//! `--`. In doubt an option is there. Knows no program.

use super::word::Text;

/// An option that is given, with its value: the rest of its word, or the next; none at the end.
pub(super) struct Given {
    pub(super) value: Option<Text>,
}

/// Finds an option.
pub(super) fn option(words: &[Text], name: &str) -> Option<Given> {
    words
        .iter()
        .enumerate()
        .take_while(|(_, word)| word.constant() != Some("--"))
        .find_map(|(at, word)| {
            let stuck = given(&word.shape, name)?;
            let value = match stuck {
                "" => words.get(at + 1).cloned(),
                value if word.constant().is_some() => Some(Text::known(value)),
                _ => Some(Text::unknown(&word.raw)),
            };
            Some(Given { value })
        })
}

/// What is stuck to an option where this word is it.
fn given<'w>(word: &'w str, name: &str) -> Option<&'w str> {
    let exact = || {
        word.strip_prefix(name)
            .filter(|rest| rest.is_empty() || rest.starts_with('='))
    };
    let value = |rest: &'w str| rest.strip_prefix('=').unwrap_or(rest);
    match (name.strip_prefix("--"), name.strip_prefix('-')) {
        (Some(long), _) => {
            let (beginning, rest) = word
                .strip_prefix("--")
                .map(|word| word.split_once('=').unwrap_or((word, "")))?;
            (!beginning.is_empty() && long.starts_with(beginning)).then_some(rest)
        }
        (None, Some(short)) if short.len() == 1 => {
            let cluster = word.strip_prefix('-').filter(|cluster| !cluster.starts_with('-'))?;
            cluster.split_once(short).map(|(_, rest)| rest)
        }
        _ => exact().map(value),
    }
}

/// The words that are no options. `values` are options whose value is the next word.
pub(super) fn operands(words: &[Text], values: &[&str]) -> Vec<Text> {
    let mut found = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.constant() {
            Some("--") => {
                found.extend(rest.cloned());
                break;
            }
            Some(option) if values.contains(&option) => {
                rest.next();
            }
            Some(option) if option.len() > 1 && option.starts_with('-') => {}
            _ => found.push(word.clone()),
        }
    }
    found
}
