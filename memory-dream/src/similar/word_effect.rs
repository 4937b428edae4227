//! Words that change the meaning of a sentence.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The effect of a word on the meaning of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum WordEffect {
    /// It has no effect.
    Filler,
    /// It negates or restricts.
    Negation,
    /// It has an opposite.
    Opposite,
    /// A day, a month or another word for a time.
    Date,
    /// A quantity or a frequency.
    Amount,
    /// A mood or tense: must, may, will or was.
    Mood,
    /// A person.
    Person,
}

/// Returns the effect of a folded word, if it is in one of the lists.
pub(super) fn word_effect(word: &str) -> Option<WordEffect> {
    WORD_EFFECTS.get(word).copied()
}

/// Returns the digits of a number that is written as a word.
pub(super) fn number_digits(word: &str) -> Option<&'static str> {
    NUMBER_WORDS.get(word).copied()
}

static WORD_EFFECTS: LazyLock<HashMap<&str, WordEffect>> = LazyLock::new(|| {
    let lists = [
        (FILLERS, WordEffect::Filler),
        (NEGATIONS, WordEffect::Negation),
        (OPPOSITES, WordEffect::Opposite),
        (DATES, WordEffect::Date),
        (AMOUNTS, WordEffect::Amount),
        (MOODS, WordEffect::Mood),
        (PERSONS, WordEffect::Person),
    ];
    lists
        .into_iter()
        .flat_map(|(words, mark)| words.split_whitespace().map(move |word| (word, mark)))
        .collect()
});

static NUMBER_WORDS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let pairs = DIGITS
        .split_whitespace()
        .filter_map(|pair| pair.split_once('='));
    pairs.collect()
});

const FILLERS: &str = "a an the its it is are be been being am has have having do does doing of and but really very quite just also too \
    please actually basically simply so 的 啊 呀 嘛 很 也";

const NEGATIONS: &str = "not no none never nobody nothing nowhere neither nor without cannot hardly barely rarely seldom unless except \
    only instead avoid refuse deny ban forbid forbidden lack false untrue 不 没 无 别 勿 未 非 莫 禁 除 只 仅 否 拒 免 缺 假";

const OPPOSITES: &str = "off out up down before after above below over under left right from against enable disable enabled disabled \
    start stop begin end open close opened closed allow disallow permit prohibit accept reject add remove increase decrease raise \
    lower more less fewer most least min max minimum maximum first last next previous early late earlier later old new former \
    latter big small large little high low long short fast slow hot cold hard soft light dark day night morning evening afternoon am \
    pm win lose buy sell send receive push pull read write import export client server source target input output public private \
    internal external local remote include exclude inclusive exclusive inside outside front back frontend backend top bottom upper \
    true yes good bad better worse best worst always sometimes often like dislike love hate prefer increase safe unsafe success \
    failure pass fail passed failed online offline on-call synchronous asynchronous sync async lock unlock locked unlocked mount \
    unmount encrypt decrypt upgrade downgrade horizontal vertical left-hand right-hand north south east west vegetarian vegan dead \
    alive married divorced full empty same different odd even red blue green black white yellow staging production development \
    test prod dev main master deprecated obsolete draft final 开 关 启 停 用 前 后 上 下 左 右 内 外 进 出 增 减 加 升 降 高 低 多 少 大 小 \
    早 晚 快 慢 新 旧 长 短 先 始 终 真 好 坏 喜 厌 爱 恨 东 西 南 北 男 女 红 蓝 绿 黑 白 黄 买 卖 收 发 读 写 推 拉 输 入 公 私 热 冷 冰 成 败";

const DATES: &str = "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays \
    sundays mon tue tues wed thu thur thurs fri sat sun january february march april may june july august september october november \
    december jan feb mar apr jun jul aug sep sept oct nov dec today tomorrow yesterday tonight noon midnight weekend weekday spring \
    summer autumn fall winter now currently recently formerly previously anymore still yet already 今 明 昨 周 春 夏 秋 冬 月 日 年 号";

const AMOUNTS: &str = "all every each any some many much few several half double twice once both either enough dozen hundred thousand \
    million billion daily weekly monthly yearly hourly minute hour week month year second quarter percent kb mb gb tb ms usd eur 每 各 \
    全 半 几 些 两 倍 十 百 千 万 亿 都";

const MOODS: &str = "must should shall may might can could will would was were had did if maybe perhaps probably possibly used ought \
    need 必 须 应 该 可 能 会 要 曾 将 已 若 如 果 了 过 或 or";

const PERSONS: &str = "i you he she we they me him her us them my your his our their mine yours hers ours theirs myself yourself mother \
    father mum mom dad sister brother wife husband son daughter aunt uncle cousin grandma grandpa grandmother grandfather niece \
    nephew boss colleague friend neighbour neighbor girlfriend boyfriend user assistant agent customer 我 你 您 他 她 它 咱 姐 妹 哥 弟 爸 妈 父 母 \
    爷 奶 叔 姨 姑 舅 儿 妻 夫 婆 公 岳 孙 侄 师 友";

const DIGITS: &str = "zero=0 one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve=12 thirteen=13 \
    fourteen=14 fifteen=15 sixteen=16 seventeen=17 eighteen=18 nineteen=19 twenty=20 thirty=30 forty=40 fifty=50 sixty=60 seventy=70 \
    eighty=80 ninety=90 〇=0 零=0 一=1 二=2 三=3 四=4 五=5 六=6 七=7 八=8 九=9";
