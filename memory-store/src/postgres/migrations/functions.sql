-- The functions that nodes call. The role of the nodes has no privilege on any table, because Postgres evaluates some comparisons of a
-- caller before the policies, so that plans and times of statements would reveal hidden rows.
--
-- A function runs as the owner of the tables, and the policies apply to the token of the transaction. It first checks the scopes of its
-- arguments, and then reads by keys that begin with a scope, so neither its result nor its time depends on the rows of other scopes. Nodes
-- call those whose names begin with `memory_node_`; the others are for these functions and for the owner.
--
-- Texts contain no backslash, because a caller can change its meaning. Other settings of a caller have no effect: see `privileges.sql`.

SELECT set_config('search_path', format('%I, pg_temp', current_schema()), true);

-- The functions run as the role that creates them, which must be the owner of the tables.
DO $$
BEGIN
    IF (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = 'memory_documents'::regclass) <> current_user THEN
        RAISE insufficient_privilege USING MESSAGE = 'only the owner of the tables may create their functions';
    END IF;
END
$$;

-- Whether all rows are accessible: to the owner, unless a token restricts the transaction. A function runs as the owner, so the role of its
-- caller is that of the session.
CREATE OR REPLACE FUNCTION memory_is_owner() RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN coalesce(nullif(current_setting('role'), 'none'), session_user) = current_user
        AND coalesce(current_setting('memory.token', true), '') = '';
END
$$;

-- The owner of the tables.
CREATE OR REPLACE FUNCTION memory_owner() RETURNS name
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN current_user;
END
$$;

-- The principal of a token. It is the token itself, as of a person with psql, or `proof:PREFIX:TIME:MAC`. Nodes send a proof, because a
-- server may log the parameters of statements: PREFIX are the first 8 bytes of the SHA-256 of the token, TIME are the seconds since 1970,
-- and MAC is the SHA-256 of that hash, the TIME, and the hash. A proof is valid for five minutes.
CREATE OR REPLACE FUNCTION memory_find_principal(token text) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    proof text[] := regexp_match(token, '^proof:([0-9a-f]{16}):([0-9]{1,12}):([0-9a-f]{64})$');
BEGIN
    IF proof IS NULL THEN
        RETURN (
            SELECT own.name FROM memory_principals AS own
            WHERE own.token_hash = sha256(convert_to(token, 'UTF8')) AND own.revoked_at IS NULL
                AND (own.expires_at IS NULL OR now() < own.expires_at)
        );
    END IF;
    RETURN (
        SELECT own.name FROM memory_principals AS own
        WHERE own.token_hash >= decode(proof[1] || repeat('00', 24), 'hex') AND own.token_hash <= decode(proof[1] || repeat('ff', 24), 'hex')
            AND own.revoked_at IS NULL AND (own.expires_at IS NULL OR now() < own.expires_at)
            AND sha256(own.token_hash || convert_to(proof[2], 'UTF8') || own.token_hash) = decode(proof[3], 'hex')
            AND abs(extract(epoch FROM now()) - proof[2]::bigint) <= 300
    );
END
$$;

-- Whether a document of another scope has one of these ids. A memory has its id in one scope only, so that nobody gives the id of a hidden
-- memory to a document of their own.
CREATE INDEX IF NOT EXISTS memory_documents_id ON memory_documents (id);
CREATE OR REPLACE FUNCTION memory_has_ids_elsewhere(own_ids text[], own_scopes text[]) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM unnest(own_ids, own_scopes) AS new(id, scope) JOIN memory_documents AS own ON own.id = new.id AND own.scope <> new.scope
    );
END
$$;

-- Whether an operation in any scope is one of another principal, or has this token.
CREATE INDEX IF NOT EXISTS memory_document_operations_id ON memory_document_operations (operation);
CREATE OR REPLACE FUNCTION memory_is_operation_used(own_operation text, own_token bigint, own_principal text) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM memory_document_operations AS own
        WHERE own.operation = own_operation AND (own.token = own_token OR own.principal IS DISTINCT FROM own_principal)
    );
END
$$;

-- The scopes to which a principal has one of these levels of access. To the scopes of a team it has that of the team, or its own in the
-- team, if that is lower.
CREATE OR REPLACE FUNCTION memory_scopes_with(principal text, levels text[]) RETURNS text[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    IF principal IS NULL THEN
        RETURN '{}';
    END IF;
    RETURN ARRAY(
        SELECT 'global'
        UNION SELECT 'private:' || principal
        UNION SELECT own.scope FROM memory_principal_scopes AS own WHERE own.grantee = 'private:' || principal AND own.access = ANY (levels)
        UNION SELECT further.scope FROM memory_principal_scopes AS own JOIN memory_principal_scopes AS further
            ON further.grantee = own.scope
            WHERE own.grantee = 'private:' || principal AND own.access = ANY (levels) AND further.access = ANY (levels)
    );
END
$$;

CREATE OR REPLACE FUNCTION memory_scopes_of(principal text) RETURNS text[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    RETURN memory_scopes_with(principal, ARRAY['reader', 'writer', 'admin']);
END
$$;

-- Changes a grant, and records that. A grantee is a principal or a team; only a principal is granted a team.
CREATE OR REPLACE FUNCTION memory_set_grant(own_actor text, own_grantee text, own_scope text, own_level text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    IF (
        own_level IN ('reader', 'writer', 'admin') OR own_level IS NULL
    ) IS NOT TRUE OR (own_grantee ~ '^private:' OR own_grantee ~ '^team:' AND own_scope ~ '^project:') IS NOT TRUE THEN
        RAISE data_exception USING MESSAGE = 'the grant is not valid';
    END IF;
    IF own_level IS NULL THEN
        DELETE FROM memory_principal_scopes AS own WHERE own.grantee = own_grantee AND own.scope = own_scope;
    ELSE
        IF own_grantee ~ '^private:' AND NOT EXISTS (SELECT FROM memory_principals AS own WHERE 'private:' || own.name = own_grantee) THEN
            RETURN false;
        END IF;
        INSERT INTO memory_principal_scopes AS own (grantee, scope, access) VALUES (own_grantee, own_scope, own_level)
            ON CONFLICT (grantee, scope) DO UPDATE SET access = excluded.access, granted_at = now();
    END IF;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO memory_audit (actor, action, subject) VALUES (
        own_actor, CASE WHEN own_level IS NULL THEN 'ungrant' ELSE 'grant' END,
        own_scope || ' to ' || regexp_replace(own_grantee, '^private:', '') || coalesce(' as ' || own_level, '')
    );
    RETURN true;
END
$$;

CREATE OR REPLACE FUNCTION memory_grants_of(scopes text[]) RETURNS TABLE (grant_grantee text, grant_scope text, grant_access text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    RETURN QUERY
        SELECT own.grantee, own.scope, own.access FROM memory_principal_scopes AS own
        WHERE own.scope = ANY (scopes) AND own.scope ~ '^(team|project):' ORDER BY own.scope, own.grantee;
END
$$;

CREATE OR REPLACE FUNCTION memory_write_audit(own_actor text, own_action text, own_subject text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    INSERT INTO memory_audit (actor, action, subject) VALUES (own_actor, own_action, own_subject);
END
$$;

-- Records the time of a contact, at most once in a minute. Concurrent transactions of the principal do not wait for each other.
CREATE OR REPLACE FUNCTION memory_record_contact(own_name text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    IF pg_is_in_recovery() THEN
        RETURN;
    END IF;
    UPDATE memory_principals AS own SET last_contact = now() FROM (
        SELECT due.name FROM memory_principals AS due
        WHERE due.name = own_name AND (due.last_contact IS NULL OR due.last_contact < now() - interval '1 minute')
        FOR UPDATE SKIP LOCKED
    ) AS due
    WHERE own.name = due.name;
END
$$;

-- Records that a token was refused, with the name of the principal if it was revoked or has expired; at most once in a minute for each.
CREATE OR REPLACE FUNCTION memory_record_refusal(token text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    proof text[] := regexp_match(token, '^proof:([0-9a-f]{16}):([0-9]{1,12}):([0-9a-f]{64})$');
    own_prefix text := coalesce(proof[1], left(encode(sha256(convert_to(token, 'UTF8')), 'hex'), 16));
    own_subject text := coalesce((
        SELECT own.name FROM memory_principals AS own
        WHERE own.token_hash >= decode(own_prefix || repeat('00', 24), 'hex') AND own.token_hash <= decode(own_prefix || repeat('ff', 24), 'hex')
    ), 'unknown') || coalesce(' from ' || host(inet_client_addr()), '');
BEGIN
    -- A node whose clock differs sends another proof.
    IF pg_is_in_recovery() OR abs(extract(epoch FROM now()) - proof[2]::bigint) > 300 OR EXISTS (
        SELECT FROM memory_audit AS own
        WHERE own.at > now() - interval '1 minute' AND own.action = 'token refused' AND own.subject = own_subject
    ) THEN
        RETURN;
    END IF;
    INSERT INTO memory_audit (actor, action, subject) VALUES (NULL, 'token refused', own_subject);
END
$$;

-- These functions read the rows of all principals. The policies recognize them by their search path, which a caller cannot change.
DO $$
DECLARE
    own text;
    condition text := format(
        'current_user = (SELECT memory_owner()) AND current_setting(''search_path'') = %L', format('pg_catalog, %I, pg_temp', current_schema())
    );
BEGIN
    FOREACH own IN ARRAY ARRAY[
        'memory_find_principal(text)', 'memory_scopes_of(text)', 'memory_has_ids_elsewhere(text[], text[])',
        'memory_is_operation_used(text, bigint, text)', 'memory_scopes_with(text, text[])', 'memory_write_audit(text, text, text)',
        'memory_set_grant(text, text, text, text)', 'memory_grants_of(text[])',
        'memory_record_contact(text)', 'memory_record_refusal(text)'
    ] LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, %I, pg_temp', own, current_schema());
    END LOOP;
    FOREACH own IN ARRAY ARRAY['memory_principals', 'memory_principal_scopes', 'memory_audit'] LOOP
        EXECUTE format('DROP POLICY IF EXISTS memory_access ON %I', own);
        EXECUTE format('CREATE POLICY memory_access ON %I USING ((SELECT memory_is_owner()) OR (%s))', own, condition);
    END LOOP;
    FOREACH own IN ARRAY ARRAY['memory_documents', 'memory_document_operations'] LOOP
        EXECUTE format('DROP POLICY IF EXISTS memory_check ON %I', own);
        EXECUTE format('CREATE POLICY memory_check ON %I FOR SELECT USING (%s)', own, condition);
    END LOOP;
END
$$;
DROP FUNCTION IF EXISTS memory_reads_principals();

-- The principal of the token, if it is valid.
CREATE OR REPLACE FUNCTION memory_principal() RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    token text := current_setting('memory.token', true);
BEGIN
    RETURN CASE WHEN token <> '' THEN memory_find_principal(token) END;
END
$$;

-- The scopes that the principal of the token reads and writes.
CREATE OR REPLACE FUNCTION memory_readable_scopes() RETURNS text[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    RETURN memory_scopes_of(memory_principal());
END
$$;

-- The time of the transaction of the last commit, which is the same in all its statements.
ALTER TABLE memory_folders ADD COLUMN IF NOT EXISTS begun_at timestamptz;

-- The scopes that the caller may access; NULL for the owner, who may access all.
CREATE OR REPLACE FUNCTION memory_accessible_scopes() RETURNS text[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    own text[];
BEGIN
    IF memory_is_owner() THEN
        RETURN NULL;
    END IF;
    own := memory_readable_scopes();
    IF cardinality(own) = 0 THEN
        RAISE insufficient_privilege USING MESSAGE = 'the transaction has no valid token';
    END IF;
    RETURN own;
END
$$;

-- Fails unless the caller may access all these scopes. The error is the same for a scope that does not exist.
CREATE OR REPLACE FUNCTION memory_check_scopes(wanted text[]) RETURNS void
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    own text[] := memory_accessible_scopes();
BEGIN
    IF own IS NOT NULL AND (wanted <@ own) IS NOT TRUE THEN
        RAISE insufficient_privilege USING MESSAGE = 'the principal of the transaction has no access to a scope';
    END IF;
END
$$;

-- Fails unless the caller may write all these scopes.
CREATE OR REPLACE FUNCTION memory_check_writable(wanted text[]) RETURNS void
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    PERFORM memory_check_scopes(wanted);
    IF NOT memory_is_owner() AND NOT wanted <@ memory_scopes_with(memory_principal(), ARRAY['writer', 'admin']) THEN
        RAISE insufficient_privilege USING MESSAGE = 'the principal of the transaction may only read a scope';
    END IF;
END
$$;

-- Fails unless arrays have the same length, one dimension, and no NULL in the first one, which has no value twice.
CREATE OR REPLACE FUNCTION memory_check_arrays(keys text[], VARIADIC lengths integer[]) RETURNS void
    LANGUAGE plpgsql IMMUTABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    IF (coalesce(array_ndims(keys), 1) = 1 AND cardinality(keys) = ALL (lengths)
        AND cardinality(keys) = (SELECT count(DISTINCT own.key) FROM unnest(keys) AS own(key))) IS NOT TRUE
    THEN
        RAISE data_exception USING MESSAGE = 'the arrays are not valid';
    END IF;
END
$$;

-- Whether a name is one of files or folders on every system.
CREATE OR REPLACE FUNCTION memory_is_file_name(own_name text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    RETURN octet_length(own_name) BETWEEN 1 AND 240 AND own_name NOT IN ('.', '..') AND own_name !~ '[[:cntrl:]]';
END
$$;

-- Whether a value of the front matter has the type of its key. `value` is the rest of the line of the key, and the lines that continue it.
CREATE OR REPLACE FUNCTION memory_is_value_of(key text, value text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    newline text := chr(10);
    first text := left(value, 1);
    is_quoted boolean := first IN ('"', '''');
    is_flow boolean := first IN ('[', '{');
    is_block boolean := first IN ('|', '>');
    unescaped text := value;
    bare text := value;
    uuid text := '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}';
    day text[];
BEGIN
    IF is_quoted OR is_flow THEN
        -- Without escaped backslashes and quotes; a backslash is doubled.
        unescaped := replace(replace(value, repeat(chr(92), 4), ''), repeat(chr(92), 2) || '"', '');
    END IF;
    IF is_block THEN
        IF value !~ ('^[|>][0-9+-]{0,2} *(#[^' || newline || ']*)?(' || newline || '|$)') THEN
            RETURN false;
        END IF;
        bare := regexp_replace(value, '^[^' || newline || ']*', '');
    ELSIF is_quoted THEN
        bare := regexp_replace(unescaped, '[[:space:]]+#[^"'']*$', '');
        IF bare !~ '^("[^"]*"|(''[^'']*'')+)[[:space:]]*$' THEN
            RETURN false;
        END IF;
        bare := btrim(bare, newline || ' ' || chr(9));
        bare := substr(bare, 2, length(bare) - 2);
    ELSIF is_flow THEN
        bare := regexp_replace(unescaped, '"[^"]*"|''[^'']*''', 'quoted', 'g');
        bare := btrim(regexp_replace(bare, '[[:space:]]#[^' || newline || ']*', '', 'g'), newline || ' ' || chr(9));
        IF right(bare, 1) <> translate(left(bare, 1), '[{', ']}')
            OR length(replace(bare, '[', '')) <> length(replace(bare, ']', ''))
            OR length(replace(bare, '{', '')) <> length(replace(bare, '}', ''))
        THEN
            RETURN false;
        END IF;
    ELSE
        IF position('#' IN value) > 0 THEN
            bare := regexp_replace(value, '(^|[[:space:]])#[^' || newline || ']*', '', 'g');
        END IF;
        bare := btrim(bare, newline || ' ' || chr(9));
        -- A map, an alias, or a character that begins no text.
        IF value ~ '^[]@`%,}*]' OR value ~ '^[?:-]([[:space:]]|$)'
            OR (value <> '' AND first NOT IN (newline, '#', '&', '!') AND bare ~ ':([[:space:]]|$)')
        THEN
            RETURN false;
        END IF;
    END IF;
    IF key IN (
        'created_at', 'updated_at', 'expires_at', 'valid_from', 'valid_until', 'due', 'notified_at', 'done_at', 'pinned', 'access_count',
        'version', 'memory_version', 'superseded_by', 'reminds'
    ) AND bare ~* '^(|null|~)$' THEN
        RETURN true;
    END IF;
    CASE
        WHEN key IN ('id', 'content_hash', 'phase', 'category', 'scope') THEN
            RETURN position(newline IN value) = 0;
        WHEN key IN ('created_at', 'updated_at', 'expires_at', 'valid_from', 'valid_until', 'due', 'notified_at', 'done_at') THEN
            day := regexp_match(
                bare,
                '^([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])'
                || '([Tt ]([01]?[0-9]|2[0-3]):[0-5][0-9](:([0-5][0-9]|60)([.][0-9]+)? ?([Zz]|[+-][0-9]{2}(:?[0-9]{2})?)?)?)?$'
            );
            RETURN day IS NOT NULL AND day[3]::integer <= CASE
                WHEN day[2] IN ('04', '06', '09', '11') THEN 30
                WHEN day[2] <> '02' THEN 31
                WHEN day[1]::integer % 4 = 0 AND (day[1]::integer % 100 <> 0 OR day[1]::integer % 400 = 0) THEN 29
                ELSE 28
            END;
        WHEN key IN ('access_count', 'memory_version') THEN
            RETURN bare ~ '^[0-9]{1,19}$';
        WHEN key = 'version' THEN
            RETURN bare ~ '^([0-9]{1,19}|[vV]?[0-9].*[.].*)$';
        WHEN key = 'pinned' THEN
            RETURN lower(bare) IN ('true', 'false', 'yes', 'no', 'on', 'off');
        WHEN key IN ('superseded_by', 'reminds') THEN
            RETURN bare ~* ('^' || uuid || '$');
        WHEN key IN ('links', 'supersedes') THEN
            -- Comments may contain anything.
            RETURN regexp_replace(regexp_replace(value, '(^|[[:space:]])#[^' || newline || ']*', '', 'g'), uuid, '', 'gi')
                ~ '^([][,"''[:space:]-]|null)*$';
        WHEN key IN ('tags', 'tag', 'aliases', 'alias', 'other_origins') THEN
            -- A list without maps, or a text.
            RETURN is_quoted OR is_block OR first NOT IN (newline, '#', '', '[', '{')
                OR (is_flow AND bare !~ '[{]|:([[:space:]]|$)')
                OR (NOT is_flow AND (
                    SELECT coalesce(bool_and(own.line ~ '^ *(- +)*-$|^ *(- +)+(["''[]|[^{&*!|> ](?!.*(: |: *$)))'), true)
                    FROM unnest(string_to_array(bare, newline)) AS own(line) WHERE own.line ~ '[^ ]'
                ));
        WHEN key IN ('title', 'source') THEN
            RETURN NOT is_flow AND (is_quoted OR is_block OR first NOT IN (newline, '#') OR bare !~ '^-|:([[:space:]]|$)');
        WHEN key = 'origin' THEN
            RETURN bare ~ '(^|[[:space:]{,])source:' AND bare ~ '(^|[[:space:]{,])root:' AND bare ~ '(^|[[:space:]{,])path:';
        ELSE
            RETURN true;
    END CASE;
END
$$;

-- Whether every node can read a file: a text in UTF-8 whose front matter ends, has no key twice, and has no value of another type, as far as
-- its lines show. Of the letters in a line, those that are not ASCII are escaped.
CREATE OR REPLACE FUNCTION memory_is_readable(content bytea) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    line text;
    former text;
    value text;
    keys text[] := '{}';
    is_open boolean := false;
BEGIN
    IF length(content) > 16777216 THEN
        RETURN false;
    END IF;
    BEGIN
        PERFORM convert(content, 'UTF8', 'UTF8');
    EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
        RETURN false;
    END;
    FOREACH line IN ARRAY string_to_array(encode(substring(content FROM 1 FOR 1048576), 'escape'), chr(10)) LOOP
        line := rtrim(line, chr(13));
        IF rtrim(line, ' ' || chr(9)) = '---' THEN
            IF is_open THEN
                RETURN former IS NULL OR memory_is_value_of(former, value);
            END IF;
            is_open := true;
        ELSIF line ~ ('[' || chr(1) || '-' || chr(8) || chr(11) || '-' || chr(31) || chr(127) || ']') OR NOT is_open THEN
            RETURN false;
        ELSIF line ~ '^[[:blank:]]*(#|$)' THEN
            -- A comment or an empty line.
            CONTINUE;
        ELSIF line ~ '^( +[^[:blank:]]|-( |$)|[]}])' THEN
            value := value || chr(10) || line;
        ELSE
            IF former IS NOT NULL AND NOT memory_is_value_of(former, value) THEN
                RETURN false;
            END IF;
            former := rtrim(
                substring(line FROM '^("[^"]*"|''[^'']*''|[^][:blank:]#&*!|>%@`{}[,"''](?:[^:]|:(?![[:blank:]]|$))*)[[:blank:]]*:(?:[[:blank:]]|$)'),
                ' ' || chr(9)
            );
            value := btrim(substr(line, length(former) + 1), ' ' || chr(9));
            IF value ~ '^:' IS NOT TRUE OR line ~ '^(---|[.][.][.]|[?:-]([[:blank:]]|$))' OR former ~ '[[:blank:]]#' THEN
                RETURN false;
            END IF;
            value := ltrim(substr(value, 2), ' ' || chr(9));
            IF former ~ '^["'']' THEN
                former := substr(former, 2, length(former) - 2);
                -- A letter in another spelling.
                IF position(repeat(chr(92), 2) IN former) > 0 THEN
                    RETURN false;
                END IF;
            END IF;
            IF former = ANY (keys) OR former = '<<' THEN
                RETURN false;
            END IF;
            keys := keys || former;
        END IF;
    END LOOP;
    RETURN false;
END
$$;

-- Whether a file is one of a memory with this id and scope: its first lines are those that the program writes. So no value before them can
-- contain them. The scope of an agent or a conversation is private to its principal.
CREATE OR REPLACE FUNCTION memory_is_content_of(content bytea, own_id text, own_scope text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    lines text[] := string_to_array(encode(substring(content FROM 1 FOR 8192), 'escape'), chr(10));
    stated_scope text := substr(lines[6], 8);
    backslash text := repeat(chr(92), 2);
BEGIN
    IF stated_scope ~ '^".*"$' THEN
        stated_scope := substr(stated_scope, 2, length(stated_scope) - 2);
        stated_scope := replace(replace(stated_scope, backslash || '"', '"'), backslash || backslash, backslash);
    ELSIF stated_scope ~ '^''.*''$' THEN
        stated_scope := replace(substr(stated_scope, 2, length(stated_scope) - 2), '''''', '''');
    END IF;
    RETURN lines[1] = '---' AND lines[2] = 'id: ' || own_id AND lines[3] ~ '^content_hash: [0-9a-z:]+$'
        AND lines[4] IN ('phase: inbox', 'phase: organized') AND starts_with(lines[5], 'category: ') AND starts_with(lines[6], 'scope: ')
        AND lower(btrim(substr(lines[5], 11), '"' || chr(39))) IN (
            'soul', 'character', 'people', 'project', 'date', 'knowledge', 'feedback', 'preferences', 'decisions', 'lessons', 'habits',
            'skills', 'inbox', 'reminders'
        )
        AND (
            stated_scope = encode(convert_to(own_scope, 'UTF8'), 'escape')
            OR (starts_with(own_scope, 'private:') AND stated_scope ~ '^(agent|conversation):[^"'']+$')
        );
END
$$;

-- Whether a part of a file name is a scope with other characters than letters and digits, which are encoded. A long one is shortened.
CREATE OR REPLACE FUNCTION memory_is_suffix_of(suffix text, scope text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    kind text := split_part(scope, ':', 1);
BEGIN
    RETURN suffix = kind || '-~' || right(encode(sha256(convert_to(scope, 'UTF8')), 'hex'), 32) OR (
        suffix ~ ('^' || kind || '-(?:%[0-9A-F]{2}|[A-Za-z0-9_.-]|[^ -~])+$')
        AND suffix !~ '%(2D|2E|3[0-9]|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9A])'
        AND convert_to(substr(scope, length(kind) + 2), 'UTF8') = (
            SELECT string_agg(
                CASE WHEN part.text[1] ~ '^%' THEN decode(substr(part.text[1], 2), 'hex') ELSE convert_to(part.text[1], 'UTF8') END,
                convert_to('', 'UTF8') ORDER BY part.nth
            )
            FROM regexp_matches(substr(suffix, length(kind) + 2), '%[0-9A-F]{2}|[^%]', 'g') WITH ORDINALITY AS part(text, nth)
        )
    );
END
$$;

-- Whether a file with this path may be in a scope: its name ends with the scope, unless that is `global`.
CREATE OR REPLACE FUNCTION memory_is_path_of(path text, scope text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    RETURN path ~ '^categories/([^/.][^/]*/)*[^/.][^/]*[.]md$' AND path !~ '[.]md/' AND octet_length(path) <= 800
        AND (SELECT bool_and(memory_is_file_name(part.name)) FROM unnest(string_to_array(path, '/')) AS part(name)) AND CASE
        WHEN scope = 'global' THEN position('@' IN path) = 0
        WHEN scope ~ '^[a-z]+:[A-Za-z0-9._-]{1,64}$' THEN right(path, length(scope) + 4) = '@' || replace(scope, ':', '-') || '.md'
        ELSE memory_is_suffix_of(substring(path FROM '@([^@/]+)[.]md$'), scope)
    END;
END
$$;

-- Whether a path is one in the trash for a previous version that an operation replaces.
CREATE OR REPLACE FUNCTION memory_is_trash_of(path text, operation text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    parts text[] := string_to_array(path, '/');
BEGIN
    RETURN cardinality(parts) = 4 AND parts[1] = 'trash' AND parts[2] ~ '^[0-9]{4}-[0-9]{2}$' AND parts[3] = operation
        AND octet_length(parts[4]) BETWEEN 1 AND 255 AND parts[4] !~ '^[.]|[[:cntrl:]]';
END
$$;

-- The version of the tables of memories.
CREATE OR REPLACE FUNCTION memory_node_version() RETURNS integer
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    RETURN (SELECT version FROM memory_schema WHERE one = 2);
END
$$;

-- The principal of the token, the scopes that it reads, those of them that it does not write, and whether the policies apply to the caller
-- and to the functions.
DROP FUNCTION IF EXISTS memory_node_access();
CREATE FUNCTION memory_node_access(OUT principal text, OUT scopes text[], OUT read_only text[], OUT is_restricted boolean)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    principal := memory_principal();
    scopes := memory_scopes_of(principal);
    read_only := ARRAY(
        SELECT own.scope FROM unnest(scopes) AS own(scope)
        EXCEPT SELECT own.scope FROM unnest(memory_scopes_with(principal, ARRAY['writer', 'admin'])) AS own(scope)
    );
    is_restricted := row_security_active('memory_documents')
        AND NOT EXISTS (SELECT FROM pg_roles WHERE rolname = session_user AND (rolsuper OR rolbypassrls));
    IF principal IS NOT NULL THEN
        PERFORM memory_record_contact(principal);
    ELSIF current_setting('memory.token', true) <> '' THEN
        PERFORM memory_record_refusal(current_setting('memory.token', true));
    END IF;
END
$$;

-- Records an export of memories.
CREATE OR REPLACE FUNCTION memory_node_record_export(own_subject text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    PERFORM memory_accessible_scopes();
    PERFORM memory_write_audit(memory_principal(), 'export', left(own_subject, 1000));
END
$$;

-- The grants of the scopes of which the caller is an admin.
CREATE OR REPLACE FUNCTION memory_node_grants() RETURNS TABLE (grant_grantee text, grant_scope text, grant_access text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    PERFORM memory_accessible_scopes();
    RETURN QUERY SELECT * FROM memory_grants_of(memory_scopes_with(memory_principal(), ARRAY['admin']));
END
$$;

-- Grants a team or a project of which the caller is an admin, or withdraws it if there is no level of access. Returns whether that changed
-- anything.
CREATE OR REPLACE FUNCTION memory_node_grant(own_grantee text, own_scope text, own_level text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    PERFORM memory_accessible_scopes();
    IF own_scope !~ '^(team|project):' OR NOT own_scope = ANY (memory_scopes_with(memory_principal(), ARRAY['admin'])) THEN
        RAISE insufficient_privilege USING MESSAGE = 'the principal of the transaction is no admin of the scope';
    END IF;
    RETURN memory_set_grant(memory_principal(), own_grantee, own_scope, own_level);
END
$$;

-- The id of the log.
CREATE OR REPLACE FUNCTION memory_node_log_id() RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    PERFORM memory_accessible_scopes();
    RETURN (SELECT id FROM memory_document_store WHERE one = 1);
END
$$;

-- A scope whose last operation in a replica is not in the log, if there is one.
CREATE OR REPLACE FUNCTION memory_node_find_lost(known_scopes text[], known_positions bigint[], known_tokens bigint[]) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    PERFORM memory_check_scopes(known_scopes);
    RETURN (
        SELECT known.scope FROM unnest(known_scopes, known_positions, known_tokens) AS known(scope, position, token)
        WHERE NOT EXISTS (
            SELECT FROM memory_document_operations AS own
            WHERE own.scope = known.scope AND own.position = known.position AND own.token = known.token
        ) LIMIT 1
    );
END
$$;

-- The operations after the positions of a replica, in order. An operation occurs once for each of its scopes, also if there are more than
-- `page` rows.
CREATE OR REPLACE FUNCTION memory_node_operations(known_scopes text[], known_positions bigint[], page bigint)
    RETURNS SETOF memory_document_operations
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    readable text[] := memory_accessible_scopes();
BEGIN
    IF readable IS NULL THEN
        readable := ARRAY(SELECT scope FROM memory_document_heads);
    END IF;
    RETURN QUERY
        SELECT scope, position, operation, token, verb, actor, at, at_nanos, undoes, recorded, principal FROM (
            SELECT own.*, rank() OVER (ORDER BY own.position, own.operation, own.token) AS place
            FROM unnest(readable) AS wanted(scope)
            JOIN memory_document_heads AS head ON head.scope = wanted.scope
            LEFT JOIN unnest(known_scopes, known_positions) AS known(scope, position) ON known.scope = head.scope
            CROSS JOIN LATERAL (
                SELECT * FROM memory_document_operations AS one
                WHERE one.scope = head.scope AND one.position > coalesce(known.position, 0) ORDER BY one.position LIMIT page
            ) AS own
            WHERE head.position > coalesce(known.position, 0)
        ) AS news
        WHERE place <= page ORDER BY place, scope;
END
$$;

-- The changes of operations.
CREATE OR REPLACE FUNCTION memory_node_changes(
    known_scopes text[], known_positions bigint[], known_operations text[], known_tokens bigint[]
) RETURNS SETOF memory_document_changes
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    PERFORM memory_check_scopes(known_scopes);
    RETURN QUERY
        SELECT own.* FROM unnest(known_scopes, known_positions, known_operations, known_tokens) AS known(scope, position, operation, token)
        JOIN memory_document_changes AS own ON own.scope = known.scope AND own.position = known.position
            AND own.operation = known.operation AND own.token = known.token
        ORDER BY own.operation, own.token, own.nth, own.path NULLS FIRST;
END
$$;

-- Appends an operation, moves the previous versions of its documents to the trash, and logs that as deletions. `memory_node_append_changes`
-- completes these changes, so no document disappears without a change in the log. A path identifies a document, because a node that has two
-- files with one id gives one of them another id. `known_positions` and `known_tokens` are the heads of its scopes, and `last_position` is
-- the highest position on the node.
--
-- The position is NULL if a head differs. `is_conflict` is true if a document differs from the expected one; then the caller rolls back.
CREATE OR REPLACE FUNCTION memory_node_append(
    known_scopes text[], known_positions bigint[], known_tokens bigint[], last_position bigint,
    own_operation text, own_token bigint, own_verb text, own_actor text, own_at timestamptz, own_at_nanos smallint,
    former_numbers integer[], former_scopes text[], former_ids text[], former_paths text[], former_hashes bytea[], former_trash text[],
    notifier bigint, OUT new_position bigint, OUT is_conflict boolean
)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    readable text[] := memory_accessible_scopes();
    is_behind boolean;
    moved bigint;
BEGIN
    PERFORM memory_check_writable(known_scopes);
    PERFORM memory_check_arrays(known_scopes, cardinality(known_positions), cardinality(known_tokens));
    PERFORM memory_check_arrays(
        former_numbers::text[], cardinality(former_scopes), cardinality(former_ids), cardinality(former_paths), cardinality(former_hashes),
        cardinality(former_trash)
    );
    IF NOT former_scopes <@ known_scopes THEN
        RAISE data_exception USING MESSAGE = 'a previous version is in no scope of the operation';
    END IF;
    -- The checks below must see what other transactions have committed meanwhile.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE feature_not_supported USING MESSAGE = 'operations are appended with the isolation level READ COMMITTED';
    END IF;
    -- The owner may also copy the operations of a damaged home.
    IF readable IS NOT NULL AND (
        own_operation ~ '^[0-9a-f]{12}$' AND own_at_nanos BETWEEN 0 AND 999
        AND own_at >= '0001-01-01 00:00:00+00' AND own_at < '10000-01-01 00:00:00+00' AND octet_length(own_actor) <= 1000
        AND own_verb IN (
            'write', 'update', 'tag', 'link', 'unlink', 'resolve-links', 'upgrade', 'delete', 'ingest', 'import', 'remind', 'notify',
            'snooze', 'done', 'dream', 'expire', 'decay', 'consolidate', 'undo', 'restore', 'repair', 'rename', 'gc', 'schema', 'set',
            'purge', 'reconcile', 'evict', 'propose', 'accept', 'reject', 'merge'
        )
    ) IS NOT TRUE THEN
        RAISE data_exception USING MESSAGE = 'the operation is not valid';
    END IF;
    -- A second version with the same path in the trash would replace the first one.
    IF readable IS NOT NULL AND (
        EXISTS (SELECT FROM unnest(former_trash) AS own(trash) WHERE memory_is_trash_of(own.trash, own_operation) IS NOT TRUE)
        OR cardinality(former_trash) <> (SELECT count(DISTINCT own.trash) FROM unnest(former_trash) AS own(trash))
        OR EXISTS (
            SELECT FROM unnest(readable) AS wanted(scope)
            JOIN memory_documents_trash AS own ON own.scope = wanted.scope AND own.operation = own_operation
            WHERE own.trash = ANY (former_trash)
        )
    ) THEN
        RAISE data_exception USING MESSAGE = 'a path in the trash is not valid';
    END IF;
    -- All transactions lock heads in the same order.
    WITH locked AS (
        INSERT INTO memory_document_heads AS own (scope, position, token)
        SELECT wanted.scope COLLATE "C", 0, 0 FROM unnest(known_scopes) AS wanted(scope) ORDER BY 1
        ON CONFLICT (scope) DO UPDATE SET position = own.position RETURNING own.scope, own.position, own.token
    )
    SELECT bool_or((locked.position, locked.token) IS DISTINCT FROM (known.position, known.token)) INTO is_behind
    FROM locked JOIN unnest(known_scopes, known_positions, known_tokens) AS known(scope, position, token) ON known.scope = locked.scope;
    -- A position that the log does not have would move all later ones.
    IF is_behind OR (
        readable IS NOT NULL
        AND last_position > (SELECT coalesce(max(position), 0) FROM memory_document_heads WHERE scope = ANY (readable))
    ) THEN
        RETURN;
    END IF;
    IF readable IS NOT NULL AND memory_is_operation_used(own_operation, own_token, memory_principal()) THEN
        RAISE data_exception USING MESSAGE = 'the operation is one of another principal';
    END IF;
    new_position := greatest(last_position, (SELECT max(known.position) FROM unnest(known_positions) AS known(position))) + 1;
    UPDATE memory_document_heads SET position = new_position, token = own_token WHERE scope = ANY (known_scopes);
    INSERT INTO memory_document_operations (scope, position, operation, token, verb, actor, at, at_nanos, recorded)
        SELECT wanted.scope, new_position, own_operation, own_token, own_verb, own_actor, own_at, own_at_nanos, now()
        FROM unnest(known_scopes) AS wanted(scope);
    IF notifier IS NOT NULL THEN
        PERFORM pg_notify('memory_documents', notifier::text);
    END IF;
    is_conflict := false;
    IF cardinality(former_scopes) > 0 THEN
        WITH gone AS (
            DELETE FROM memory_documents AS own
            USING unnest(former_numbers, former_scopes, former_ids, former_paths, former_hashes, former_trash)
                AS former(nth, scope, id, path, hash, trash)
            WHERE own.scope = former.scope AND own.path = former.path AND own.hash = former.hash
            RETURNING own.*, former.nth, former.trash
        ), logged AS (
            INSERT INTO memory_document_changes (scope, position, nth, operation, token, id, former_path, former_hash, trash)
            SELECT scope, new_position, nth, own_operation, own_token, id, path, hash, nullif(trash, '') FROM gone
        )
        INSERT INTO memory_documents_trash (scope, operation, token, nth, at, trash, id, path, hash, category, phase, tags, created_at,
            updated_at, expires_at, source, content)
        SELECT scope, own_operation, own_token, nth, own_at, trash, id, path, hash, category, phase, tags, created_at, updated_at,
            expires_at, source, content FROM gone;
        GET DIAGNOSTICS moved = ROW_COUNT;
        is_conflict := moved <> cardinality(former_scopes);
    END IF;
END
$$;

-- Whether changes only revert those of another operation: each document returns to its state before that operation. A large undo leaves
-- documents that were changed since.
CREATE OR REPLACE FUNCTION memory_is_undo_of(
    undone text, readable text[], scopes text[], ids text[], former_paths text[], former_hashes bytea[], hashes bytea[]
) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    RETURN NOT EXISTS (
        SELECT FROM unnest(scopes, ids, former_paths, former_hashes, hashes) AS new(scope, id, former_path, former_hash, hash)
        WHERE NOT EXISTS (
            SELECT FROM memory_document_changes AS own
            WHERE own.scope = new.scope AND own.id = new.id AND own.operation = undone AND CASE
                WHEN own.path IS NULL AND own.former_path IS NULL THEN false
                WHEN new.former_path IS NOT NULL OR new.hash IS NOT NULL THEN
                    (own.path, own.hash, own.former_hash) IS NOT DISTINCT FROM (new.former_path, new.former_hash, new.hash)
                -- The document is left as it is.
                WHEN own.path IS NULL THEN EXISTS (
                    SELECT FROM memory_documents AS current
                    WHERE current.scope = own.scope AND (current.path = own.former_path OR current.id = own.id)
                )
                ELSE NOT EXISTS (
                    SELECT FROM memory_documents AS current
                    WHERE current.scope = own.scope AND current.path = own.path AND current.hash = own.hash
                )
            END
        ) OR new.former_path IS NULL AND new.hash IS NULL AND 10 > (
            SELECT count(DISTINCT own.id) FROM unnest(readable) AS wanted(scope)
            JOIN memory_document_operations AS operation ON operation.scope = wanted.scope AND operation.operation = undone
            JOIN memory_document_changes AS own ON own.scope = operation.scope AND own.position = operation.position
        )
    );
END
$$;

-- Adds changes to an operation that the transaction has appended, and inserts the new documents. A change without a scope has no new document.
-- The tags of a document are one text, separated by a control character. `own_undoes` is the operation that this one reverts.
CREATE OR REPLACE FUNCTION memory_node_append_changes(
    own_scopes text[], own_position bigint, own_operation text, own_token bigint, own_undoes text,
    numbers integer[], ids text[], former_scopes text[], former_paths text[], former_hashes bytea[], former_trash text[],
    scopes text[], paths text[], hashes bytea[], reasons text[], contents bytea[], categories text[], phases text[], tag_lists text[],
    creations timestamptz[], updates timestamptz[], expiries timestamptz[], sources text[]
) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    readable text[] := memory_accessible_scopes();
BEGIN
    PERFORM memory_check_writable(own_scopes);
    PERFORM memory_check_arrays(own_scopes, cardinality(own_scopes));
    PERFORM memory_check_arrays(
        numbers::text[], cardinality(ids), cardinality(former_scopes), cardinality(former_paths), cardinality(former_hashes),
        cardinality(former_trash), cardinality(scopes), cardinality(paths), cardinality(hashes), cardinality(reasons), cardinality(contents),
        cardinality(categories), cardinality(phases), cardinality(tag_lists), cardinality(creations), cardinality(updates),
        cardinality(expiries), cardinality(sources)
    );
    IF NOT array_remove(former_scopes || scopes, NULL) <@ own_scopes OR cardinality(own_scopes) <> (
        SELECT count(*) FROM memory_document_operations AS own
        WHERE own.scope = ANY (own_scopes) AND own.position = own_position AND own.operation = own_operation AND own.token = own_token
            AND own.recorded = now() AND own.principal IS NOT DISTINCT FROM memory_principal()
    ) THEN
        RAISE data_exception USING MESSAGE = 'the transaction has not appended the operation';
    END IF;
    IF readable IS NOT NULL AND EXISTS (
        SELECT FROM unnest(numbers, ids, former_scopes, former_paths, former_hashes, former_trash, scopes, paths, hashes, reasons, contents)
            AS new(nth, id, former_scope, former_path, former_hash, trash, scope, path, hash, why, content)
        LEFT JOIN memory_documents_trash AS former ON former.scope = new.former_scope AND former.operation = own_operation
            AND former.token = own_token AND former.nth = new.nth
        WHERE (
            new.id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' AND new.nth >= 0 AND coalesce(octet_length(new.why), 0) <= 65536
            AND CASE WHEN new.former_path IS NULL THEN new.former_hash IS NULL AND new.trash IS NULL AND former.nth IS NULL
                -- The previous version of a document with the id of another one may have another id.
                ELSE former.path = new.former_path AND former.hash = new.former_hash AND former.trash = new.trash
                    AND memory_is_path_of(new.former_path, new.former_scope)
                    AND (former.id = new.id OR memory_has_ids_elsewhere(ARRAY[former.id], ARRAY[new.former_scope])) END
            AND CASE WHEN new.scope IS NULL THEN new.path IS NULL AND new.hash IS NULL AND new.content IS NULL
                ELSE memory_is_path_of(new.path, new.scope) AND sha256(new.content) = new.hash END
        ) IS NOT TRUE
    ) THEN
        RAISE data_exception USING MESSAGE = 'a change of the operation is not valid';
    END IF;
    -- A scope may have a version again that it had before, such as one that the owner has copied from files.
    IF readable IS NOT NULL AND EXISTS (
        SELECT FROM unnest(ids, scopes, hashes, contents) AS new(id, scope, hash, content)
        WHERE new.scope IS NOT NULL AND (memory_is_content_of(new.content, new.id, new.scope) AND memory_is_readable(new.content)) IS NOT TRUE
            AND NOT EXISTS (
                SELECT FROM memory_document_changes AS own WHERE own.scope = new.scope AND own.id = new.id AND own.hash = new.hash
            )
    ) THEN
        RAISE data_exception USING MESSAGE = 'a file of the operation is not valid';
    END IF;
    INSERT INTO memory_documents (scope, id, path, hash, category, phase, tags, created_at, updated_at, expires_at, source, content)
        SELECT new.scope, new.id, new.path, new.hash, new.category, new.phase, string_to_array(new.tags, chr(31)), new.created_at,
            new.updated_at, new.expires_at, new.source, new.content
        FROM unnest(scopes, ids, paths, hashes, categories, phases, tag_lists, creations, updates, expiries, sources, contents)
            AS new(scope, id, path, hash, category, phase, tags, created_at, updated_at, expires_at, source, content)
        WHERE new.scope IS NOT NULL;
    IF readable IS NOT NULL AND memory_has_ids_elsewhere(ids, scopes) THEN
        RAISE unique_violation USING MESSAGE = 'a memory of another scope has the same id', CONSTRAINT = 'memory_documents_id';
    END IF;
    -- A change from one scope into another is two rows: the deletion in the former scope, and the creation in the new one.
    UPDATE memory_document_changes AS own SET id = new.id, why = new.why, path = next.path, hash = next.hash, content = next.content
        FROM unnest(numbers, ids, former_scopes, former_paths, scopes, paths, hashes, reasons, contents)
            AS new(nth, id, former_scope, former_path, scope, path, hash, why, content)
        LEFT JOIN LATERAL (SELECT new.path, new.hash, new.content WHERE new.scope = new.former_scope) AS next ON true
        WHERE own.scope = new.former_scope AND own.position = own_position AND own.nth = new.nth AND new.former_path IS NOT NULL;
    INSERT INTO memory_document_changes (scope, position, nth, operation, token, id, former_path, former_hash, trash, path, hash, why, content)
        SELECT coalesce(new.scope, new.former_scope, own_scopes[1]), own_position, new.nth, own_operation, own_token, new.id,
            CASE WHEN NOT is_logged THEN new.former_path END, CASE WHEN NOT is_logged THEN new.former_hash END,
            CASE WHEN NOT is_logged THEN new.trash END, new.path, new.hash, new.why, new.content
        FROM unnest(numbers, ids, former_scopes, former_paths, former_hashes, former_trash, scopes, paths, hashes, reasons, contents)
            AS new(nth, id, former_scope, former_path, former_hash, trash, scope, path, hash, why, content)
        CROSS JOIN LATERAL (SELECT new.former_scope IS NOT NULL AND new.former_path IS NOT NULL AS is_logged) AS former
        WHERE NOT is_logged OR new.scope <> new.former_scope;
    IF own_undoes IS NULL THEN
        RETURN;
    END IF;
    IF readable IS NOT NULL AND (
        SELECT own_undoes <> own_operation AND memory_is_undo_of(
            own_undoes, readable, array_agg(own.scope), array_agg(own.id), array_agg(own.former_path), array_agg(own.former_hash),
            array_agg(own.hash)
        )
        FROM memory_document_changes AS own
        WHERE own.scope = ANY (own_scopes) AND own.position = own_position AND own.nth = ANY (numbers)
    ) IS NOT TRUE THEN
        RAISE data_exception USING MESSAGE = 'the operation does not revert the other one';
    END IF;
    UPDATE memory_document_operations AS own SET undoes = own_undoes
        WHERE own.scope = ANY (own_scopes) AND own.position = own_position AND (readable IS NULL OR EXISTS (
            SELECT FROM memory_document_changes AS change
            WHERE change.scope = own.scope AND change.position = own_position AND change.nth = ANY (numbers)
        ));
END
$$;

-- Deletes old previous versions, also from the changes that made them, unless they are current or in the trash again.
CREATE OR REPLACE FUNCTION memory_node_purge(before timestamptz) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    readable text[] := memory_accessible_scopes();
    own_scope text;
    purged bigint := 0;
BEGIN
    IF readable IS NULL THEN
        readable := ARRAY(SELECT scope FROM memory_document_heads ORDER BY scope);
    ELSE
        readable := memory_scopes_with(memory_principal(), ARRAY['writer', 'admin']);
    END IF;
    FOREACH own_scope IN ARRAY readable LOOP
        purged := purged + (SELECT count(*) FROM memory_documents_trash WHERE scope = own_scope AND at < before);
        WITH gone AS (
            DELETE FROM memory_documents_trash WHERE scope = own_scope AND at < before RETURNING id, hash
        )
        UPDATE memory_document_changes AS own SET content = NULL FROM gone
        WHERE own.scope = own_scope AND own.id = gone.id AND own.hash = gone.hash AND own.content IS NOT NULL
            AND NOT EXISTS (
                SELECT FROM memory_documents AS now WHERE now.scope = own_scope AND now.id = own.id AND now.hash = own.hash
            )
            AND NOT EXISTS (
                SELECT FROM memory_documents_trash AS later
                WHERE later.scope = own_scope AND later.id = own.id AND later.hash = own.hash AND later.at >= before
            );
    END LOOP;
    IF purged > 0 THEN
        PERFORM memory_write_audit(memory_principal(), 'purge', purged || ' versions from before ' || before);
    END IF;
END
$$;

-- Fails unless the caller may access the folders of a scope. Those of `global` are of nodes without a token.
CREATE OR REPLACE FUNCTION memory_check_folder(own_scope text, own_folder text) RETURNS void
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    PERFORM memory_check_scopes(ARRAY[own_scope]);
    IF own_scope = 'global' AND NOT memory_is_owner() THEN
        RAISE insufficient_privilege USING MESSAGE = 'the principal of the transaction has no access to a scope';
    END IF;
    IF (
        octet_length(own_folder) <= 400
        AND (SELECT bool_and(memory_is_file_name(part.name)) FROM unnest(string_to_array(own_folder, '/')) AS part(name))
    ) IS NOT TRUE THEN
        RAISE data_exception USING MESSAGE = 'a folder is not valid';
    END IF;
END
$$;

-- The files of a folder after a position, with those parts of each that are new since `known_position`, and the position of the folder at
-- the same time. Without files, there is one row without a path.
CREATE OR REPLACE FUNCTION memory_node_files(
    own_scope text, own_folder text, known_position bigint, next_position bigint, next_path text, page bigint
) RETURNS TABLE (file_path text, file_position bigint, file_written bigint, is_file boolean, part_start bigint, part_content bytea, head bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    PERFORM memory_check_folder(own_scope, own_folder);
    RETURN QUERY
        SELECT own.path, own.position, own.written, own.is_there, part.start_at, part.content,
            (SELECT folder.position FROM memory_folders AS folder WHERE folder.scope = own_scope AND folder.folder = own_folder)
        FROM (SELECT 1) AS one
        LEFT JOIN (
            SELECT file.path, file.position, file.written, file.is_there FROM memory_files AS file
            WHERE file.scope = own_scope AND file.folder = own_folder AND (file.position, file.path) > (next_position, next_path)
            ORDER BY file.position, file.path LIMIT page
        ) AS own ON true
        LEFT JOIN memory_file_parts AS part ON part.scope = own_scope AND part.folder = own_folder AND part.path = own.path
            AND part.position > known_position
        ORDER BY own.position, own.path, part.start_at;
END
$$;

-- The folders of the scopes of the caller.
CREATE OR REPLACE FUNCTION memory_node_folders() RETURNS TABLE (folder_scope text, folder_name text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    readable text[] := memory_accessible_scopes();
BEGIN
    IF readable IS NULL THEN
        readable := ARRAY(SELECT DISTINCT scope FROM memory_folders);
    END IF;
    RETURN QUERY
        SELECT own.scope, own.folder FROM unnest(readable) AS wanted(scope)
        JOIN memory_folders AS own ON own.scope = wanted.scope WHERE own.scope <> 'global' OR memory_is_owner() ORDER BY 1, 2;
END
$$;

-- Begins a commit of files, and returns its position. The position is NULL if the folder has another position than the known one, or if the
-- same commit was made before.
CREATE OR REPLACE FUNCTION memory_node_commit_files(
    own_scope text, own_folder text, known_position bigint, own_token bigint, notifier bigint,
    OUT new_position bigint, OUT is_repeated boolean
)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    head bigint;
BEGIN
    PERFORM memory_check_folder(own_scope, own_folder);
    PERFORM memory_check_writable(ARRAY[own_scope]);
    INSERT INTO memory_folders AS own (scope, folder, position, tokens) VALUES (own_scope, own_folder, 0, ARRAY[]::bigint[])
        ON CONFLICT (scope, folder) DO UPDATE SET position = own.position
        RETURNING own.position, own_token = ANY (own.tokens) INTO head, is_repeated;
    IF is_repeated OR head <> known_position THEN
        RETURN;
    END IF;
    new_position := head + 1;
    UPDATE memory_folders AS own SET position = new_position, tokens = (own_token || own.tokens)[1:256], begun_at = now()
        WHERE own.scope = own_scope AND own.folder = own_folder;
    IF notifier IS NOT NULL THEN
        PERFORM pg_notify('memory_documents', notifier::text);
    END IF;
END
$$;

-- Changes files in the commit of the transaction. A file without `starts` is replaced, or deleted if it has no content either; the content of
-- the others is appended at `starts`. Returns false if a file to append to has another size; then the caller rolls back.
CREATE OR REPLACE FUNCTION memory_node_put_files(
    own_scope text, own_folder text, own_position bigint, paths text[], starts bigint[], contents bytea[]
) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    extended bigint;
BEGIN
    PERFORM memory_check_folder(own_scope, own_folder);
    PERFORM memory_check_writable(ARRAY[own_scope]);
    IF NOT EXISTS (
        SELECT FROM memory_folders AS own WHERE own.scope = own_scope AND own.folder = own_folder AND own.position = own_position
            AND own.begun_at = now()
    ) THEN
        RAISE data_exception USING MESSAGE = 'the transaction has not begun the commit';
    END IF;
    PERFORM memory_check_arrays(paths, cardinality(starts), cardinality(contents));
    -- Hidden files are those of a node itself or of other programs, except for logs and the mark of a generated index.
    IF EXISTS (
        SELECT FROM unnest(paths) AS new(path) WHERE new.path = '' OR octet_length(new.path) > 800
        OR new.path <> '.index.json' AND new.path !~ '^([.]trash/|[.]conversations/journal/)?[^./][^/]*(/[^./][^/]*)*$'
        OR EXISTS (SELECT FROM unnest(string_to_array(new.path, '/')) AS part(name) WHERE NOT memory_is_file_name(part.name))
    ) THEN
        RAISE data_exception USING MESSAGE = 'a path is not valid';
    END IF;
    DELETE FROM memory_file_parts AS own USING unnest(paths, starts) AS new(path, start_at)
        WHERE own.scope = own_scope AND own.folder = own_folder AND own.path = new.path AND new.start_at IS NULL;
    INSERT INTO memory_files AS own (scope, folder, path, position, written, is_there, size, hash)
        SELECT own_scope, own_folder, new.path, own_position, own_position, new.content IS NOT NULL, coalesce(length(new.content), 0),
            sha256(new.content)
        FROM unnest(paths, starts, contents) AS new(path, start_at, content) WHERE new.start_at IS NULL
        ON CONFLICT (scope, folder, path) DO UPDATE SET position = excluded.position, written = excluded.written,
            is_there = excluded.is_there, size = excluded.size, hash = excluded.hash;
    UPDATE memory_files AS own SET position = own_position, size = new.start_at + length(new.content), hash = NULL
        FROM unnest(paths, starts, contents) AS new(path, start_at, content)
        WHERE own.scope = own_scope AND own.folder = own_folder AND own.path = new.path AND own.is_there AND own.size = new.start_at;
    GET DIAGNOSTICS extended = ROW_COUNT;
    -- No file is the folder of another one.
    IF EXISTS (
        SELECT FROM unnest(paths, contents) AS new(path, content) CROSS JOIN generate_series(2, length(new.path)) AS place
        JOIN memory_files AS own ON own.scope = own_scope AND own.folder = own_folder AND own.path = left(new.path, place - 1)
        WHERE new.content IS NOT NULL AND substr(new.path, place, 1) = '/' AND own.is_there
    ) OR EXISTS (
        SELECT FROM unnest(paths, contents) AS new(path, content)
        JOIN memory_files AS own ON own.scope = own_scope AND own.folder = own_folder
            AND own.path > new.path || '/' AND own.path < new.path || '0'
        WHERE new.content IS NOT NULL AND own.is_there
    ) THEN
        RAISE data_exception USING MESSAGE = 'a path is not valid';
    END IF;
    INSERT INTO memory_file_parts (scope, folder, path, start_at, position, content)
        SELECT own_scope, own_folder, new.path, coalesce(new.start_at, 0), own_position, new.content
        FROM unnest(paths, starts, contents) AS new(path, start_at, content) WHERE new.content IS NOT NULL;
    RETURN extended = cardinality(array_remove(starts, NULL));
END
$$;

-- Gives a role the privileges of nodes, and takes all others on the tables and functions from it.
CREATE OR REPLACE FUNCTION memory_grant_node(node name) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('REVOKE ALL ON TABLE %I.%I FROM %I', nspname, relname, node)
        FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE nspname = current_schema() AND relkind IN ('r', 'p') AND left(relname, 7) = 'memory_'
            AND (relrowsecurity OR relname = 'memory_schema')
        UNION ALL
        SELECT format(
            CASE WHEN left(proname, 12) = 'memory_node_' THEN 'GRANT EXECUTE ON FUNCTION %s TO %I' ELSE 'REVOKE ALL ON FUNCTION %s FROM %I' END,
            pg_proc.oid::regprocedure, node
        )
        FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace
        WHERE nspname = current_schema() AND left(proname, 7) = 'memory_' AND prosecdef
        UNION ALL
        SELECT format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), node)
    LOOP
        EXECUTE statement;
    END LOOP;
END
$$;
