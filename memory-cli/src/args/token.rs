//! The command-line flag for the access token of an HTTP server.

use clap::Args;
use memory_agent::http::AccessToken;

use crate::config::Environment;
use crate::failure::Failure;

/// The flag for the access token of an HTTP server.
#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    /// Require this token in HTTP requests; better set MEMO_AUTH_TOKEN, as other users can see arguments
    ///
    /// Clients send it as Authorization: Bearer TOKEN. GET /v1/health of a server with instances only needs no token.
    /// Without a token, only your own programs on this machine have access.
    #[arg(long, value_name = "TOKEN")]
    auth_token: Option<String>,
}

impl TokenArgs {
    /// Returns the token of the flag, else that of the environment.
    pub(crate) fn token(&self, environment: &Environment) -> Result<Option<AccessToken>, Failure> {
        let given = match &self.auth_token {
            Some(typed) => Some(("--auth-token", AccessToken::new(typed.clone()).ok_or(()))),
            None => environment.memo_auth_token.clone().map(|token| ("MEMO_AUTH_TOKEN", token)),
        };
        let Some((from, token)) = given else { return Ok(None) };
        let refused = |()| {
            Failure::usage(format!("{from} is not a valid token"), "a token consists of visible ASCII characters without spaces")
        };
        token.map(Some).map_err(refused)
    }
}
