from django.conf import settings
from django.db import migrations, models

ID = ("id", models.BigAutoField(primary_key=True))


class Migration(migrations.Migration):
    dependencies = [("auth", "0012_alter_user_first_name_max_length")]
    operations = [
        migrations.CreateModel(
            "Course",
            [
                ID,
                ("owner", models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)),
                ("slug", models.CharField(max_length=200)),
                ("title", models.CharField(max_length=200)),
                ("tagline", models.CharField(max_length=300)),
                ("language", models.CharField(max_length=10)),
                ("created_at", models.DateTimeField()),
                ("published_at", models.DateTimeField(null=True)),
                ("is_hidden", models.BooleanField(default=False)),
                ("is_deleted", models.BooleanField(default=False)),
                ("access", models.CharField(max_length=20)),
            ],
        ),
        migrations.CreateModel(
            "Module",
            [
                ID,
                ("course", models.ForeignKey("courses.Course", models.CASCADE)),
                ("order", models.PositiveSmallIntegerField()),
                ("title", models.CharField(max_length=200)),
                ("summary", models.TextField()),
                ("body", models.TextField()),
            ],
        ),
    ]
