"""Drops the views of `catalogue serve` before a migration that changes a table behind them, and creates them again afterward.

Next to this file: views.sqlite.sql or views.postgresql.sql, from `catalogue views example --from django`, and, if you use
catalogue_revisions, revisions.sqlite.sql or revisions.postgresql.sql, with `--revisions`. Add "catalogue_views" to INSTALLED_APPS.

If a migration fails, requests get a 500 until the next `migrate` succeeds, such as `migrate courses` or a step back.
"""

import re
import sqlite3
from pathlib import Path

from django.apps import AppConfig, apps
from django.db import connections, transaction
from django.db.migrations.operations.models import ModelOperation
from django.db.models.signals import post_migrate, pre_migrate

# The app of the courses, and the models whose tables are behind the views.
APP = "courses"
MODELS = {("auth", "user"), ("courses", "course"), ("courses", "module")}
# In the order in which requests read them: another order could deadlock with requests.
VIEWS = ["catalogue_courses", "catalogue_modules", "catalogue_accounts"]


class CatalogueViews(AppConfig):
    name = "catalogue_views"

    def ready(self):
        # The signals come once for each app that has models.
        app = apps.get_app_config(APP)
        pre_migrate.connect(drop, sender=app)
        post_migrate.connect(create, sender=app)


def changes(migration):
    """Returns whether a migration may change a table behind the views; SQL and Python code may change any."""
    for operation in migration.operations:
        is_model = isinstance(operation, ModelOperation)
        model = operation.name if is_model else getattr(operation, "model_name", None)
        if model is None or (migration.app_label, model.lower()) in MODELS:
            return True
    return False


def drop(using, plan, **_):
    if not any(changes(migration) for migration, _ in plan):
        return
    connection = connections[using]
    if connection.vendor == "postgresql":
        found = "SELECT tgname || ' ON ' || tgrelid::regclass, 'TRIGGER' FROM pg_trigger WHERE NOT tgisinternal AND tgname LIKE 'catalogue~_%' ESCAPE '~'"
    else:
        found = "SELECT name, type FROM sqlite_schema WHERE type IN ('trigger', 'view', 'index') AND name LIKE 'catalogue~_%' ESCAPE '~'"
    with connection.cursor() as cursor:
        # Outside the transaction: on SQLite, a transaction that has read fails at its first write if another program is writing then.
        cursor.execute(found)
        found = cursor.fetchall()
        with transaction.atomic(using):
            if connection.vendor == "postgresql":
                cursor.execute(f"DROP VIEW IF EXISTS {', '.join(VIEWS)}")
            for name, kind in found:
                cursor.execute(f"DROP {kind} IF EXISTS {name}")


def create(using, **_):
    connection = connections[using]
    existing = connection.introspection.table_names(include_views=True)
    tables = {apps.get_model(*model)._meta.db_table for model in MODELS}
    if not tables.issubset(existing) or set(VIEWS).issubset(existing):
        return
    with transaction.atomic(using), connection.cursor() as cursor:
        # Waits for other writers. On SQLite, DROP VIEW IF EXISTS of a missing view only reads, and a write after a read does not wait.
        cursor.execute("DELETE FROM django_migrations WHERE 1 = 0")
        for name in ["views", "revisions"]:
            path = Path(__file__).with_name(f"{name}.{connection.vendor}.sql")
            # The transaction is this one.
            sql = re.sub(r"(?m)^(BEGIN|BEGIN IMMEDIATE|COMMIT);$", "", path.read_text()) if path.exists() else ""
            if connection.vendor == "postgresql":
                cursor.execute(sql or "SELECT")
            else:
                for statement in statements(sql):
                    cursor.execute(statement)


def statements(sql):
    """Splits a script for SQLite, which runs one statement at a time. A trigger contains semicolons."""
    statement = ""
    for piece in sql.split(";"):
        statement += piece + ";"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
