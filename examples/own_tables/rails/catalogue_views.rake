# Drops the views of `catalogue serve` before migrations that name a table behind them, and creates them again afterward.
#
# Copy this file to lib/tasks. In db/catalogue: views.sqlite.sql or views.postgresql.sql, from `catalogue views example --from rails`, and,
# if you use catalogue_revisions, revisions.sqlite.sql or revisions.postgresql.sql, with `--revisions`.
#
# If a migration fails, requests get a 500 until the next `db:migrate` or `db:rollback` succeeds.

# The tables behind the views.
CATALOGUE_TABLES = %w[accounts courses course_lessons lessons].freeze
# In the order in which requests read them: another order could deadlock with requests.
CATALOGUE_VIEWS = %w[catalogue_courses catalogue_modules catalogue_accounts].freeze

namespace :catalogue do
  task drop_before_migration: :environment do
    connection = ActiveRecord::Base.connection
    pool = connection.respond_to?(:migration_context) ? connection : connection.pool
    pending = pool.migration_context.open.pending_migrations.map { |migration| File.read(migration.filename) }
    Rake::Task["catalogue:drop"].invoke if pending.any?(/\b(#{CATALOGUE_TABLES.join("|")})\b/)
  end

  task drop: :environment do
    connection = ActiveRecord::Base.connection
    is_postgresql = connection.adapter_name == "PostgreSQL"
    # Rails cannot copy an index on an expression, so the indexes are created again, too.
    objects = if is_postgresql
      "SELECT tgname || ' ON ' || tgrelid::regclass, 'TRIGGER' FROM pg_trigger WHERE NOT tgisinternal AND tgname LIKE 'catalogue~_%' ESCAPE '~'"
    else
      "SELECT name, type FROM sqlite_master WHERE type IN ('trigger', 'view', 'index') AND name LIKE 'catalogue~_%' ESCAPE '~'"
    end
    # Outside the transaction: on SQLite, a transaction that has read fails at its first write if another program is writing then.
    found = connection.select_rows(objects)
    connection.transaction do
      connection.execute("DROP VIEW IF EXISTS #{CATALOGUE_VIEWS.join(', ')}") if is_postgresql
      found.each { |name, type| connection.execute("DROP #{type} IF EXISTS #{name}") }
    end
  end

  task create: :environment do
    connection = ActiveRecord::Base.connection
    next if (CATALOGUE_TABLES - connection.tables).any? || (CATALOGUE_VIEWS - connection.views).empty?

    connection.transaction do
      # Waits for other writers. On SQLite, DROP VIEW IF EXISTS of a missing view only reads, and a write after a read does not wait.
      connection.execute("DELETE FROM schema_migrations WHERE 1 = 0")
      %w[views revisions].each do |name|
        path = Rails.root.join("db/catalogue/#{name}.#{connection.adapter_name.downcase}.sql")
        next unless path.exist?

        # The transaction is this one.
        sql = path.read.gsub(/^(BEGIN|BEGIN IMMEDIATE|COMMIT);$/, "")
        connection.adapter_name == "SQLite" ? connection.raw_connection.execute_batch(sql) : connection.execute(sql)
      end
    end
  end
end

Rake::Task["db:migrate"].enhance(["catalogue:drop_before_migration"]) { Rake::Task["catalogue:create"].invoke }
Rake::Task["db:rollback"].enhance(["catalogue:drop"]) { Rake::Task["catalogue:create"].invoke }
