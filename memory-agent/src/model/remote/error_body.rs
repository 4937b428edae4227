//! Error messages in the responses of servers.

use serde_json::Value;

/// Returns the error message in the body of a failed response, if it contains a readable one.
pub(super) fn error_message(body: &[u8]) -> Option<String> {
    const LONGEST: usize = 200;
    let text = match serde_json::from_slice::<Value>(body) {
        Ok(value) => ["/error/message", "/error", "/message", "/detail"]
            .iter()
            .find_map(|place| value.pointer(place)?.as_str().map(str::to_owned))?,
        Err(_) => String::from_utf8_lossy(body).into_owned(),
    };
    // An HTML page is not a readable message.
    let is_page = text.trim_start().starts_with('<');
    let words: Vec<&str> = text.split(|character: char| character.is_whitespace() || character.is_control()).collect();
    let line = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    (!line.is_empty() && !is_page).then(|| line.chars().take(LONGEST).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn complaints_are_found_where_servers_put_them() {
        let of = |body: &str| error_message(body.as_bytes());
        let says = |text: &str| Some(text.to_owned());
        assert_eq!(of(r#"{"error":{"message":"no such model","type":"x"}}"#), says("no such model"));
        assert_eq!(of(r#"{"error":"no such model"}"#), says("no such model"));
        assert_eq!(of("busy\n\u{1b}[31m  now"), says("busy [31m now"));
        assert_eq!(of("<html><title>502</title>"), None);
        assert_eq!(of(" "), None);
        assert_eq!(of(r#"{"fine":true}"#), None);
        assert_eq!(of(&"é".repeat(999)).map(|text| text.chars().count()), Some(200));
    }

    proptest! {
        #[test]
        fn no_complaint_is_too_odd(body in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(error_message(&body).is_none_or(|text| !text.chars().any(char::is_control)));
        }
    }
}
