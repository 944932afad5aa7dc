const key = process.env.API_KEY;
const response = await fetch("REQUEST_URL", {
  headers: { Authorization: `Bearer ${key}` },
});
if (!response.ok) throw new Error(await response.text());
const body = await response.json();
console.log(JSON.stringify(body, null, 2));
