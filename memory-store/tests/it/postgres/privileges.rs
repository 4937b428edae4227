//! The privileges of nodes: no table, and functions that reach only the scopes of a principal.

use memory_core::{Code, SecretPolicy, update};

use super::access::{SharedDatabase, write_into};
use super::replicas::{Node, content_patch};

/// A word in private memories of `ada`, also in hexadecimal.
const SECRET: &str = "zebra|7a65627261|private:ada";

/// The functions that read the rows of all principals.
const SEES_ALL: &str = "memory_find_principal\nmemory_grants_of\nmemory_has_ids_elsewhere\nmemory_is_operation_used\nmemory_record_contact\nmemory_record_refusal\nmemory_scopes_of\nmemory_scopes_with\nmemory_set_grant\nmemory_write_audit";

/// The rows of tables that contain a scope of `ada`, as one number.
const CHECKSUM: &str = "SELECT sum(hashtextextended(own, 0)) FROM (
    SELECT own::text FROM memory_document_heads AS own UNION ALL SELECT own::text FROM memory_document_operations AS own
    UNION ALL SELECT own::text FROM memory_document_changes AS own UNION ALL SELECT own::text FROM memory_documents AS own
    UNION ALL SELECT own::text FROM memory_documents_trash AS own UNION ALL SELECT own::text FROM memory_folders AS own
    UNION ALL SELECT own::text FROM memory_files AS own UNION ALL SELECT own::text FROM memory_file_parts AS own
) AS own WHERE own LIKE '%private:ada%'";

/// A database with private memories and files of `ada`, and the tokens of `ada` and `bob`.
fn with_secrets(claim: &str) -> Option<(SharedDatabase<'static>, String, String)> {
    let shared = SharedDatabase::new(claim)?;
    let (ada, bob) = (shared.add("ada", &["team:web"]), shared.add("bob", &[]));
    let node = shared.node(&ada);
    write_into(&node, "a global note", "global");
    write_into(&node, "a note of the team", "team:web");
    let id = write_into(&node, "the zebra note", "private:ada");
    update(
        &node.services,
        &id,
        &content_patch("the changed zebra note"),
        None,
        SecretPolicy::Refuse,
    )
    .unwrap();
    let files = "SELECT memory_node_commit_files('private:ada', 'banks', 0, 1, NULL); \
        SELECT memory_node_put_files('private:ada', 'banks', 1, '{zebra.json}', '{NULL}', '{zebra}')";
    assert_eq!(shared.sql("node", &ada, files), "(1,f)\nt");
    Some((shared, ada, bob))
}

/// Returns a value for a parameter that names as much of the private memories of `ada` as possible.
fn private_argument(shared: &SharedDatabase<'_>, name: &str, kind: &str) -> String {
    let of = |column: &str| {
        let find = format!(
            "(SELECT {column} FROM memory_document_changes WHERE scope = 'private:ada' ORDER BY position LIMIT 1)"
        );
        shared
            .server
            .sql(&shared.name, &format!("SELECT quote_nullable({find})"))
    };
    let value = match name {
        "own_scope" | "known_scopes" | "own_scopes" | "former_scopes" | "scopes" => {
            "'private:ada'".to_owned()
        }
        "own_folder" => "'banks'".to_owned(),
        "own_grantee" => "'private:bob'".to_owned(),
        "own_level" => "'admin'".to_owned(),
        "known_position" | "next_position" | "starts" => "0".to_owned(),
        "page" => "100".to_owned(),
        "next_path" | "own_actor" | "own_subject" | "reasons" | "tag_lists" => "''".to_owned(),
        "own_position" | "known_positions" | "last_position" => of("position"),
        "own_token" | "known_tokens" | "notifier" => of("token"),
        "own_operation" | "own_undoes" | "known_operations" => of("operation"),
        "former_ids" | "ids" => of("id"),
        "former_paths" | "paths" => of("path"),
        "former_hashes" | "hashes" => of("hash"),
        "former_trash" => "'trash/a.md'".to_owned(),
        "own_verb" => "'write'".to_owned(),
        "own_at" | "before" | "creations" | "updates" | "expiries" => "'infinity'".to_owned(),
        "own_at_nanos" | "former_numbers" | "numbers" => "1".to_owned(),
        "contents" | "categories" | "phases" | "sources" => "'x'".to_owned(),
        _ => panic!("{name} has no value in this test"),
    };
    match kind.strip_suffix("[]") {
        Some(kind) => format!("ARRAY[{value}::{kind}]"),
        None => format!("{value}::{kind}"),
    }
}

/// Returns a call of each function that nodes may execute, according to the catalog.
fn calls(shared: &SharedDatabase<'_>) -> Vec<String> {
    let list =
        "SELECT own.proname, string_agg(argument.name || ' ' || format_type(argument.kind, NULL), ',' ORDER BY argument.nth)
        FROM pg_proc AS own LEFT JOIN LATERAL unnest(own.proargnames, own.proargtypes::oid[]) WITH ORDINALITY
            AS argument(name, kind, nth) ON argument.kind IS NOT NULL
        WHERE pronamespace = 'public'::regnamespace
            AND has_function_privilege('ROLE', own.oid, 'EXECUTE') GROUP BY own.oid, own.proname ORDER BY 1";
    let found = shared
        .server
        .sql(&shared.name, &list.replace("ROLE", &shared.node_role()));
    let call = |line: &str| {
        let (name, arguments) = line.split_once('|').unwrap();
        let value = |argument: &str| {
            let (name, kind) = argument.split_once(' ').unwrap();
            private_argument(shared, name, kind)
        };
        let values: Vec<_> = arguments
            .split(',')
            .filter(|argument| !argument.is_empty())
            .map(value)
            .collect();
        format!("{name}({})", values.join(", "))
    };
    found.lines().map(call).collect()
}

/// Returns a call that appends an operation on the global scope with this head, without previous versions.
fn append_call(
    (position, token): (&str, &str),
    operation: &str,
    verb: &str,
    at: &str,
    last: &str,
) -> String {
    format!(
        "SELECT new_position FROM memory_node_append('{{global}}', '{{{position}}}', '{{{token}}}', {last}, '{operation}', 5, '{verb}', \
        'cli', '{at}', 0::smallint, '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', NULL)"
    )
}

/// Returns a file of a global memory, with further lines after those that are checked.
fn file_of(id: &str, further: &str) -> String {
    format!(
        "---\nid: {id}\ncontent_hash: 0\nphase: inbox\ncategory: inbox\nscope: global\n{further}---\ntext"
    )
}

/// Returns a call that appends a new document to the operation of [`append_call`], with the hash of the text `hashed`.
fn change_call(position: &str, id: &str, path: &str, content: &str, hashed: &str) -> String {
    format!(
        "SELECT memory_node_append_changes('{{global}}', {position}, '0123456789ab', 5, NULL, '{{0}}', '{{{id}}}', '{{NULL}}', \
        '{{NULL}}', '{{NULL}}', '{{NULL}}', '{{global}}', '{{{path}}}', ARRAY[sha256(convert_to('{hashed}', 'UTF8'))], '{{NULL}}', \
        ARRAY[convert_to('{content}', 'UTF8')], '{{ideas}}', '{{organized}}', '{{a}}', '{{NULL}}', '{{NULL}}', '{{NULL}}', '{{cli}}')"
    )
}

/// Returns the call of [`change_call`] with a valid file.
fn valid_change(position: &str, id: &str, path: &str) -> String {
    let file = file_of(id, "");
    change_call(position, id, path, &file, &file)
}

/// Returns the position and the token of the global scope.
fn global_head(shared: &SharedDatabase<'_>) -> (String, String) {
    let head = shared.server.sql(
        &shared.name,
        "SELECT position, token FROM memory_document_heads WHERE scope = 'global'",
    );
    let (position, token) = head.split_once('|').unwrap();
    (position.to_owned(), token.to_owned())
}

/// Returns whether a call as a node returns a secret. It may also fail with one of `errors`.
fn reveals(shared: &SharedDatabase<'_>, token: &str, call: &str, errors: &str) -> bool {
    let block = format!(
        "CREATE TEMP TABLE result (is_secret boolean);
        DO $block$ DECLARE found text; BEGIN
            SELECT string_agg(own::text, ' ') INTO found FROM {call} AS own;
            INSERT INTO result SELECT coalesce(found ~ '{SECRET}', false);
        EXCEPTION WHEN {errors} THEN INSERT INTO result VALUES (false); END $block$;
        SELECT is_secret FROM result"
    );
    shared.sql("node", token, &block) == "t"
}

#[test]
fn no_function_of_nodes_reveals_or_changes_what_another_principal_has() {
    let Some((shared, ada, bob)) = with_secrets("functions of nodes") else {
        return;
    };
    let revoked = shared.add("eve", &[]);
    shared.principals.revoke(&"eve".parse().unwrap()).unwrap();
    let checksum = || shared.server.sql(&shared.name, CHECKSUM);
    let before = checksum();
    let calls = calls(&shared);
    assert_eq!(calls.len(), 16, "{calls:?}");
    for call in &calls {
        for token in [bob.as_str(), revoked.as_str(), "mem_00", ""] {
            assert!(
                !reveals(&shared, token, call, "insufficient_privilege"),
                "{call}"
            );
            assert_eq!(checksum(), before, "{call}");
        }
    }
    // The plan of a call contains no table.
    let plan = "EXPLAIN (ANALYZE, VERBOSE) SELECT * FROM memory_node_operations('{}', '{}', 100) WHERE actor < 'm'";
    let plan = shared.sql("node", &bob, plan);
    assert!(
        plan.starts_with("Function Scan") && !plan.contains("Scan on memory_document"),
        "{plan}"
    );
    // The calls are meaningful: they return what the principal itself has.
    let errors = "insufficient_privilege OR data_exception";
    let revealing: Vec<_> = calls
        .iter()
        .filter(|call| reveals(&shared, &ada, call, errors))
        .collect();
    let names: Vec<_> = revealing
        .iter()
        .map(|call| call.split('(').next().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "memory_node_access",
            "memory_node_changes",
            "memory_node_files",
            "memory_node_folders",
            "memory_node_operations"
        ]
    );
}

#[test]
fn every_table_refuses_every_statement_of_a_node() {
    let Some((shared, ada, bob)) = with_secrets("tables of a database") else {
        return;
    };
    let tables = shared.tables("true");
    assert_eq!(tables.len(), 13);
    for table in &tables {
        let statements = [
            format!("SELECT FROM {table}"),
            format!("EXPLAIN SELECT FROM {table}"),
            format!("INSERT INTO {table} DEFAULT VALUES"),
            format!("DELETE FROM {table}"),
            format!("TRUNCATE {table}"),
            format!("LOCK TABLE {table}"),
            format!("CREATE TEMP TABLE copy (LIKE {table})"),
        ];
        for token in [ada.as_str(), bob.as_str(), ""] {
            shared.check_refused("node", token, &statements);
        }
    }
    let role = shared.node_role();
    shared.server.sql(&shared.name, "ANALYZE");
    assert_eq!(
        shared.sql(
            "node",
            &ada,
            "SELECT count(*) FROM pg_stats WHERE schemaname = 'public'"
        ),
        "0"
    );
    let readable = format!(
        "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f') AND (
            has_table_privilege('{role}', oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
            OR has_any_column_privilege('{role}', oid, 'SELECT, INSERT, UPDATE, REFERENCES'))"
    );
    assert_eq!(shared.server.sql(&shared.name, &readable), "0");
    // Privileges that an earlier version granted are removed: by the migration, and by the next `principal add`.
    let former = format!(
        "GRANT SELECT, INSERT ON memory_documents TO {role}; GRANT SELECT (name) ON memory_principals TO {role};
        GRANT EXECUTE ON FUNCTION memory_readable_scopes() TO {role}"
    );
    shared.server.sql(&shared.name, &former);
    shared.add("carol", &[]);
    assert_eq!(shared.server.sql(&shared.name, &readable), "0");
    shared.server.sql(&shared.name, &former);
    shared.server.sql(
        &shared.name,
        "UPDATE memory_schema SET version = 3 WHERE one = 2",
    );
    // Another role, such as a superuser, does not become the owner of functions.
    let superuser = Node::new(super::reopen(shared.server, &shared.name));
    assert_eq!(
        superuser.services.store.refresh().unwrap_err().code(),
        Code::PermissionDenied
    );
    shared.owner().services.store.refresh().unwrap();
    assert_eq!(shared.server.sql(&shared.name, &readable), "0");
    shared.node(&ada).services.store.refresh().unwrap();
    assert_eq!(
        superuser.services.store.refresh().unwrap_err().code(),
        Code::PermissionDenied
    );
}

#[test]
fn functions_run_as_the_owner_with_a_fixed_search_path_and_only_nodes_may_call_those_of_nodes() {
    let Some((shared, ..)) = with_secrets("attributes of functions") else {
        return;
    };
    let wrong = |condition: &str| {
        let list = format!(
            "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND ({condition}) ORDER BY 1"
        );
        shared
            .server
            .sql(&shared.name, &list.replace("ROLE", &shared.node_role()))
    };
    assert_eq!(
        wrong("NOT prosecdef OR prosecdef AND pg_get_userbyid(proowner) <> memory_owner()"),
        ""
    );
    assert_eq!(
        wrong(
            "NOT coalesce(proconfig && ARRAY['search_path=public, pg_temp', 'search_path=pg_catalog, pg_temp'], false)"
        ),
        SEES_ALL
    );
    assert_eq!(
        wrong("proconfig @> ARRAY['search_path=pg_catalog, public, pg_temp']"),
        SEES_ALL
    );
    assert_eq!(
        wrong(
            "has_function_privilege('ROLE', oid, 'EXECUTE') <> starts_with(proname, 'memory_node_')"
        ),
        ""
    );
    assert_eq!(
        wrong(
            "EXISTS (SELECT FROM aclexplode(coalesce(proacl, acldefault('f', proowner))) WHERE grantee = 0)"
        ),
        ""
    );
    let settings = "ARRAY['client_min_messages=warning', 'enable_seqscan=off', 'enable_bitmapscan=off', 'enable_indexscan=on']";
    assert_eq!(
        wrong(&format!(
            "starts_with(proname, 'memory_node_') AND NOT proconfig @> {settings}"
        )),
        ""
    );
}

#[test]
fn a_node_cannot_make_a_function_read_the_rows_of_all_scopes() {
    let Some((shared, ada, _)) = with_secrets("settings of a node") else {
        return;
    };
    let hostile =
        "SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off; SET enable_nestloop = off;
        SET random_page_cost = 1e9; SET cpu_index_tuple_cost = 1e9; SET cpu_operator_cost = 1e9; SET effective_cache_size = 1;";
    let read = "SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_stat_xact_user_tables WHERE seq_scan > 0
        AND relname NOT IN ('memory_schema', 'memory_document_store', 'memory_principals', 'memory_principal_scopes')";
    let check = |statements: &str| {
        assert_eq!(
            shared.sql("node", &ada, &format!("{hostile} {statements}; {read}")),
            "",
            "{statements}"
        );
    };
    for call in calls(&shared).iter().filter(|call| {
        !["append", "put", "grant("]
            .iter()
            .any(|part| call.contains(part))
    }) {
        check(&format!(
            "DO $$ BEGIN PERFORM own FROM {call} AS own; END $$"
        ));
    }
    let commit = "memory_node_commit_files('private:ada', 'topics/a', 0, 1, NULL)";
    let put = "memory_node_put_files('private:ada', 'topics/a', 1, '{a.md,b.md}', '{NULL,NULL}', '{x,y}')";
    check(&format!(
        "DO $$ BEGIN PERFORM {commit}; PERFORM {put}; END $$"
    ));
    let (position, token) = &global_head(&shared);
    let next = (position.parse::<i64>().unwrap() + 1).to_string();
    let append = append_call(
        (position, token),
        "0123456789ab",
        "write",
        "2026-11-26T10:00:00Z",
        position,
    )
    .replace(
        "'{}', '{}', '{}', '{}', '{}', '{}'",
        "'{0}', '{global}', '{x}', '{x}', ARRAY[sha256('x')], '{trash/2026-11/0123456789ab/x}'",
    );
    let change = valid_change(
        &next,
        "01234567-0123-7000-8000-0123456789ab",
        "categories/ideas/a.md",
    );
    check(&format!(
        "DO $$ BEGIN PERFORM ({append}); PERFORM ({change}); END $$"
    ));
}

#[test]
fn the_policies_restrict_a_token_also_without_the_functions() {
    let Some((shared, ada, bob)) = with_secrets("policies of tables") else {
        return;
    };
    // The versions of the tables are no secret, and no other table is without policies.
    assert_eq!(
        shared.tables("NOT (relrowsecurity AND relforcerowsecurity)"),
        ["memory_schema"]
    );
    for table in shared.tables("relname <> 'memory_schema'") {
        assert_eq!(
            shared.sql("owner", "mem_00", &format!("SELECT count(*) FROM {table}")),
            "0",
            "{table}"
        );
        assert_ne!(
            shared.sql("owner", "", &format!("SELECT count(*) FROM {table}")),
            "0",
            "{table}"
        );
    }
    for table in [
        "memory_document_heads",
        "memory_document_operations",
        "memory_document_changes",
        "memory_documents",
    ] {
        let own = format!("SELECT DISTINCT scope FROM {table} ORDER BY 1");
        assert_eq!(shared.sql("owner", &bob, &own), "global", "{table}");
        assert_eq!(
            shared.sql("owner", &ada, &own),
            "global\nprivate:ada\nteam:web",
            "{table}"
        );
    }
    for table in [
        "memory_documents_trash",
        "memory_folders",
        "memory_files",
        "memory_file_parts",
        "memory_principal_scopes",
    ] {
        assert_eq!(
            shared.sql("owner", &bob, &format!("SELECT count(*) FROM {table}")),
            "0",
            "{table}"
        );
    }
    for forbidden in [
        "INSERT INTO memory_document_heads VALUES ('private:ada', 99, 1)",
        "UPDATE memory_document_heads SET scope = 'private:ada' WHERE scope = 'global'",
        "INSERT INTO memory_folders VALUES ('private:ada', 'topics', 1, '{1}')",
        "INSERT INTO memory_principal_scopes VALUES ('private:bob', 'team:web')",
        "INSERT INTO memory_principals VALUES ('eve', 'user', '')",
    ] {
        shared.check_refused("owner", &bob, &[forbidden.to_owned()]);
    }
    let plan = shared.sql(
        "owner",
        &ada,
        "EXPLAIN SELECT * FROM memory_documents WHERE scope = 'private:ada'",
    );
    assert!(
        plan.contains("InitPlan") && !plan.contains("SubPlan"),
        "a policy is evaluated once for a statement: {plan}"
    );
    // A temporary table with the same name changes nothing.
    let spoof = "CREATE TEMP TABLE memory_principals (name text, token_hash bytea, revoked_at timestamptz); \
        INSERT INTO memory_principals VALUES ('ada', sha256('x'), NULL); SET search_path = pg_temp, public; \
        SELECT principal IS NULL, cardinality(scopes) FROM public.memory_node_access()";
    assert_eq!(shared.sql("node", "x", spoof), "t|0");
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn a_node_cannot_take_an_operation_an_id_or_the_positions_of_others() {
    let Some((shared, _, bob)) = with_secrets("foreign operations") else {
        return;
    };
    let private = |column: &str| {
        let find = format!(
            "SELECT {column} FROM memory_document_changes WHERE scope = 'private:ada' ORDER BY position LIMIT 1"
        );
        shared.server.sql(&shared.name, &find)
    };
    let (position, token) = &global_head(&shared);
    let append = |operation: &str| {
        append_call(
            (position, token),
            operation,
            "write",
            "2026-11-26T10:00:00Z",
            position,
        )
    };
    // An operation of which the node reads no part.
    assert_eq!(
        shared.error("node", &bob, &append(&private("operation"))),
        "ERROR:  the operation is one of another principal"
    );
    // The id of a memory that the node does not read, as the id of the row or in the file.
    let next = &(position.parse::<i64>().unwrap() + 1).to_string();
    let (own, foreign) = ("01234567-0123-7000-8000-0123456789ab", private("id"));
    let path = "categories/ideas/a.md";
    let call = |id: &str, file: &str| {
        format!(
            "{}; {}",
            append("0123456789ab"),
            change_call(next, id, path, file, file)
        )
    };
    let takeover = call(&foreign, &file_of(&foreign, ""));
    assert_eq!(
        shared.error("node", &bob, &takeover),
        "ERROR:  a memory of another scope has the same id"
    );
    let valid = file_of(own, "");
    for file in [
        valid.replace(own, &foreign),
        valid.replace("id:", "\"id\":"),
        valid.replace('\n', "\r\n"),
        valid.replace("global", "private:ada"),
        valid.replace("category: inbox", "category: \"a: b\""),
        valid.replace("category: inbox", "category: >"),
        valid.replace("phase: inbox\n", ""),
        format!("\n{valid}"),
        format!("\u{feff}{valid}"),
        "text".into(),
    ] {
        assert_eq!(
            shared.error("node", &bob, &call(own, &file)),
            "ERROR:  a file of the operation is not valid",
            "{file:?}"
        );
    }
    for file in [
        valid.clone(),
        file_of(own, "title: a\n"),
        valid.replace("category: inbox", "category: \"Inbox\""),
    ] {
        shared.sql(
            "node",
            &bob,
            &format!("BEGIN; {}; ROLLBACK", call(own, &file)),
        );
    }
    // The checks would not see what other transactions have committed meanwhile.
    let isolated = format!(
        "BEGIN ISOLATION LEVEL REPEATABLE READ; {}",
        append("0123456789ab")
    );
    let refused = shared.error("node", &bob, &isolated);
    assert_eq!(
        refused,
        "ERROR:  operations are appended with the isolation level READ COMMITTED"
    );
    // Paths in the trash that lead elsewhere, or that two previous versions have.
    let former = |trash: &str| {
        let numbers =
            "'{0,1}', '{global,global}', '{x,y}', '{x,y}', ARRAY[sha256('x'), sha256('y')]";
        append("0123456789ab").replace(
            "'{}', '{}', '{}', '{}', '{}', '{}'",
            &format!("{numbers}, '{trash}'"),
        )
    };
    let place = "trash/2026-11/0123456789ab";
    for trash in [
        "{,}".replace(',', "\"\",\"\""),
        format!("{{{place}/a.md,{place}/a.md}}"),
        format!("{{{place}/a.md,{place}/{}}}", "y".repeat(300)),
        format!("{{{place}/a.md,{place}/.a.md}}"),
        format!("{{{place}/a.md,{place}/b/c.md}}"),
        format!("{{{place}/a.md,trash/2026-11/ffffffffffff/b.md}}"),
        format!("{{{place}/a.md,categories/b.md}}"),
    ] {
        assert_eq!(
            shared.error("node", &bob, &former(&trash)),
            "ERROR:  a path in the trash is not valid",
            "{trash}"
        );
    }
    // Further positions than scopes.
    let far = append("0123456789ab").replace(
        &format!("'{{{position}}}'"),
        &format!("'{{{position},9223372036854775806}}'"),
    );
    assert_eq!(
        shared.error("node", &bob, &far),
        "ERROR:  the arrays are not valid"
    );
    let twice = append("0123456789ab")
        .replace("'{global}'", "'{global,global}'")
        .replace(&format!("'{{{position}}}'"), "'{0,0}'");
    assert_eq!(
        shared.error(
            "node",
            &bob,
            &twice.replace(&format!("'{{{token}}}'"), "'{0,0}'")
        ),
        "ERROR:  the arrays are not valid"
    );
    // Names that other systems cannot store.
    for path in [
        format!("categories/ideas/{}.md", "y".repeat(300)),
        format!("categories/{}a.md", "ideas/".repeat(200)),
        "categories/ideas/a.md/b.md".into(),
        "categories/ideas/a\nb.md".into(),
    ] {
        let refused = shared.error(
            "node",
            &bob,
            &format!(
                "{}; {}",
                append("0123456789ab"),
                valid_change(next, own, &path)
            ),
        );
        assert_eq!(
            refused, "ERROR:  a change of the operation is not valid",
            "{path}"
        );
    }
    // Folders of nodes without a token, folders elsewhere, and files that a node has for itself.
    for scope in ["global", "private:ada"] {
        shared.check_refused(
            "node",
            &bob,
            &[format!(
                "SELECT memory_node_commit_files('{scope}', 'banks', 1, 2, NULL)"
            )],
        );
        shared.check_refused(
            "node",
            &bob,
            &[format!(
                "SELECT * FROM memory_node_files('{scope}', 'banks', 0, 0, '', 9)"
            )],
        );
    }
    for folder in ["../banks", "/tmp/banks", "a//b", ""] {
        let refused = shared.error(
            "node",
            &bob,
            &format!("SELECT memory_node_commit_files('private:bob', '{folder}', 0, 1, NULL)"),
        );
        assert_eq!(refused, "ERROR:  a folder is not valid", "{folder}");
    }
    let commit = "SELECT memory_node_commit_files('private:bob', 'banks', 0, 1, NULL)";
    let check_path = |folder: &str, path: &str| {
        let commit =
            format!("SELECT memory_node_commit_files('private:bob', '{folder}', 0, 1, NULL)");
        let put = format!(
            "SELECT memory_node_put_files('private:bob', '{folder}', 1, ARRAY['{path}'], '{{NULL}}', '{{x}}')"
        );
        assert_eq!(
            shared.error("node", &bob, &format!("{commit}; {put}")),
            "ERROR:  a path is not valid",
            "{path}"
        );
    };
    for path in [
        ".locks/a/b",
        ".replica.jsonl",
        "a/.unsynced/b",
        ".trash/.git/config",
        &"y".repeat(300),
        "a\nb",
    ] {
        check_path("banks", path);
    }
    for path in [
        ".git/config",
        ".gitignore",
        ".Lock/x",
        ".vscode/tasks.json",
        "notes/.git/config",
        ".md",
    ] {
        check_path("topics/shop", path);
    }
    for paths in ["{a.md,a.md/b}", "{a/b/c,a}"] {
        let put = format!(
            "SELECT memory_node_put_files('private:bob', 'banks', 1, '{paths}', '{{NULL,NULL}}', '{{x,x}}')"
        );
        assert_eq!(
            shared.error("node", &bob, &format!("{commit}; {put}")),
            "ERROR:  a path is not valid",
            "{paths}"
        );
    }
}

#[test]
fn a_node_cannot_append_an_operation_that_others_cannot_read() {
    let Some((shared, ada, bob)) = with_secrets("invalid operations") else {
        return;
    };
    let (position, token) = &global_head(&shared);
    let append = |operation: &str, verb: &str, at: &str, last: &str| {
        append_call((position, token), operation, verb, at, last)
    };
    let (valid, now, path) = (
        "0123456789ab",
        "2026-11-26T10:00:00Z",
        "categories/ideas/a.md",
    );
    let id = "01234567-0123-7000-8000-0123456789ab";
    let foreign = "SELECT operation FROM memory_document_operations WHERE scope = 'global' ORDER BY position DESC LIMIT 1";
    let foreign = shared.server.sql(&shared.name, foreign);
    for (operation, verb, at) in [
        ("x", "write", now),
        (valid, "unknown", now),
        (valid, "write", "infinity"),
        (valid, "write", "12000-01-01T00:00:00Z"),
    ] {
        let refused = shared.error("node", &bob, &append(operation, verb, at, position));
        assert_eq!(refused, "ERROR:  the operation is not valid");
    }
    let refused = shared.error("node", &bob, &append(&foreign, "write", now, position));
    assert_eq!(refused, "ERROR:  the operation is one of another principal");
    // A position that the log does not have would move all later ones.
    assert_eq!(
        shared.sql("node", &bob, &append(valid, "write", now, "9000000000")),
        ""
    );
    let valid_append = append(valid, "write", now, position);
    let next = (position.parse::<i64>().unwrap() + 1).to_string();
    for (id, path, hashed) in [
        ("x", path, file_of("x", "")),
        (id, "categories/ideas/a@team-web.md", file_of(id, "")),
        (id, path, "another text".into()),
    ] {
        let change = change_call(&next, id, path, &file_of(id, ""), &hashed);
        let refused = shared.error("node", &bob, &format!("{valid_append}; {change}"));
        assert_eq!(refused, "ERROR:  a change of the operation is not valid");
    }
    let not_appended = "ERROR:  the transaction has not appended the operation";
    assert_eq!(
        shared.error("node", &bob, &valid_change(&next, id, path)),
        not_appended
    );
    assert_eq!(
        shared.sql(
            "node",
            &bob,
            &format!("{valid_append}; {}", valid_change(&next, id, path))
        ),
        next
    );
    // Another transaction cannot add to the operation.
    let other = valid_change(
        &next,
        "01234567-0123-7000-8000-0123456789ac",
        "categories/ideas/b.md",
    );
    assert_eq!(shared.error("node", &bob, &other), not_appended);
    assert_eq!(
        shared
            .node(&ada)
            .files()
            .iter()
            .filter(|(path, _)| path.ends_with("ideas/a.md"))
            .count(),
        1
    );
    let is_path_of = |path: &str, scope: &str| {
        shared.sql(
            "owner",
            "",
            &format!("SELECT memory_is_path_of('{path}', '{scope}')"),
        ) == "t"
    };
    for (path, scope, expected) in [
        ("categories/ideas/a.md", "global", true),
        ("categories/a.md", "global", true),
        ("categories/ideas/a@team-web.md", "team:web", true),
        ("categories/ideas/a@project-a%20b.md", "project:a b", true),
        ("categories/ideas/a@team-web.md", "global", false),
        ("categories/ideas/a@team-web.md", "team:api", false),
        ("categories/ideas/a.md", "team:web", false),
        ("categories/ideas/a.md", "project:a b", false),
        ("categories/ideas/a@project-web.md", "project:a b", false),
        (
            "categories/ideas/a@project-%61%20b.md",
            "project:a b",
            false,
        ),
        ("categories/ideas/a@project-a b.md", "project:a b", false),
        (
            "categories/ideas/a@project-\u{e9}%21.md",
            "project:\u{e9}!",
            true,
        ),
        ("categories/../config.md", "global", false),
        ("categories/ideas/.a.md", "global", false),
        ("categories/ideas/a", "global", false),
        ("config.md", "global", false),
    ] {
        assert_eq!(is_path_of(path, scope), expected, "{path} in {scope}");
    }
    let commit = "SELECT memory_node_commit_files('private:bob', 'banks', 0, 1, NULL)";
    let put = |path: &str| {
        format!(
            "SELECT memory_node_put_files('private:bob', 'banks', 1, ARRAY['{path}'], '{{NULL}}', '{{x}}')"
        )
    };
    for path in ["../a", "a/../b", "/a", "a//b", "a/", ".", ""] {
        let refused = shared.error("node", &bob, &format!("{commit}; {}", put(path)));
        assert_eq!(refused, "ERROR:  a path is not valid", "{path}");
    }
    assert_eq!(
        shared.sql("node", &bob, &format!("{commit}; {}", put(".trash/a"))),
        "(1,f)\nt"
    );
    assert_eq!(
        shared.error("node", &bob, &put("b")),
        "ERROR:  the transaction has not begun the commit"
    );
}
