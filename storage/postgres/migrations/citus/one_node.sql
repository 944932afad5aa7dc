-- What stands in the way of spreading the tables: triggers, which Citus takes on none, and another way of spreading them.

DO $$
DECLARE
    made NAME;
    spread REGCLASS;
BEGIN
    FOR made IN
        SELECT p.proname FROM pg_catalog.pg_proc AS p
        JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
        WHERE n.nspname = current_schema() AND p.pronargs = 0 AND p.proname IN (
            'catalogue_courses_inserted', 'catalogue_courses_updated', 'catalogue_course_renamed',
            'catalogue_courses_deleted', 'catalogue_modules_inserted', 'catalogue_modules_updated',
            'catalogue_module_moved', 'catalogue_modules_deleted', 'catalogue_module_contents_changed',
            'catalogue_truncated', 'catalogue_account_keeps_its_id', 'catalogue_events_stay')
    LOOP
        EXECUTE format('DROP FUNCTION %I.%I() CASCADE', current_schema(), made);
    END LOOP;
    LOOP
        -- Those that refer to it, or to which it refers, come along, so each is looked for anew.
        SELECT p.logicalrelid INTO spread FROM pg_catalog.pg_dist_partition AS p
        JOIN pg_catalog.pg_class AS c ON c.oid = p.logicalrelid JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = current_schema() AND c.relname IN ('catalogue_schema', 'accounts', 'courses', 'modules',
            'module_contents', 'credentials', 'sign_ins', 'credential_events', 'revoked_tokens') LIMIT 1;
        EXIT WHEN NOT FOUND;
        PERFORM undistribute_table(spread, cascade_via_foreign_keys => TRUE);
    END LOOP;
END $$;
