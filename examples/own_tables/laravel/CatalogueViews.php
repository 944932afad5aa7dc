<?php

namespace App\Providers;

use Illuminate\Database\Events\MigrationsEnded;
use Illuminate\Database\Events\MigrationStarted;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Event;
use Illuminate\Support\Facades\Schema;
use Illuminate\Support\ServiceProvider;

/**
 * Drops the views of `catalogue serve` before a migration that names a table behind them, and creates them again afterward.
 *
 * Copy this file to app/Providers, and add the class to the application's providers. In database/catalogue: views.sqlite.sql or
 * views.pgsql.sql, from `catalogue views example --from laravel`, and, if you use catalogue_revisions, revisions.sqlite.sql or
 * revisions.pgsql.sql, with `--revisions`.
 *
 * If a migration fails, requests get a 500 until the next `migrate` with a migration succeeds.
 */
class CatalogueViews extends ServiceProvider
{
    /** The tables behind the views. */
    private const TABLES = ['users', 'courses', 'lessons'];

    /** In the order in which requests read them: another order could deadlock with requests. */
    private const VIEWS = ['catalogue_courses', 'catalogue_modules', 'catalogue_accounts'];

    public function boot(): void
    {
        Event::listen(MigrationStarted::class, function (MigrationStarted $event) {
            $migration = file_get_contents((new \ReflectionObject($event->migration))->getFileName());
            if (preg_match('/\b('.implode('|', self::TABLES).')\b/', $migration)) {
                $this->drop();
            }
        });
        Event::listen(MigrationsEnded::class, fn () => $this->create());
    }

    private function drop(): void
    {
        $isPostgres = DB::getDriverName() === 'pgsql';
        // Not every version of Laravel can copy an index on an expression, so the indexes are created again, too.
        $objects = $isPostgres
            ? "SELECT tgname || ' ON ' || tgrelid::regclass AS name, 'TRIGGER' AS type FROM pg_trigger WHERE NOT tgisinternal AND tgname LIKE 'catalogue~_%' ESCAPE '~'"
            : "SELECT name, type FROM sqlite_master WHERE type IN ('trigger', 'view', 'index') AND name LIKE 'catalogue~_%' ESCAPE '~'";
        // Outside the transaction: on SQLite, a transaction that has read fails at its first write if another program is writing then.
        $found = DB::select($objects);
        DB::transaction(function () use ($isPostgres, $found) {
            if ($isPostgres) {
                DB::statement('DROP VIEW IF EXISTS '.implode(', ', self::VIEWS));
            }
            foreach ($found as $object) {
                DB::statement("DROP {$object->type} IF EXISTS {$object->name}");
            }
        });
    }

    private function create(): void
    {
        $exists = DB::getDriverName() === 'pgsql'
            ? "SELECT to_regclass('catalogue_accounts') IS NOT NULL AS found"
            : "SELECT count(*) AS found FROM sqlite_master WHERE name = 'catalogue_accounts'";
        $tables = array_filter(self::TABLES, fn ($table) => Schema::hasTable($table));
        if (count($tables) < count(self::TABLES) || DB::selectOne($exists)->found) {
            return;
        }
        DB::transaction(function () {
            // Waits for other writers. On SQLite, DROP VIEW IF EXISTS of a missing view only reads, and a write after a read does not wait.
            DB::statement('DELETE FROM migrations WHERE 1 = 0');
            foreach (['views', 'revisions'] as $name) {
                $path = database_path("catalogue/$name.".DB::getDriverName().'.sql');
                // The transaction is this one.
                $sql = is_file($path) ? preg_replace('/^(BEGIN|BEGIN IMMEDIATE|COMMIT);$/m', '', file_get_contents($path)) : '';
                DB::unprepared($sql);
            }
        });
    }
}
