use super::{is_courtesy, statements};

fn stated(text: &str) -> Vec<&str> {
    statements(text)
        .into_iter()
        .map(|range| text[range].trim())
        .collect()
}

#[test]
fn requests_and_questions_state_nothing() {
    let texts = "Write a poem about my dog\nwrite me a poem about my dog, please\nCan you write a poem about my dog\n\
        Could you compose a short poem about my dog?\nA poem about my dog\nAnother poem about my dog!\nPoem about my dog please\n\
        I want a poem about my dog\nI'd like a funny poem about my dog\nI would love to read a poem about my dog\n\
        I need you to write a poem about my dog\nPlease write a poem about my dog Rex\nWhip up a limerick on my dog\n\
        Let's have a poem about my dog\nHow about a poem for my dog\nNow a haiku about my dog\nTell me a story about my dog\n\
        What is my dog called\nWhat's my dog's name?\nIs my dog cute?\nDo you know my dog\nWhere do I live\nWho lives in Ghent\n\
        You should write a poem about my dog\nIt would be nice if you wrote a poem about my dog\nMy dog deserves a poem\n\
        Write a poem about my dog, my cat, and my bird\nWrite a poem about my dog and make it funny\n\
        Write a poem about my dog; it should rhyme\nSerenade my dog\nHi! Write a poem about my dog. Thanks!\nThank you\nOk, great\n\
        Summarise this text: My dog is Rex. He lives in Ghent.\nTranslate to French: I love my dog\nDo it again\nOne more\n\
        写一首关于我的狗的诗\n请写一首关于我的狗的诗。\n给我的狗写一首诗\n帮我写一首诗，关于我的狗\n你能写一首关于我的狗的诗吗？\n\
        我想要一首关于我的狗的诗\n我想让你写一首关于狗的诗\n为我的狗作一首诗\n关于我的狗的诗\n再来一首关于我的狗的诗\n\
        我的狗叫什么名字\n我的狗叫什么？\n讲一个关于我的猫的故事\n我住在哪里\n推荐一家餐厅\n能不能写首诗\n谢谢\n好的，谢谢！\n\
        以我的狗为题写一首诗\n一首关于狗的诗";
    let wrong: Vec<_> = texts
        .lines()
        .map(|text| (text, stated(text)))
        .filter(|(_, stated)| !stated.is_empty())
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn statements_are_whole() {
    let texts = "My dog is Rex.\nI live in Ghent\nMy wife's name is Anne\nI love pizza\nWork is stressful\nCode reviews take me hours\n\
        Allergic to peanuts\nRex\nWe moved: I live in Lyon now.\nWhat I like most is tea.\nWhen I was young, I lived in Rome.\n\
        I want a dog\nI'd like to live in Rome\nI need to lose weight\nI write poems\nI like the song Yesterday\nI love a good story\nThe meeting was moved to Friday\nAnna likes tea\n\
        Bought a car yesterday\nHave a dog called Rex\nMy sister writes poems\nRemember that my dog is Rex\nCall me Anna\n\
        Remind me to call Tom on Monday\nAs a vegetarian, I eat no meat\nMein Hund heißt Rex\nIn the morning the dog sleeps\n\
        Will is my brother\nLove my dog\nAlways answer in Dutch\n\
        我的狗叫雷克斯。\n我住在里昂\n我对花生过敏\n我喜欢写诗\n我昨天写了一首诗\n请记住：我的狗叫雷克斯\n我想去日本\n写作是我的爱好\n\
        我妻子是医生\n用户喜欢爬山\n我没什么爱好\n以后叫我小王\n对花生过敏";
    let wrong: Vec<_> = texts
        .lines()
        .map(|text| (text, stated(text).concat()))
        .filter(|(text, stated)| stated != text)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn beside_a_request_only_clauses_with_a_verb_state_something() {
    for (text, expected) in [
        ("My dog is Rex. Write a poem about him.", "My dog is Rex."),
        (
            "I have a dog called Rex, write a poem about him",
            "I have a dog called Rex,",
        ),
        (
            "Write a poem about my dog, he is called Rex",
            "he is called Rex",
        ),
        ("My dog Rex is ill, what should I do?", "My dog Rex is ill,"),
        (
            "Suggest a snack because I am allergic to nuts",
            "because I am allergic to nuts",
        ),
        ("我的狗叫雷克斯，给它写一首诗", "我的狗叫雷克斯，"),
        ("写一首关于我的狗的诗，它叫雷克斯", "它叫雷克斯"),
        ("我住在里昂。推荐一家餐厅", "我住在里昂。"),
    ] {
        assert_eq!(stated(text), [expected], "{text}");
    }
}

#[test]
fn code_is_material() {
    assert_eq!(
        stated("I use Rust\n```\nlet dog = 1;\n```\nMy dog is Rex"),
        ["I use Rust", "My dog is Rex"]
    );
}

#[test]
fn courtesies_are_recognised_and_answers_are_not() {
    for text in [
        "Thanks!",
        "ok, thank you very much",
        "Hi",
        "Good morning!",
        "vielen Dank",
        "Merci beaucoup !",
        "谢谢",
        "",
        "👍",
    ] {
        assert!(is_courtesy(text), "{text}");
    }
    for text in [
        "Yes",
        "no, thanks",
        "the same one",
        "是的",
        "不",
        "Thanks, I moved to Ghent",
        "Danke, ich wohne in Gent",
        "Anne",
        "42",
    ] {
        assert!(!is_courtesy(text), "{text}");
    }
}
