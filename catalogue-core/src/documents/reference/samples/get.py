import json, os, urllib.request

request = urllib.request.Request("REQUEST_URL")
key = os.environ["API_KEY"]
request.add_header("Authorization", f"Bearer {key}")
with urllib.request.urlopen(request) as response:
    body = json.load(response)
print(json.dumps(body, indent=2))
