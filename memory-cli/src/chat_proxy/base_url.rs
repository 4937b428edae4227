//! Parsing of the configured address of a model server.

/// The base URL of a server with an `OpenAI`-compatible API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BaseUrl {
    pub(super) text: String,
    /// Message to the user about a correction of the address.
    pub(super) notice: Option<String>,
}

const VERSION_PATH: &str = "/v1";
const CHAT_PATH: &str = "/chat/completions";

/// Normalizes an address: adds `/v1` if it has no path, and removes `/chat/completions`.
///
/// Other parts are unchanged. The client that opens the address reports errors in it.
pub(super) fn normalize_base_url(text: &str) -> BaseUrl {
    let trimmed = text.trim();
    let unchanged = BaseUrl { text: trimmed.to_owned(), notice: None };
    let Some((_, place)) = trimmed.split_once("://") else { return unchanged };
    if place.contains(['?', '#', '@']) {
        // Such an address may contain a secret, so it is not used in a message.
        return unchanged;
    }
    let bare = trimmed.trim_end_matches('/');
    if let Some(base) = bare.strip_suffix(CHAT_PATH) {
        return BaseUrl {
            text: base.to_owned(),
            notice: Some(format!("using the address {base}: {CHAT_PATH} is added automatically")),
        };
    }
    if place.trim_end_matches('/').is_empty() || place.trim_end_matches('/').contains('/') {
        return unchanged;
    }
    let with_version = format!("{bare}{VERSION_PATH}");
    let why =
        format!("{bare} has no path, so {with_version} is used; for a server without {VERSION_PATH}, specify {bare}{CHAT_PATH}");
    BaseUrl { text: with_version, notice: Some(why) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_path_gets_the_version_and_any_other_stays() {
        for (text, used) in [
            ("http://localhost:11434", "http://localhost:11434/v1"),
            (" http://localhost:11434/ ", "http://localhost:11434/v1"),
            ("https://api.openai.com//", "https://api.openai.com/v1"),
            ("http://[::1]:80", "http://[::1]:80/v1"),
            ("http://localhost:11434/v1/chat/completions", "http://localhost:11434/v1"),
            ("https://api.example/chat/completions/", "https://api.example"),
        ] {
            let base = normalize_base_url(text);
            assert_eq!(base.text, used, "{text}");
            assert!(base.notice.is_some_and(|notice| notice.contains(used)), "{text}");
        }
        for stays in [
            "http://localhost:11434/v1",
            "http://localhost:11434/v1/",
            "https://host/openai/deployments/gpt",
            "https://host/api",
            "localhost:11434",
            "http://",
            "",
            "http://me:secret@host",
            "http://host?key=secret",
        ] {
            assert_eq!(normalize_base_url(stays), BaseUrl { text: stays.to_owned(), notice: None }, "{stays}");
        }
    }
}
