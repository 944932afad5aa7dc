import json, os, sys, time, urllib.parse
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen

courses = "REQUEST_URL"
authorization = f"Bearer {os.environ['API_KEY']}"

def load():
    try:
        with open("copy.json") as file:
            return json.load(file)
    except FileNotFoundError:
        return start({"courses": {}, "pages": {}})

def start(copy):
    """Returns the state before a pass that replaces the copy."""
    return {**copy, "next": "", "pass": {"courses": {}, "pages": {}}}

def save(state):
    with open("copy.json.new", "w") as file:
        json.dump(state, file)
    os.replace("copy.json.new", "copy.json")

def is_shown(course):
    return course["publishedAt"] and not course["hidden"]

def send(request):
    """Returns status, headers and body of the response. Repeats
    the request if there is none, or if the server failed."""
    for attempt in range(1, 6):
        try:
            with urlopen(request, timeout=30) as response:
                body = response.read()
                return response.status, response.headers, body
        except HTTPError as error:
            if error.code < 500:
                return error.code, error.headers, error.read()
            failure = error
        except (OSError, HTTPException) as error:
            failure = error
        time.sleep(2**attempt)
    raise failure

def read(path, saved):
    """Returns the response with its ETag, `saved` if that is still
    current, or None if the course does not exist."""
    request = Request(courses + path)
    request.add_header("Authorization", authorization)
    if saved and saved["etag"]:
        request.add_header("If-None-Match", saved["etag"])
    while True:
        status, headers, body = send(request)
        if status == 200:
            return {**json.loads(body), "etag": headers["ETag"]}
        if status == 304:
            return saved
        # The 404 of a proxy does not mean that a course is gone.
        if status == 404 and b'"not_found"' in body:
            return None
        if status != 429:
            sys.exit(f"{status}: {body.decode()}")
        time.sleep(int(headers["Retry-After"] or 1))

state = load()
found = state["pass"]
while state["next"] is not None:
    path = "?limit=100" + state["next"]
    page = found["pages"][path] = read(path, state["pages"].get(path))
    for course in page["data"]:
        slug = course["slug"]
        if not is_shown(course):
            continue
        name = urllib.parse.quote(slug, safe="")
        detail = read("/" + name, state["courses"].get(slug))
        if detail and is_shown(detail["data"]):
            found["courses"][slug] = detail
    cursor = page["meta"]["nextCursor"]
    state["next"] = cursor and f"&cursor={cursor}"
    save(state)

# A course that the whole pass did not find is gone.
save(start(found))
