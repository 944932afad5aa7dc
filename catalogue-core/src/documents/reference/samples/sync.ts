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

function isShown({ publishedAt, hidden }: Item) {
  return publishedAt !== null && !hidden;
}

function pause(seconds: number) {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}

/**
 * Returns the response and its body. Repeats the request if there is
 * none, or if the server failed.
 */
async function send(path: string, headers: Headers) {
  for (let attempt = 1; ; attempt++) {
    try {
      const signal = AbortSignal.timeout(30_000);
      const response = await fetch(courses + path, { headers, signal });
      const body = await response.text();
      if (response.status < 500) return { response, body };
      throw new Error(`${response.status}: ${body}`);
    } catch (error) {
      if (attempt === 5) throw error;
    }
    await pause(2 ** attempt);
  }
}

/**
 * Returns the response with its ETag, `saved` if that is still current,
 * or null if the course does not exist.
 */
async function read<Body>(path: string, saved?: Saved<Body>) {
  const headers = new Headers({ authorization });
  if (saved?.etag) headers.set("If-None-Match", saved.etag);
  while (true) {
    const { response, body } = await send(path, headers);
    const { status } = response;
    if (status === 200) {
      const etag = response.headers.get("ETag");
      return { ...JSON.parse(body), etag } as Saved<Body>;
    }
    if (status === 304 && saved) return saved;
    // The 404 of a proxy does not mean that a course is gone.
    if (status === 404 && body.includes('"not_found"')) return null;
    if (status !== 429) throw new Error(`${status}: ${body}`);
    await pause(Number(response.headers.get("Retry-After") ?? 1));
  }
}

const state = load();
const found = state.pass;
while (state.next !== null) {
  const path = `?limit=100${state.next}`;
  const page = await read<Page>(path, state.pages[path]);
  if (!page) throw new Error("no list of courses");
  found.pages[path] = page;
  for (const course of page.data) {
    if (!isShown(course)) continue;
    const { slug } = course;
    const name = encodeURIComponent(slug);
    const detail = await read<Course>(`/${name}`, state.courses[slug]);
    if (detail && isShown(detail.data)) found.courses[slug] = detail;
  }
  const cursor = page.meta.nextCursor;
  state.next = cursor && `&cursor=${cursor}`;
  save(state);
}

// A course that the whole pass did not find is gone.
save(start(found));
