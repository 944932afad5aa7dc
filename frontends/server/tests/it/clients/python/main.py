"""Reads a whole catalogue with a client generated from its OpenAPI document, and prints the results as JSON."""

import json
import os
from datetime import UTC, datetime
from typing import Any, TypeVar

from client import AuthenticatedClient
from client.api.courses import get_course, list_courses
from client.api.description import get_open_api
from client.api.identity import get_me
from client.models import (
    CourseDetailEnvelope,
    CourseListItemPage,
    ErrorCode,
    ErrorEnvelope,
    IdentityEnvelope,
    OutOfRangeDetails,
)
from client.types import UNSET, Response, Unset

LIMIT = 17

T = TypeVar("T")


def body_of(kind: type[T], response: Response[Any]) -> T:
    """Returns the parsed response to a request that must succeed."""
    assert isinstance(response.parsed, kind), response
    return response.parsed


def failure(response: Response[Any]) -> dict[str, Any]:
    """Returns status and code of the response to a request that must fail."""
    error = body_of(ErrorEnvelope, response).error
    assert isinstance(error.code, ErrorCode), error
    return {"status": int(response.status_code), "code": error.code.value}


def with_times(course: Any) -> dict[str, Any]:
    """Returns the properties of a course, with its time in the API's format."""
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
        page = body_of(CourseListItemPage, list_courses.sync_detailed(client=client, limit=LIMIT, cursor=cursor))
        courses.extend(page.data)
        pages += 1
        if page.meta.next_cursor is None:
            return courses, pages
        cursor = page.meta.next_cursor


def main() -> None:
    base_url = os.environ["BASE_URL"]
    # A status that is not in the document raises an exception.
    client = AuthenticatedClient(base_url=base_url, token=os.environ["TOKEN"], raise_on_unexpected_status=True)
    stranger = AuthenticatedClient(base_url=base_url, token="unknown", raise_on_unexpected_status=True)
    with client, stranger:
        me = body_of(IdentityEnvelope, get_me.sync_detailed(client=client)).data
        courses, pages = list_all(client)
        read = [get_course.sync_detailed(course.slug, client=client) for course in courses]
        failures = [
            get_course.sync_detailed("no/such course", client=client),
            list_courses.sync_detailed(client=stranger),
            list_courses.sync_detailed(client=client, limit=101),
            # A limit of the wrong type.
            list_courses.sync_detailed(client=client, limit="ten"),
        ]
        details = body_of(ErrorEnvelope, failures[2]).error.details
        assert isinstance(details, OutOfRangeDetails) and details.maximum == 100, details
        etag = get_me.sync_detailed(client=client).headers["etag"]
        assert get_me.sync_detailed(client=client, if_none_match=etag).status_code == 304
        document = get_open_api.sync(client=client)
    summary = {
        "me": me.to_dict(),
        "courses": [with_times(course) for course in courses],
        "pages": pages,
        "details": [with_times(body_of(CourseDetailEnvelope, course).data) for course in read],
        "failures": [failure(response) for response in failures],
        "document": document.to_dict(),
    }
    print(json.dumps(summary))


if __name__ == "__main__":
    main()
