-- Levels of access to a scope, the end and the last use of tokens, and the audit log.

-- `reader`, `writer`, or `admin`, who also grants the scope to others.
ALTER TABLE memory_principal_scopes ADD COLUMN IF NOT EXISTS access text NOT NULL DEFAULT 'writer';

ALTER TABLE memory_principals ADD COLUMN IF NOT EXISTS expires_at timestamptz;
ALTER TABLE memory_principals ADD COLUMN IF NOT EXISTS last_contact timestamptz;

-- The changes of access, deletions for good, exports, and refused tokens. `actor` is a principal; the owner is NULL.
CREATE TABLE IF NOT EXISTS memory_audit (
    id      uuid NOT NULL DEFAULT gen_random_uuid() PRIMARY KEY,
    at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor   text,
    action  text NOT NULL,
    subject text NOT NULL
);
CREATE INDEX IF NOT EXISTS memory_audit_at ON memory_audit (at);
ALTER TABLE memory_audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_audit FORCE ROW LEVEL SECURITY;
