-- Settings of a caller have no effect in the functions of nodes. A caller who disables indexes would have a condition on a column evaluated
-- for the rows of all scopes, which takes a different time if it is true. A caller who requests plans as messages would receive estimates
-- from the statistics of all scopes.
DO $$
DECLARE
    own regprocedure;
    setting text;
BEGIN
    FOR own IN
        SELECT pg_proc.oid FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace
        WHERE nspname = current_schema() AND left(proname, 12) = 'memory_node_'
    LOOP
        FOREACH setting IN ARRAY ARRAY[
            'client_min_messages = warning', 'enable_seqscan = off', 'enable_bitmapscan = off', 'enable_indexscan = on',
            'enable_nestloop = on', 'enable_hashjoin = on', 'enable_mergejoin = off', 'random_page_cost = 4', 'cpu_tuple_cost = 0.01',
            'cpu_index_tuple_cost = 0.005', 'cpu_operator_cost = 0.0025', 'jit = off'
        ] LOOP
            EXECUTE format('ALTER FUNCTION %s SET %s', own, setting);
        END LOOP;
    END LOOP;
END
$$;

-- Each role that may execute one of the functions is a role of nodes. All others may execute none of them.
DO $$
DECLARE
    own regprocedure;
    node name;
BEGIN
    FOR node IN
        SELECT DISTINCT pg_get_userbyid(privilege.grantee)
        FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace CROSS JOIN aclexplode(proacl) AS privilege
        WHERE nspname = current_schema() AND left(proname, 7) = 'memory_' AND prosecdef AND privilege.grantee NOT IN (0, proowner)
    LOOP
        PERFORM memory_grant_node(node);
    END LOOP;
    FOR own IN
        SELECT pg_proc.oid FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace
        WHERE nspname = current_schema() AND left(proname, 7) = 'memory_' AND prosecdef
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', own);
    END LOOP;
END
$$;
