import os

SECRET_KEY = "of a test"
ALLOWED_HOSTS = ["testserver"]
ROOT_URLCONF = "urls"
INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth", "courses", "catalogue_views"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
if "POSTGRES_HOST" in os.environ:
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": os.environ["POSTGRES_NAME"],
            "HOST": os.environ["POSTGRES_HOST"],
            "USER": "postgres",
        }
    }
else:
    options = {"init_command": "PRAGMA journal_mode = wal", "transaction_mode": "IMMEDIATE"}
    DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "app.db", "OPTIONS": options}}
