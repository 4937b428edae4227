use super::*;

#[test]
fn texts_that_say_the_same_claim_the_same() {
    for same in [
        &[
            "I like coffee.",
            "I really love coffee!",
            "Coffee is my favourite drink",
            "I drink coffee every morning",
            "The user likes coffee.",
        ] as &[&str],
        &[
            "My dog is Rex.",
            "my dog is called Rex",
            "My dog's name is Rex",
            "Rex is my dog",
        ],
        &[
            "I hate pizza",
            "I don't like pizza",
            "I can't stand pizza",
            "The user dislikes pizza.",
        ],
        &[
            "我喜欢咖啡。",
            "我非常爱喝咖啡",
            "咖啡是我的最爱",
            "用户喜欢喝咖啡",
        ],
        &["我讨厌香菜", "我不喜欢香菜", "我不吃香菜"],
        &["Anna is the boss of Tom.", "The boss of Tom is Anna"],
        &[
            "I fly from Rome to Oslo on Monday.",
            "The user flies from Rome to Oslo on Monday",
        ],
        &["I am fond of tea", "I like tea", "I'm addicted to tea"],
    ] {
        for other in &same[1..] {
            assert_eq!(TextClaim::new(same[0]), TextClaim::new(other), "{other}");
        }
    }
}

#[test]
fn texts_that_say_other_things_claim_others() {
    for [one, other] in [
        ["I love pizza", "I hate pizza"],
        ["My dog is Rex", "My dog is Max"],
        ["My dog is Rex", "My brother's dog is Rex"],
        ["My name is Anna", "Her name is Anna"],
        ["I run in the morning", "I run in the evening"],
        ["I like coffee", "I like tea"],
        [
            "The user's colleague number 1 likes tea",
            "The user's colleague number 2 likes tea",
        ],
        ["我喜欢咖啡", "我喜欢茶"],
        ["我喜欢咖啡", "我不喜欢咖啡"],
        [
            "I fly from Rome to Oslo on Monday.",
            "I fly from Oslo to Rome on Monday.",
        ],
        ["Anna is the boss of Tom.", "Tom is the boss of Anna."],
        [
            "Anna is my boss. Tom is my friend.",
            "Tom is my boss. Anna is my friend.",
        ],
        [
            "The meeting with Anna is before lunch.",
            "The meeting with Anna is after lunch.",
        ],
        ["I prefer tea to coffee", "I prefer coffee to tea"],
        ["I told Tom", "Tom told me about it and she told Tom"],
        ["安娜是汤姆的老板", "汤姆是安娜的老板"],
    ] {
        let (one, other) = (TextClaim::new(one), TextClaim::new(other));
        assert_ne!(one, other);
    }
    let variation =
        |one: &str, other: &str| TextClaim::new(one).is_variation(&TextClaim::new(other));
    assert!(variation("I like coffee", "I like strong coffee"));
    assert!(!variation(
        "colleague number 1 likes green tea",
        "colleague number 2 likes green tea"
    ));
    assert!(
        !variation("I love pizza", "I hate pizza")
            && !variation("I visited Rome in spring", "I visited Oslo in spring")
    );
}

#[test]
fn a_later_text_supersedes_what_it_contradicts() {
    let supersedes = |earlier: &str, later: &str| {
        TextClaims::new(EntryRole::User, later)
            .supersedes(&TextClaims::new(EntryRole::User, earlier))
    };
    for [earlier, later] in [
        ["I love pizza", "I hate pizza"],
        ["I love pizza", "Actually, I don't like pizza anymore."],
        ["I love pizza with pineapple", "I hate pizza"],
        ["I eat meat", "I no longer eat meat"],
        ["I live in Ghent.", "We moved: I live in Lyon now."],
        ["I live in Ghent.", "I moved to Lyon"],
        ["I work at Acme", "I now work at Initech"],
        [
            "My favourite colour is blue",
            "My favourite colour is green",
        ],
        ["My dog is called Rex", "My dog is called Max"],
        ["My deadline is on Friday", "My deadline is on Monday"],
        ["我住在北京", "我搬到上海了"],
        ["我喜欢香菜", "我讨厌香菜"],
        ["我最喜欢的颜色是蓝色", "我最喜欢的颜色是绿色"],
        ["我在百度工作", "我现在在腾讯工作"],
        ["I live in Ghent with Anna", "I live in Lyon now with Tom"],
        ["I live in Ghent", "I moved to Lyon with my wife"],
        [
            "I live in Ghent",
            "I moved to New York, where I live with Tom",
        ],
        ["I hate coffee", "I like coffee every morning"],
        ["My best friend is Anna", "My best friend is Tom"],
    ] {
        assert!(supersedes(earlier, later), "{earlier} / {later}");
    }
    for [earlier, later] in [
        ["I love pizza", "I love pasta"],
        ["I love pizza", "I hate pizza with pineapple"],
        ["My dog is Rex", "My dog is brown"],
        ["I live in Ghent.", "My sister lives in Lyon"],
        ["I live in Ghent.", "I live in Ghent"],
        ["I love pizza", "Do I hate pizza?"],
        ["我喜欢咖啡", "我喜欢茶"],
        ["我住在北京", "我妹妹住在上海"],
        ["I live in Ghent.", "I live in Ghent with Anna."],
        ["I live in Ghent with Anna.", "I live in Ghent, Belgium."],
        ["I work at Acme.", "I work at Acme as an engineer."],
        [
            "I live in Lyon with my wife.",
            "I moved to Linux last year.",
        ],
        ["I live in Lyon with my wife.", "I moved to Linux."],
        ["I live in Lyon.", "I moved to another team"],
        ["My friend is Anna.", "My friend is Tom."],
        ["My brother's name is Max", "My brother's name is Tom"],
        ["I hate coffee in the office of Tom.", "I like coffee."],
        ["My deadline is on Friday", "My deadline is Friday at noon"],
        ["Tom is the boss of Anna", "Anna is not the boss of Tom"],
        ["我朋友叫安娜", "我朋友叫汤姆"],
        ["我住在北京", "我住在北京朝阳区"],
        ["我讨厌办公室的咖啡", "我喜欢咖啡"],
    ] {
        assert!(!supersedes(earlier, later), "{earlier} / {later}");
    }
}

#[test]
fn facts_say_what_the_turn_says_that_they_were_drawn_from() {
    let (turn, fact) = (
        TextClaim::new("We moved: I live in Lyon now."),
        TextClaim::new("The user lives in Lyon."),
    );
    assert!(turn.is_covered_by(&[&fact]) && !turn.is_covered_by(&[]));
    assert!(!TextClaim::new("I live in Lyon with my dog Rex").is_covered_by(&[&fact]));
}
