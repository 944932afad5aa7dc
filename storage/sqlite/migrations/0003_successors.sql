-- The id of the credential that takes the place of one that was rotated.

ALTER TABLE credentials ADD COLUMN replaced_by TEXT;
