//! Rules for Chinese requests.

use std::ops::Range;

use memory_core::language::{contains_any, remove_all, starts_with_any, strip_any};
use memory_core::text::fold;

use super::prose::{names_example, names_test_data};
use super::request::RequestStrength;
use super::words::CHINESE;

/// Returns how strongly a clause requests an action at the time in `span`; `None` if it does not.
pub(super) fn chinese_strength(clause: &str, span: Range<usize>) -> Option<RequestStrength> {
    let plain = |text: &str| fold(text).split_whitespace().collect::<String>();
    let (before, time, after) = (
        plain(&clause[..span.start]),
        plain(&clause[span.clone()]),
        plain(&clause[span.end..]),
    );
    let whole = format!("{before}{time}{after}");
    let is_care_order = prohibitions(&whole).iter().any(|after| is_care(after));
    let is_request = contains_any(&whole, &CHINESE.requests) || is_care_order;
    let is_until = CHINESE
        .deadlines
        .iter()
        .any(|word| time.ends_with(word) || after.starts_with(word));
    // What is cancelled needs no reminder at its time; 取消会员 is an action.
    let is_comma = |sign: char| matches!(sign, ',' | ';' | '，' | '；');
    let near = [before.rsplit(is_comma).next(), after.split(is_comma).next()]
        .map(Option::unwrap_or_default)
        .join(" ");
    let cancels_event = near.contains("取消")
        && contains_any(&near, &CHINESE.events)
        && !contains_any(&whole, &["提醒", "记得", "别忘", "务必", "待办"])
        && !is_care_order
        && !is_until;
    if cancels_event
        || is_vetoed(&before, &whole, is_request)
        || is_replaced(&before, &whole, is_request)
    {
        return None;
    }
    let first = strip_subject(&before);
    let begins = |text: &str| {
        begins_with_verb(text.trim_start_matches(|sign: char| !sign.is_alphanumeric()))
            || begins_with_verb(strip_subject(text))
    };
    let is_order = if first.is_empty() {
        begins(&after)
    } else {
        begins(&before)
    };
    if is_request || states_duty(&whole) || is_until {
        return Some(RequestStrength::Ask);
    }
    if is_past(&whole) {
        return None;
    }
    if is_order {
        return Some(RequestStrength::Ask);
    }
    contains_any(&format!("{before} {after}"), &CHINESE.events).then_some(RequestStrength::Event)
}

fn is_vetoed(before: &str, whole: &str, is_request: bool) -> bool {
    let is_condition = CHINESE.conditions.iter().any(|word| {
        before
            .rfind(word)
            .is_some_and(|at| !before[at..].contains([',', '，']))
    });
    let is_question = whole
        .trim_end_matches(['。', '!', '?', '？'])
        .ends_with(['吗', '么', '呢'])
        || whole.ends_with(['?', '？']);
    let is_reported = contains_any(before, &["说", "表示", "声称", "据报道"]) && !is_request;
    // "Remind me every Monday" contains a frequency, but is a request and not a habit.
    let asks_again =
        contains_any(whole, &["提醒", "记得", "别忘"]) && !contains_any(whole, &CHINESE.habits);
    (contains_any(whole, &CHINESE.frequency) || contains_any(whole, &CHINESE.habits)) && !asks_again
        || contains_any(whole, &CHINESE.cancellations)
        || is_forbidden(whole)
        || names_test_data(whole)
        || is_condition
        || is_reported
        || is_question && !is_request
        || contains_any(whole, &CHINESE.weather)
        || !is_request
            && (contains_any(whole, &CHINESE.doubts) || names_example(whole) || is_denied(whole))
}

/// Returns whether the clause replaces the time by another one: only the time after 到 or 为 is the new one.
fn is_replaced(before: &str, whole: &str, is_request: bool) -> bool {
    let is_old = before.ends_with(['从', '由', '自']);
    let is_new = before.ends_with(['到', '至', '为', '成', '在', '为']);
    contains_any(whole, &CHINESE.rescheduling) && (is_old || !is_request && !is_new)
}

/// Returns what follows each word that asks not to do something: 叫我 after 不要, 打电话 after 请勿.
fn prohibitions(whole: &str) -> Vec<String> {
    let plain = remove_all(whole, &CHINESE.non_prohibitions);
    let after = |word: &&str| {
        let places = plain.match_indices(*word);
        let after = places
            .map(|(at, _)| plain[at + word.len()..].trim_start_matches(['再', '来', '在', '给']));
        after.map(str::to_owned).collect::<Vec<_>>()
    };
    let words = ["别", "不要", "勿", "莫"];
    words
        .iter()
        .flat_map(after)
        .filter(|after| !after.is_empty())
        .collect()
}

/// Returns whether the text after a prohibition asks not to miss an event: 迟到, 错过, 取消聚餐.
fn is_care(after: &str) -> bool {
    starts_with_any(after, &CHINESE.care)
        || after.starts_with("取消") && contains_any(after, &CHINESE.events)
}

/// Returns whether the text asks not to do something: 不要叫我, 请勿打电话.
fn is_forbidden(whole: &str) -> bool {
    let is_plain = |after: &String| !is_care(after) && !after.starts_with(['担', '急']);
    prohibitions(whole).iter().any(is_plain)
}

fn is_denied(whole: &str) -> bool {
    let plain = remove_all(whole, &CHINESE.non_negations);
    plain.contains(['不', '没', '未', '无'])
}

/// Returns whether the clause expresses a wish, a duty or a plan.
fn states_duty(whole: &str) -> bool {
    let plain = remove_all(whole, &CHINESE.non_duties);
    plain.contains('要') || contains_any(&plain, &CHINESE.duties)
}

/// Returns whether the clause is about the past.
fn is_past(whole: &str) -> bool {
    let plain = remove_all(whole, &CHINESE.non_past);
    let end = plain.trim_end_matches(['。', '!', '！', '.', '~']);
    let is_told = plain.contains('是') && end.ends_with('的');
    plain.contains('了') || is_told || contains_any(&plain, &CHINESE.past)
}

/// Removes subjects that denote the writer, and markers at the start of a line.
fn strip_subject(text: &str) -> &str {
    let mut rest = text.trim_start_matches(|character: char| !character.is_alphanumeric());
    while let Some(shorter) = strip_any(rest, &CHINESE.leads) {
        rest = shorter.trim_start_matches(|character: char| !character.is_alphanumeric());
    }
    rest
}

fn begins_with_verb(text: &str) -> bool {
    starts_with_any(text, &CHINESE.imperatives) && !starts_with_any(text, &CHINESE.non_verbs)
}
