import json, os, urllib.request

first = "ADDRESS"
key = os.environ["API_KEY"]

def read(address):
    request = urllib.request.Request(address)
    request.add_header("Authorization", f"Bearer {key}")
    with urllib.request.urlopen(request) as response:
        return json.load(response)

address = first
while address:
    page = read(address)
    for item in page["data"]:
        print(json.dumps(item))
    cursor = page["meta"]["nextCursor"]
    address = cursor and f"{first}&cursor={cursor}"
