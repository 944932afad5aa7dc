"""Reads a whole catalogue with the client that was generated from its OpenAPI document, and prints what it saw as JSON."""

import json
import os
from datetime import UTC, datetime
from typing import Any, TypeVar

from client import AuthenticatedClient
from client.api.courses import get_course, list_courses
from client.api.description import get_open_api
from client.api.identity import get_me
from client.models import CourseDetailEnvelope, CourseListItemPage, ErrorCode, ErrorEnvelope, IdentityEnvelope
from client.types import UNSET, Response, Unset

LIMIT = 17

T = TypeVar("T")


def answer(kind: type[T], response: Response[Any]) -> T:
    """The answer of a request that must succeed."""
    assert isinstance(response.parsed, kind), response
    return response.parsed


def failure(response: Response[Any]) -> dict[str, Any]:
    """The failure of a request that must fail."""
    error = answer(ErrorEnvelope, response).error
    assert isinstance(error.code, ErrorCode), error
    return {"status": int(response.status_code), "code": error.code.value}


def with_times(course: Any) -> dict[str, Any]:
    """The properties of a course, its time as the API writes it."""
    published = course.published_at
    assert published is None or isinstance(published, datetime), published
    properties = course.to_dict()
    if published is not None:
        text = published.astimezone(UTC).isoformat(timespec="milliseconds")
        properties["publishedAt"] = text.replace("+00:00", "Z")
    return properties


def list_all(client: AuthenticatedClient) -> tuple[list[Any], int]:
    courses: list[Any] = []
    cursor: str | Unset = UNSET
    pages = 0
    while True:
        page = answer(CourseListItemPage, list_courses.sync_detailed(client=client, limit=LIMIT, cursor=cursor))
        courses.extend(page.data)
        pages += 1
        if page.meta.next_cursor is None:
            return courses, pages
        cursor = page.meta.next_cursor


def main() -> None:
    base_url = os.environ["BASE_URL"]
    # A status that the document does not list is an exception.
    client = AuthenticatedClient(base_url=base_url, token=os.environ["TOKEN"], raise_on_unexpected_status=True)
    stranger = AuthenticatedClient(base_url=base_url, token="unknown", raise_on_unexpected_status=True)
    with client, stranger:
        me = answer(IdentityEnvelope, get_me.sync_detailed(client=client)).data
        courses, pages = list_all(client)
        read = [get_course.sync_detailed(course.slug, client=client) for course in courses]
        failures = [
            get_course.sync_detailed("no/such course", client=client),
            list_courses.sync_detailed(client=stranger),
            list_courses.sync_detailed(client=client, limit=101),
            # Against its type, on purpose.
            list_courses.sync_detailed(client=client, limit="ten"),
        ]
        document = get_open_api.sync(client=client)
    summary = {
        "me": me.to_dict(),
        "courses": [with_times(course) for course in courses],
        "pages": pages,
        "details": [with_times(answer(CourseDetailEnvelope, course).data) for course in read],
        "failures": [failure(response) for response in failures],
        "document": document.to_dict(),
    }
    print(json.dumps(summary))


if __name__ == "__main__":
    main()
