from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("courses", "0003_longer_title")]
    operations = [migrations.AddField("course", "seats", models.IntegerField(default=3))]
