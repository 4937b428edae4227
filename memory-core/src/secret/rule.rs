//! The detection rules for each kind of credential.

use std::ops::{Range, RangeInclusive};
use std::sync::OnceLock;

use regex::Regex;

use super::assigned::find_assigned_value;
use super::placeholder::{
    alternates, has_long_random_piece, is_monotonous, is_placeholder, looks_random,
};

/// A detection rule for one kind of credential.
pub(super) struct SecretRule {
    /// The display name of the kind.
    pub(super) kind: &'static str,
    /// The literals that trigger the rule, each of at least three bytes.
    pub(super) literals: &'static [&'static str],
    /// Whether case is ignored; the literals are then in lower case.
    pub(super) any_case: bool,
    shape: SecretMatcher,
}

enum SecretMatcher {
    /// A token of the literal and so many characters of an alphabet that pass a check.
    Prefix {
        alphabet: fn(u8) -> bool,
        lengths: RangeInclusive<usize>,
        check: fn(&str) -> bool,
    },
    /// A token that starts with the literal and matches the pattern.
    ///
    /// If the pattern has a group, the group is the credential.
    Token {
        pattern: &'static str,
        compiled: OnceLock<Regex>,
        check: fn(&str) -> bool,
    },
    /// The result of a function of the text and the range of the literal.
    Function(fn(&str, Range<usize>) -> Option<Range<usize>>),
    /// A value that is assigned to a name that contains the literal.
    Assignment,
}

/// All rules. If multiple rules match the same text, the first one determines the kind.
pub(super) static RULES: [SecretRule; COUNT] = [
    function_rule("private key", &["-----BEGIN "], find_private_key),
    token_rule(
        "private key",
        &["---- BEGIN "],
        "---- BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY ----(?:[^-]|-[^-]){40,}(?:---- END [A-Z0-9 ]{0,30}PRIVATE KEY ----)?",
        any,
    ),
    token_rule(
        "private key",
        &["Private-Lines: "],
        r"Private-Lines: \d+((?:\r?\n|\\r|\\n)[A-Za-z0-9+/=]{20,}(?:(?:\r?\n|\\r|\\n)[A-Za-z0-9+/=]+)*)",
        any,
    ),
    prefix("age key", &["AGE-SECRET-KEY-1"], upper, 58..=58, any),
    prefix("AWS access key", &["AKIA"], upper, 16..=16, any),
    prefix("AWS access key", &["ASIA"], upper, 16..=16, is_base32),
    any_case_token_rule(
        "AWS secret key",
        &["secret_access_key", "secretaccesskey"],
        r#"(?i:secret_?access_?key)["']?\s{0,64}[:=]\s{0,64}["']?([A-Za-z0-9/+]{40,})"#,
        |key| key.len() == 40,
    ),
    prefix("Google API key", &["AIza"], base64_url, 35..=35, any),
    prefix("Google token", &["GOCSPX-"], base64_url, 24..=40, any),
    prefix("Google token", &["ya29."], base64_url, 30..=ANY, any),
    prefix("Google token", &["1//0"], base64_url, 40..=ANY, alternates),
    prefix(
        "GitHub token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        alphanumeric,
        36..=255,
        any,
    ),
    prefix("GitHub token", &["github_pat_"], word, 40..=255, any),
    token_rule(
        "GitLab token",
        &[
            "glpat-", "gldt-", "glrt-", "glrtr-", "glptt-", "glcbt-", "glft-", "glffct-",
            "glagent-", "gloas-", "glsoat-", "glimt-",
        ],
        r"gl[a-z]+-[A-Za-z0-9_-]{20,}(?:\.[a-z0-9]{2}\.[a-z0-9]{9})?",
        any,
    ),
    prefix("GitLab token", &["GR1348941"], base64_url, 20..=ANY, any),
    prefix(
        "Anthropic key",
        &["sk-ant-"],
        base64_url,
        20..=ANY,
        is_model_key,
    ),
    prefix("OpenAI key", &["sk-"], base64_url, 20..=ANY, is_model_key),
    token_rule(
        "Slack token",
        &["xox", "xapp-"],
        "(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}",
        |token| {
            token
                .split('-')
                .any(|piece| 10 <= piece.len() && has_digit(piece))
        },
    ),
    token_rule(
        "Slack webhook",
        &["hooks.slack.com/"],
        r"hooks\.slack\.com/[a-z]+/[A-Za-z0-9/]{20,}",
        any,
    ),
    token_rule(
        "Discord webhook",
        &["discord.com/api/", "discordapp.com/api/"],
        r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{17,20}/[A-Za-z0-9_-]{50,}",
        any,
    ),
    // The first characters encode the digits of a number.
    token_rule(
        "Discord token",
        &DISCORD_STARTS,
        r"[A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}",
        any,
    ),
    prefix(
        "Stripe key",
        &["sk_live_", "rk_live_", "sk_test_", "rk_test_", "sk_prod_"],
        alphanumeric,
        16..=ANY,
        any,
    ),
    prefix("npm token", &["npm_"], alphanumeric, 36..=ANY, any),
    prefix("PyPI token", &["pypi-AgE"], base64_url, 50..=ANY, any),
    prefix("Hugging Face token", &["hf_"], alphanumeric, 30..=ANY, any),
    function_rule("Telegram token", &[":AA"], |text, middle| {
        find_around(text, middle, 8..=10, digit, 33..=33)
    }),
    function_rule("HashiCorp token", &[".atlasv1."], |text, middle| {
        find_around(text, middle, 14..=14, alphanumeric, 60..=80)
    }),
    token_rule(
        "SendGrid key",
        &["SG."],
        r"SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50}",
        any,
    ),
    token_rule(
        "Azure storage key",
        &["AccountKey="],
        "AccountKey=([A-Za-z0-9+/]{40,}={0,2})",
        any,
    ),
    any_case_token_rule(
        "Azure signature",
        &["&sig=", "?sig=", ";sig="],
        ".(?i:sig)=([A-Za-z0-9%+/_-]{40,}=*)",
        alternates,
    ),
    prefix(
        "DigitalOcean token",
        &["dop_v1_", "doo_v1_", "dor_v1_"],
        hex,
        64..=64,
        any,
    ),
    prefix("Databricks token", &["dapi"], hex, 32..=32, any),
    prefix(
        "HashiCorp token",
        &["hvs.", "hvb.", "hvr."],
        base64_url,
        24..=ANY,
        alternates,
    ),
    prefix("Groq key", &["gsk_"], alphanumeric, 40..=ANY, any),
    prefix("xAI key", &["xai-"], alphanumeric, 60..=ANY, any),
    prefix("Perplexity key", &["pplx-"], alphanumeric, 40..=ANY, any),
    prefix("Replicate token", &["r8_"], alphanumeric, 36..=40, any),
    prefix("NVIDIA key", &["nvapi-"], base64_url, 50..=ANY, alternates),
    prefix(
        "LangSmith key",
        &["lsv2_pt_", "lsv2_sk_"],
        word,
        32..=ANY,
        any,
    ),
    prefix("Tavily key", &["tvly-"], base64_url, 24..=ANY, alternates),
    prefix("Jina key", &["jina_"], base64_url, 40..=ANY, alternates),
    prefix("Pinecone key", &["pcsk_"], word, 40..=ANY, alternates),
    prefix(
        "Cerebras key",
        &["csk-"],
        alphanumeric,
        40..=ANY,
        alternates,
    ),
    prefix(
        "Docker token",
        &["dckr_pat_", "dckr_oat_"],
        base64_url,
        27..=ANY,
        any,
    ),
    prefix("Docker token", &["SWMTKN-1-"], base64_url, 50..=ANY, any),
    prefix("RubyGems key", &["rubygems_"], hex, 48..=48, any),
    prefix(
        "crates.io token",
        &["cio"],
        alphanumeric,
        32..=32,
        alternates,
    ),
    prefix("NuGet key", &["oy2"], lower, 43..=43, alternates),
    prefix("Clojars token", &["CLOJARS_"], alphanumeric, 60..=60, any),
    prefix(
        "Atlassian token",
        &["ATATT3x", "ATCTT3x"],
        base64_url_or_equals,
        50..=ANY,
        any,
    ),
    prefix(
        "Bitbucket token",
        &["ATBB"],
        alphanumeric,
        28..=36,
        alternates,
    ),
    prefix(
        "Shopify token",
        &["shpat_", "shpss_", "shpca_", "shppa_"],
        hex,
        32..=32,
        any,
    ),
    prefix("webhook secret", &["whsec_"], base64, 24..=ANY, any),
    prefix(
        "Square token",
        &["sq0csp-", "sq0atp-", "sq0idp-"],
        base64_url,
        22..=ANY,
        any,
    ),
    prefix("Brevo key", &["xkeysib-"], base64_url, 64..=ANY, any),
    prefix("Mailgun key", &["key-"], hex, 32..=32, alternates),
    prefix("Resend key", &["re_"], word, 24..=40, |key| {
        looks_random(key) && alternates(key)
    }),
    prefix(
        "Linear key",
        &["lin_api_", "lin_oauth_"],
        alphanumeric,
        32..=ANY,
        any,
    ),
    prefix(
        "Notion token",
        &["ntn_", "secret_"],
        alphanumeric,
        43..=50,
        alternates,
    ),
    prefix(
        "Figma token",
        &["figd_", "figo_"],
        base64_url,
        30..=ANY,
        alternates,
    ),
    prefix("Grafana token", &["glsa_"], word, 32..=ANY, alternates),
    prefix("Grafana token", &["glc_"], base64, 32..=ANY, alternates),
    prefix(
        "Sentry token",
        &["sntrys_", "sntryu_"],
        base64,
        40..=ANY,
        any,
    ),
    prefix(
        "New Relic key",
        &["NRAK-", "NRII-"],
        alphanumeric,
        27..=40,
        any,
    ),
    prefix("Supabase key", &["sbp_"], hex, 40..=40, any),
    prefix(
        "Supabase key",
        &["sb_secret_"],
        base64_url,
        20..=ANY,
        alternates,
    ),
    prefix(
        "PlanetScale token",
        &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"],
        base64_url,
        32..=ANY,
        alternates,
    ),
    prefix("1Password token", &["ops_eyJ"], base64_url, 60..=ANY, any),
    prefix("Postman key", &["PMAK-"], base64_url, 50..=ANY, any),
    prefix(
        "Dynatrace token",
        &["dt0c01.", "dt0s16."],
        dotted_upper,
        60..=ANY,
        any,
    ),
    prefix(
        "Doppler token",
        &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa."],
        alphanumeric,
        40..=44,
        any,
    ),
    prefix("Pulumi token", &["pul-"], hex, 40..=40, any),
    prefix(
        "Tailscale key",
        &["tskey-"],
        base64_url,
        24..=ANY,
        alternates,
    ),
    prefix("Netlify token", &["nfp_"], alphanumeric, 36..=ANY, any),
    prefix("Render key", &["rnd_"], alphanumeric, 28..=ANY, alternates),
    prefix("Buildkite token", &["bkua_"], hex, 40..=40, any),
    prefix("CircleCI token", &["CCIPAT_"], word, 40..=ANY, any),
    prefix("Apify token", &["apify_api_"], alphanumeric, 30..=ANY, any),
    prefix("PostHog key", &["phx_"], alphanumeric, 40..=ANY, any),
    prefix("Sourcegraph token", &["sgp_"], word, 40..=ANY, any),
    prefix("ReadMe key", &["rdme_"], lower, 70..=70, any),
    prefix(
        "EasyPost key",
        &["EZAK", "EZTK"],
        alphanumeric,
        54..=54,
        any,
    ),
    prefix(
        "Fly.io token",
        &["fm1_", "fm2_", "fo1_"],
        base64,
        40..=ANY,
        alternates,
    ),
    prefix(
        "Facebook token",
        &["EAA"],
        alphanumeric,
        80..=ANY,
        alternates,
    ),
    prefix("Alibaba key", &["LTAI"], alphanumeric, 16..=26, alternates),
    prefix(
        "Shippo token",
        &["shippo_live_", "shippo_test_"],
        hex,
        40..=40,
        any,
    ),
    prefix("OpenShift token", &["sha256~"], base64_url, 43..=43, any),
    prefix("Airtable token", &["pat"], dotted, 79..=79, any),
    token_rule(
        "JSON web token",
        &["eyJ"],
        r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}",
        any,
    ),
    token_rule(
        "bearer token",
        &["Bearer ", "bearer "],
        "[Bb]earer ([A-Za-z0-9+/._~-]{20,}=*)",
        has_long_random_piece,
    ),
    any_case_token_rule(
        "token",
        &["authorization"],
        r#"(?i:authorization["']?\s{0,9}[:=]\s{0,9}["']?(?:token|key|apikey)\s{1,9})([A-Za-z0-9+/._~-]{20,}=*)"#,
        has_long_random_piece,
    ),
    any_case_token_rule(
        "password",
        &["basic "],
        "(?i:basic) +([A-Za-z0-9+/]{8,}={0,2})",
        is_basic_login,
    ),
    function_rule("password in a URL", &["://"], find_password),
    function_rule("password", &[" -u", " --user", " --proxy-user"], find_login),
    assignment_rule("password", &PASSWORD_WORDS),
    assignment_rule(
        "API key",
        &[
            "api_key",
            "api-key",
            "apikey",
            "api key",
            "api-schlüssel",
            "clé api",
            "clave api",
            "apiキー",
            "api密钥",
        ],
    ),
    assignment_rule(
        "secret",
        &[
            "secret",
            "credential",
            "密钥",
            "密鑰",
            "金鑰",
            "秘密鍵",
            "clé secrète",
            "geheimnis",
        ],
    ),
    assignment_rule("token", &["token", "トークン", "令牌", "jeton"]),
    assignment_rule("key", &["key"]),
];

/// The number of the rules.
const COUNT: usize = 99;

/// How the base64 of a number of several digits begins.
const DISCORD_STARTS: [&str; 100] = [
    "MDA", "MDE", "MDI", "MDM", "MDQ", "MDU", "MDY", "MDc", "MDg", "MDk", "MTA", "MTE", "MTI",
    "MTM", "MTQ", "MTU", "MTY", "MTc", "MTg", "MTk", "MjA", "MjE", "MjI", "MjM", "MjQ", "MjU",
    "MjY", "Mjc", "Mjg", "Mjk", "MzA", "MzE", "MzI", "MzM", "MzQ", "MzU", "MzY", "Mzc", "Mzg",
    "Mzk", "NDA", "NDE", "NDI", "NDM", "NDQ", "NDU", "NDY", "NDc", "NDg", "NDk", "NTA", "NTE",
    "NTI", "NTM", "NTQ", "NTU", "NTY", "NTc", "NTg", "NTk", "NjA", "NjE", "NjI", "NjM", "NjQ",
    "NjU", "NjY", "Njc", "Njg", "Njk", "NzA", "NzE", "NzI", "NzM", "NzQ", "NzU", "NzY", "Nzc",
    "Nzg", "Nzk", "ODA", "ODE", "ODI", "ODM", "ODQ", "ODU", "ODY", "ODc", "ODg", "ODk", "OTA",
    "OTE", "OTI", "OTM", "OTQ", "OTU", "OTY", "OTc", "OTg", "OTk",
];

/// No maximum length.
const ANY: usize = usize::MAX;

/// Words for a password. Each has at least three bytes.
const PASSWORD_WORDS: [&str; 36] = [
    "password",
    "passwd",
    "pass",
    "pwd",
    "passphrase",
    "passcode",
    "passwort",
    "kennwort",
    "zugangscode",
    "mot de passe",
    "mot_de_passe",
    "motdepasse",
    "mdp",
    "phrase secrète",
    "contraseña",
    "contrasena",
    "clave",
    "senha",
    "пароль",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "パスフレーズ",
    "暗証番号",
    "비밀번호",
    "암호",
    "pin",
    "pw:",
    "pw=",
    "pw ",
    "pw\"",
    "pw*",
    "pw_",
    "identified by",
    "sshpass -p",
];

impl SecretRule {
    /// Returns the position of the rule in the list, to compare it with others.
    pub(super) fn order(&self) -> *const Self {
        std::ptr::from_ref(self)
    }

    /// Returns whether the rule detects an assigned value.
    pub(super) fn is_assignment(&self) -> bool {
        matches!(self.shape, SecretMatcher::Assignment)
    }

    /// Returns whether `bytes` starts with `literal`, which is one of the literals of the rule.
    pub(super) fn matches_literal(&self, literal: &str, bytes: &[u8]) -> bool {
        bytes.get(..literal.len()).is_some_and(|start| {
            if self.any_case {
                start.eq_ignore_ascii_case(literal.as_bytes())
            } else {
                start == literal.as_bytes()
            }
        })
    }
}

impl SecretRule {
    /// Returns the credential of this kind at `hit`, the position of one of the rule's literals.
    pub(super) fn find_span(&self, text: &str, hit: Range<usize>) -> Option<Range<usize>> {
        match &self.shape {
            SecretMatcher::Prefix {
                alphabet,
                lengths,
                check,
            } => {
                // A token inside a longer one is not read, so that the search takes linear time.
                if !can_start_token(text, hit.start) {
                    return None;
                }
                let most = lengths.end().saturating_add(1);
                let body = &text.as_bytes()[hit.end..];
                let length = body
                    .iter()
                    .take(most)
                    .take_while(|&&byte| alphabet(byte))
                    .count();
                let body = text.get(hit.end..hit.end + length)?;
                let real = lengths.contains(&length)
                    && check(body)
                    && !is_placeholder(body)
                    && !is_monotonous(body);
                real.then(|| hit.start..hit.end + length)
            }
            SecretMatcher::Function(function) => function(text, hit),
            SecretMatcher::Assignment => find_assigned_value(text, self.kind, hit),
            SecretMatcher::Token {
                pattern,
                compiled,
                check,
            } => {
                if !self.any_case && !can_start_token(text, hit.start) {
                    return None;
                }
                let compile = || {
                    Regex::new(&format!(r"\A(?:{pattern})")).expect("a test compiles every pattern")
                };
                let captures = compiled.get_or_init(compile).captures(&text[hit.start..])?;
                let found = captures.get(1).or_else(|| captures.get(0))?;
                let token = found.as_str();
                let real = check(token) && !is_placeholder(token) && !is_monotonous(token);
                real.then(|| hit.start + found.start()..hit.start + found.end())
            }
        }
    }
}

const fn prefix(
    kind: &'static str,
    literals: &'static [&'static str],
    alphabet: fn(u8) -> bool,
    lengths: RangeInclusive<usize>,
    check: fn(&str) -> bool,
) -> SecretRule {
    SecretRule {
        kind,
        literals,
        any_case: false,
        shape: SecretMatcher::Prefix {
            alphabet,
            lengths,
            check,
        },
    }
}

const fn token_rule(
    kind: &'static str,
    literals: &'static [&'static str],
    pattern: &'static str,
    check: fn(&str) -> bool,
) -> SecretRule {
    SecretRule {
        kind,
        literals,
        any_case: false,
        shape: SecretMatcher::Token {
            pattern,
            compiled: OnceLock::new(),
            check,
        },
    }
}

const fn any_case_token_rule(
    kind: &'static str,
    literals: &'static [&'static str],
    pattern: &'static str,
    check: fn(&str) -> bool,
) -> SecretRule {
    SecretRule {
        kind,
        literals,
        any_case: true,
        shape: SecretMatcher::Token {
            pattern,
            compiled: OnceLock::new(),
            check,
        },
    }
}

const fn function_rule(
    kind: &'static str,
    literals: &'static [&'static str],
    function: fn(&str, Range<usize>) -> Option<Range<usize>>,
) -> SecretRule {
    SecretRule {
        kind,
        literals,
        any_case: false,
        shape: SecretMatcher::Function(function),
    }
}

const fn assignment_rule(kind: &'static str, literals: &'static [&'static str]) -> SecretRule {
    SecretRule {
        kind,
        literals,
        any_case: true,
        shape: SecretMatcher::Assignment,
    }
}

/// Returns whether a token may start at `start`, which is not inside a longer one.
///
/// Every token ends before the next possible start, so the search takes linear time.
fn can_start_token(text: &str, start: usize) -> bool {
    let before = &text[..start];
    // In JSON inside a text, a line break is a backslash followed by a letter.
    if ["\\n", "\\r", "\\t"]
        .iter()
        .any(|escape| before.ends_with(escape))
    {
        return true;
    }
    // Underscores are also emphasis in Markdown, and hyphens begin a flag or an item.
    let before_emphasis = before.trim_end_matches(['_', '-']);
    let is_emphasis = (1..=3).contains(&(before.len() - before_emphasis.len()));
    let before = if is_emphasis { before_emphasis } else { before };
    !before.ends_with(|character: char| {
        character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
    })
}

fn has_digit(token: &str) -> bool {
    token.contains(|character: char| character.is_ascii_digit())
}

/// Returns the token around `middle`: characters of an alphabet before it, and base64 behind it.
fn find_around(
    text: &str,
    middle: Range<usize>,
    before: RangeInclusive<usize>,
    alphabet: fn(u8) -> bool,
    after: RangeInclusive<usize>,
) -> Option<Range<usize>> {
    let count = |bytes: &mut dyn Iterator<Item = u8>, alphabet: fn(u8) -> bool, most: usize| {
        bytes
            .take(most + 1)
            .take_while(|&byte| alphabet(byte))
            .count()
    };
    let head = count(
        &mut text[..middle.start].bytes().rev(),
        alphabet,
        *before.end(),
    );
    let tail = count(&mut text[middle.end..].bytes(), base64_url, *after.end());
    let found = middle.start.checked_sub(head)?..middle.end + tail;
    let real =
        before.contains(&head) && after.contains(&tail) && !is_placeholder(&text[found.clone()]);
    real.then_some(found)
}

fn any(_: &str) -> bool {
    true
}

fn hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

fn digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

fn lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn dotted(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'.'
}

fn dotted_upper(byte: u8) -> bool {
    upper(byte) || byte == b'.'
}

fn base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-')
}

fn base64_url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

fn base64_url_or_equals(byte: u8) -> bool {
    base64_url(byte) || byte == b'='
}

/// Returns whether an id is in base32, which has no digits of recent years, and has a digit.
fn is_base32(id: &str) -> bool {
    has_digit(id) && !id.contains(['0', '1', '8', '9'])
}

/// Returns whether a key has a long random piece without words before it, except for those of providers.
fn is_model_key(key: &str) -> bool {
    const WORDS: [&str; 8] = [
        "proj", "svcacct", "admin", "service", "live", "test", "user", "None",
    ];
    let is_random = |piece: &str| has_long_random_piece(piece) && alternates(piece);
    let is_word = |piece: &str| {
        4 <= piece.len()
            && piece.bytes().all(|byte| byte.is_ascii_lowercase())
            && !WORDS.contains(&piece)
    };
    key.split(['-', '_'])
        .find(|piece| is_word(piece) || is_random(piece))
        .is_some_and(is_random)
}

/// Returns whether base64 encodes a user and a password.
fn is_basic_login(encoded: &str) -> bool {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(u32::from(byte - b'A')),
        b'a'..=b'z' => Some(u32::from(byte - b'a') + 26),
        b'0'..=b'9' => Some(u32::from(byte - b'0') + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u32> = encoded.bytes().take(256).map_while(value).collect();
    let decoded: Vec<u8> = digits
        .chunks(4)
        .flat_map(|group| {
            let bits = (0..4).fold(0, |bits, at| {
                bits << 6 | group.get(at).copied().unwrap_or(0)
            });
            bits.to_be_bytes()[1..group.len()].to_vec()
        })
        .collect();
    std::str::from_utf8(&decoded)
        .ok()
        .filter(|login| !login.contains(char::is_control))
        .and_then(|login| login.split_once(':'))
        .is_some_and(|(user, password)| is_real_password(user, password))
}

/// Minimum length of an uninterrupted run of characters in a key. Ordinary words and `...` are shorter.
const MIN_RUN: usize = 16;

/// Returns the private key that starts with `-----BEGIN … PRIVATE KEY-----`.
///
/// `begin` is the range of `-----BEGIN `.
///
/// The block extends to its last line, or else to the next block, or else to the end of the text.
fn find_private_key(text: &str, begin: Range<usize>) -> Option<Range<usize>> {
    let label = &text[begin.end..];
    let label = &label[..label
        .bytes()
        .take(64)
        .position(|byte| !is_label_byte(byte))?];
    let body = begin.end
        + label.len()
        + text[begin.end + label.len()..]
            .strip_prefix("-----")
            .map(|_| 5)?;
    if !(label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK")) {
        return None;
    }
    let rest = &text[body..];
    let next = rest.find("-----BEGIN ").unwrap_or(rest.len());
    let end = match rest[..next].find("-----END ") {
        Some(last_line) => {
            let closing = format!("-----END {label}-----");
            last_line
                + if rest[last_line..].starts_with(&closing) {
                    closing.len()
                } else {
                    0
                }
        }
        None => next,
    };
    has_encoded_data(&rest[..end]).then(|| begin.start..body + end)
}

fn is_label_byte(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
}

/// Returns whether `body` contains encoded data rather than only prose.
fn has_encoded_data(body: &str) -> bool {
    body.split(|character: char| {
        !(character.is_ascii_alphanumeric() || matches!(character, '+' | '/'))
    })
    .any(|run| {
        MIN_RUN <= run.len()
            && run.bytes().any(|byte| byte.is_ascii_uppercase())
            && run.bytes().any(|byte| byte.is_ascii_lowercase())
            && run.bytes().any(|byte| !byte.is_ascii_alphabetic())
    })
}

/// Maximum length of user and password in bytes; it bounds the scan of each URL.
const MAX_AUTHORITY: usize = 512;

/// Returns the password in `scheme://user:password@host`, where `separator` is `://`.
fn find_password(text: &str, separator: Range<usize>) -> Option<Range<usize>> {
    if !text[..separator.start].ends_with(|character: char| character.is_ascii_alphanumeric()) {
        return None;
    }
    let rest = &text[separator.end..];
    let user = length_while(rest, |character| {
        character.is_ascii_graphic() && !"/?#\"'`\\[]()<>,;:".contains(character)
    });
    let (user, password) = (&rest[..user], rest[user..].strip_prefix(':')?);
    if starts_with_port(password) {
        return None;
    }
    let length = password_length(password).or_else(|| wide_password_length(user, password))?;
    let start = separator.end + user.len() + 1;
    is_real_password(user, &password[..length]).then(|| start..start + length)
}

fn length_while(text: &str, accept: impl Fn(char) -> bool) -> usize {
    text.char_indices()
        .find(|&(at, character)| MAX_AUTHORITY <= at || !accept(character))
        .map_or(text.len(), |(at, _)| at)
}

/// Returns whether a text starts with the port of an address, which a path, punctuation or another script ends.
fn starts_with_port(text: &str) -> bool {
    let digits = text.bytes().take(6).take_while(u8::is_ascii_digit).count();
    let next = text[digits..].chars().next();
    (1..=5).contains(&digits)
        && next.is_none_or(|next| !next.is_ascii_graphic() || ",;/?#()[].\"'`<>\\".contains(next))
}

/// Returns the length of a password up to the last `@` of an authority, since people may not escape an `@` in it.
fn password_length(text: &str) -> Option<usize> {
    let authority = length_while(text, |character| {
        if character.is_ascii() {
            character.is_ascii_graphic() && !"/?#\"'`\\[]()<>".contains(character)
        } else {
            character.is_alphanumeric()
        }
    });
    text[..authority].rfind('@')
}

/// Returns the length of a password with unescaped characters of a path: it has a digit and a letter, a host follows, and
/// no host precedes.
fn wide_password_length(user: &str, text: &str) -> Option<usize> {
    let rest = length_while(text, |character| {
        character.is_ascii_graphic() && !"\"'`\\<>".contains(character)
    });
    let length = text[..rest].find('@')?;
    let password = &text[..length];
    let real = 6 <= length
        && has_digit(password)
        && password.contains(|character: char| character.is_ascii_alphabetic())
        && !password.contains("://")
        && !user.contains(['@', '.'])
        && text[length + 1..].starts_with(|character: char| character.is_ascii_alphanumeric());
    real.then_some(length)
}

/// Returns the password of `curl -u user:password`.
fn find_login(text: &str, flag: Range<usize>) -> Option<Range<usize>> {
    let rest = text[flag.end..].trim_start_matches([' ', '=', '"', '\'']);
    let login = length_while(rest, |character| {
        character.is_ascii_graphic() && !"\"'`".contains(character)
    });
    let (user, password) = rest[..login].split_once(':')?;
    let line = text[..flag.start]
        .bytes()
        .rev()
        .take(256)
        .take_while(|&byte| byte != b'\n');
    let before = &text.as_bytes()[flag.start - line.count()..flag.start];
    if !["curl", "http", "wget"]
        .iter()
        .any(|tool| before.windows(4).any(|part| part == tool.as_bytes()))
    {
        return None;
    }
    let start = text.len() - rest.len() + user.len() + 1;
    (!user.contains('/') && is_real_password(user, password)).then(|| start..start + password.len())
}

/// Returns whether the password of a user is neither a placeholder nor one of documentation.
fn is_real_password(user: &str, password: &str) -> bool {
    !password.is_empty()
        && !is_placeholder(password)
        && !is_generic_word(password)
        && !password.eq_ignore_ascii_case(user)
}

/// Words that documentation uses as passwords.
const GENERIC_WORDS: [&str; 32] = [
    "password",
    "passwd",
    "passwort",
    "pass",
    "pwd",
    "pw",
    "secret",
    "token",
    "guest",
    "root",
    "admin",
    "administrator",
    "anonymous",
    "user",
    "username",
    "changeme",
    "test",
    "testing",
    "postgres",
    "mysql",
    "mongo",
    "redis",
    "rabbitmq",
    "demo",
    "default",
    "foo",
    "bar",
    "baz",
    "hidden",
    "minioadmin",
    "sa",
    "x-oauth-basic",
];

/// Returns whether `password` is only a generic word or a mask.
fn is_generic_word(password: &str) -> bool {
    let lower = password.to_ascii_lowercase();
    let word = lower.strip_prefix("my").unwrap_or(&lower);
    GENERIC_WORDS.contains(&word.trim_start_matches(['_', '-']))
        || lower.bytes().all(|byte| matches!(byte, b'*' | b'x' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for rule in &RULES {
            if let SecretMatcher::Token { pattern, .. } = &rule.shape {
                assert!(Regex::new(pattern).is_ok(), "{pattern}");
            }
        }
    }
}
