// Reads a whole catalogue with types generated from its OpenAPI document, and prints the results as JSON.

import createClient from "openapi-fetch";

import type { components, operations, paths } from "./api.js";
import type { components as olderComponents, paths as olderPaths } from "./api-3.0.js";

type Course = components["schemas"]["CourseDetail"];
type CourseListItem = components["schemas"]["CourseListItem"];
type ErrorEnvelope = components["schemas"]["ErrorEnvelope"];

// The OpenAPI 3.0 document generates the same types.
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const samePaths: Same<paths, olderPaths> = true;
const sameComponents: Same<components, olderComponents> = true;

// Failures share one type.
type Failures = 400 | 401 | 403 | 405 | 429 | 500;
type Failure<S extends Failures> = operations["listCourses"]["responses"][S]["content"]["application/json"];
const sameEnvelope: Same<Failure<Failures>, ErrorEnvelope> = true;

const LIMIT = 17;

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

/** Returns the body of the response to a request that must succeed. */
function bodyOf<T>(outcome: { data?: T; error?: ErrorEnvelope; response: Response }): T {
  if (outcome.data === undefined) throw new Error(`${outcome.response.status}: ${JSON.stringify(outcome.error)}`);
  return outcome.data;
}

/** Returns status and code of the response to a request that must fail. */
function failure(outcome: { error?: ErrorEnvelope; response: Response }): { status: number; code: string } {
  if (outcome.error === undefined) throw new Error(`${outcome.response.status} instead of an error`);
  return { status: outcome.response.status, code: outcome.error.error.code };
}

const baseUrl = setting("BASE_URL");
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${setting("TOKEN")}` } });
const stranger = createClient<paths>({ baseUrl, headers: { authorization: "Bearer unknown" } });

async function listAll(): Promise<{ courses: CourseListItem[]; pages: number }> {
  const courses: CourseListItem[] = [];
  let cursor: string | null = null;
  let pages = 0;
  do {
    const query: { limit: number; cursor?: string } = cursor === null ? { limit: LIMIT } : { limit: LIMIT, cursor };
    const page: components["schemas"]["CourseListItemPage"] = bodyOf(await client.GET("/courses", { params: { query } }));
    courses.push(...page.data);
    cursor = page.meta.nextCursor;
    pages += 1;
  } while (cursor !== null);
  return { courses, pages };
}

async function read(slug: string): Promise<Course> {
  const { data: course } = bodyOf(await client.GET("/courses/{slug}", { params: { path: { slug } } }));
  // @ts-expect-error: modules have no `content`.
  if (course.modules[0]?.content !== undefined) throw new Error(`${slug} shows the body of a module`);
  return course;
}

const { data: me } = bodyOf(await client.GET("/me"));
const { courses, pages } = await listAll();
const details: Course[] = [];
for (const { slug } of courses) details.push(await read(slug));

const absent = await client.GET("/courses/{slug}", { params: { path: { slug: "no/such course" } } });
const refused = await stranger.GET("/courses");
const outOfRange = await client.GET("/courses", { params: { query: { limit: 101 } } });

// @ts-expect-error: a limit is a number.
const notAnInteger = await client.GET("/courses", { params: { query: { limit: "ten" } } });
// @ts-expect-error: there are only six codes.
if (absent.error?.error.code === "gone") throw new Error("an unknown code");

// The details of an error depend on its code.
const bounds: components["schemas"]["ErrorBody"]["details"] = outOfRange.error?.error.details;
if (!bounds || !("maximum" in bounds) || bounds.maximum !== 100) throw new Error(JSON.stringify(bounds));

const etag = (await client.GET("/me")).response.headers.get("etag") ?? "";
const unchanged = await client.GET("/me", { params: { header: { "If-None-Match": etag } } });
if (unchanged.response.status !== 304) throw new Error(`${unchanged.response.status} instead of 304`);

const document: object = bodyOf(await client.GET("/openapi.json"));

const failures = [absent, refused, outOfRange, notAnInteger].map(failure);
const checked = samePaths && sameComponents && sameEnvelope;
console.log(JSON.stringify({ me, courses, pages, details, failures, document, checked }));
