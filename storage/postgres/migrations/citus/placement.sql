-- Where the rows are: those of one account together on one node, so that none waits for another account's; small ones that
-- every request may need on each node; and what names no account by its digest.

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
