//! The cues of Chinese sentences.

use super::StandingKind::{Instruction, Preference};
use super::classify::StandingCue;

/// Cues that make any sentence an instruction.
const LASTING_CUES: &[&str] = &[
    "以后请",
    "以後請",
    "以后都",
    "以後都",
    "以后不要",
    "以後不要",
    "以后别",
    "以後別",
    "今后请",
    "今後請",
    "从现在起",
    "從現在起",
    "从现在开始",
    "從現在開始",
    "请总是",
    "請總是",
    "请始终",
    "請始終",
    "永远不要",
    "永遠不要",
    "每次回答",
    "每次都请",
    "每次都請",
    "每当我问",
    "每當我問",
    "当我问",
    "當我問",
    "我问到",
    "我問到",
    "回答时",
    "回答時",
    "回复时",
    "回覆時",
];

/// Cues that make a sentence about responses an instruction.
const IMPERATIVE_CUES: &[&str] =
    &["请用", "請用", "请不要", "請不要", "不要", "别用", "別用", "请以", "請以", "总是", "總是", "始终", "始終", "务必", "務必"];

/// Words for properties of all responses.
const RESPONSE_PROPERTIES: &[&str] = &[
    "回答", "回复", "回覆", "答复", "答覆", "说话", "說話", "单位", "單位", "格式", "称呼", "稱呼", "表情", "语气", "語氣",
    "简体", "繁体", "繁體", "公制", "英制", "术语", "術語",
];

/// Cues for the form of address of the person.
const ADDRESS_CUES: &[&str] = &["请叫我", "請叫我", "称呼我", "稱呼我"];

/// Cues that state a preference.
const PREFERENCE_CUES: &[&str] = &[
    "我更喜欢",
    "我更喜歡",
    "我比较喜欢",
    "我比較喜歡",
    "我最喜欢",
    "我最喜歡",
    "我还是喜欢",
    "我還是喜歡",
    "我喜欢用",
    "我喜歡用",
    "我偏好",
    "我偏爱",
    "我偏愛",
    "我的偏好",
    "用户喜欢",
    "用户偏好",
    "用户更喜欢",
    "用戶喜歡",
    "用戶偏好",
    "我喜欢",
    "我喜歡",
];

/// Cues of questions about the assistant's preference and of accounts of the past.
const NON_PREFERENCE_CUES: &[&str] =
    &["吗", "嗎", "小时候", "小時候", "以前我", "我喜欢上", "我喜歡上", "我喜欢你", "我喜歡你", "我喜欢她", "我喜欢他"];

/// Finds the cue that makes `sentence` a standing instruction or preference.
///
/// `is_short` is true if the whole memory has at most `SHORT` bytes.
pub(super) fn cue(sentence: &str, is_short: bool) -> Option<StandingCue> {
    let find = |all: &[&str]| all.iter().filter_map(|cue| sentence.find(cue)).min();
    let is_question = sentence.trim_end().ends_with(['？', '?']);
    if !is_question && let Some(at) = find(LASTING_CUES).or_else(|| find(ADDRESS_CUES)) {
        return Some((Instruction, at));
    }
    if !is_question
        && is_short
        && find(RESPONSE_PROPERTIES).is_some()
        && let Some(at) = find(IMPERATIVE_CUES)
    {
        return Some((Instruction, at));
    }
    let at = find(PREFERENCE_CUES).filter(|_| !is_question && find(NON_PREFERENCE_CUES).is_none())?;
    Some((Preference, at))
}
