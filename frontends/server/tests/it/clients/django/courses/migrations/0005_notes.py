from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("courses", "0004_seats")]
    operations = [
        migrations.CreateModel(
            "Note",
            [
                ("id", models.BigAutoField(primary_key=True)),
                ("course", models.ForeignKey("courses.Course", models.CASCADE)),
                ("text", models.TextField()),
            ],
        )
    ]
