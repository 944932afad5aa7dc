-- Distribution of rows. All rows of an account are on one node, so that accounts do not wait for each other. Small tables that
-- every request may need are on each node. Tables without an account are distributed by digest.

SELECT create_reference_table('catalogue_schema_version');
SELECT create_reference_table('credential_accounts');
SELECT create_distributed_table('accounts', 'id', colocate_with => 'none');
SELECT create_distributed_table('courses', 'account_id', colocate_with => 'accounts');
SELECT create_distributed_table('modules', 'account_id', colocate_with => 'accounts');
SELECT create_distributed_table('module_contents', 'account_id', colocate_with => 'accounts');
SELECT create_distributed_table('credentials', 'account_id', colocate_with => 'accounts');
SELECT create_distributed_table('sign_ins', 'account_id', colocate_with => 'accounts');
SELECT create_distributed_table('credential_events', 'account_id', colocate_with => 'accounts');
SELECT create_distributed_table('sign_in_accounts', 'digest', colocate_with => 'none');
SELECT create_distributed_table('revoked_tokens', 'digest', colocate_with => 'sign_in_accounts');
