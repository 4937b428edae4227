//! Renders the help text of an action.

use std::fmt::Write;

use super::parameters::{allowed_types, is_word_list};
use super::{Action, Backend};

/// Renders the description of an action and its fields.
pub fn render_help(backend: &Backend, action: &Action) -> String {
    let mut text = format!("{}\n\nUsage: memory instance run {}/NAME {}", action.description, backend.name, action.name);
    let required: Vec<&str> =
        action.parameters["required"].as_array().into_iter().flatten().filter_map(|name| name.as_str()).collect();
    // Writing to a `String` cannot fail.
    for name in &required {
        let _ = write!(text, " -p {name}=…");
    }
    let properties: Vec<_> = action.parameters["properties"].as_object().into_iter().flatten().collect();
    if properties.is_empty() {
        text.push('\n');
        return text;
    }
    text.push_str(if required.len() < properties.len() { " [-p FIELD=VALUE …]\n\nFields:\n" } else { "\n\nFields:\n" });
    let width = properties.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, property) in properties {
        let kinds = allowed_types(property);
        let kind = match kinds.first().map(String::as_str) {
            Some("array") if is_word_list(property) => "list",
            Some("string") | None => "text",
            Some("boolean") => "true or false",
            Some("integer" | "number") => "number",
            Some(_) => "JSON",
        };
        let need = if required.contains(&name.as_str()) { "required" } else { "" };
        let description = property["description"].as_str().unwrap_or_default();
        let _ = writeln!(text, "  {name:width$}  {kind:13}  {need:8}  {description}");
    }
    text
}
