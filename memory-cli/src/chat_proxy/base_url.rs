//! Addresses of a model's server as people write them.

/// The address of a server that speaks the protocol of `OpenAI`, up to what is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BaseUrl {
    pub(super) text: String,
    /// What was changed about it, for whoever wrote it.
    pub(super) notice: Option<String>,
}

const VERSION: &str = "/v1";
const CHAT: &str = "/chat/completions";

/// Reads an address: where it names no path, `/v1` is added, and the path of chats is taken off. All else stays; what is wrong with it is
/// told by whoever opens it.
pub(super) fn base_url(text: &str) -> BaseUrl {
    let trimmed = text.trim();
    let unchanged = BaseUrl { text: trimmed.to_owned(), notice: None };
    let Some((_, place)) = trimmed.split_once("://") else { return unchanged };
    if place.contains(['?', '#', '@']) {
        // A secret may be in it.
        return unchanged;
    }
    let bare = trimmed.trim_end_matches('/');
    if let Some(base) = bare.strip_suffix(CHAT) {
        return BaseUrl { text: base.to_owned(), notice: Some(format!("the address {base} is used: {CHAT} follows by itself")) };
    }
    if place.trim_end_matches('/').is_empty() || place.trim_end_matches('/').contains('/') {
        return unchanged;
    }
    let with_version = format!("{bare}{VERSION}");
    let why = format!("{bare} names no path, so {with_version} is used; a server without {VERSION} is named by {bare}{CHAT}");
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
            let base = base_url(text);
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
            assert_eq!(base_url(stays), BaseUrl { text: stays.to_owned(), notice: None }, "{stays}");
        }
    }
}
