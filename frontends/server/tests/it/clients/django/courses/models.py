# The models as of the last migration that succeeds.
from django.conf import settings
from django.db import models


class Course(models.Model):
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    slug = models.CharField(max_length=200)
    title = models.CharField(max_length=200)
    tagline = models.CharField(max_length=300)
    language = models.CharField(max_length=10)
    created_at = models.DateTimeField()
    published_at = models.DateTimeField(null=True)
    is_hidden = models.BooleanField(default=False)
    is_deleted = models.BooleanField(default=False)
    access = models.CharField(max_length=20)
    seats = models.IntegerField(default=3)


class Module(models.Model):
    course = models.ForeignKey(Course, models.CASCADE)
    order = models.PositiveSmallIntegerField()
    title = models.CharField(max_length=300)
    summary = models.TextField()
    body = models.TextField()


class Note(models.Model):
    course = models.ForeignKey(Course, models.CASCADE)
    text = models.TextField()
