//! Runs the chat proxy in this process: `cargo run -p examples --bin in_process_proxy http://localhost:11434/v1 MODEL`.
//!
//! The application sends its chats to the proxy instead of the model server. The model then knows the preferences in the
//! home, and what was said earlier.

use std::env;
use std::error::Error;

use examples::ChatClient;
use memory_cli::Home;
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let model_server = env::args()
        .nth(1)
        .unwrap_or_else(|| "http://localhost:11434/v1".to_owned());
    let model = env::args().nth(2).unwrap_or_else(|| "llama3.2".to_owned());
    let folder = tempfile::tempdir()?;
    let home = Home::open(&folder.path().join("home"))?;
    home.memories().write("Always answer in metric units")?;

    let proxy = home
        .proxy()
        .model_server(&model_server)
        .store_only()
        .address(([127, 0, 0, 1], 0).into())
        .start()?;
    let chat = ChatClient::new(&proxy.base_url(), &model);
    for question in [
        "My boat is called Aurora. How long is a nautical mile?",
        "What is my boat called?",
    ] {
        let answer = chat.complete(&[json!({ "role": "user", "content": question })], &[])?;
        println!("{}", answer["content"].as_str().unwrap_or_default());
    }
    proxy.stop()?;
    Ok(())
}
