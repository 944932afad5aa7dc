-- An event is never changed, whoever writes. The function names no table of the catalogue, so it needs no schema but the
-- system's.

CREATE FUNCTION catalogue_events_stay() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'events stay as they are' USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER credential_events_stay BEFORE UPDATE ON credential_events
FOR EACH ROW EXECUTE FUNCTION catalogue_events_stay();
