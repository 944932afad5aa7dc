-- The triggers change the catalogue's tables, whatever the writer's session finds by their names: tables in a schema of the
-- writer's own, or temporary ones, which PostgreSQL looks for first unless `pg_temp` is named. The system's functions and
-- operators come before both. Where the tables were made without triggers, there is nothing to do.

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
            'catalogue_truncated', 'catalogue_account_keeps_its_id')
    LOOP
        EXECUTE format('ALTER FUNCTION %1$I.%2$I() SET search_path = %1$I, pg_temp', current_schema(), made);
    END LOOP;
END $$;
