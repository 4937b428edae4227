//! Classifies Chinese clauses.

use std::ops::Range;

use super::SpeechAct;
use super::words::{HAN_FRAME, HAN_PRODUCTS, HAN_VERBS};

/// Words that may precede a clause without a change of its act.
const LEADS: [&str; 30] = [
    "你好",
    "您好",
    "嗨",
    "好的",
    "好吧",
    "那么",
    "那就",
    "那",
    "谢谢你",
    "谢谢",
    "謝謝",
    "另外",
    "还有",
    "现在",
    "现在就",
    "然后",
    "接下来",
    "嗯",
    "对了",
    "对",
    "首先",
    "最后",
    "因为",
    "因為",
    "其实",
    "其實",
    "不过",
    "但是",
    "而且",
    "所以",
];

const FILLERS: [&str; 24] = [
    "哈哈",
    "哈",
    "不错",
    "不錯",
    "再见",
    "早上好",
    "晚上好",
    "早",
    "晚安",
    "太好了",
    "太棒了",
    "真棒",
    "明白了",
    "明白",
    "知道了",
    "了解",
    "好",
    "是的",
    "没问题",
    "多谢",
    "非常感谢",
    "感谢",
    "辛苦了",
    "可以了",
];

const REMEMBER_PHRASES: [&str; 15] = [
    "记住",
    "記住",
    "请记",
    "請記",
    "记一下",
    "记下",
    "别忘",
    "要知道",
    "叫我",
    "称呼我",
    "请叫我",
    "以后",
    "從現在",
    "从现在",
    "从今",
];

const QUESTION_PHRASES: [&str; 34] = [
    "怎么",
    "怎麼",
    "怎样",
    "怎樣",
    "如何",
    "为什么",
    "為什麼",
    "为何",
    "哪",
    "谁",
    "誰",
    "多少",
    "几点",
    "几个",
    "几岁",
    "几号",
    "是不是",
    "有没有",
    "能不能",
    "可不可以",
    "会不会",
    "要不要",
    "好不好",
    "是否",
    "能否",
    "可否",
    "何时",
    "你能",
    "你可以",
    "能帮",
    "能给",
    "可以帮",
    "可以给",
    "你会",
];

/// Prepositions at the start of a request that names the recipient or subject before the verb.
const PREPOSITIONS: [&str; 13] = [
    "给", "給", "为", "為", "替", "以", "用", "把", "将", "根据", "关于", "關於", "围绕",
];

const CREATION_VERBS: [&str; 22] = [
    "写", "寫", "作", "编", "編", "讲", "講", "做", "画", "畫", "翻译", "推荐", "推薦", "设计",
    "介绍", "总结", "生成", "列", "起个", "取个", "来", "想",
];

const SUBJECTS: [&str; 10] = [
    "我", "它", "他", "她", "咱", "牠", "俺", "家里", "家裡", "本人",
];

const PREDICATES: [&str; 37] = [
    "是", "叫", "有", "在", "住", "喜欢", "喜歡", "爱", "愛", "讨厌", "討厭", "养", "養", "过敏",
    "過敏", "去", "来自", "工作", "岁", "歲", "了", "会", "會", "不", "很", "属", "屬", "姓", "怕",
    "生于", "出生", "吃", "喝", "学", "最", "已经", "刚",
];

/// Returns the speech act of a clause.
pub(super) fn classify(clause: &str) -> SpeechAct {
    let is_mark = |character: char| !character.is_alphanumeric();
    let mut text = clause.trim_matches(is_mark);
    if FILLERS.contains(&text) || LEADS.contains(&text) {
        return SpeechAct::Filler;
    }
    if starts_with_any(text, &REMEMBER_PHRASES) {
        return SpeechAct::Statement;
    }
    let is_polite = ["请", "請", "麻烦", "麻煩", "劳驾", "拜托"]
        .iter()
        .any(|own| text.starts_with(own));
    while let Some(lead) = LEADS.iter().find(|lead| text.starts_with(**lead)) {
        text = text[lead.len()..].trim_matches(is_mark);
    }
    if starts_with_any(text, &REMEMBER_PHRASES) {
        SpeechAct::Statement
    } else if is_polite || is_question(text) || is_wish(text) || is_command(text) {
        SpeechAct::Request
    } else if is_declaration(text) {
        SpeechAct::Statement
    } else {
        SpeechAct::Fragment
    }
}

/// Returns the words that only frame a request.
///
/// In a question with a question word, verbs and products are the subject, so they are not returned.
pub(super) fn framing_words(clause: &str) -> Vec<Range<usize>> {
    if classify(clause) != SpeechAct::Request {
        return Vec::new();
    }
    let all = |words: &[&str]| -> Vec<Range<usize>> {
        let places = words.iter().flat_map(|word| clause.match_indices(*word));
        places.map(|(at, word)| at..at + word.len()).collect()
    };
    let mut found = all(HAN_FRAME);
    let asks_which = contains_any(clause, &["什么", "什麼", "哪", "谁", "誰", "多少"]);
    if !asks_which {
        found.extend(
            [HAN_VERBS, HAN_PRODUCTS, &CREATION_VERBS]
                .into_iter()
                .flat_map(all),
        );
    }
    found
}

fn starts_with_any(text: &str, with: &[&str]) -> bool {
    with.iter().any(|own| text.starts_with(own))
}

fn contains_any(text: &str, any: &[&str]) -> bool {
    any.iter().any(|own| text.contains(own))
}

fn is_question(text: &str) -> bool {
    let asks_what = contains_any(text, &["什么", "什麼"])
        && !contains_any(text, &["没什么", "沒什麼", "什么都", "什麼都", "什么也"]);
    asks_what || text.ends_with(['吗', '嗎', '呢']) || contains_any(text, &QUESTION_PHRASES)
}

/// Returns whether a clause expresses a request as a wish of the user.
fn is_wish(text: &str) -> bool {
    let verbs = [
        "想", "要", "需要", "希望", "还想", "很想", "好想", "就想", "也想", "还要",
    ];
    let Some(rest) = ["我们", "我們", "我"]
        .iter()
        .find_map(|subject| text.strip_prefix(subject))
    else {
        return false;
    };
    let Some(wished) = verbs.iter().find_map(|verb| rest.strip_prefix(verb)) else {
        return false;
    };
    let wished = wished.trim_start_matches('要');
    let is_made = starts_with_any(
        wished,
        &["一", "听", "聽", "看", "读", "讀", "几", "首", "篇"],
    ) && contains_any(wished, &WISHED_PRODUCTS);
    starts_with_any(
        wished,
        &["你", "请你", "让你", "知道", "了解", "问", "問", "请教"],
    ) || is_made
}

/// Products of requests, without one-character words that are part of frequent other words.
const WISHED_PRODUCTS: [&str; 13] = [
    "诗", "詩", "故事", "歌", "文章", "笑话", "笑話", "建议", "文案", "作文", "散文", "小说",
    "例子",
];

fn is_command(text: &str) -> bool {
    // `写作是我的爱好` has a subject.
    let beginning: String = text.chars().skip(1).take(4).collect();
    let is_subject = contains_any(&beginning, &["是", "让我", "很", "对我"]);
    if starts_with_any(text, HAN_VERBS) {
        return !is_subject;
    }
    if starts_with_any(
        text,
        &[
            "给我",
            "給我",
            "为我",
            "替我",
            "跟我",
            "和我聊",
            "陪我",
            "让我们",
            "我们来",
            "咱们",
            "你来",
            "你给",
            "你帮",
            "你写",
            "能不能",
        ],
    ) {
        return true;
    }
    if starts_with_any(text, &PREPOSITIONS) {
        return contains_any(text, &CREATION_VERBS) || contains_any(text, HAN_PRODUCTS);
    }
    let is_counted = starts_with_any(
        text,
        &[
            "一首", "一篇", "一个", "一個", "一段", "一封", "一则", "一句", "再一", "另一", "来",
        ],
    );
    let is_named =
        HAN_PRODUCTS.iter().any(|product| text.ends_with(product)) && text.chars().count() <= 12;
    (is_counted && contains_any(text, HAN_PRODUCTS) || is_named)
        && !contains_any(text, &PREDICATES)
        && !starts_with_any(text, &["我家", "这", "那"])
}

/// Returns whether a clause has a subject and a verb.
fn is_declaration(text: &str) -> bool {
    if starts_with_any(text, &["它要", "它应该", "它需要", "它必须"]) {
        return false;
    }
    let Some(rest) = SUBJECTS
        .iter()
        .find_map(|subject| text.strip_prefix(subject))
    else {
        return false;
    };
    contains_any(rest, &PREDICATES)
}
