//! Classes of words with the same function in a note.

use std::collections::HashMap;
use std::sync::LazyLock;

use memory_core::text::{TokenKind, fold, tokenize};

use super::feature::FeaturePart;

/// The function of a word in a note.
///
/// Through its class, a word counts even if it is not in the training notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum WordClass {
    I,
    We,
    You,
    They,
    User,
    Name,
    Kin,
    Job,
    Trait,
    Often,
    Able,
    Like,
    Choose,
    Trouble,
    Opinion,
    Remind,
    Value,
    Must,
    Never,
    Not,
    Why,
    Instead,
    Order,
    Tool,
    Build,
    Moment,
}

/// All classes, in the order of the enum.
pub(super) const CLASSES: [WordClass; 26] = [
    WordClass::I,
    WordClass::We,
    WordClass::You,
    WordClass::They,
    WordClass::User,
    WordClass::Name,
    WordClass::Kin,
    WordClass::Job,
    WordClass::Trait,
    WordClass::Often,
    WordClass::Able,
    WordClass::Like,
    WordClass::Choose,
    WordClass::Trouble,
    WordClass::Opinion,
    WordClass::Remind,
    WordClass::Value,
    WordClass::Must,
    WordClass::Never,
    WordClass::Not,
    WordClass::Why,
    WordClass::Instead,
    WordClass::Order,
    WordClass::Tool,
    WordClass::Build,
    WordClass::Moment,
];

impl WordClass {
    /// Returns the human-readable name of the class.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::I => "the writer",
            Self::We => "the writer's group",
            Self::You => "the reader",
            Self::They => "somebody else",
            Self::User => "the user",
            Self::Name => "a name",
            Self::Kin => "a relative or friend",
            Self::Job => "somebody's job",
            Self::Trait => "a trait",
            Self::Often => "how often",
            Self::Able => "an ability",
            Self::Like => "a liking",
            Self::Choose => "a choice",
            Self::Trouble => "trouble",
            Self::Opinion => "an opinion",
            Self::Remind => "asking to be told",
            Self::Value => "a value",
            Self::Must => "must",
            Self::Never => "never",
            Self::Not => "not",
            Self::Why => "a reason",
            Self::Instead => "an alternative",
            Self::Order => "an instruction",
            Self::Tool => "a tool or language",
            Self::Build => "a part of a project",
            Self::Moment => "a time",
        }
    }

    /// Returns the name as a part of features.
    pub(super) const fn part(self) -> FeaturePart<'static> {
        CLASS_PARTS[self as usize]
    }

    /// Returns the words of this class, English and Chinese.
    ///
    /// A word in two classes belongs to the first one.
    fn words(self) -> [&'static str; 2] {
        match self {
            Self::I => ["i me my mine myself i'm i've i'd i'll", "我 我的 本人 自己"],
            Self::We => [
                "we us our ours ourselves we're we've we'll we'd let's",
                "我们 咱们 咱 我司 大家",
            ],
            Self::You => ["you your yours yourself you're you'll", "你 您 你们 你的"],
            Self::They => [
                "he she they him her his hers them their theirs he's she's they're they'd she'd he'd",
                "他 她 他们 她们 对方",
            ],
            Self::User => ["user users", "用户 使用者 主人"],
            Self::Name => [NAMES, ""],
            Self::Kin => [KIN, KIN_ZH],
            Self::Job => [JOBS, JOBS_ZH],
            Self::Trait => [TRAITS, TRAITS_ZH],
            Self::Often => [OFTEN, OFTEN_ZH],
            Self::Able => [ABLE, ABLE_ZH],
            Self::Like => [LIKE, LIKE_ZH],
            Self::Choose => [CHOOSE, CHOOSE_ZH],
            Self::Trouble => [TROUBLE, TROUBLE_ZH],
            Self::Opinion => [OPINION, OPINION_ZH],
            Self::Remind => [REMIND, REMIND_ZH],
            Self::Value => [VALUES, VALUES_ZH],
            Self::Must => [
                "always must should ought shall mandatory required strictly only",
                "总是 必须 务必 应当 应该 一定 一律 统一 只能 只用 始终 需",
            ],
            Self::Never => [
                "never don't avoid mustn't shouldn't forbid forbidden prohibit prohibited",
                "不要 别 不准 禁止 不许 不得 严禁 切勿 不能 绝不 千万别 从不 从来不 勿 避免",
            ],
            Self::Not => [
                "not no nor cannot can't won't doesn't didn't isn't wasn't aren't without nothing nobody none",
                "不 没 没有 非 无 未 不是 不用 不会",
            ],
            Self::Why => [
                "because since therefore so why reason due hence thus",
                "因为 由于 所以 因此 为了 原因 理由 为的是 考虑到 以便 从而",
            ],
            Self::Instead => [
                "instead rather than over versus vs alternative alternatives against favour favor place",
                "而不是 而非 不再 改成 改为 改用 换成 代替 取代 宁可 宁愿 放弃 不选 优先 比起 而不",
            ],
            Self::Order => [ORDERS, ORDERS_ZH],
            Self::Tool => [TOOLS, TOOLS_ZH],
            Self::Build => [BUILD, BUILD_ZH],
            Self::Moment => [MOMENTS, MOMENTS_ZH],
        }
    }
}

/// Returns the class of a stem from the tokenizer of `memory_core`.
pub(super) fn class_of_stem(stem: &str) -> Option<WordClass> {
    LEXICON.stems.get(stem).copied()
}

/// Returns the class and length in bytes of the longest lexicon word at the start of `run`.
///
/// `run` is a run of Han characters.
pub(super) fn class_of_han(run: &str) -> Option<(WordClass, usize)> {
    let mut ends = [0; LONGEST_HAN];
    let mut length = 0;
    for (start, character) in run.char_indices().take(LONGEST_HAN) {
        ends[length] = start + character.len_utf8();
        length += 1;
    }
    ends[..length]
        .iter()
        .rev()
        .find_map(|&end| Some((*LEXICON.han.get(&run[..end])?, end)))
}

/// Maximum length in characters of a Han word of the lexicon.
const LONGEST_HAN: usize = 4;

/// The names of the classes as parts of features, in the order of [`CLASSES`].
const CLASS_PARTS: [FeaturePart<'static>; CLASSES.len()] = {
    let mut parts = [FeaturePart::of(""); CLASSES.len()];
    let mut place = 0;
    while place < CLASSES.len() {
        parts[place] = FeaturePart::of(CLASSES[place].as_str());
        place += 1;
    }
    parts
};

struct Lexicon {
    stems: HashMap<String, WordClass>,
    han: HashMap<String, WordClass>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let (mut stems, mut han) = (HashMap::new(), HashMap::new());
    for class in CLASSES {
        let [english, chinese] = class.words();
        tokenize(english, &mut |token| {
            if token.kind == TokenKind::Word {
                stems.entry(token.text.to_owned()).or_insert(class);
            }
        });
        for word in chinese.split_whitespace() {
            han.entry(fold(word)).or_insert(class);
        }
    }
    Lexicon { stems, han }
});

/// Common given names of several countries.
const NAMES: &str = "adam ahmed aisha alex alexander ali alice amanda amara ana andreas anita anna arjun ashley ben betty \
    bill bob boris brandon brian camila carla carlos carol chen chris christine christopher clara daniel david deepa diego \
    dmitri donna dora ed edward elena emil emma eric erik eva farid fatima felix frank fred freya george greta gustav hana \
    hanna hannah harry hassan helen henry hugo igor ines ingrid irina isaac ivan jack jacob james jan jane jason jennifer \
    jessica jim jin john jonas jose joseph juan julia julie justin karen karim kate katie katrin kenji kevin kim kofi lars \
    laura lea lee leila lena leo li liam lin linda lisa liu louis lucas lucia lucy luis marc marek maria marie marta martin \
    mateo max meera megan mei mia michael mike milan ming nadia nancy nina noah nora olga oliver omar oscar oskar pablo paul \
    pavel peter pierre priya rachel raj ravi rebecca rob robert rosa ruth ryan sam samir samuel sandra sanjay sarah sharon \
    simon sofia sophie sora stefan stephen steve suki sunita susan tariq theo thomas tim tina tom vera victor viktor walter \
    wang wei willem william yan yuki yusuf zhang zoe";

const KIN: &str = "mother father mum mom dad sister brother wife husband son daughter aunt uncle cousin grandma grandpa grandmother \
    grandfather niece nephew friend neighbour neighbor flatmate roommate partner girlfriend boyfriend godmother godfather godson \
    goddaughter sibling twin married engaged divorced parent stepmother stepfather spouse colleague classmate boss fiance widow \
    acquaintance family";
const KIN_ZH: &str = "妈妈 爸爸 妈 爸 母亲 父亲 姐姐 哥哥 妹妹 弟弟 姐 哥 老婆 老公 妻子 丈夫 先生 太太 儿子 女儿 姑姑 姨 舅舅 叔叔 表妹 表弟 \
    表哥 表姐 堂兄 奶奶 爷爷 外婆 外公 岳父 岳母 婆婆 公公 侄子 侄女 朋友 邻居 室友 同事 同学 对象 男友 女友 前夫 前妻 干儿子 干妈 双胞胎 兄弟 姐妹 \
    爱人 发小 战友 亲戚 结婚 离婚 上司 女婿 儿媳 孙子 孙女 家人";
const JOBS: &str = "manager director lawyer accountant dentist doctor nurse teacher professor plumber electrician landlord landlady \
    engineer designer founder ceo cto cfo intern maintainer contact supervisor mentor assistant secretary baker vet caretaker tutor \
    therapist architect journalist translator consultant chef mayor client customer vendor supplier contractor recruiter head lead \
    reports owner librarian pilot musician violinist paediatrician representative deputy chair babysitter cleaner";
const JOBS_ZH: &str = "经理 总监 律师 会计 牙医 医生 护士 老师 教授 水管工 电工 房东 工程师 设计师 创始人 实习生 维护者 联系人 导师 助理 秘书 兽医 \
    保姆 记者 翻译 顾问 厨师 市长 客户 供应商 负责人 主管 组长 老板 领导 董事长 总经理 班主任 司机 阿姨 师傅 教练 摄影师 代表 总 姓 叫";
const TRAITS: &str = "calm shy patient impatient stubborn cheerful funny witty reserved quiet loud talkative blunt polite rude gentle \
    warm cold introvert extrovert introverted extroverted optimist optimistic pessimist pessimistic sceptic skeptical curious \
    perfectionist sensitive generous humble modest proud arrogant ambitious lazy diligent honest loyal brave timid anxious nervous \
    confident decisive indecisive cautious careful playful sarcastic ironic irony dry humour humor sense tone voice style manner \
    temper tempered grumpy moody empathetic tactful diplomatic direct candid frank outspoken terse concise verbose chatty formal \
    informal relaxed serious pragmatic dreamer creative scatterbrained disciplined conscientious reliable rigid flexible \
    enthusiastic melancholic hopeful emotional jealous vain pedantic competitive thoughtful kind friendly personality temperament \
    character persona attitude mannered spoken restless adventurous rebellious mellow naive cynical \
    sincere straightforward talks speaks sounds laughs jokes";
const TRAITS_ZH: &str = "冷静 沉着 害羞 腼腆 耐心 急躁 倔 固执 开朗 幽默 风趣 内向 外向 健谈 安静 直率 直爽 直接 礼貌 温柔 温和 冷漠 乐观 悲观 多疑 好奇 \
    完美主义 敏感 慷慨 大方 谦虚 谦逊 骄傲 自信 野心 懒 勤快 勇敢 胆小 胆子 谨慎 细心 细腻 粗心 活泼 毒舌 讽刺 自嘲 圆滑 得体 坦率 简洁 啰嗦 随和 \
    严肃 务实 天真 踏实 可靠 死板 热情 忧郁 好胜 性格 性子 脾气 个性 人设 语气 口吻 风格 气质 天生 天性 沉稳 稳重 为人 脸皮 心软 说话 乐天 调皮 \
    善良 爽快 含蓄 慢热 豪爽 老实 低调 话多 话少 沉默 坦诚 待人 感情 温暖 健忘 爱笑";
const OFTEN: &str = "usually often every daily weekly monthly tend typically whenever regularly habit habitually normally mostly \
    frequently rarely routine each sometimes generally custom mornings evenings weekends nights days";
const OFTEN_ZH: &str = "通常 经常 常常 每天 每周 每晚 每次 每个 每逢 每年 每月 习惯 一般 往往 总 总爱 老是 平时 天天 定期 偶尔 常 照例 惯例 每 一直 大多数 \
    多半 向来 从来 固定 雷打不动 一贯 基本上 只要";
const ABLE: &str = "can able fluent proficient skill skilled expert expertise experienced experience knows know capable certified \
    mastered master advanced beginner intermediate native speaker licence license degree qualified specialises specializes \
    trained familiar competent adept handy knack strong background knowledge fluently conversational plays plays learned \
    talent talented strength strengths capabilities good excellent great versed accomplished solid";
const ABLE_ZH: &str = "会 能 可以 精通 熟练 熟悉 擅长 掌握 专家 经验 能力 持有 高级 入门 母语 水平 执照 懂 善于 技能 特长 专长 专业 功底 学会 流利 \
    强项 拿手 在行 通晓 能够 具备 自学 考取 证书 会做 会说 会用 在学 初级 中级 资格";
const LIKE: &str = "prefer preference favourite favorite like likes love loves hate hates dislike enjoy want wants fond wish rather \
    please can'taste allergic";
const LIKE_ZH: &str = "喜欢 偏好 偏爱 更喜欢 最爱 爱 讨厌 希望 想要 不喜欢 受不了 倾向 爱吃 爱看 不爱 宁愿 请 比较喜欢 爱用 习惯用";
const CHOOSE: &str = "decide decided decision chose choose chosen pick picked opt opted select selected agree agreed settle settled vote \
    voted approve approved reject rejected adr switch switched adopt adopted drop dropped ruled resolved abandon abandoned \
    consensus conclusion verdict stick postpone postponed standardise moving migrated reversal option considered ";
const CHOOSE_ZH: &str = "决定 选择 选 选了 选用 选定 选型 采用 采纳 同意 通过 否决 否了 投票 拍板 决议 结论 定了 定在 商量 打算 推迟 放弃 敲定 最终 方案 \
    达成 共识 权衡 取舍 砍掉 暂不 推翻 备选 引入 决策 不上 不做 保留 继续用 采取 弃用 择";
const TROUBLE: &str = "mistake error bug failed fail failure crashed crash broke broken lost lose outage incident gotcha pitfall trap \
    lesson learned learnt wrong hindsight regret cost wasted forgot missed burnt caused cause postmortem root turned \
    beware caveat careful hidden corrupted wiped hours hard underestimated late silently bit debug debugging problem fix fixed";
const TROUBLE_ZH: &str = "教训 错误 失误 失败 崩 崩了 坏 丢 事故 坑 踩坑 陷阱 复盘 根因 原来 后来 才发现 发现 结果 害 白 吸取 反思 千万 吃亏 代价 翻车 \
    浪费 折腾 忘了 漏 低估 后悔 以后 下次 小心 注意 出事 问题 排查 明白 查了 差点 折腾 才知道 踩过 经验教训 体会";
const OPINION: &str = "feedback suggest suggestion complain complained complaint praise praised criticise criticised criticized asked \
    request requested reviewer review reviews said says told thinks thought found felt commented comment rating survey tester testers \
    liked disliked annoyed happy unhappy satisfied unsatisfied recommend improve improvement confusing unclear better nice could \
    appreciated readers participants attendees guests audience pointed reported rejects flagged interview respondents voice mentioned";
const OPINION_ZH: &str = "反馈 建议 抱怨 投诉 表扬 夸 批评 觉得 认为 意见 评价 评审 吐槽 反映 提出 提议 要求 不满 满意 指出 嫌 好评 差评 改进 问卷 调查 访谈 \
    受访者 读者 顾客 评委 审稿人 测试者 学员 观众 客人 留言 说 最好 能不能 要是 纠正 评语 推荐 体验 更好 听众";
const REMIND: &str = "remind reminder reminders ping nudge alert notify wake alarm timer forget remember prompt buzz poke tell \
    shout warn schedule";
const REMIND_ZH: &str = "提醒 叫我 叫醒 喊我 通知我 通知 别忘 别忘了 忘记 记得 闹钟 催我 催 告诉我 跟我说 问我 计时 设个 提示 记住 到点 别让我 叫";
const VALUES: &str = "honesty truth integrity dignity freedom justice fairness kindness mission purpose values value principle believe \
    belief soul identity meaning exist existence creed conviction vision calling courage humility privacy equality compassion trust \
    faith moral ethics human humanity sacred loyalty promise promises exists serve service motto refuse harm world lives life deserve \
    created deepest core curiosity wisdom peace good heart stands";
const VALUES_ZH: &str = "使命 诚实 真相 正直 尊严 自由 正义 公平 善良 价值 价值观 信念 信仰 灵魂 身份 意义 存在 宗旨 初心 愿景 勇气 谦卑 隐私 平等 信任 \
    忠于 人类 神圣 承诺 守护 相信 原则 底线 家训 信条 良心 真理 追求 理想 尊重 伤害 人生 一生 世界 生命 根本 本质 立身 初衷 活着 永远 为人 责任";
const ORDERS: &str = "use keep write run add make put show give ask call check set create follow include explain answer reply name test \
    limit wrap return read stop start remove delete update send commit push format document sort cite quote work speak stay \
    treat leave let take try turn do be explain confirm verify validate ensure mark store fetch log handle reuse import export \
    prioritise prioritize favor skip address summarise summarize translate focus refer";
const ORDERS_ZH: &str = "用 使用 保持 写 运行 添加 放 给 问 检查 设置 创建 遵循 遵守 包含 解释 回答 回复 命名 测试 限制 返回 删除 更新 发送 提交 格式化 排序 引用 \
    确认 验证 确保 记录 沿用 控制在 附上 说明 先 不用 直接 走 加上";
const TOOLS: &str = "rust go golang python javascript typescript java kotlin swift elixir ruby php perl haskell scala clojure c sql \
    postgres postgresql mysql sqlite mariadb redis kafka mongodb docker kubernetes terraform ansible git github gitlab npm pnpm yarn \
    pip uv cargo node deno bun react vue svelte angular next nuxt vite webpack tailwind css html json yaml toml xml graphql rest grpc \
    http https tcp udp dns tls ssl oauth jwt aws s3 gcp azure lambda vercel netlify cloudflare heroku linux macos windows ios android \
    bash zsh shell vim emacs vscode nginx apache django flask fastapi rails spring laravel express pytest jest vitest playwright \
    figma grafana prometheus elasticsearch solr excel latex markdown obsidian unicode utf arm x86 gpu cpu api sdk cli llm mcp claude \
    openai pytorch tensorflow pandas numpy spark airflow bigquery snowflake parquet protobuf wasm webassembly electron flutter tauri \
    godot unity blender eslint prettier ruff clippy mypy";
const TOOLS_ZH: &str = "数据库 缓存 队列 接口 线程 进程 内存 磁盘 算法 协议 编译器 浏览器 服务器 向量 模型 索引 事务 容器 镜像 正则";
const BUILD: &str = "repo repository repositories branch deploy deployed deployment deploys stack frontend backend server \
    directory folder lives build built release released roadmap milestone status phase monorepo package packages module crate crates \
    service services endpoint entry environment staging production pipeline workflow ci project platform app application website \
    database schema config configuration binding bindings workspace hosted runs written library plugin extension dashboard client \
    migration version supports requires architecture component components layout docs";
const BUILD_ZH: &str = "仓库 分支 部署 技术栈 前端 后端 服务端 目录 构建 发布 路线图 里程碑 进度 阶段 项目 模块 服务 环境 预发 生产 流水线 平台 应用 官网 \
    网站 数据库 配置 依赖 架构 组件 插件 客户端 迁移 版本 支持 源码 代码 脚本 托管 上线 目前 已完成 入口 监听 端口 存储 库 小程序 引擎";
const MOMENTS: &str = "today tomorrow tonight yesterday monday tuesday wednesday thursday friday saturday sunday january february march \
    april june july august september october november december noon midnight week month year hour hours minute minutes morning \
    afternoon evening weekend deadline due date birthday anniversary expires until until appointment meeting pm am o'clock quarter \
    spring summer autumn winter holiday semester term";
const MOMENTS_ZH: &str = "今天 明天 今晚 昨天 后天 周一 周二 周三 周四 周五 周六 周日 星期 月底 年底 上午 下午 中午 早上 晚上 半夜 点 号 月 日 年 小时 分钟 \
    截止 到期 生日 纪念日 会议 放假 开始 结束 礼拜 点半 下周 下个月 本周 周末 季度 过期 开学 预约 期限 为止";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_stands_in_its_place_and_has_words() {
        for (place, class) in CLASSES.into_iter().enumerate() {
            assert_eq!(class as usize, place);
            assert!(
                class.words().concat().split_whitespace().next().is_some(),
                "{class:?}"
            );
        }
    }

    #[test]
    fn no_han_word_is_longer_than_what_is_looked_up() {
        assert_eq!(
            LEXICON.han.keys().map(|word| word.chars().count()).max(),
            Some(LONGEST_HAN)
        );
    }

    #[test]
    fn the_longest_word_wins() {
        assert_eq!(class_of_han("我们的"), Some((WordClass::We, "我们".len())));
        assert_eq!(class_of_han("猫"), None);
        assert_eq!(class_of_stem("remind"), Some(WordClass::Remind));
    }
}
