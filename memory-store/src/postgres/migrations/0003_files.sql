-- The files of folders that several nodes share: banks, topics and conversations. Keys begin with the scope.

-- The last position of each folder. A commit locks the row of its folder, so positions become visible in order. `tokens` are the random
-- numbers of the last commits.
CREATE TABLE IF NOT EXISTS memory_folders (
    scope    text COLLATE "C" NOT NULL,
    folder   text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    tokens   bigint[] NOT NULL,
    PRIMARY KEY (scope, folder)
);

-- The files, and those that were deleted. `position` is that of the last change, and `written` that of the last change other than an append.
-- `hash` is the SHA-256, absent after an append.
CREATE TABLE IF NOT EXISTS memory_files (
    scope    text COLLATE "C" NOT NULL,
    folder   text COLLATE "C" NOT NULL,
    path     text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    written  bigint NOT NULL,
    is_there boolean NOT NULL,
    size     bigint NOT NULL,
    hash     bytea,
    PRIMARY KEY (scope, folder, path)
);

CREATE INDEX IF NOT EXISTS memory_files_position ON memory_files (scope, folder, position, path);

-- The content of each file, in one part for the whole file and one for each append since.
CREATE TABLE IF NOT EXISTS memory_file_parts (
    scope    text COLLATE "C" NOT NULL,
    folder   text COLLATE "C" NOT NULL,
    path     text COLLATE "C" NOT NULL,
    start_at bigint NOT NULL,
    position bigint NOT NULL,
    content  bytea NOT NULL,
    PRIMARY KEY (scope, folder, path, start_at)
);
