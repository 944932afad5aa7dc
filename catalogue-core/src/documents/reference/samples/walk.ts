const first = "ADDRESS";
const key = process.env.API_KEY;
const headers = { Authorization: `Bearer ${key}` };

let address = first;
while (address) {
  const response = await fetch(address, { headers });
  if (!response.ok) throw new Error(await response.text());
  const page = await response.json();
  for (const item of page.data) {
    console.log(JSON.stringify(item));
  }
  const cursor = page.meta.nextCursor;
  address = cursor ? `${first}&cursor=${cursor}` : "";
}
