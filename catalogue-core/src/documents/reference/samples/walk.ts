const first = "REQUEST_URL";
const key = process.env.API_KEY;
const headers = { Authorization: `Bearer ${key}` };

let url = first;
while (url) {
  const response = await fetch(url, { headers });
  if (!response.ok) throw new Error(await response.text());
  const page = await response.json();
  for (const course of page.data) {
    if (!course.publishedAt || course.hidden) continue;
    console.log(JSON.stringify(course));
  }
  const cursor = page.meta.nextCursor;
  url = cursor ? `${first}&cursor=${cursor}` : "";
}
