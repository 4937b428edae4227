//! Settings of the HTTP servers.

use memory_agent::http::{AllowedOrigins, WebOrigin};
use memory_core::ParseError;
use serde_json::Value;

use super::document::SettingsDocument;
use super::setting::or_default;
use super::{ConfigError, Setting, SettingsLayer};

/// The access settings of the HTTP servers `memory proxy`, `memo serve` and `memory serve --http`.
#[derive(Debug, Clone)]
pub(crate) struct HttpSettings {
    /// The origins of web pages that may send requests.
    pub allowed_origins: Setting<AllowedOrigins>,
}

const ORIGINS_KEY: &str = "http.allowed_origins";
const EXPECTED_ORIGIN: &str = "a full origin such as http://localhost:3000 (or none for no origin)";

impl HttpSettings {
    /// Takes these settings from the document.
    pub(super) fn take(document: &mut SettingsDocument) -> Result<Self, ConfigError> {
        let texts = document.take_list(ORIGINS_KEY, EXPECTED_ORIGIN)?;
        let origins = texts.map(|texts| {
            texts
                .iter()
                .flat_map(|text| split_origins(text))
                .map(parse_origin)
                .collect::<Result<_, _>>()
        });
        let origins = origins
            .transpose()
            .map_err(|error| document.value_error(ORIGINS_KEY, error))?;
        Ok(Self {
            allowed_origins: or_default(origins.map(AllowedOrigins), AllowedOrigins::default()),
        })
    }

    /// Returns every key with its value and layer, in file order.
    pub(super) fn all(&self) -> [(&'static str, (Value, SettingsLayer)); 1] {
        let shown = self
            .allowed_origins
            .display(|origins| match origins.0.as_slice() {
                [] => Value::Null,
                [origin] => origin.to_string().into(),
                several => several
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .into(),
            });
        [(ORIGINS_KEY, shown)]
    }
}

/// Splits a text into origins at commas and white space; `none` means no origin.
///
/// This allows `memory config set` to set several origins.
fn split_origins(text: &str) -> impl Iterator<Item = &str> {
    let text = if text.trim() == "none" { "" } else { text };
    text.split(|letter: char| letter == ',' || letter.is_whitespace())
        .filter(|part| !part.is_empty())
}

fn parse_origin(text: &str) -> Result<WebOrigin, ParseError> {
    text.parse()
        .map_err(|_| ParseError::new(text, EXPECTED_ORIGIN))
}
