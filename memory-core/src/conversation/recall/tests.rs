//! Tests of recall without a model, where the turns are the facts.

use std::sync::Arc;

use super::*;
use crate::conversation::{StandingRequest, add_standing, store_turn, store_turns};
use crate::testing::{FakeConversations, conversations};

/// A chat in which each request is sent without the earlier messages.
struct RecallTestChat {
    conversations: Conversations,
    place: ConversationId,
}

impl RecallTestChat {
    fn new() -> Self {
        Self {
            conversations: conversations(Arc::new(FakeConversations::default())),
            place: ConversationId::default_conversation(),
        }
    }

    /// Sends a message, stores both turns, and returns the recalled memories.
    fn exchange_turns(&self, text: &str, answer: &str) -> Vec<String> {
        let rules = RecallRules::default();
        let is_known = |entry: &ConversationEntry| entry.content == text.trim();
        let mut recalled = recall_with_unwritten(
            &self.conversations,
            &self.place,
            text,
            &rules,
            &[],
            &is_known,
        )
        .unwrap();
        let (conversation, top_k) = (&self.place, rules.top_k);
        let request = StandingRequest {
            conversation,
            message: text,
            top_k,
            unwritten: &[],
            is_known: &is_known,
        };
        add_standing(&self.conversations, &|| Ok(None), &request, &mut recalled).unwrap();
        let turns = [
            (EntryRole::User, text.to_owned()),
            (EntryRole::Assistant, answer.to_owned()),
        ];
        store_turns(&self.conversations, &self.place, &turns).unwrap();
        let memories = recalled
            .memories
            .iter()
            .map(|remembered| remembered.entry.content.clone());
        recalled
            .standing
            .iter()
            .map(|standing| standing.text.clone())
            .chain(memories)
            .collect()
    }
}

/// Dialogues: a statement, requests that refer to it, and the response of the model.
const DIALOGUES: [(&str, &[&str], &str); 10] = [
    (
        "My dog is Rex.",
        &[
            "Write a poem about my dog",
            "Please write a short and funny birthday poem in the style of Shakespeare about my dog",
            "Compose a haiku for my dog!",
            "I'd like another poem about my dog",
            "Can you tell me a story about my dog?",
            "Write a poem about my dog Rex",
        ],
        "Here is a poem about your dog: my dog, o dog, write on.",
    ),
    (
        "I live in Ghent.",
        &["Where do I live?", "Suggest a restaurant near where I live"],
        "You live somewhere nice, I suggest.",
    ),
    (
        "My wife's name is Anne.",
        &[
            "Write a letter to my wife",
            "Draft a birthday card for my wife, please",
            "What is my wife's name?",
        ],
        "Dear wife, this letter is for my wife.",
    ),
    (
        "I am allergic to peanuts.",
        &[
            "Give me a snack recipe without peanuts",
            "Am I allergic to anything?",
        ],
        "This snack recipe has no peanuts; you are allergic to nothing.",
    ),
    (
        "Remember that my daughter Lily plays the violin.",
        &[
            "Plan a birthday party for my daughter",
            "Give me gift ideas for my daughter",
            "Which instrument does my daughter play?",
        ],
        "A party for a daughter: gift ideas for your daughter's birthday.",
    ),
    (
        "我的狗叫雷克斯。",
        &[
            "写一首关于我的狗的诗",
            "给我的狗写一首诗",
            "请帮我写一首关于狗的短诗",
            "我想要一首关于我的狗的诗",
            "我的狗叫什么？",
        ],
        "这是一首关于狗的诗：我的狗啊，一首诗。",
    ),
    (
        "我住在里昂。",
        &["我住在哪里？", "推荐一家我住的地方附近的餐厅"],
        "你住在一个好地方，推荐一家餐厅。",
    ),
    (
        "我对花生过敏。",
        &["推荐一个不含花生的零食", "我对什么过敏？"],
        "这个零食不含花生，不会过敏。",
    ),
    (
        "我女儿叫小雨。",
        &[
            "给我女儿写一个生日祝福",
            "讲一个关于我女儿的故事",
            "我女儿叫什么名字",
        ],
        "祝女儿生日快乐，女儿的故事。",
    ),
    (
        "我家的猫叫咪咪。",
        &[
            "讲一个关于我的猫的故事",
            "写一篇关于猫的文章",
            "能不能给我的猫写首歌？",
        ],
        "从前有一只猫，猫的故事。",
    ),
];

#[test]
fn a_fact_is_recalled_however_often_it_is_asked_for() {
    for (fact, requests, answer) in DIALOGUES {
        for with_chat in [false, true] {
            let chat = RecallTestChat::new();
            chat.exchange_turns(fact, "Nice!");
            for round in 0..50 {
                let request = requests[round % requests.len()];
                let recalled = chat.exchange_turns(request, answer);
                assert_eq!(
                    recalled.first().map(String::as_str),
                    Some(fact),
                    "round {round}, {request}: {recalled:#?}"
                );
                if with_chat {
                    chat.exchange_turns(
                        [
                            "Thanks!",
                            "ok, great",
                            "谢谢",
                            "What's the weather like?",
                            "The train was late.",
                        ][round % 5],
                        "Sure.",
                    );
                }
            }
        }
    }
}

#[test]
fn a_fact_is_recalled_beside_many_others() {
    let others = [
        "I write novels.",
        "My sister writes poems.",
        "I read poems in bed.",
        "I work at a bank.",
        "My name is Anna.",
        "I hate rain.",
        "My brother's dog is lazy.",
        "I like short films.",
        "My mother lives in Rome.",
        "My birthday is in May.",
        "I play chess.",
        "我喜欢写诗。",
        "我妈妈喜欢讲故事。",
        "我在银行工作。",
        "我弟弟怕狗。",
        "我会画画。",
        "我的生日在五月。",
        "我想去日本。",
    ];
    for (fact, requests, answer) in DIALOGUES {
        for place in ["default", "global"] {
            let chat = RecallTestChat::new();
            let keep = |text: &str| {
                store_turn(
                    &chat.conversations,
                    &place.parse().unwrap(),
                    EntryRole::User,
                    text,
                )
                .unwrap()
            };
            keep(fact);
            for other in others {
                keep(other);
            }
            for round in 0..50 {
                let request = requests[round % requests.len()];
                let recalled = chat.exchange_turns(request, answer);
                assert!(
                    recalled.iter().any(|text| text == fact),
                    "{place}, round {round}, {request}: {recalled:#?}"
                );
            }
        }
    }
}

#[test]
fn a_request_is_recalled_where_nothing_else_answers() {
    let chat = RecallTestChat::new();
    chat.exchange_turns("Write a poem about my dog Rex", "Woof.");
    assert_eq!(
        chat.exchange_turns("What is my dog called?", "Rex."),
        ["Write a poem about my dog Rex"]
    );
}

#[test]
fn an_answer_that_tells_more_than_weak_facts_is_recalled_beside_them() {
    let chat = RecallTestChat::new();
    for day in [
        "Monday",
        "Tuesday",
        "Wednesday",
        "Thursday",
        "Friday",
        "Saturday",
        "Sunday",
    ] {
        chat.exchange_turns(
            &format!(
                "On {day} I was walking all day through the streets of Lisbon with {day} friends"
            ),
            "Nice.",
        );
    }
    chat.exchange_turns(
        "Which hotel is good there?",
        "The hotel Palace in Lisbon has a pool.",
    );
    let recalled = chat.exchange_turns(
        "What was the name of the hotel with a pool in Lisbon?",
        "Palace.",
    );
    assert_eq!(recalled.len(), 5);
    assert_eq!(recalled[4], "The hotel Palace in Lisbon has a pool.");
}

impl RecallTestChat {
    /// Stores statements as turns, in order.
    fn store_statements(&self, texts: &[&str]) {
        for text in texts {
            store_turn(&self.conversations, &self.place, EntryRole::User, text).unwrap();
        }
    }

    fn recall(&self, message: &str) -> Vec<RecalledMemory> {
        recall(
            &self.conversations,
            &self.place,
            message,
            &RecallRules::default(),
        )
        .unwrap()
        .memories
    }
}

#[test]
fn of_two_statements_that_contradict_each_other_the_later_one_ranks_higher() {
    for (texts, question) in [
        (["I love pizza", "I hate pizza"], "Do I like pizza?"),
        (
            ["I hate pizza", "I love pizza"],
            "Order something, perhaps pizza",
        ),
        (
            ["I live in Ghent", "I moved to Lyon, where I live with Tom"],
            "Where do I live?",
        ),
        (
            [
                "My favourite colour is blue",
                "My favourite colour is green",
            ],
            "What is my favourite colour?",
        ),
        (["我喜欢香菜", "我讨厌香菜"], "我吃香菜吗？"),
        (["我住在北京", "我现在住在上海"], "我住在哪里？"),
    ] {
        let chat = RecallTestChat::new();
        chat.store_statements(&texts);
        let found = chat.recall(question);
        let texts_found: Vec<&str> = found
            .iter()
            .map(|remembered| remembered.entry.content.as_str())
            .collect();
        assert_eq!(texts_found, [texts[1], texts[0]], "{question}");
        assert!(
            found[1].score < found[0].score && found[1].is_superseded && !found[0].is_superseded,
            "{found:?}"
        );
    }
}

#[test]
fn an_earlier_statement_never_comes_without_the_one_that_took_its_place() {
    for (texts, question) in [
        (["I love pizza", "I hate pizza"], "What do I love?"),
        (["我喜欢狗", "我讨厌狗"], "我喜欢狗吗？"),
        (["我喜欢狗", "我讨厌狗"], "我喜欢什么？"),
        (["我喜欢喝茶", "我讨厌喝茶"], "我喜欢喝茶吗？"),
        (
            ["I live in Ghent", "I moved to Lyon"],
            "Which trams are there in Ghent?",
        ),
    ] {
        let chat = RecallTestChat::new();
        chat.store_statements(&texts);
        let found = chat.recall(question);
        let texts_found: Vec<&str> = found
            .iter()
            .map(|remembered| remembered.entry.content.as_str())
            .collect();
        assert_eq!(texts_found, [texts[1], texts[0]], "{question}");
        assert!(
            found[1].is_superseded && !found[0].is_superseded,
            "{found:?}"
        );
    }
}

#[test]
fn what_the_message_contradicts_is_superseded() {
    let chat = RecallTestChat::new();
    chat.store_statements(&["I love pizza"]);
    assert!(chat.recall("I hate pizza. What should I order?")[0].is_superseded);
    assert!(!chat.recall("Order a pizza")[0].is_superseded);
}

#[test]
fn five_sentences_about_one_thing_leave_room_for_others() {
    let chat = RecallTestChat::new();
    let coffee = [
        "I like coffee",
        "I really love coffee!",
        "Coffee is my favourite",
        "I enjoy coffee a lot",
        "I drink coffee every day",
    ];
    chat.store_statements(&coffee);
    chat.store_statements(&["I like hiking", "I like old maps", "I like rye bread"]);
    let found = chat.recall("What do I like? Coffee?");
    let about_coffee = found
        .iter()
        .filter(|remembered| remembered.entry.content.to_lowercase().contains("coffee"))
        .count();
    assert_eq!((about_coffee, found.len()), (1, 4), "{found:#?}");
    chat.store_statements(&["I like hiking", "I like hiking."]);
    assert_eq!(chat.recall("What do I like? Coffee?").len(), 4);
}

#[test]
fn a_turn_that_is_not_written_yet_is_recalled() {
    let chat = RecallTestChat::new();
    let rules = RecallRules::default();
    let turn = |text: &str| {
        let at = chat.conversations.clock.now();
        ConversationEntry::new(
            chat.conversations.entry_id(),
            &chat.place,
            EntryRole::User,
            text,
            at,
        )
    };
    let recalled = |unwritten: &[ConversationEntry]| -> Vec<String> {
        let found = recall_with_unwritten(
            &chat.conversations,
            &chat.place,
            "What is my dog called?",
            &rules,
            unwritten,
            &|_| false,
        );
        found
            .unwrap()
            .memories
            .iter()
            .map(|remembered| remembered.entry.content.clone())
            .collect()
    };
    assert_eq!(recalled(&[turn("My dog is Rex.")]), ["My dog is Rex."]);
    assert!(recalled(&[]).is_empty(), "nothing of it is stored");
    chat.store_statements(&["My dog is Rex."]);
    assert_eq!(
        recalled(&[turn("My dog is Rex.")]),
        ["My dog is Rex."],
        "it was written in the meantime"
    );
}

#[test]
fn the_subject_of_facts_is_no_reason_to_recall_them() {
    let chat = RecallTestChat::new();
    let facts = [
        "The user hates pizza.",
        "User's dog is Rex.",
        "用户喜欢爬山。",
        "The user designs user interfaces.",
    ];
    let facts: Vec<String> = facts.map(str::to_owned).to_vec();
    crate::conversation::add(
        &chat.conversations,
        &chat.place,
        &facts,
        crate::SecretPolicy::Refuse,
    )
    .unwrap();
    for question in [
        "How do I add a user in Linux?",
        "What is the user's shell?",
        "用户怎么登录？",
    ] {
        let found = chat.recall(question);
        assert!(
            found
                .iter()
                .all(|found| found.entry.content.contains("interfaces")),
            "{question}: {found:?}"
        );
    }
    assert_eq!(
        chat.recall("Which user interfaces are there?")[0]
            .entry
            .content,
        facts[3]
    );
    let known = similar_facts(
        &chat.conversations,
        &chat.place,
        &["The user moved to Lyon.".to_owned()],
    )
    .unwrap();
    assert_eq!(known.len(), 4, "each may be contradicted: {known:?}");
}

#[test]
fn a_character_of_a_longer_word_is_no_noun_of_its_own() {
    for (fact, question) in [
        ("我喜欢吃火锅。", "火车几点开？"),
        ("我家在海淀。", "海鲜怎么做？"),
        ("我的手机坏了。", "怎么做飞机模型？"),
    ] {
        let chat = RecallTestChat::new();
        chat.store_statements(&[fact]);
        assert_eq!(chat.recall(question), [], "{question}");
    }
}

#[test]
fn a_noun_of_one_character_is_recalled() {
    for (fact, question) in [
        ("我家的猫叫咪咪。", "猫叫什么名字？"),
        ("我的狗叫雷克斯。", "狗叫什么名字？"),
        ("我的狗叫雷克斯。", "狗叫什么？"),
        ("我喜欢喝茶。", "茶好喝吗？"),
        ("我家的猫三岁。", "猫几岁了？"),
        ("我家的猫三岁。", "猫多大？"),
        ("我的车在修理厂。", "车在哪里？"),
        ("我家的猫叫咪咪，怕水", "怎么给猫洗澡"),
        ("我家的猫叫咪咪，怕水", "猫能活多久"),
        ("我的狗叫小黑。", "怎么给狗洗澡"),
        ("我的车是红色的", "怎么给车打蜡"),
        ("我养了一只猫。", "给猫买什么粮"),
    ] {
        let chat = RecallTestChat::new();
        chat.store_statements(&[fact, "我住在里昂。", "我在银行工作。", "我叫安娜。"]);
        let found = chat.recall(question);
        assert_eq!(
            found.first().map(|found| found.entry.content.as_str()),
            Some(fact),
            "{question}: {found:?}"
        );
    }
}

#[test]
fn standing_instructions_come_first_in_their_part_of_the_places() {
    let chat = RecallTestChat::new();
    chat.exchange_turns("Always answer in metric units.", "I will.");
    chat.exchange_turns("My dog is Rex.", "A good name.");
    chat.exchange_turns("Please never use emojis.", "I will not.");
    chat.exchange_turns("Always end with a question.", "Shall I?");
    let told = chat.exchange_turns("What is my dog called?", "Rex.");
    assert_eq!(
        told[..2],
        ["Always end with a question.", "Please never use emojis."]
    );
    assert!(told.contains(&"My dog is Rex.".to_owned()), "{told:?}");
}

#[test]
fn a_long_text_is_cut_to_the_own_words_about_the_message_and_play_is_left_out() {
    let chat = RecallTestChat::new();
    let log: String = (0..3000)
        .map(|number| format!("2026-11-01 10:00:00 INFO worker {number} lives in Rome\n"))
        .collect::<Vec<_>>()
        .concat();
    chat.exchange_turns(&format!("The shop of Anna failed. {log}"), "Fine.");
    let mail = "Anna wrote:\nI live in Oslo and I am allergic to nuts. ".to_owned()
        + &"More of it. ".repeat(40);
    chat.exchange_turns(&format!("Summarise this mail.\n{mail}"), "Fine.");
    chat.exchange_turns("Pretend you are a pirate. I live in Tortuga.", "Arr.");
    let about = |message: &str| {
        chat.recall(message)
            .into_iter()
            .map(|own| own.text)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        about("What did Anna write?"),
        ["Summarise this mail. Anna wrote:"]
    );
    for message in [
        "Where do I live?",
        "Am I allergic to nuts?",
        "Who lives in Rome?",
    ] {
        for text in about(message) {
            for foreign in ["Rome", "Oslo", "allergic", "Tortuga"] {
                assert!(!text.contains(foreign), "{message}: {text}");
            }
        }
    }
}
