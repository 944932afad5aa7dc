-- Drops the triggers, which Citus does not allow on distributed tables.

DO $$
DECLARE
    made NAME;
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
END $$;
