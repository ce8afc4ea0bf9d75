//! Keys taken out of what a provider says: some repeat the key they refuse, and their words are
//! shown and remembered. Nothing else of an answer is changed.

use std::fmt::Write;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use futures_util::{StreamExt, TryStreamExt};
use secrecy::{ExposeSecret, SecretString};

use crate::{Fitted, Model, ModelError, ModelIdentity, ModelSettings, PartStream, Request};

/// What stands where a key was.
const GONE: &str = "[key]";
/// A shorter secret would be found in words that have nothing to do with it.
const SHORTEST: usize = 8;

/// Every form a secret is recognised in, the longest first.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Arc<Vec<SecretString>>);

impl Secrets {
    /// The secrets among `secrets` that are long enough to be told from other words.
    pub(crate) fn of<'a>(secrets: impl IntoIterator<Item = &'a SecretString>) -> Self {
        let mut forms = secrets
            .into_iter()
            .map(|secret| secret.expose_secret().trim())
            .filter(|secret| secret.len() >= SHORTEST)
            .flat_map(forms)
            .collect::<Vec<_>>();
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        Self(Arc::new(forms.into_iter().map(SecretString::from).collect()))
    }

    /// `text` without them.
    pub(crate) fn taken_out(&self, text: &str) -> String {
        self.0
            .iter()
            .fold(text.to_owned(), |text, form| text.replace(form.expose_secret(), GONE))
    }
}

fn forms(secret: &str) -> Vec<String> {
    let escaped = serde_json::Value::from(secret).to_string();
    vec![
        secret.to_owned(),
        STANDARD.encode(secret),
        STANDARD_NO_PAD.encode(secret),
        URL_SAFE.encode(secret),
        URL_SAFE_NO_PAD.encode(secret),
        hex::encode(secret),
        hex::encode_upper(secret),
        percent_encoded(secret),
        escaped.trim_matches('"').to_owned(),
    ]
}

fn percent_encoded(secret: &str) -> String {
    secret.bytes().fold(String::new(), |mut text, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            // Writing to a text cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
        text
    })
}

/// A model whose failures name no key.
pub(crate) struct Discreet {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) secrets: Secrets,
}

impl Model for Discreet {
    fn identity(&self) -> ModelIdentity {
        self.model.identity()
    }

    fn fit(&self, settings: &ModelSettings) -> Fitted {
        self.model.fit(settings)
    }

    fn stream(&self, request: Request) -> PartStream {
        let secrets = self.secrets.clone();
        self.model
            .stream(request)
            .map_err(move |error| ModelError {
                message: secrets.taken_out(&error.message),
                ..error
            })
            .boxed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_form_of_a_key_is_left(secret in "[ -~]{8,40}", before in "[a-z ]{0,9}", after in "[a-z ]{0,9}") {
            prop_assume!(secret.trim().len() >= SHORTEST);
            let secrets = Secrets::of([&SecretString::from(secret.as_str())]);
            for form in forms(secret.trim()) {
                let told = secrets.taken_out(&format!("{before}{form}{after}"));
                prop_assert!(!told.contains(&form), "{} in {}", form, told);
            }
            prop_assert_eq!(secrets.taken_out("nothing of it"), "nothing of it");
        }
    }

    #[test]
    fn what_is_short_is_no_secret() {
        let secrets = Secrets::of([&SecretString::from("k")]);
        assert_eq!(secrets.taken_out("a key"), "a key");
    }
}
