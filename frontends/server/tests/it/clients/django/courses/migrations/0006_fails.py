from django.db import migrations, models


def fail(apps, schema_editor):
    raise RuntimeError("in the middle")


class Migration(migrations.Migration):
    dependencies = [("courses", "0005_notes")]
    operations = [
        migrations.AlterField("course", "title", models.CharField(max_length=250)),
        migrations.RunPython(fail),
    ]
