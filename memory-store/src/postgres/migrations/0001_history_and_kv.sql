-- A session goes on counting where it was, even if it was deleted, so no position is ever that of two records.
CREATE TABLE IF NOT EXISTS memory_sessions (
    session       text COLLATE "C" NOT NULL PRIMARY KEY,
    next_position bigint NOT NULL,
    records       bigint NOT NULL,
    is_there      boolean NOT NULL
);

-- `said_nanos` are the nanoseconds beyond the microsecond of `said_at`. `nth` counts the records of one append. `back_from` is the
-- operation that had taken the record away, if it was brought back.
CREATE TABLE IF NOT EXISTS memory_records (
    session      text COLLATE "C" NOT NULL,
    position     bigint NOT NULL,
    role         text NOT NULL,
    said_at      timestamptz,
    said_nanos   smallint NOT NULL,
    operation    text NOT NULL,
    operation_at timestamptz NOT NULL,
    nth          integer NOT NULL,
    text         text NOT NULL,
    back_from    text,
    PRIMARY KEY (session, position)
);

-- No append is done twice.
CREATE UNIQUE INDEX IF NOT EXISTS memory_records_operation ON memory_records (session, operation_at, operation, nth);

-- The last summary of a long session is found without looking at what was said since. What most records are is found anyway.
CREATE INDEX IF NOT EXISTS memory_records_role ON memory_records (session, role, position)
    WHERE role <> 'user' AND role <> 'assistant';

-- What was deleted and purged, by which operation.
CREATE TABLE IF NOT EXISTS memory_records_trash (
    session      text COLLATE "C" NOT NULL,
    taken_by     text NOT NULL,
    position     bigint NOT NULL,
    role         text NOT NULL,
    said_at      timestamptz,
    said_nanos   smallint NOT NULL,
    operation    text NOT NULL,
    operation_at timestamptz NOT NULL,
    nth          integer NOT NULL,
    text         text NOT NULL,
    PRIMARY KEY (session, taken_by, position)
);

-- What has taken records away or brought them back, and how many. `root` is the deletion or purge that it goes back to, under which
-- the records are in the trash; `takes` says on which way they went, and `is_whole` whether the session was meant.
CREATE TABLE IF NOT EXISTS memory_operations (
    operation text NOT NULL,
    root      text NOT NULL,
    at        timestamptz NOT NULL,
    recorded  timestamptz NOT NULL DEFAULT clock_timestamp(),
    kind      text NOT NULL,
    session   text COLLATE "C" NOT NULL,
    taken     bigint NOT NULL,
    remaining bigint NOT NULL,
    undoes    text,
    takes     boolean NOT NULL,
    is_whole  boolean NOT NULL,
    CONSTRAINT memory_operations_once PRIMARY KEY (operation)
);

-- Keys that could be in each other's way begin with the same part; whoever changes one holds the row of that part.
CREATE TABLE IF NOT EXISTS memory_roots (
    root text COLLATE "C" NOT NULL PRIMARY KEY
);

CREATE TABLE IF NOT EXISTS memory_values (
    key        text COLLATE "C" NOT NULL PRIMARY KEY,
    value      bytea NOT NULL,
    updated_at timestamptz NOT NULL
);

-- What a value was before an operation, and the SHA-256 of what it was afterwards; nothing where it was not set. Operations that changed
-- nothing, or set what was not set, are not told.
CREATE TABLE IF NOT EXISTS memory_values_trash (
    key       text COLLATE "C" NOT NULL,
    operation text NOT NULL,
    at        timestamptz NOT NULL,
    recorded  timestamptz NOT NULL DEFAULT clock_timestamp(),
    kind      text NOT NULL,
    was_there boolean NOT NULL,
    former    bytea,
    left_hash bytea,
    is_told   boolean NOT NULL,
    undoes    text,
    CONSTRAINT memory_values_trash_once PRIMARY KEY (key, operation)
);
