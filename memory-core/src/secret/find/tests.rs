use proptest::prelude::*;

use super::*;

/// Concatenates a credential, so that secret scanners do not report this file.
macro_rules! join {
    ($($part:expr),+) => { [$($part),+].concat() };
}

const LETTERS: &str =
    "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8c9D0e1F2g3H4i5J6k7L8m9N0o1P2q3R4s5T6";

fn letters(count: usize) -> &'static str {
    &LETTERS[..count]
}

/// Returns credentials with their kind, the text before them, the credential and the text after it.
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn credentials() -> Vec<(&'static str, String, String, &'static str)> {
    let alone = |kind, secret: String| (kind, String::new(), secret, "");
    let pem = |label: &str| {
        join!(
            "-----BEGIN ",
            label,
            "-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n-----END ",
            label,
            "-----"
        )
    };
    let jwt = join!(
        "eyJ",
        "hbGciOiJIUzI1NiJ9",
        ".",
        "eyJ",
        "zdWIiOiIxMjM0NSJ9",
        ".",
        "SflKxwRJSMeKKF2QT4fwpMeJf36P"
    );
    vec![
        alone("private key", pem("PRIVATE KEY")),
        alone("private key", pem("RSA PRIVATE KEY")),
        alone("private key", pem("EC PRIVATE KEY")),
        alone("private key", pem("ENCRYPTED PRIVATE KEY")),
        (
            "private key",
            "key:\n".into(),
            pem("OPENSSH PRIVATE KEY"),
            "\nand more",
        ),
        (
            "private key",
            String::new(),
            pem("PGP PRIVATE KEY BLOCK"),
            "\n",
        ),
        alone(
            "private key",
            join!(
                "-----BEGIN ",
                "RSA PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\nand so on, cut off"
            ),
        ),
        (
            "private key",
            r#"{"type": "service_account", "private_key": ""#.into(),
            join!(
                "-----BEGIN ",
                r"PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n-----END ",
                "PRIVATE KEY-----"
            ),
            r#"\n"}"#,
        ),
        alone("AWS access key", join!("AK", "IAQ3EGRIZ7HJ2KLMNP")),
        (
            "AWS access key",
            "id=".into(),
            join!("AS", "IAQ3EGRIZ7HJ2KLMNP"),
            ", region",
        ),
        (
            "AWS secret key",
            join!("aws_secret_access", "_key = "),
            join!("wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYzQ3v8sLk+9"),
            "\n",
        ),
        (
            "AWS secret key",
            join!(r#""Secret"#, r#"AccessKey": ""#),
            join!("wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYzQ3v8sLk+9"),
            "\"",
        ),
        alone("Google API key", join!("AI", "za", letters(34), "-")),
        (
            "GitHub token",
            "use ".into(),
            join!("gh", "p_", letters(36)),
            ".",
        ),
        alone("GitHub token", join!("gh", "o_", letters(36))),
        alone("GitHub token", join!("gh", "u_", letters(36))),
        alone("GitHub token", join!("gh", "s_", letters(36))),
        (
            "GitHub token",
            r#""line\n"#.into(),
            join!("gh", "r_", letters(36)),
            "\"",
        ),
        alone(
            "GitHub token",
            join!("github", "_pat_", letters(22), "_", letters(59)),
        ),
        (
            "GitHub token",
            "https://oauth2:".into(),
            join!("gh", "p_", letters(36)),
            "@github.com/a/b",
        ),
        alone("GitLab token", join!("gl", "pat-", letters(20))),
        alone("OpenAI key", join!("sk", "-", letters(48))),
        (
            "OpenAI key",
            "OPENAI_API_KEY=".into(),
            join!("sk", "-proj-", letters(30), "_", letters(20)),
            "\n",
        ),
        (
            "Anthropic key",
            "(".into(),
            join!("sk", "-ant-api03-", letters(40), "-", letters(20)),
            ")",
        ),
        alone("Slack token", join!("xo", "xb-123456789012-", letters(24))),
        alone("Slack token", join!("xo", "xp-123456789012-", letters(24))),
        alone("Slack token", join!("xa", "pp-1-A012345-", letters(24))),
        (
            "Slack webhook",
            "https://".into(),
            join!(
                "hooks.slack",
                ".com/services/T0AB1CD2E/B0FG3HI4J/",
                letters(24)
            ),
            " ",
        ),
        alone("Stripe key", join!("sk", "_live_", letters(24))),
        alone("Stripe key", join!("rk", "_live_", letters(24))),
        (
            "npm token",
            "//registry.npmjs.org/:_authToken=".into(),
            join!("np", "m_", letters(36)),
            "\n",
        ),
        alone("PyPI token", join!("pypi", "-AgEIcHlwaS5vcmc", letters(60))),
        (
            "Hugging Face token",
            "HF=".into(),
            join!("h", "f_", letters(34)),
            "",
        ),
        (
            "Telegram token",
            "bot".into(),
            join!("123456789", ":AA", letters(33)),
            "/getMe",
        ),
        alone(
            "SendGrid key",
            join!("S", "G.", letters(22), ".", letters(43)),
        ),
        (
            "Azure storage key",
            "AccountName=a;AccountKey=".into(),
            join!(letters(86), "=="),
            ";Endpoint",
        ),
        ("JSON web token", "Authorization: Bearer ".into(), jwt, "\n"),
        (
            "password in a URL",
            "postgres://user:".into(),
            "horse".into(),
            "@host",
        ),
        (
            "password in a URL",
            "redis://:".into(),
            "s3cr3t!".into(),
            "@cache:6379/0",
        ),
        (
            "password in a URL",
            "mongodb+srv://anna:".into(),
            "p@ss".into(),
            "@cluster0.mongodb.net/db",
        ),
        (
            "password in a URL",
            "see https://anna:".into(),
            "hunter2".into(),
            "@example.org/x?y=z.",
        ),
        (
            "password",
            "password = \"".into(),
            "k3Jd8sLq0ZpX2vNb".into(),
            "\"",
        ),
        (
            "password",
            "DB_PASSWORD=".into(),
            "Zx81!kQ7-9fL2-mN4p".into(),
            "\n",
        ),
        (
            "password",
            "passwd: ".into(),
            "9fK2xY7q1LmZ8sD4".into(),
            " # root",
        ),
        (
            "secret",
            "client_secret: '".into(),
            "8Q~dT5kLx2Vb9Zq7Rw3".into(),
            "'",
        ),
        (
            "token",
            r#"{"access_token": ""#.into(),
            "q8W3e7R2t6Y1u5I0o9P4".into(),
            "\"}",
        ),
        (
            "API key",
            "api_key := ".into(),
            "d41d8cd98f00b204e9800998ecf8427e".into(),
            "",
        ),
        (
            "API key",
            "X-Api-Key: ".into(),
            "b7c1f0e2a9d84c3fb7c1f0e2a9d84c3f".into(),
            "\n",
        ),
        ("secret", "SECRET_KEY_BASE=".into(), letters(60).into(), ""),
    ]
}

#[test]
fn credentials_are_found_for_what_they_are() {
    let credentials = credentials();
    assert!(40 <= credentials.len());
    for (kind, before, secret, after) in credentials {
        let span = before.len()..before.len() + secret.len();
        assert_eq!(
            find(&format!("{before}{secret}{after}")),
            [Secret { kind, span }],
            "{before}{secret}{after}"
        );
    }
}

#[test]
fn what_is_no_credential_is_left_alone() {
    let harmless = [
        "",
        "Anna prefers dark mode.",
        "the password is rotated monthly",
        "token budget: 1500",
        "Password: see the vault, under production",
        "secret: nobody knows what happened in 1987",
        "api_key = os.environ['OPENAI_API_KEY_2']",
        "token = process.env.GITHUB_TOKEN_V2",
        "password = getAccessTokenFromVault2(client)",
        "password: correcthorsebatterystaple",
        "the secret => handled in crate::secret::find2::value3",
        "api_key: ${OPENAI_API_KEY_1234}",
        "api_key: $OPENAI_API_KEY_1a2b3c4d",
        "token: <your-token-a1b2c3d4e5f6>",
        "token=your-api-key-a1b2c3d4e5f6",
        "password=****************",
        "password=xxxxxxxxxxxxxxxx1234",
        "secret = {{ vault.a1b2c3d4e5f6g7h8 }}",
        "token_url: https://example.org/a1b2c3d4e5f6g7h8",
        "secret_path: /run/secrets/a1b2c3d4e5f6g7h8",
        "token: 550e8400-e29b-41d4-a716-446655440000",
        "api_key_id = da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "secret: sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "token expires: 2026-05-01T12:00:00Z",
        "token model: text-embedding-3-small",
        "commit da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "550e8400-e29b-41d4-a716-446655440000",
        "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "sk-...",
        "sk-ant-api03-your-key-goes-right-here",
        "sk-learn-pipelines-and-other-things-2024",
        "set OPENAI_API_KEY=sk-proj-<your key>",
        "task-a1b2c3d4e5f6g7h8i9j0k1l2m3n4",
        "AKIAIOSFODNN7EXAMPLE",
        "AKIA is how AWS access key ids begin",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "ghp_ is the prefix, github_pat_ the newer one",
        "glpat-xxxxxxxxxxxxxxxxxxxx",
        "npm_config_registry and npm_lifecycle_event",
        "hf_hub_download(repo_id, filename)",
        "xoxb-your-token",
        "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
        "sk_test_ keys are for testing, sk_live_... are not",
        "msg.SG.send",
        "eyJ is how base64 of a JSON object begins",
        "postgres://user:password@localhost/db",
        "postgres://user:${DB_PASSWORD}@localhost/db",
        "postgres://user:<password>@localhost/db",
        "postgres://user:****@localhost/db",
        "https://example.org:8080/@anna",
        "https://anna@example.org and mailto:anna@example.org",
        "see http://[::1]:8080/ or a://b",
        "-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n-----END PUBLIC KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
        "Look for -----BEGIN PRIVATE KEY----- in the file.",
        "The meeting is at 12:AA, room SG.2",
        "[redacted: GitHub token]",
    ];
    assert!(40 <= harmless.len());
    for text in harmless {
        assert_eq!(find(text), [], "{text}");
    }
}

#[test]
fn text_made_to_be_slow_is_not() {
    // Each of these texts takes minutes if the search scans the rest of the text from every position.
    for piece in [
        "-----BEGIN PRIVATE KEY-----",
        "token=",
        "sk-",
        "eyJa.",
        "://a:",
        "ghp_",
        "AccountKey=",
        "password:a1",
    ] {
        find(&piece.repeat(200_000 / piece.len()));
    }
}

proptest! {
    #[test]
    fn credentials_lie_on_borders_in_order_and_apart(text in any::<String>(), at in 0_usize..49, glue in "[ =:\"éa-]{0,3}") {
        let (_, before, secret, after) = &credentials()[at % credentials().len()];
        let text = format!("{text}{glue}{before}{secret}{after}{glue}{text}");
        let mut last_end = 0;
        for secret in find(&text) {
            prop_assert!(last_end <= secret.span.start && !text[secret.span.clone()].is_empty());
            last_end = secret.span.end;
        }
    }

    #[test]
    fn a_credential_among_words_is_found(before in "[a-zé ]{0,60}", at in 0_usize..49, after in "[a-zé ]{0,60}") {
        let (kind, prefix, secret, suffix) = &credentials()[at % credentials().len()];
        let found = find(&format!("{before}\n{prefix}{secret}{suffix}\n{after}"));
        prop_assert!(found.iter().any(|found| found.kind == *kind));
    }
}

#[test]
fn every_literal_has_three_bytes_and_the_case_of_its_rule() {
    for (rule, literal) in PREFILTER.groups.iter().flatten() {
        assert!(3 <= literal.len(), "{literal}");
        assert!(
            !rule.any_case || *literal == literal.to_ascii_lowercase(),
            "{literal}"
        );
    }
}

#[test]
fn every_literal_is_hit_where_it_stands() {
    for (rule, literal) in PREFILTER.groups.iter().flatten() {
        let mut hits = Vec::new();
        for_each_hit(&format!("é {literal}"), &mut |hit, at| {
            hits.push((hit.kind, at.start));
        });
        assert!(hits.contains(&(rule.kind, 3)), "{literal}");
    }
}

#[test]
fn only_credentials_that_are_new_are_refused() {
    let token = |end: &str| {
        format!(
            "{{\"token\": \"ghp_{}{end}\"}}",
            "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7"
        )
    };
    let (one, other) = (token("R8"), token("S9"));
    reject_added_secrets("", &one).unwrap_err();
    reject_added_secrets(&one, &one).unwrap();
    reject_added_secrets(&one, &format!("[{one}, 1]")).unwrap();
    reject_added_secrets(&one, &other).unwrap_err();
    reject_added_secrets(&one, &format!("[{one}, {other}]")).unwrap_err();
    reject_added_secrets(&one, "{}").unwrap();
}

#[test]
fn only_the_credential_is_taken_out() {
    let token = format!("{}{}", "gh", "p_1aB2cD3eF4gH5iJ6kL7mN8oP9qR0sT1uV2wX");
    let text = format!(
        "Use {token}, then\nDB=postgres://anna:{}@db/x and {token}.",
        "h0rse"
    );
    let redacted = redact(&text).expect("there are three");
    assert_eq!(
        redacted.text,
        "Use [redacted: GitHub token], then\nDB=postgres://anna:[redacted: password in a URL]@db/x and [redacted: GitHub token]."
    );
    assert_eq!(redacted.kinds, ["GitHub token", "password in a URL"]);
}

#[test]
fn parameters_and_the_fragment_behind_a_credential_stay() {
    let value = letters(24);
    for (before, after) in [
        ("https://a.org/x?token=", "&x=1#frag"),
        ("https://a.org/x?a=1&api_key=", "#frag"),
        ("https://a.org/x?access_token=", "&amp;x=1"),
        (
            "https://a.org/cb#access_token=",
            "&token_type=bearer&state=2 and more",
        ),
        ("https://a.org/x?password=", "&user=anna"),
    ] {
        let redacted = redact(&format!("{before}{value}{after}"))
            .expect(before)
            .text;
        assert!(
            redacted.starts_with(&format!("{before}[redacted: "))
                && redacted.ends_with(&format!("]{after}")),
            "{redacted}"
        );
    }
    let whole = redact(&format!("https://a.org/?token={value}&{value}"))
        .expect("a token")
        .text;
    assert_eq!(whole, "https://a.org/?token=[redacted: token]");
    let shell = redact(&format!("TOKEN={value}#{value}&x=1"))
        .expect("a token")
        .text;
    assert_eq!(shell, "TOKEN=[redacted: token]");
}

#[test]
fn no_escape_hides_a_credential() {
    let token = format!("ghp_{}", letters(36));
    let secret = "tR7xQz9mLk2v";
    let escaped = |character: char, rest: &str| {
        let code = u32::from(character);
        [
            format!("\\x{code:02x}{rest}"),
            format!("\\u{code:04X}{rest}"),
            format!("\\\\u{code:04x}{rest}"),
            format!("\\U{code:08x}{rest}"),
        ]
    };
    for text in escaped('g', &token[1..]) {
        assert_eq!(
            redact(&format!("t: \"{text}\" end")).expect(&text).text,
            "t: \"[redacted: GitHub token]\" end"
        );
    }
    let folded = format!("t: \"{}\\\n    {}\" end", &token[..9], &token[9..]);
    assert_eq!(
        redact(&folded).expect("folded").text,
        "t: \"[redacted: GitHub token]\" end"
    );
    for slashes in [r"\/\/", r"\\/\\/", r"\u002f\u002F", r"\x2f/"] {
        let url = |password: &str| format!("{{\"db\":\"postgres:{slashes}anna:{password}@db\"}}");
        assert_eq!(
            redact(&url(secret)).expect(slashes).text,
            url("[redacted: password in a URL]")
        );
    }
    assert_eq!(redact(r"C:\users\x64\u12 \/ \xZZ \"), None);
}

#[test]
fn no_dress_hides_a_credential_and_a_redaction_covers_the_dress() {
    let full_width = |character: char| match character {
        '!'..='~' => char::from_u32(u32::from(character) + 0xfee0).unwrap(),
        _ => character,
    };
    for (kind, before, secret, after) in credentials() {
        let fenced = |secret: &str| format!("é {before}{secret}{after}");
        for hidden in [
            "\u{200b}",
            "\u{ad}",
            "\u{2060}\u{e0041}",
            "\u{202e}",
            "\u{7}",
            "\u{200d}",
        ] {
            let dressed: String = secret
                .chars()
                .flat_map(|c| format!("{c}{hidden}").chars().collect::<Vec<_>>())
                .collect();
            let text = fenced(&dressed);
            let found = find(&text);
            let whole = found
                .iter()
                .find(|found| found.kind == kind)
                .map(|found| &text[found.span.clone()]);
            assert_eq!(whole, Some(dressed.as_str()), "{hidden:?}");
            let redacted = redact(&text).expect("it has a credential");
            assert_eq!(
                redacted.text,
                redact(&fenced(&secret)).expect("it has a credential").text,
                "{hidden:?}"
            );
        }
        let text = fenced(&secret.chars().map(full_width).collect::<String>());
        assert!(find(&text).iter().any(|found| found.kind == kind), "{text}");
        reject_secrets([redact(&text).expect("it has a credential").text.as_str()]).unwrap();
    }
    // What is hidden separates nothing, but a token behind it remains one.
    let token = format!(
        "a\u{200b}{}{}",
        "gh", "p_1aB2cD3eF4gH5iJ6kL7mN8oP9qR0sT1uV2wX"
    );
    assert_eq!(find(&token).len(), 1);
}

#[test]
fn a_password_is_found_in_each_way_to_assign_it() {
    let value = ["tR7x", "Qz9m", "Lk2v", "Bn4w"].concat();
    for text in [
        format!("password: {value}"),
        format!("**password**: {value}"),
        format!("**password:** {value}"),
        format!("| password | {value} |"),
        format!("{{\\\"password\\\": \\\"{value}\\\"}}"),
        format!("tool --password {value}"),
        format!("Authorization: Bearer {value}{value}"),
        format!("__{}{}__", "gh", "p_1aB2cD3eF4gH5iJ6kL7mN8oP9qR0sT1uV2wX"),
        format!("--{}{}", "gh", "p_1aB2cD3eF4gH5iJ6kL7mN8oP9qR0sT1uV2wX"),
    ] {
        assert_eq!(find(&text).len(), 1, "{text}");
    }
}

#[test]
fn text_without_credentials_stays() {
    assert_eq!(redact("Anna prefers dark mode."), None);
}

proptest! {
    #[test]
    fn what_was_redacted_has_no_credentials_left(
        pieces in prop::collection::vec(
            prop_oneof![
                Just(format!("{}{}", "AKI", "AQ3EGRIZ7HJ2KLMNP")),
                Just(format!("{}{}", "-----BEGIN ", "PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n")),
                Just("password=".to_owned()),
                Just("token: \"".to_owned()),
                Just("https://anna:".to_owned()),
                Just("@example.org ".to_owned()),
                Just("\n".to_owned()),
                "[a-zA-Z0-9+/=_.@:-]{0,40}",
                any::<String>(),
            ],
            0..12,
        ),
    ) {
        let text = pieces.concat();
        if let Some(redacted) = redact(&text) {
            prop_assert_eq!(find(&redacted.text), []);
        }
    }
}

/// Returns the texts of a file of cases; its first lines describe the format.
fn cases(file: &str) -> Vec<String> {
    let pattern = regex::Regex::new(r"\{(v|an|hex|up|low|dig)(\d*)\}").unwrap();
    let replace_name = |found: &regex::Captures<'_>| {
        let alphabet = match &found[1] {
            "v" => return "tR7xQz9mLk2vBn4w".to_owned(),
            "hex" => "0123456789abcdef",
            "up" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
            "low" => "abcdefghijklmnopqrstuvwxyz0123456789",
            "dig" => "0123456789",
            _ => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        };
        let mut state = found.get(0).unwrap().start() as u64 + 7;
        let mut next = |_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            char::from(alphabet.as_bytes()[(state >> 33) as usize % alphabet.len()])
        };
        (0..found[2].parse::<u8>().unwrap())
            .map(&mut next)
            .collect()
    };
    file.lines()
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
        .map(|line| line.replace('~', "").replace('⏎', "\n"))
        .map(|line| pattern.replace_all(&line, replace_name).into_owned())
        .collect()
}

#[test]
fn credentials_of_every_class_are_found() {
    let cases = cases(include_str!("credentials.txt"));
    assert!(150 <= cases.len());
    let missed: Vec<_> = cases.iter().filter(|text| find(text).is_empty()).collect();
    assert_eq!(missed, [""; 0], "{} of {}", missed.len(), cases.len());
}

#[test]
fn ordinary_texts_of_every_class_have_no_credential() {
    let cases = cases(include_str!("ordinary.txt"));
    assert!(150 <= cases.len());
    let wrong: Vec<_> = cases.iter().filter(|text| !find(text).is_empty()).collect();
    assert_eq!(wrong, [""; 0], "{} of {}", wrong.len(), cases.len());
}
