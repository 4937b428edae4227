//! Parsing of queries that are a dialogue, with one message per line.

/// Maximum length of a speaker name in characters; a longer label is part of the text.
const MAX_LABEL_LENGTH: usize = 30;

/// Returns the messages of a dialogue without speaker names, last message first.
///
/// Returns `None` if `text` is not a dialogue. Every non-empty line of a dialogue starts with a speaker name and a colon, or continues the
/// message before it. At least two lines must have a name.
pub(super) fn parse_dialogue(text: &str) -> Option<Vec<String>> {
    let mut messages: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match (strip_speaker(line), messages.last_mut()) {
            (Some(message), _) => messages.push(message.trim().to_owned()),
            (None, Some(last)) => {
                last.push(' ');
                last.push_str(line.trim());
            }
            (None, None) => return None,
        }
    }
    messages.reverse();
    (1 < messages.len()).then_some(messages)
}

/// Returns the message after the speaker name, if the line starts with one.
fn strip_speaker(line: &str) -> Option<&str> {
    let (label, message) = line.split_once([':', '：'])?;
    let label = label.trim();
    let is_name = label.chars().count() <= MAX_LABEL_LENGTH
        && label.starts_with(char::is_alphabetic)
        && label.split_whitespace().count() <= 3
        && label.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '_' | '-' | '.' | '\''));
    // `tag:work` is a filter, and `http://` is part of a URL.
    let is_message = message.is_empty() || message.starts_with(char::is_whitespace) || !label.is_ascii() || line.contains('：');
    (is_name && is_message).then_some(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_message_comes_first_and_names_are_left_out() {
        let talk = "Bart: I won the race!\nAssistant: Congratulations.\nHow far was it?\nBart: A mile.";
        assert_eq!(parse_dialogue(talk).unwrap(), ["A mile.", "Congratulations. How far was it?", "I won the race!"]);
        assert_eq!(parse_dialogue("小明：我去跑步了\n助手：真棒").unwrap(), ["真棒", "我去跑步了"]);
    }

    #[test]
    fn other_texts_are_no_dialogue() {
        for text in
            ["What did Anna paint?", "Note: buy milk", "tag:a\ntag:b", "http://a\nhttp://b", "first\nAnna: yes\nBen: no", ""]
        {
            assert_eq!(parse_dialogue(text), None, "{text}");
        }
    }
}
