import * as fs from "node:fs";

type Saved<Body> = Body & { etag: string | null };
type Page = { data: Item[]; meta: { nextCursor: string | null } };
type Item = { slug: string; publishedAt: string | null; hidden: boolean };
type Course = { data: Item & { tagline: string; modules: object[] } };
type Copy = {
  courses: Record<string, Saved<Course>>;
  pages: Record<string, Saved<Page>>;
};
type State = Copy & { next: string | null; pass: Copy };

const courses = "REQUEST_URL";
const authorization = `Bearer ${process.env.API_KEY}`;

/** Returns the state before a pass that replaces the copy. */
function start(copy: Copy): State {
  return { ...copy, next: "", pass: { courses: {}, pages: {} } };
}

function load(): State {
  if (!fs.existsSync("copy.json")) return start({ courses: {}, pages: {} });
  return JSON.parse(fs.readFileSync("copy.json", "utf8"));
}

function save(state: State) {
  fs.writeFileSync("copy.json.new", JSON.stringify(state));
  fs.renameSync("copy.json.new", "copy.json");
}

/**
 * Returns the response with its ETag, `saved` if that is still current,
 * or null if the course does not exist.
 */
async function read<Body>(path: string, saved?: Saved<Body>) {
  const headers = new Headers({ authorization });
  if (saved?.etag) headers.set("If-None-Match", saved.etag);
  while (true) {
    const response = await fetch(courses + path, { headers });
    const { ok, status } = response;
    if (ok) {
      const etag = response.headers.get("ETag");
      return { ...(await response.json()), etag } as Saved<Body>;
    }
    if (status === 304 && saved) return saved;
    if (status === 404) return null;
    if (status !== 429) throw new Error(await response.text());
    const seconds = Number(response.headers.get("Retry-After"));
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

const state = load();
const found = state.pass;
while (state.next !== null) {
  const path = `?limit=100${state.next}`;
  const page = await read<Page>(path, state.pages[path]);
  if (!page) throw new Error("no list of courses");
  found.pages[path] = page;
  for (const { slug, publishedAt, hidden } of page.data) {
    if (!publishedAt || hidden) continue;
    const name = encodeURIComponent(slug);
    const detail = await read<Course>(`/${name}`, state.courses[slug]);
    if (detail) found.courses[slug] = detail;
  }
  const cursor = page.meta.nextCursor;
  state.next = cursor && `&cursor=${cursor}`;
  save(state);
}

// A course that the whole pass did not find is gone.
save(start(found));
