//! Detects text in a response that is not part of the summary.

/// Returns a fence, a conversation marker or a remark on the task in `text` that `original` lacks.
pub(super) fn find_foreign_text(original: &str, text: &str) -> Option<String> {
    let small = |text: &str| text.to_lowercase();
    let (before, after) = (small(original), small(text));
    let said = FOREIGN_PHRASES.iter().find(|phrase| after.contains(**phrase) && !before.contains(**phrase));
    let opened = FOREIGN_OPENINGS.iter().find(|phrase| after.starts_with(**phrase) && !before.starts_with(**phrase));
    let is_quoted = |text: &str| text.starts_with(['"', '“']) && text.ends_with(['"', '”']);
    let quoted = (is_quoted(text) && !is_quoted(original.trim())).then(|| "\"".to_owned());
    let control = text.chars().find(|own| own.is_control() && !matches!(own, '\n' | '\t'));
    said.or(opened).map(|phrase| (*phrase).to_owned()).or(quoted).or(control.map(String::from))
}

const FOREIGN_PHRASES: [&str; 26] = [
    "```",
    "~~~",
    "<|",
    "|>",
    "[inst]",
    "[/inst]",
    "</s>",
    "<think",
    "</think",
    "<system",
    "</system",
    "system prompt",
    "as an ai",
    "as a language model",
    "language model",
    "i cannot",
    "i can't help",
    "ignore previous",
    "ignore all previous",
    "ignore the above",
    "json string",
    "the note says",
    "shorter note",
    "作为ai",
    "作为一个语言模型",
    "忽略以上",
];

const FOREIGN_OPENINGS: [&str; 18] = [
    "---",
    "here is",
    "here's",
    "here are",
    "sure",
    "certainly",
    "of course",
    "okay",
    "summary",
    "shortened",
    "**summary",
    "# summary",
    "## summary",
    "以下是",
    "总结",
    "摘要",
    "好的",
    "当然",
];
