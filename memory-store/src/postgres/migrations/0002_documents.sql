-- The log of memories. Keys begin with the scope, so that the tables can be divided by it. The scope of a row is its access key: the scope
-- of the memory, or `private:NAME` for the memories that the agents of the principal NAME have for themselves.

-- The id of this log, by which a replica recognizes it.
CREATE TABLE IF NOT EXISTS memory_document_store (
    one integer NOT NULL PRIMARY KEY,
    id  text NOT NULL
);
INSERT INTO memory_document_store (one, id) VALUES (1, md5(random()::text || clock_timestamp()::text))
    ON CONFLICT (one) DO NOTHING;

-- The position and the token of the last operation of each scope. An operation locks the rows of its scopes until it is committed, so positions become visible in order.
CREATE TABLE IF NOT EXISTS memory_document_heads (
    scope    text COLLATE "C" NOT NULL PRIMARY KEY,
    position bigint NOT NULL,
    token    bigint NOT NULL
);

-- One row for each scope of each part of an operation. `token` is a random number for the part, and `at_nanos` are the nanoseconds beyond the microsecond of `at`.
CREATE TABLE IF NOT EXISTS memory_document_operations (
    scope     text COLLATE "C" NOT NULL,
    position  bigint NOT NULL,
    operation text COLLATE "C" NOT NULL,
    token     bigint NOT NULL,
    verb      text NOT NULL,
    actor     text NOT NULL,
    at        timestamptz NOT NULL,
    at_nanos  smallint NOT NULL,
    undoes    text,
    recorded  timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (scope, position)
);

-- No part of an operation is logged twice.
CREATE UNIQUE INDEX IF NOT EXISTS memory_document_operations_once ON memory_document_operations (scope, operation, token);

-- The changes of files. A change from one scope into another is two rows with the same number: the deletion in the former scope, and the
-- creation in the new one. The content of the new file is absent after a purge.
CREATE TABLE IF NOT EXISTS memory_document_changes (
    scope        text COLLATE "C" NOT NULL,
    position     bigint NOT NULL,
    nth          integer NOT NULL,
    operation    text COLLATE "C" NOT NULL,
    token        bigint NOT NULL,
    id           text COLLATE "C" NOT NULL,
    former_path  text,
    former_hash  bytea,
    trash        text,
    path         text,
    hash         bytea,
    why          text,
    content      bytea,
    PRIMARY KEY (scope, position, nth),
    CHECK (former_path IS NULL OR former_path ~ '^categories/([^/.][^/]*/)*[^/.][^/]*[.]md$'),
    CHECK (path IS NULL OR path ~ '^categories/([^/.][^/]*/)*[^/.][^/]*[.]md$'),
    CHECK (trash IS NULL OR trash ~ '^trash/([^/.][^/]*/)*[^/.][^/]*$')
);

CREATE INDEX IF NOT EXISTS memory_document_changes_id ON memory_document_changes (scope, id);

-- The current documents: the bytes of each file, and the fields for filters.
CREATE TABLE IF NOT EXISTS memory_documents (
    scope      text COLLATE "C" NOT NULL,
    id         text COLLATE "C" NOT NULL,
    path       text COLLATE "C" NOT NULL,
    hash       bytea NOT NULL,
    category   text NOT NULL,
    phase      text NOT NULL,
    tags       text[] NOT NULL,
    created_at timestamptz,
    updated_at timestamptz,
    expires_at timestamptz,
    source     text NOT NULL,
    content    bytea NOT NULL,
    PRIMARY KEY (scope, id),
    -- Only files of other scopes have a name with the scope, `NAME@SCOPE.md`.
    CHECK ((scope = 'global') = (position('@' in path) = 0))
);

-- A replica has all its scopes in one folder. The names of the files differ between scopes, so no index reveals the names of other scopes.
CREATE UNIQUE INDEX IF NOT EXISTS memory_documents_path ON memory_documents (scope, path);

-- The previous version of each replaced or deleted document, under the operation that replaced it.
CREATE TABLE IF NOT EXISTS memory_documents_trash (
    scope      text COLLATE "C" NOT NULL,
    operation  text COLLATE "C" NOT NULL,
    token      bigint NOT NULL,
    nth        integer NOT NULL,
    at         timestamptz NOT NULL,
    trash      text NOT NULL,
    id         text COLLATE "C" NOT NULL,
    path       text NOT NULL,
    hash       bytea NOT NULL,
    category   text NOT NULL,
    phase      text NOT NULL,
    tags       text[] NOT NULL,
    created_at timestamptz,
    updated_at timestamptz,
    expires_at timestamptz,
    source     text NOT NULL,
    content    bytea NOT NULL,
    PRIMARY KEY (scope, operation, token, nth)
);
