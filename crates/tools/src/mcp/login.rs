//! Logging in to a server that asks for it, as the protocol's own specification has it: whom it names is found and
//! must be who it says, a person answers in a browser, and the tokens are kept apart. It must not know who allowed
//! the server.

mod callback;
mod kept;
mod way;

use std::sync::Arc;

use reqwest::Url;
use rmcp::service::ClientInitializeError;
use rmcp::transport::AuthorizationManager;
use rmcp::transport::auth::{
    AuthClient, AuthError, AuthorizationMetadata, AuthorizationMetadataSource, OAuthClientConfig, OAuthHttpClient,
};
use sandbox::Network;

use self::callback::Callback;
pub use self::kept::{LoginStanding, Logins};
use self::way::Way;
use super::offer::shown;
use super::server::{Launch, Server};
use super::servers::NotUsable;
use crate::https::{is_this_machine, words};
use crate::scope::Scope;

/// What the client is called where it registers itself.
const CLIENT: &str = "Stance";
/// Characters shown of what others say about a failure.
const LONGEST: usize = 600;

/// A login that waits for the person's browser.
pub struct Login {
    manager: AuthorizationManager,
    way: Arc<Way>,
    callback: Callback,
    /// What the browser must bring back.
    state: String,
    address: Url,
    issuer: String,
}

impl Login {
    /// Finds out where to log in at a server, registers there where nobody did, and opens a port for the answer.
    pub async fn begin(server: &Server, scope: &Scope) -> Result<Login, NotUsable> {
        let Launch::Address { url, client, .. } = &server.launch else {
            return Err(NotUsable("it is a program, and nobody logs in to one".to_owned()));
        };
        if server.names_token() {
            return Err(NotUsable(
                "its settings name a token for it, which is what it is asked with".to_owned(),
            ));
        }
        let callback = Callback::open()
            .await
            .map_err(|error| NotUsable(format!("no port of this machine could be opened: {error}")))?;
        let base = parsed(url)?;
        let way = Arc::new(Way::of_login(base.clone(), network(scope)));
        let mut manager = manager(&base, Arc::clone(&way)).await?;
        let (issuer, metadata) = described(&manager).await?;
        manager.set_metadata(metadata);
        let scopes = manager.select_initial_scopes(&[]).await;
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let secret = if let Some(id) = client {
            let known = OAuthClientConfig::new(id, callback.address());
            manager.configure_client(known).map_err(|error| not_usable(&error))?;
            None
        } else {
            let registered = manager.register_client(CLIENT, callback.address(), &scopes).await;
            registered.map_err(|error| not_usable(&error))?.client_secret
        };
        if let Some(keeper) = scope.logins.keeper(server, secret, Arc::clone(&way)) {
            manager.set_credential_store(keeper);
        }
        let address = manager.get_authorization_url(&scopes).await;
        let address = parsed(&address.map_err(|error| not_usable(&error))?)?;
        let state = address.query_pairs().filter(|(name, _)| name == "state").last();
        let state = state.map(|(_, state)| state.into_owned()).unwrap_or_default();
        Ok(Login {
            manager,
            way,
            callback,
            state,
            address,
            issuer,
        })
    }

    /// The page where the person logs in.
    pub fn address(&self) -> &str {
        self.address.as_str()
    }

    /// Who gives the tokens.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Waits until the person has answered there, fetches the tokens and keeps them.
    pub async fn finish(self) -> Result<(), NotUsable> {
        let answer = self.callback.answer(&self.state).await;
        let answer = answer.map_err(|error| NotUsable(format!("the answer was not heard: {error}")))?;
        let said = |wanted: &str| {
            let found = answer.query_pairs().find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.into_owned())
        };
        if let Some(error) = said("error") {
            let about = said("error_description").unwrap_or_default();
            return Err(NotUsable(format!(
                "{} refused the login: {}",
                self.issuer,
                shown(format!("{error} {about}").trim(), LONGEST)
            )));
        }
        let code = said("code").unwrap_or_default();
        let (state, issuer) = (self.state.as_str(), said("iss"));
        self.manager
            .exchange_code_for_token_with_issuer(&code, state, issuer.as_deref())
            .await
            .map(drop)
            .map_err(|error| {
                let NotUsable(why) = match self.way.trouble() {
                    Some(why) => NotUsable(why),
                    None => not_usable(&error),
                };
                NotUsable(if code.is_empty() {
                    why
                } else {
                    why.replace(&code, "…")
                })
            })
    }
}

/// The client that asks a server with its login, where there is one.
pub(super) async fn client(
    server: &Server,
    url: &str,
    scope: &Scope,
    plain: &reqwest::Client,
) -> Result<Option<AuthClient<reqwest::Client>>, NotUsable> {
    let Some(held) = scope.logins.held(server).filter(|_| !server.names_token()) else {
        return Ok(None);
    };
    let base = parsed(url)?;
    let way = Arc::new(Way::after_login(base.clone(), network(scope), held.origins));
    let mut manager = manager(&base, Arc::clone(&way)).await?;
    let (issuer, metadata) = described(&manager).await?;
    if held.credentials.issuer.as_ref() != metadata.issuer.as_ref() {
        return Err(NotUsable(format!(
            "it names {issuer} for its login now, which is not where you logged in; `stance mcp login {}` logs in there",
            server.name
        )));
    }
    manager.set_metadata(metadata);
    let mut known = OAuthClientConfig::new(&held.credentials.client_id, url);
    known.client_secret.clone_from(&held.secret);
    manager.configure_client(known).map_err(|error| not_usable(&error))?;
    if let Some(keeper) = scope.logins.keeper(server, held.secret, way) {
        manager.set_credential_store(keeper);
    }
    Ok(Some(AuthClient::new(plain.clone(), manager)))
}

/// Whether an error comes from a server that wants another login.
pub(super) fn is_wanted(error: &AnyError) -> bool {
    use rmcp::transport::streamable_http_client::AuthRequiredError;
    chain(error).any(|error| {
        error.is::<AuthRequiredError>()
            || matches!(
                error.downcast_ref::<AuthError>(),
                Some(AuthError::AuthorizationRequired)
            )
    })
}

/// In our words, an error of the tokens' renewal: what others said about it may hold one.
pub(super) fn unrenewed(error: &AnyError) -> Option<&'static str> {
    chain(error)
        .any(<AnyError>::is::<AuthError>)
        .then_some("its login could not be renewed: whoever gave it does not answer as it should")
}

type AnyError = dyn std::error::Error + 'static;

/// An error and what lies beneath it, also where the protocol's library does not say so.
fn chain(error: &AnyError) -> impl Iterator<Item = &AnyError> {
    std::iter::successors(Some(error), |error| match error.downcast_ref() {
        Some(ClientInitializeError::TransportError { error, .. }) => Some(error),
        _ => error.source(),
    })
}

fn network(scope: &Scope) -> Network {
    Network {
        gate: scope.hosts.clone(),
        names: Arc::clone(&scope.names),
    }
}

fn parsed(url: &str) -> Result<Url, NotUsable> {
    Url::parse(url).map_err(|error| NotUsable(format!("the address {url:?} cannot be read: {error}")))
}

async fn manager(base: &Url, way: Arc<Way>) -> Result<AuthorizationManager, NotUsable> {
    let way: Arc<dyn OAuthHttpClient> = way;
    AuthorizationManager::new_with_oauth_http_client(base.clone(), way)
        .await
        .map_err(|error| not_usable(&error))
}

/// What is published about where to log in, as far as a login can be safe with it; and who gives the tokens.
async fn described(manager: &AuthorizationManager) -> Result<(String, AuthorizationMetadata), NotUsable> {
    let found = manager.resolve_metadata().await.map_err(|error| not_usable(&error))?;
    if found.source == AuthorizationMetadataSource::LegacyEndpointFallback {
        return Err(NotUsable("it does not publish where to log in".to_owned()));
    }
    let metadata = found.metadata;
    let issuer = metadata.issuer.clone().unwrap_or_default();
    let proves = metadata.code_challenge_methods_supported.as_ref();
    if !proves.is_some_and(|methods| methods.iter().any(|method| method == "S256")) {
        return Err(NotUsable(format!(
            "{issuer} does not say that it binds a login to who began it (PKCE with S256), so that another could take it"
        )));
    }
    for endpoint in [&metadata.authorization_endpoint, &metadata.token_endpoint] {
        let url = parsed(endpoint)?;
        if url.scheme() != "https" && !is_this_machine(&url) {
            return Err(NotUsable(format!(
                "{issuer} names {endpoint:?} for a login, which goes over https alone"
            )));
        }
    }
    Ok((issuer, metadata))
}

fn not_usable(error: &AuthError) -> NotUsable {
    let why = match error {
        AuthError::AuthorizationServerMismatch {
            expected_issuer,
            received_issuer,
        } => format!(
            "whoever answered is {received_issuer:?} and not {expected_issuer:?}: another may have put itself between, \
             and nothing was sent"
        ),
        AuthError::AuthorizationServerMissingIssuer { expected_issuer } => {
            format!("whoever answered does not say that it is {expected_issuer:?}, and nothing was sent")
        }
        AuthError::DiscoveryRequestFailed { url, source } => format!("{url} could not be asked: {source}"),
        AuthError::ProtectedResourceMetadataInvalid { url, reason } => {
            format!("what {url} says is not about this server: {reason}")
        }
        AuthError::AuthorizationServersUnavailable {
            authorization_servers, ..
        } => format!(
            "it names {} for a login, where nothing usable is published",
            authorization_servers.join(", ")
        ),
        AuthError::RegistrationFailed(why) => format!(
            "Stance could not register itself there: {why}. Where you have a client id, name it as `client_id` of the \
             server in your settings"
        ),
        AuthError::TokenExchangeFailed(why) => format!("no token was given: {why}"),
        other => words(other),
    };
    NotUsable(shown(&why, LONGEST))
}
