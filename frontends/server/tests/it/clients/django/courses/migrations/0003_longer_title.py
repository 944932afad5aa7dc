from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("courses", "0002_rows")]
    operations = [migrations.AlterField("module", "title", models.CharField(max_length=300))]
