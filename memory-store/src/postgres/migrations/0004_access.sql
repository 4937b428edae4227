-- Access control: principals with tokens, and policies for all tables of memories.
--
-- A transaction contains its token in the setting `memory.token`. The bodies of the functions are parsed here, so that their names do not
-- depend on the search path of the caller.

-- A token is stored as its SHA-256.
CREATE TABLE IF NOT EXISTS memory_principals (
    name       text COLLATE "C" NOT NULL PRIMARY KEY,
    kind       text NOT NULL,
    token_hash bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz
);
CREATE UNIQUE INDEX IF NOT EXISTS memory_principals_token ON memory_principals (token_hash);

-- The further scopes of principals and of teams. A grantee is `private:NAME` or `team:NAME`; only a principal is granted a team.
CREATE TABLE IF NOT EXISTS memory_principal_scopes (
    grantee    text COLLATE "C" NOT NULL,
    scope      text COLLATE "C" NOT NULL,
    granted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (grantee, scope)
);

-- The owner of the tables.
CREATE OR REPLACE FUNCTION memory_owner() RETURNS name
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    RETURN current_user;

-- Whether all rows are accessible: to the owner, unless a token restricts the transaction.
CREATE OR REPLACE FUNCTION memory_is_owner() RETURNS boolean
    LANGUAGE sql STABLE
    RETURN current_user = memory_owner() AND coalesce(current_setting('memory.token', true), '') = '';

-- Whether all principals are accessible: to the owner without a token, and to the functions below, which run as the owner. They are
-- recognized by their search path, because a user who is no superuser cannot give them another setting.
CREATE OR REPLACE FUNCTION memory_reads_principals() RETURNS boolean
    LANGUAGE sql STABLE
    RETURN current_user = memory_owner() AND (
        coalesce(current_setting('memory.token', true), '') = '' OR current_setting('search_path') = 'pg_catalog, pg_temp'
    );

-- Only the functions that read the token of the caller may call these two.
CREATE OR REPLACE FUNCTION memory_find_principal(token text) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    BEGIN ATOMIC
        SELECT name FROM memory_principals WHERE token_hash = sha256(convert_to(token, 'UTF8')) AND revoked_at IS NULL;
    END;

CREATE OR REPLACE FUNCTION memory_scopes_of(principal text) RETURNS text[]
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    BEGIN ATOMIC
        SELECT ARRAY(
            SELECT 'global' WHERE principal IS NOT NULL
            UNION SELECT 'private:' || principal WHERE principal IS NOT NULL
            UNION SELECT scope FROM memory_principal_scopes WHERE grantee = 'private:' || principal
            UNION SELECT further.scope FROM memory_principal_scopes AS own JOIN memory_principal_scopes AS further
                ON further.grantee = own.scope WHERE own.grantee = 'private:' || principal
        );
    END;

-- The principal of the token, if it is valid.
CREATE OR REPLACE FUNCTION memory_principal() RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    RETURN CASE WHEN coalesce(current_setting('memory.token', true), '') <> ''
        THEN memory_find_principal(current_setting('memory.token', true)) END;

-- The scopes that the principal of the token reads and writes.
CREATE OR REPLACE FUNCTION memory_readable_scopes() RETURNS text[]
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    RETURN memory_scopes_of(memory_principal());

REVOKE ALL ON FUNCTION memory_find_principal(text), memory_scopes_of(text) FROM PUBLIC;

-- The principal of each operation. A principal cannot write this column.
ALTER TABLE memory_document_operations ADD COLUMN IF NOT EXISTS principal text DEFAULT memory_principal();

-- The subqueries run once for each statement, not for each row.
ALTER TABLE memory_document_store ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_document_store FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS memory_access ON memory_document_store;
CREATE POLICY memory_access ON memory_document_store
    USING ((SELECT memory_is_owner()) OR (SELECT memory_principal()) IS NOT NULL) WITH CHECK ((SELECT memory_is_owner()));

ALTER TABLE memory_document_heads ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_document_heads FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS memory_access ON memory_document_heads;
CREATE POLICY memory_access ON memory_document_heads
    USING ((SELECT memory_is_owner()) OR scope = ANY ((SELECT memory_readable_scopes())::text[]));

ALTER TABLE memory_document_operations ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_document_operations FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS memory_access ON memory_document_operations;
CREATE POLICY memory_access ON memory_document_operations
    USING ((SELECT memory_is_owner()) OR scope = ANY ((SELECT memory_readable_scopes())::text[]));

ALTER TABLE memory_document_changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_document_changes FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS memory_access ON memory_document_changes;
CREATE POLICY memory_access ON memory_document_changes
    USING ((SELECT memory_is_owner()) OR scope = ANY ((SELECT memory_readable_scopes())::text[]));

ALTER TABLE memory_documents ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_documents FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS memory_access ON memory_documents;
CREATE POLICY memory_access ON memory_documents
    USING ((SELECT memory_is_owner()) OR scope = ANY ((SELECT memory_readable_scopes())::text[]));

ALTER TABLE memory_documents_trash ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_documents_trash FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS memory_access ON memory_documents_trash;
CREATE POLICY memory_access ON memory_documents_trash
    USING ((SELECT memory_is_owner()) OR scope = ANY ((SELECT memory_readable_scopes())::text[]));

ALTER TABLE memory_folders ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_folders FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS memory_access ON memory_folders;
CREATE POLICY memory_access ON memory_folders
    USING ((SELECT memory_is_owner()) OR scope = ANY ((SELECT memory_readable_scopes())::text[]));

ALTER TABLE memory_files ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_files FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS memory_access ON memory_files;
CREATE POLICY memory_access ON memory_files
    USING ((SELECT memory_is_owner()) OR scope = ANY ((SELECT memory_readable_scopes())::text[]));

ALTER TABLE memory_file_parts ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_file_parts FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS memory_access ON memory_file_parts;
CREATE POLICY memory_access ON memory_file_parts
    USING ((SELECT memory_is_owner()) OR scope = ANY ((SELECT memory_readable_scopes())::text[]));

ALTER TABLE memory_principals ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_principals FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS memory_access ON memory_principals;
CREATE POLICY memory_access ON memory_principals
    USING ((SELECT memory_reads_principals()) OR name = (SELECT memory_principal())) WITH CHECK ((SELECT memory_is_owner()));

ALTER TABLE memory_principal_scopes ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_principal_scopes FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS memory_access ON memory_principal_scopes;
CREATE POLICY memory_access ON memory_principal_scopes
    USING ((SELECT memory_reads_principals()) OR grantee = ANY ((SELECT memory_readable_scopes())::text[]))
    WITH CHECK ((SELECT memory_is_owner()));
