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
