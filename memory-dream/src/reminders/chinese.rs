//! Rules for Chinese requests.

use std::ops::Range;

use memory_core::text::fold;

use super::prose::{names_example, names_test_data};
use super::request::RequestStrength;

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
    let is_request = contains_any(&whole, REQUEST_WORDS) || is_care_order;
    let is_until = ["前", "之前", "以前", "之内", "以内", "内"]
        .iter()
        .any(|word| time.ends_with(word) || after.starts_with(word));
    // What is cancelled needs no reminder at its time; 取消会员 is an action.
    let is_comma = |sign: char| matches!(sign, ',' | ';' | '，' | '；');
    let near = [before.rsplit(is_comma).next(), after.split(is_comma).next()]
        .map(Option::unwrap_or_default)
        .join(" ");
    let cancels_event = near.contains("取消")
        && contains_any(&near, EVENT_WORDS)
        && !contains_any(&whole, "提醒 记得 别忘 务必 待办")
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
    contains_any(&format!("{before} {after}"), EVENT_WORDS).then_some(RequestStrength::Event)
}

fn is_vetoed(before: &str, whole: &str, is_request: bool) -> bool {
    let is_condition = ["如果", "要是", "假如", "万一", "除非", "若"]
        .iter()
        .any(|word| {
            before
                .rfind(word)
                .is_some_and(|at| !before[at..].contains([',', '，']))
        });
    let is_question = whole
        .trim_end_matches(['。', '!', '?', '？'])
        .ends_with(['吗', '么', '呢'])
        || whole.ends_with(['?', '？']);
    let is_reported = contains_any(before, "说 表示 声称 据报道") && !is_request;
    // "Remind me every Monday" contains a frequency, but is a request and not a habit.
    let asks_again = contains_any(whole, "提醒 记得 别忘") && !contains_any(whole, HABIT_ADVERBS);
    contains_any(whole, FREQUENCY_WORDS) && !asks_again
        || contains_any(whole, CANCELLATION_WORDS)
        || is_forbidden(whole)
        || names_test_data(whole)
        || is_condition
        || is_reported
        || is_question && !is_request
        || contains_any(whole, WEATHER_WORDS)
        || !is_request
            && (contains_any(whole, DOUBT_WORDS) || names_example(whole) || is_denied(whole))
}

/// Returns whether the clause replaces the time by another one: only the time after 到 or 为 is the new one.
fn is_replaced(before: &str, whole: &str, is_request: bool) -> bool {
    let is_old = before.ends_with(['从', '由', '自']);
    let is_new = before.ends_with(['到', '至', '为', '成', '在', '为']);
    contains_any(whole, RESCHEDULING_WORDS) && (is_old || !is_request && !is_new)
}

/// Returns what follows each word that asks not to do something: 叫我 after 不要, 打电话 after 请勿.
fn prohibitions(whole: &str) -> Vec<String> {
    let plain = NON_PROHIBITIONS
        .split_ascii_whitespace()
        .fold(whole.to_owned(), |text, word| text.replace(word, ""));
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
    after.starts_with(['忘', '错', '迟', '误', '漏', '晚', '落', '丢', '拖'])
        || after.starts_with("睡过头")
        || after.starts_with("取消") && contains_any(after, EVENT_WORDS)
}

/// Returns whether the text asks not to do something: 不要叫我, 请勿打电话.
fn is_forbidden(whole: &str) -> bool {
    let is_plain = |after: &String| !is_care(after) && !after.starts_with(['担', '急']);
    prohibitions(whole).iter().any(is_plain)
}

fn is_denied(whole: &str) -> bool {
    let plain = NON_NEGATIONS
        .split_ascii_whitespace()
        .fold(whole.to_owned(), |text, word| text.replace(word, ""));
    plain.contains(['不', '没', '未', '无'])
}

/// Returns whether the clause expresses a wish, a duty or a plan.
fn states_duty(whole: &str) -> bool {
    let plain = [
        "重要", "主要", "只要", "要求", "要是", "摘要", "概要", "必要", "要点", "纪要", "要么",
        "简要", "首要",
    ]
    .iter()
    .fold(whole.to_owned(), |text, word| text.replace(word, ""));
    plain.contains('要') || contains_any(&plain, DUTY_WORDS)
}

/// Returns whether the clause is about the past.
fn is_past(whole: &str) -> bool {
    let plain = NON_PAST_WORDS
        .split_ascii_whitespace()
        .fold(whole.to_owned(), |text, word| text.replace(word, ""));
    let end = plain.trim_end_matches(['。', '!', '！', '.', '~']);
    let is_told = plain.contains('是') && end.ends_with('的');
    plain.contains('了') || is_told || contains_any(&plain, PAST_WORDS)
}

/// Removes subjects that denote the writer, and markers at the start of a line.
fn strip_subject(text: &str) -> &str {
    let mut rest = text.trim_start_matches(|character: char| !character.is_alphanumeric());
    while let Some(shorter) = SKIPPED_OPENINGS
        .split_ascii_whitespace()
        .find_map(|word| rest.strip_prefix(word))
    {
        rest = shorter.trim_start_matches(|character: char| !character.is_alphanumeric());
    }
    rest
}

fn begins_with_verb(text: &str) -> bool {
    let begins = |words: &str| {
        words
            .split_ascii_whitespace()
            .any(|word| text.starts_with(word))
    };
    begins(IMPERATIVE_VERBS) && !begins(NON_VERBS)
}

fn contains_any(text: &str, words: &str) -> bool {
    words
        .split_ascii_whitespace()
        .any(|word| text.contains(word))
}

const REQUEST_WORDS: &str = "提醒 记得 别忘 不要忘 勿忘 记住 待办 务必 叫我 喊我 通知我 告诉我 催我 叫醒 帮我 麻烦 请 todo 别错过 不要错过 别迟到";
const DUTY_WORDS: &str = "必须 需 应该 应当 该 打算 计划 准备 得去 得交 得把 得给 想去 截止 到期 期限 ddl deadline 最后一天 最晚 最迟 不得晚于 \
    争取";
const FREQUENCY_WORDS: &str =
    "每 通常 一般 总是 平时 经常 常常 往往 习惯 一向 从来 偶尔 天天 定期 老是";
const HABIT_ADVERBS: &str = "通常 一般 总是 平时 经常 常常 往往 习惯 一向 从来 偶尔 老是";
const CANCELLATION_WORDS: &str = "取消: 取消： 以为 取消了 已取消 被取消 会议取消 不用 不必 无需 不需要 没必要 不再 已经 曾 当初 已完成 完成了 做完 昨天 昨晚 \
    前天 上周 上个月 去年 刚刚 刚才";
const DOUBT_WORDS: &str = "也许 可能 说不定 大概 或许 似乎 据说 喜欢 讨厌 偏好 爱";
const RESCHEDULING_WORDS: &str = "改到 改至 改为 改成 改在 改期 推迟 延期到 延期至 延到 延至 推到 挪到 调到 移到 提前到 提前至 顺延";
const WEATHER_WORDS: &str = "下雨 有雨 下雪 气温 天气 晴 台风 降温 多云";
const NON_NEGATIONS: &str =
    "不要忘 不得晚于 不晚于 不动产 不锈钢 无线 无人机 未来 不过 不错 忘不了 没收 不少于 不见不散";
/// Words with a character that means "do not" alone.
const NON_PROHIBITIONS: &str = "特别 分别 区别 级别 别人 别的 别墅 别处 别名 告别 性别 个别 识别 类别 离别 鉴别 要不要 莫斯科 莫名 莫过";
const NON_PAST_WORDS: &str = "约了 订了 定了 预约了 预订了 安排了 要开始了 要到期了 就要 快要 为了 了解 了结 忘了 到期了 截止了 有了 买了 改了时间 \
    报了名 请了";
const PAST_WORDS: &str = "去过 来过 做过 见过 吃过 用过 试过 开过 说过 看过 成立于 发布于 出生于 建于 当时 那天 发生 终于 刚";
const SKIPPED_OPENINGS: &str = "我们 我 你 咱们 咱 大家 待办 提示 注意 重要 和 跟 就 再 先 还 也 都 一起 全家 一家人 今年 然后 顺便 左右 开始 准时 \
    的时候 时 之后 以后 一早";
/// Verbs, and prepositions before an object.
///
/// A single character suffices if a subject rarely starts with it.
const IMPERATIVE_VERBS: &str = "给 和 有 去 来 到 把 跟 与 陪 带 交 买 取 还 见 开 打 接 送 看 吃 做 写 寄 发 回 付 缴 续 办 订 退 换 查 签 参加 完成 \
    提交 联系 检查 更新 备份 部署 上 考 面 复 体检 出 起 睡 喝 洗 打扫 搬 飞 拿 修 报 填 投 听 学 练 跑 健身 聚 约 值班 结 \
    拜 审 讨论 关 预 取消 整理 浇 遛 喂 领 抢 向 坐 乘 用 找 问 聊 加 准备 安排 确认 测 调 合并 重启 升级 迁移 申请 登记 \
    注册 挂 种 剪 理发 晒 收 倒 丢 扔 庆祝 旅 度假 露营 爬山 散步 游泳 锻炼 冲 充 转 汇 存 核 对 进行 试 选 定 录 拍 抽 验 \
    配 组织 主持 演 汇报 述 答 辅导 叫 催 邀 集合 碰头 碰面 会合 见面 下班前 放 休 过 清 翻 读 背 划 停 驾 租 卖 清理 跟进 \
    随访 打疫苗";
/// Words that start like a verb in `IMPERATIVE_VERBS` but are not verbs.
const NON_VERBS: &str = "办公 上海 开发 用户 学校 学生 学期 关系 面包 收入 过程 读者 发现 发生 问题 转眼 有点 有些 有人 有时 有效 发布的 回忆 \
    放心 打印机 开关 送货员 考生 核心 对方 休息室 定义 发言人 叫做 用于 听众 选手 报纸 报告显示 写道 到处 来自 出生 出版 \
    成立 修女 到了 过去 结果 起因 来源 面积 存在 试验 发起人 和平 和谐";
const EVENT_WORDS: &str = "开会 会议 结婚 例会 晨会 站会 周会 约 航班 飞 起飞 出发 考试 面试 生日 体检 复诊 复查 手术 婚礼 聚餐 聚会 饭局 讲座 课 上课 \
    开学 放假 比赛 演出 电影 音乐会 派对 家长会 牙医 医生 看病 挂号 签约 合同 年检 退房 入住 火车 高铁 机票 票 交付 付款 \
    还款 缴费 续费 发布会 上线 升级 答辩 汇报 截稿 开庭 搬家 旅行 旅游 工资 球赛 直播 评审 演示 活动 培训 研讨 典礼 纪念日 \
    见 来 到达 到货 回 去 开始 结束 开幕 闭幕 开业 送达 送货 取件 快递 检修 维护 停机 停电 停水 疫苗 洗牙 理发 房租 水电 \
    电费 物业费 报名 交稿 提交 值班 团建 年会 路演 复试 笔试 抽奖 毕业";
