//! Extracts claims from Chinese sentences.

use memory_core::text::is_han;

use super::{ParsedClaim, fold_without_spaces};

/// Returns the claim of a sentence, if it is a plain statement about the present.
pub(super) fn parse_chinese_claim(sentence: &str) -> Option<ParsedClaim> {
    // The 在 in the words for "now" is not a preposition of place.
    let said = fold_without_spaces(sentence)
        .replace("现在", "如今")
        .replace("正在", "");
    if said.ends_with(['?', '？', '吗', ':', '：'])
        || contains_any(&said, UNCERTAIN_WORDS)
        || said.contains(['“', '「', '"', '《'])
    {
        return None;
    }
    let said = said.trim_end_matches(['。', '!', '！', '.', '~']);
    let (opening, mut said) = strip_opening(said);
    let mut is_turn = opening;
    // "No longer A, but B" is one claim in two clauses.
    let mut from = None;
    if let Some((first, second)) = said.split_once([',', '，']) {
        let second = OPENINGS
            .split_ascii_whitespace()
            .find_map(|word| second.strip_prefix(word))
            .unwrap_or(second);
        if let Some(before) = second.strip_prefix("不再").and_then(|rest| {
            CLAIM_VERBS
                .iter()
                .find_map(|(verb, ..)| rest.strip_prefix(verb))
        }) {
            from = Some(before.to_owned());
            is_turn = true;
        }
        said = first;
    }
    let (verb, at) = first_verb(said)?;
    let before = &said[..at];
    let after = &said[at + verb.written.len()..];
    is_turn |= verb.turns || contains_any(before, "如今 不再 从此 已经");
    let is_denied = before.ends_with("不再")
        || before.ends_with('不')
        || before.ends_with("没")
        || before.ends_with("没有");
    let (before, given) = match before.split_once('从') {
        Some((subject, from)) if verb.turns => (subject, Some(from.to_owned())),
        _ => (before, None),
    };
    let subject = claim_subject(before)?;
    let (value, without) = match after.split_once("而不是") {
        Some((value, without)) => (value, Some(without.to_owned())),
        None => (after, None),
    };
    let (value, purpose) = match (
        verb.canonical,
        value
            .strip_suffix("工作")
            .or_else(|| value.strip_suffix("上班")),
    ) {
        ("在", Some(place)) => (place, None),
        ("在", None) => return None,
        _ => (value, None),
    };
    let value = value.trim_end_matches(['了', '的', '吧', '啦', '呢']);
    let is_short = !value.is_empty()
        && value.chars().count() <= 14
        && !value.contains([',', '，', '、', ';', '；']);
    let is_attribute = verb.canonical == "是"
        && !value.starts_with(['个', '一', '位', '名'])
        && (subject.contains('的') || !value.contains(is_han));
    let is_named = !GENERIC_NOUNS
        .split_ascii_whitespace()
        .any(|word| word == subject);
    is_short.then(|| ParsedClaim {
        is_named,
        subject,
        verb: verb.canonical.to_owned(),
        purpose,
        value: value.to_owned(),
        is_denied,
        is_turn,
        from: given.or(from).or(without),
        is_only: verb.is_only,
        is_sure: verb.is_only,
        is_attribute,
        may_be_replaced: !matches!(verb.canonical, "支持" | "会" | "喜欢"),
    })
}

struct ChineseVerb {
    written: &'static str,
    canonical: &'static str,
    is_only: bool,
    turns: bool,
}

/// Returns the first verb; of several at the same position, the longest.
fn first_verb(said: &str) -> Option<(ChineseVerb, usize)> {
    let found = CLAIM_VERBS
        .iter()
        .filter_map(|(written, canonical, is_only, turns)| {
            let at = said.find(written).filter(|at| 0 < *at)?;
            Some((
                at,
                std::cmp::Reverse(written.len()),
                ChineseVerb {
                    written,
                    canonical,
                    is_only: *is_only,
                    turns: *turns,
                },
            ))
        });
    found
        .min_by_key(|(at, length, _)| (*at, *length))
        .map(|(at, _, verb)| (verb, at))
}

/// Removes an opening that marks a change, and returns whether there was one.
fn strip_opening(said: &str) -> (bool, &str) {
    for word in [
        "从现在起",
        "从今天起",
        "从今以后",
        "今后",
        "以后",
        "如今",
        "更新:",
        "更正:",
    ] {
        if let Some(rest) = said.strip_prefix(word) {
            return (true, rest.trim_start_matches([',', '，', ':', '：']));
        }
    }
    (
        false,
        said.strip_prefix("目前")
            .map_or(said, |rest| rest.trim_start_matches([',', '，'])),
    )
}

/// Returns the subject before the verb; `None` for a pronoun, since its referent is unknown.
fn claim_subject(before: &str) -> Option<String> {
    let mut rest = before;
    while let Some(shorter) = FILLERS
        .split_ascii_whitespace()
        .find_map(|word| rest.strip_suffix(word))
    {
        rest = shorter;
    }
    let is_vague = rest.starts_with(['他', '她', '它', '这', '那', '其', '谁', '有'])
        || rest.contains([',', '，', '、']);
    (!rest.is_empty() && rest.chars().count() <= 14 && !is_vague).then(|| rest.to_owned())
}

fn contains_any(text: &str, words: &str) -> bool {
    words
        .split_ascii_whitespace()
        .any(|word| text.contains(word))
}

/// Written form, canonical form, whether only one value can hold, and whether the verb states a change.
const CLAIM_VERBS: [(&str, &str, bool, bool); 34] = [
    ("改用", "用", false, true),
    ("换用", "用", false, true),
    ("转用", "用", false, true),
    ("切换到", "用", false, true),
    ("迁移到", "用", false, true),
    ("换成", "是", false, true),
    ("换到", "用", false, true),
    ("改成", "是", false, true),
    ("改为", "是", false, true),
    ("变成", "是", false, true),
    ("搬到", "住在", true, true),
    ("搬去", "住在", true, true),
    ("住在", "住在", true, false),
    ("位于", "位于", true, false),
    ("部署在", "部署在", true, false),
    ("运行在", "运行在", true, false),
    ("存放在", "存放在", true, false),
    ("就职于", "在", true, false),
    ("任职于", "在", true, false),
    ("监听", "监听", true, false),
    ("叫做", "叫", true, false),
    ("使用", "用", false, false),
    ("更喜欢", "偏好", false, false),
    ("偏好", "偏好", false, false),
    ("喜欢", "喜欢", false, false),
    ("支持", "支持", false, false),
    ("需要", "需要", false, false),
    ("允许", "允许", false, false),
    ("用", "用", false, false),
    ("是", "是", false, false),
    ("喝", "喝", false, false),
    ("吃", "吃", false, false),
    ("抽", "抽", false, false),
    ("在", "在", true, false),
];

const OPENINGS: &str = "而且 并且 并 已经 已 如今";
const FILLERS: &str = "如今 目前 已经 已 都 也 还 就 不再 没有 没 不 从此 最近 一直 仍然 仍 又 才";
const UNCERTAIN_WORDS: &str = "如果 要是 也许 可能 或许 打算 计划 考虑 想要 曾 以前 之前 原来 将来 将会 会不会 是否 应该 例如 比如 说 还是 或者 听说 据说 当时 那时";
/// Nouns that do not denote a unique thing.
const GENERIC_NOUNS: &str = "端口 接口 服务 服务器 数据库 项目 密码 系统 网站 会议 版本 语言 框架 预算 负责人 地址 电话 时间 团队 客户 用户 模型 配置 程序 应用 文件";
