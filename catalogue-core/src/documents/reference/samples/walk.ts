const first = "REQUEST_URL";
const key = process.env.API_KEY;
const headers = { Authorization: `Bearer ${key}` };

let url = first;
while (url) {
  const response = await fetch(url, { headers });
  if (!response.ok) throw new Error(await response.text());
  const page = await response.json();
  for (const item of page.data) {
    console.log(JSON.stringify(item));
  }
  const cursor = page.meta.nextCursor;
  url = cursor ? `${first}&cursor=${cursor}` : "";
}
