-- What one append does, kept by the server as it was planned: planning it takes longer than doing it. Where a database has no such
-- functions, the same is said in one statement.
CREATE OR REPLACE FUNCTION memory_append(
    own_session text, own_operation text, own_operation_at timestamptz,
    own_role text, own_said_at timestamptz, own_said_nanos smallint, own_text text
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    place bigint;
BEGIN
    INSERT INTO memory_sessions AS own (session, next_position, records, is_there) VALUES (own_session, 1, 1, true)
        ON CONFLICT (session) DO UPDATE
            SET next_position = own.next_position + 1, records = own.records + 1, is_there = true
        RETURNING next_position - 1 INTO place;
    INSERT INTO memory_records (session, position, role, said_at, said_nanos, operation, operation_at, nth, text)
        VALUES (own_session, place, own_role, own_said_at, own_said_nanos, own_operation, own_operation_at, 1, own_text);
END
$$;
