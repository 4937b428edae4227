//! A chat with a memory: its messages are stored in a session, and the index of topics is in its system prompt.
//!
//! Any model behind the OpenAI chat completions API works. A later run with the same home continues the chat.
//!
//!     OPENAI_BASE_URL=http://localhost:11434/v1 MODEL=llama3.2 cargo run -p examples --bin chat_loop [HOME]
//!
//! Each line of the standard input is a message of the user. The topics are those in `.memory` of the current folder.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::Arc;

use examples::ChatClient;
use memory_core::SecretPolicy;
use memory_core::instance::history::{
    Messages, RecordDraft, RecordFilter, SessionName, SessionRecord, Window, WindowEnd, append,
    read,
};
use memory_core::topic::{Topics, context};
use memory_store::history::HistoryFolder;
use memory_store::topic::TopicFolder;
use memory_store::{RandomIds, SystemClock};
use serde_json::{Value, json};

/// Maximum number of earlier messages that the model gets.
const MAX_MESSAGES: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let home = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from("chat_home"), PathBuf::from);
    let (clock, ids) = (Arc::new(SystemClock), Arc::new(RandomIds));
    let history = Messages {
        store: Arc::new(HistoryFolder::new(home.join("history"))),
        clock: clock.clone(),
        ids: ids.clone(),
    };
    let topics = Topics {
        store: Arc::new(TopicFolder::new(".memory")),
        clock,
        ids,
        actor: "chat_loop".into(),
    };
    let session: SessionName = "chat".parse()?;
    let model = ChatClient::from_env();
    for line in io::stdin().lock().lines() {
        store_message(&history, &session, "user", &line?)?;
        // The index includes the topics that other programs have changed since the previous message.
        let system = json!({ "role": "system", "content": format!("You are a helpful assistant.\n\n{}", context(&topics)?) });
        let window = Window {
            limit: Some(MAX_MESSAGES),
            end: WindowEnd::Last,
            ..Window::default()
        };
        let stored = read(&history, &session, &RecordFilter::default(), window)?;
        let messages: Vec<Value> = std::iter::once(Ok(system))
            .chain(stored.records.iter().map(message))
            .collect::<Result<_, _>>()?;
        let answer = model.complete(&messages, &[])?["content"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        store_message(&history, &session, "assistant", &answer)?;
        writeln!(
            io::stdout(),
            "{}",
            answer.replace(|letter: char| letter.is_control() && letter != '\n', "")
        )?;
    }
    Ok(())
}

/// Appends a message to the session. A chat may contain credentials, so they are not refused.
fn store_message(
    history: &Messages,
    session: &SessionName,
    role: &str,
    text: &str,
) -> Result<(), Box<dyn Error>> {
    append(
        history,
        session,
        &RecordDraft::from_text(role.parse()?, text),
        SecretPolicy::Keep,
    )?;
    Ok(())
}

/// Returns a stored record as a message for the model.
fn message(record: &SessionRecord) -> Result<Value, serde_json::Error> {
    let record: Value = serde_json::from_str(record.text().as_str())?;
    Ok(json!({ "role": record["role"], "content": record["content"] }))
}
