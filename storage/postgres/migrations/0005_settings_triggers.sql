-- An event is never changed, whoever writes. The function's search path is that of the others.

CREATE FUNCTION catalogue_events_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'events stay as they are' USING ERRCODE = 'integrity_constraint_violation';
END $$;

DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION %1$I.catalogue_events_stay() SET search_path = %1$I, pg_temp', current_schema());
END $$;

CREATE TRIGGER credential_events_stay BEFORE UPDATE ON credential_events
FOR EACH ROW EXECUTE FUNCTION catalogue_events_stay();
