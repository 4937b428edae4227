//! A client for a chat model behind the OpenAI chat completions API.

use std::error::Error;

use serde_json::{Value, json};

/// The address, the name and the API key of a chat model.
pub struct ChatClient {
    url: String,
    name: String,
    key: Option<String>,
}

impl ChatClient {
    /// Creates a client for the model `name` on the server at `base_url`, such as `http://localhost:11434/v1`.
    pub fn new(base_url: &str, name: &str) -> Self {
        Self {
            url: format!("{}/chat/completions", base_url.trim_end_matches('/')),
            name: name.to_owned(),
            key: None,
        }
    }

    /// Creates a client for the model in the variables `OPENAI_BASE_URL`, `MODEL` and `OPENAI_API_KEY`.
    pub fn from_env() -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        let base =
            variable("OPENAI_BASE_URL").unwrap_or_else(|| "http://localhost:11434/v1".into());
        let name = variable("MODEL").unwrap_or_else(|| "llama3.2".into());
        Self {
            key: variable("OPENAI_API_KEY"),
            ..Self::new(&base, &name)
        }
    }

    /// Sends messages and the tools that the model may call; returns the message of the model.
    ///
    /// # Errors
    /// If the server cannot be reached, or returns no message.
    pub fn complete(&self, messages: &[Value], tools: &[Value]) -> Result<Value, Box<dyn Error>> {
        let mut body = json!({ "model": self.name, "messages": messages, "stream": false });
        if !tools.is_empty() {
            body["tools"] = tools.into();
        }
        let mut request = ureq::post(&self.url).header("Content-Type", "application/json");
        if let Some(key) = &self.key {
            request = request.header("Authorization", &format!("Bearer {key}"));
        }
        let text = request
            .send(body.to_string())?
            .body_mut()
            .read_to_string()?;
        let mut answer: Value = serde_json::from_str(&text)?;
        let message = answer["choices"][0]["message"].take();
        if message.is_object() {
            Ok(message)
        } else {
            Err("the model returned no message".into())
        }
    }
}

impl std::fmt::Debug for ChatClient {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ChatClient")
            .field("url", &self.url)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
