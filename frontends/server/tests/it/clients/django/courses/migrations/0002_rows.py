from datetime import datetime, timedelta, timezone

from django.db import migrations


def create(apps, schema_editor):
    begin = datetime(2026, 1, 1, tzinfo=timezone.utc)
    for name in ["one", "two"]:
        owner = apps.get_model("auth", "User").objects.create(username=name)
        for number in range(40):
            at = begin + timedelta(minutes=number)
            course = apps.get_model("courses", "Course").objects.create(
                owner=owner, slug=f"course-{number}", title=f"Course of {name}", language="en", created_at=at, published_at=at
            )
            module = apps.get_model("courses", "Module")
            module.objects.bulk_create([module(course=course, order=order, title="Module") for order in range(3)])


class Migration(migrations.Migration):
    dependencies = [("courses", "0001_initial")]
    operations = [migrations.RunPython(create)]
