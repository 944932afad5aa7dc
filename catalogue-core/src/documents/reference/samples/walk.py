import json, os, urllib.request

first = "REQUEST_URL"
key = os.environ["API_KEY"]

def read(url):
    request = urllib.request.Request(url)
    request.add_header("Authorization", f"Bearer {key}")
    with urllib.request.urlopen(request) as response:
        return json.load(response)

url = first
while url:
    page = read(url)
    for course in page["data"]:
        if course["publishedAt"] and not course["hidden"]:
            print(json.dumps(course))
    cursor = page["meta"]["nextCursor"]
    url = cursor and f"{first}&cursor={cursor}"
