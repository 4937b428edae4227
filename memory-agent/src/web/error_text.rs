//! The words of errors on the page.
//!
//! Errors on the command line contain commands and codes. On the page they say what failed and which control of the page to use next.

use memory_core::{Code, Fault, ToolError};

/// Returns the error with a message and the next step of the page.
pub(super) fn for_page(error: ToolError) -> ToolError {
    let message = message(error.code).map_or(error.message, str::to_owned);
    ToolError {
        message,
        hint: Some(next_step(error.code).to_owned()),
        ..error
    }
}

/// Returns the message of the page for a code if its usual messages contain ids, paths or locks.
const fn message(code: Code) -> Option<&'static str> {
    Some(match code {
        Code::MemoryNotFound => "this memory does not exist, or it is no longer in the trash",
        Code::OperationNotFound => "this change is unknown, or it was undone before",
        Code::TrashNotFound => "this version is no longer in the trash",
        Code::Conflict => {
            "this was changed elsewhere after the page was shown, so nothing was saved"
        }
        Code::Locked => {
            "another program is changing the memories at this moment, so nothing was saved"
        }
        Code::PermissionDenied => "the program may not write to the folder of the memories",
        Code::DiskFull => "the disk is full, so nothing was saved",
        _ => return None,
    })
}

/// Returns what a person can do on the page about an error of this code.
const fn next_step(code: Code) -> &'static str {
    match code {
        Code::MemoryNotFound => "Search for its text, or look at the deleted memories.",
        Code::MemoryAmbiguous => "Open it from a list of memories.",
        Code::OperationNotFound | Code::TrashNotFound => {
            "Activity lists all changes and what can be undone."
        }
        Code::Conflict => "Look at what it is now, then repeat your change.",
        Code::Locked | Code::Overloaded | Code::RequestTimeout => "Try again in a moment.",
        Code::SecretFound => "Remove the credential. Write down where it is stored instead.",
        Code::ScopeRefused => "Choose other readers.",
        Code::LimitExceeded => "Make it shorter, or split it.",
        Code::NewerFormat => "Update this program, then open the page again.",
        Code::WrongClock => "Set the clock of this machine, then try again.",
        Code::KeyExists => "Choose another key, or edit the value that exists.",
        Code::BankNotFound | Code::KeyNotFound | Code::TtlExpired => {
            "Banks lists what there is now."
        }
        Code::BackendNotFound
        | Code::InstanceNotFound
        | Code::ActionNotFound
        | Code::SessionNotFound => "Instances lists what there is now.",
        Code::ConversationNotFound => "Conversations lists what there is now.",
        Code::ConfigInvalid => "Correct the setting, then try again.",
        Code::BudgetExhausted => {
            "Wait until tomorrow, or raise the daily limit of the language model."
        }
        Code::ModelFailed | Code::ModelRefused | Code::ModelTimeout | Code::ModelUnreadable => {
            "Try again later, or choose another language model."
        }
        Code::DatabaseUnreachable | Code::DatabaseTimeout => {
            "Check that the database is running, then try again."
        }
        Code::DiskFull => "Free some space, then try again.",
        Code::PermissionDenied => {
            "Give your user the right to write to that folder, then try again."
        }
        _ => match code.fault() {
            Fault::Caller => "Correct it, then send it again.",
            Fault::Missing => {
                "Go back and reload the page: it may show something that was removed."
            }
            Fault::Conflict => "Reload the page, then repeat your change.",
            Fault::Damaged => "Health lists the files with problems.",
            Fault::Machine => "Try again. If it fails again, look at Health.",
        },
    }
}

/// Returns a message as a sentence.
pub(super) fn as_sentence(message: &str) -> String {
    let message = message.trim();
    let mut letters = message.chars();
    let mut sentence: String = letters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(letters)
        .collect();
    if !sentence.ends_with(['.', '!', '?', ':', '…']) {
        sentence.push('.');
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_error_of_any_code_names_a_command_or_a_code_on_the_page() {
        for code in Code::ALL {
            let hint = "run `memory list`, or use --at".to_owned();
            let error = for_page(ToolError::new(code, "the title is too long", Some(hint)));
            let text = format!("{} {}", error.message, error.hint.unwrap());
            assert!(
                !text.contains(['`', '_', '/'])
                    && !text.contains("--")
                    && !text.contains(code.as_str()),
                "{code}: {text}"
            );
        }
    }

    #[test]
    fn a_message_becomes_a_sentence() {
        assert_eq!(as_sentence("the text is empty"), "The text is empty.");
        assert_eq!(as_sentence("Ä?"), "Ä?");
        assert_eq!(as_sentence(""), ".");
    }
}
