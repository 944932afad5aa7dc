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
    connection.transaction do
      if connection.adapter_name == "PostgreSQL"
        connection.execute("DROP VIEW IF EXISTS #{CATALOGUE_VIEWS.join(', ')}")
        triggers = "SELECT tgname, tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal AND tgname LIKE 'catalogue~_%' ESCAPE '~'"
        connection.select_rows(triggers).each { |name, table| connection.execute("DROP TRIGGER #{name} ON #{table}") }
      else
        # Rails cannot copy an index on an expression, so the indexes are created again, too.
        objects = "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view', 'index') AND name LIKE 'catalogue~_%' ESCAPE '~'"
        connection.select_rows(objects).each { |type, name| connection.execute("DROP #{type} IF EXISTS #{name}") }
      end
    end
  end

  task create: :environment do
    connection = ActiveRecord::Base.connection
    next if (CATALOGUE_TABLES - connection.tables).any? || (CATALOGUE_VIEWS - connection.views).empty?

    connection.transaction do
      %w[views revisions].each do |name|
        path = Rails.root.join("db/catalogue/#{name}.#{connection.adapter_name.downcase}.sql")
        next unless path.exist?

        # The transaction is this one.
        sql = path.read.gsub(/^(BEGIN|COMMIT);$/, "")
        connection.adapter_name == "SQLite" ? connection.raw_connection.execute_batch(sql) : connection.execute(sql)
      end
    end
  end
end

Rake::Task["db:migrate"].enhance(["catalogue:drop_before_migration"]) { Rake::Task["catalogue:create"].invoke }
Rake::Task["db:rollback"].enhance(["catalogue:drop"]) { Rake::Task["catalogue:create"].invoke }
