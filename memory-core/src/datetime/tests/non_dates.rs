//! Words and numbers that look like times and are none.

use super::format_found_date;

#[test]
fn ordinary_words_and_numbers_are_no_times() {
    let read: Vec<_> = ORDINARY
        .iter()
        .map(|text| (*text, format_found_date(text)))
        .filter(|(_, at)| at != "-")
        .collect();
    assert!(read.is_empty(), "{read:#?}");
}

const ORDINARY: &[&str] = &[
    "I may call you",
    "May I ask 3 questions?",
    "wait a second",
    "the second option is better, the first one is not",
    "on second thought",
    "the sun is shining",
    "we sat down",
    "sun and wind",
    "they march for peace",
    "march 20 miles",
    "version 3.10",
    "v2.12.2024b",
    "upgrade to 10.15",
    "10/10 score",
    "rated 9/10",
    "add 1/2 cup of sugar",
    "call 555-12-34",
    "+1 650-555-0123",
    "010-1234-5678",
    "it costs $12 or 3.30 euros",
    "the server is 10.0.0.1",
    "at 192.168.1.10",
    "the ratio is 16:9",
    "the ratio is 3:10",
    "00:1A:2B:3C:4D:5E",
    "2001:db8::8a2e:370:7334",
    "at 3 places",
    "look at 2 options",
    "5 people came",
    "at 20% off",
    "room 1130",
    "24/7 support",
    "a week has seven days",
    "two hours of work",
    "it takes 20 minutes",
    "a 3 day trip",
    "once a day",
    "one at a time",
    "last time we spoke",
    "next time use a lock",
    "the next one",
    "this one is fine",
    "in the first place",
    "in the end",
    "at the end of the road",
    "by the end of chapter 3",
    "half of it",
    "a quarter of the users",
    "two to three people",
    "I am 30",
    "am I right",
    "April Ludgate and June Carter",
    "August is a name",
    "the night manager",
    "good morning, good night",
    "use the first 10 of 20",
    "chapter 3, section 12",
    "issue 2024 and pull request 1999",
    "port 8080",
    "1920x1080",
    "一点点",
    "有一点难",
    "快一点",
    "一点也不难",
    "早点睡",
    "晚点再说",
    "我有两点建议",
    "注意三点要求",
    "三点五米",
    "五号线",
    "三号楼",
    "一周三次",
    "一天吃三顿",
    "三天打鱼",
    "两个小时的课程",
    "学了三年",
    "我的电话是13812345678",
    "版本3.10",
    "比分3:2",
    "一日三餐",
    "一时冲动",
    "天天向上",
    "以后再说",
    "后面",
    "目前没有",
    "月亮",
    "分数十分高",
    "十分重要",
    "第三点",
    "日本",
    "生日快乐",
    "价格是12元",
    "星期",
    "周小姐",
    "工作日志",
    "takes 3 business days",
    "working day and night",
    "5 nights at 8 hotels",
    "the business day was long",
    "张三年轻",
];

#[test]
fn an_interval_of_nothing_is_no_recurrence() {
    for text in [
        "every 0 days",
        "every 0 hours",
        "every 0 weeks",
        "每0天",
        "每零天",
        "每零小时",
        "每隔0天",
        "每0个月",
    ] {
        assert_eq!(format_found_date(text), "-", "{text}");
    }
}

#[test]
fn the_rest_of_a_number_is_no_time() {
    for text in [
        "二十五点",
        "三十点",
        "三十二号",
        "四十五号",
        "三十五日",
        "一百二十点",
    ] {
        assert_eq!(format_found_date(text), "-", "{text}");
    }
    for (text, at) in [
        ("周一三点开会", "2025-06-16 15:00"),
        ("下午三点60分钟的会", "2025-06-11 15:00"),
        ("明天9点80后聚会", "2025-06-12 09:00"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
    }
}
