//! Sentences as people write them to themselves, and when they mean.
//!
//! All are said on Wednesday the 11th of June 2025, at 10:20.

use super::super::find_dates;
use super::{count_correct, format_found_date, wednesday};

#[test]
fn the_nearest_activity_determines_the_half_of_the_day() {
    let found = find_dates(
        "breakfast on Friday at 8, dinner on Saturday at 7",
        &wednesday(),
    );
    let hours: Vec<_> = found.iter().map(super::format_mention).collect();
    assert_eq!(hours, ["2025-06-13 08:00", "2025-06-14 19:00"]);
}

#[test]
fn at_least_95_of_100_everyday_sentences_in_english_are_read_right() {
    assert!(count_correct("everyday, English", ENGLISH) * 100 >= ENGLISH.len() * 95);
}

#[test]
fn at_least_95_of_100_everyday_sentences_in_chinese_are_read_right() {
    assert!(count_correct("everyday, Chinese", CHINESE) * 100 >= CHINESE.len() * 95);
}

#[test]
fn a_scoreboard_counts_what_is_wrong_as_well() {
    assert_eq!(
        count_correct(
            "wrong on purpose",
            &[
                ("see you tomorrow", "2025-06-13"),
                ("see you tomorrow", "2025-06-12")
            ]
        ),
        1
    );
    assert_eq!(format_found_date("nothing of the kind"), "-");
}

const ENGLISH: &[(&str, &str)] = &[
    ("remind me to call Anna tomorrow at 3pm", "2025-06-12 15:00"),
    ("pay rent on the 1st", "2025-07-01"),
    ("dentist next Tuesday at 9:15", "2025-06-17 09:15"),
    ("tomorrow at 16 dentist", "2025-06-12 16:00"),
    ("next Friday at 10 renew passport", "2025-06-20 10:00"),
    ("lunch on Friday at 10 Downing Street", "2025-06-13 12:00"),
    ("renew the passport in two weeks", "2025-06-25"),
    ("submit the report by the end of the month", "2025-06-30"),
    ("fly home the day after Thanksgiving", "2025-11-28"),
    (
        "dinner with Sam at half past six tonight",
        "2025-06-11 18:30",
    ),
    ("lunch with Priya at noon on Friday", "2025-06-13 12:00"),
    (
        "the appointment is on March 3rd at 14:30",
        "2026-03-03 14:30",
    ),
    ("clean the garage this weekend", "2025-06-14"),
    ("standup every Monday at 9:30", "2025-06-16 09:30"),
    ("water the plants in three days", "2025-06-14"),
    ("take the pizza out in 20 minutes", "2025-06-11 10:40"),
    ("call back in an hour and a half", "2025-06-11 11:50"),
    ("meet Bob on Friday at 3", "2025-06-13 15:00"),
    ("car inspection is due 15 September", "2025-09-15"),
    ("Mum's birthday is on the 23rd of August", "2025-08-23"),
    ("remind me the day after tomorrow to buy milk", "2025-06-13"),
    ("pick up the parcel before 6 pm today", "2025-06-11 18:00"),
    ("Send the invoice by Friday.", "2025-06-13"),
    ("team call on 2025-07-02 at 16:00", "2025-07-02 16:00"),
    ("flight leaves Jun 20, 7:45am", "2025-06-20 07:45"),
    ("tax return due on July 31", "2025-07-31"),
    ("cancel the trial within 5 days", "2025-06-16"),
    ("book a table for Saturday evening at 8", "2025-06-14 20:00"),
    ("wake me up at 6:30 tomorrow morning", "2025-06-12 06:30"),
    ("feed the cat at 7pm", "2025-06-11 19:00"),
    ("ask Tom about the budget next Monday", "2025-06-16"),
    ("renew domain on 1/15/2026", "2026-01-15"),
    ("parents' evening on the 19th at 7 pm", "2025-06-19 19:00"),
    ("buy presents before Christmas", "2025-12-25"),
    ("plan the Halloween party on October 31st", "2025-10-31"),
    ("hand in the thesis by the end of the year", "2025-12-31"),
    ("quarterly review on the first Monday of July", "2025-07-07"),
    ("pay the deposit on the last day of August", "2025-08-31"),
    ("check the oven in half an hour", "2025-06-11 10:50"),
    ("visit grandma at Easter", "2026-04-05"),
    ("back up the laptop tonight at 11", "2025-06-11 23:00"),
    ("call the bank tomorrow morning at 9", "2025-06-12 09:00"),
    ("gym at quarter to seven this evening", "2025-06-11 18:45"),
    ("the lease ends in six months", "2025-12-11"),
    ("follow up a week from Friday", "2025-06-20"),
    ("prescription refill 10 days from now", "2025-06-21"),
    ("review the draft on Thursday of next week", "2025-06-19"),
    ("webinar Thursday 4 pm", "2025-06-12 16:00"),
    ("conference call at 15:00", "2025-06-11 15:00"),
    ("change the filter in 3 months", "2025-09-11"),
    (
        "set up the demo for Wednesday, June 18 at 10 am",
        "2025-06-18 10:00",
    ),
    ("the warranty expires on 30 June 2027", "2027-06-30"),
    (
        "the exam is on the twenty-first of June at ten o'clock",
        "2025-06-21 10:00",
    ),
    ("take medicine at midnight", "2025-06-12 00:00"),
    ("move the car by 8 tomorrow", "2025-06-12 08:00"),
    ("New Year's Eve party at 9pm", "2025-12-31 21:00"),
    ("vote on the second Tuesday in November", "2025-11-11"),
    ("pick up the kids at 3:30", "2025-06-11 15:30"),
    ("drop off the keys at 5", "2025-06-11 17:00"),
    ("leave in 1h 30min", "2025-06-11 11:50"),
    ("call mom on Mother's Day", "2026-05-10"),
    ("return library books by next Friday", "2025-06-20"),
    (
        "my contract starts at the beginning of next month",
        "2025-07-01",
    ),
    ("pack two days before Christmas", "2025-12-23"),
    ("start the course on Monday, 8 a.m.", "2025-06-16 08:00"),
    ("interview @ 2pm on Thu", "2025-06-12 14:00"),
    (
        "the sale starts at 10 in the morning on Saturday",
        "2025-06-14 10:00",
    ),
    ("check in with Lee at the end of next week", "2025-06-22"),
    ("ping Joe in a couple of hours", "2025-06-11 12:20"),
    ("renew insurance by Sept 5th", "2025-09-05"),
    ("send flowers on Valentine's Day", "2026-02-14"),
    ("pay the electricity bill in a fortnight", "2025-06-25"),
    (
        "landlord visits Tuesday afternoon at two",
        "2025-06-17 14:00",
    ),
];

const CHINESE: &[(&str, &str)] = &[
    ("提醒我明天下午三点给安娜打电话", "2025-06-12 15:00"),
    ("下周二交房租", "2025-06-17"),
    ("月底前提交报告", "2025-06-30"),
    ("三天后去取包裹", "2025-06-14"),
    ("后天早上八点半开会", "2025-06-13 08:30"),
    ("大后天还书", "2025-06-14"),
    ("下个月五号体检", "2025-07-05"),
    ("周五之前回复邮件", "2025-06-13"),
    ("半小时后关火", "2025-06-11 10:50"),
    ("一刻钟后出发", "2025-06-11 10:35"),
    ("十二月二十五日聚餐", "2025-12-25"),
    ("明晚八点看电影", "2025-06-12 20:00"),
    ("国庆节去旅行", "2025-10-01"),
    ("下週二下午三點見牙醫", "2025-06-17 15:00"),
    ("後天提醒我買牛奶", "2025-06-13"),
    ("今晚七点半健身", "2025-06-11 19:30"),
    ("6月20日上午10点面试", "2025-06-20 10:00"),
    ("2025年7月2日16:00团队会议", "2025-07-02 16:00"),
    ("两周后复查", "2025-06-25"),
    ("三个月后换滤芯", "2025-09-11"),
    ("周六晚上八点订了餐厅", "2025-06-14 20:00"),
    ("这周末打扫车库", "2025-06-14"),
    ("下下周一开始上课", "2025-06-23"),
    ("每周一上午九点半站会", "2025-06-16 09:30"),
    ("十五号之前交电费", "2025-06-15"),
    ("明天中午十二点和小李吃饭", "2025-06-12 12:00"),
    ("星期天去看奶奶", "2025-06-15"),
    ("下个礼拜三下午四点家长会", "2025-06-18 16:00"),
    ("两个半小时后给妈妈打电话", "2025-06-11 12:50"),
    ("年底前完成论文", "2025-12-31"),
    ("圣诞节前买好礼物", "2025-12-25"),
    ("元旦放假回家", "2026-01-01"),
    ("明早六点叫我起床", "2025-06-12 06:00"),
    ("今天下午五点前把文件发给王总", "2025-06-11 17:00"),
    ("十分钟后提醒我喝水", "2025-06-11 10:30"),
    ("９月１５日车辆年检", "2025-09-15"),
    ("八月二十三号是妈妈的生日", "2025-08-23"),
    ("明年三月三日下午两点半签合同", "2026-03-03 14:30"),
    ("下月初续费", "2025-07-01"),
    ("一个月后复诊", "2025-07-11"),
    ("晚上九点吃药", "2025-06-11 21:00"),
    ("下午三点一刻去接孩子", "2025-06-11 15:15"),
    ("七月的第一个星期一交季度总结", "2025-07-07"),
    ("聽日下晝三點開會", "2025-06-12 15:00"),
    ("下星期五晚上7點聚會", "2025-06-20 19:00"),
    ("半年后续签合同", "2025-12-11"),
    ("劳动节回老家", "2026-05-01"),
    ("中午十二点半吃饭", "2025-06-11 12:30"),
    ("周四下午两点一刻见客户", "2025-06-12 14:15"),
    ("6月底之前付款", "2025-06-30"),
    ("8月31号退房", "2025-08-31"),
    ("凌晨两点有球赛", "2025-06-12 02:00"),
    ("感恩节后一天回国", "2025-11-28"),
    ("24小时后检查结果", "2025-06-12 10:20"),
    ("再过两天就要交作业了", "2025-06-13"),
    ("下周日上午10:30去教堂", "2025-06-22 10:30"),
    ("明天傍晚六点半遛狗", "2025-06-12 18:30"),
    ("星期五下午4:15開會", "2025-06-13 16:15"),
    ("10月1日零点抢票", "2025-10-01 00:00"),
    ("兩個星期後續簽", "2025-06-25"),
    ("下个月的最后一天结账", "2025-07-31"),
    ("三十号发工资", "2025-06-30"),
    ("今年十月三十一日万圣节派对", "2025-10-31"),
    ("教师节给老师送花", "2025-09-10"),
    ("这个周五下班前交表", "2025-06-13"),
    ("晚上十点半之前睡觉", "2025-06-11 22:30"),
    ("五天之内取消订阅", "2025-06-16"),
    ("明天3点半接孩子", "2025-06-12 15:30"),
    ("明年一月五号开学", "2026-01-05"),
    ("周日晚8点视频会议", "2025-06-15 20:00"),
];
