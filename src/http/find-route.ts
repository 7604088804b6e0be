import type { HttpRequest } from "../listener.ts";
import type { Route, RouteApi } from "./route.ts";

export type RouteMatch =
  | { type: "found"; route: Route; params: Record<string, string> }
  /** The path is known, but not with this method; `allow` lists the methods that are. */
  | { type: "method"; api: RouteApi; allow: string }
  /** `api`: whose path it would be, but for a segment that can be no id; null for an unknown path. */
  | { type: "none"; api: RouteApi | null };

export type FindRoute = (request: Pick<HttpRequest, "method" | "path">) => RouteMatch;

/**
 * Finds the route of a request. Paths are compared as they came: nothing is normalised, so there is one spelling of each.
 * Methods are upper case, as HTTP has them. A HEAD finds the GET of an open route; the listener leaves the body out.
 */
export function createFindRoute(routes: readonly Route[]): FindRoute {
  const exact = routes.filter(({ path }) => !path.endsWith("/*"));
  const prefixes = routes.filter(({ path }) => path.endsWith("/*"));
  const fixed = new Map<string, Route[]>();
  for (const route of exact.filter(({ path }) => !path.includes("/:"))) {
    fixed.set(route.path, [...(fixed.get(route.path) ?? []), route]);
  }
  const patterns = exact
    .filter(({ path }) => path.includes("/:"))
    .map((route) => ({ route, wanted: route.path.split("/") }));
  const mostSegments = Math.max(0, ...patterns.map(({ wanted }) => wanted.length));

  function below(path: string): Route[] {
    return prefixes.filter((route) => path.startsWith(route.path.slice(0, -1)));
  }

  return ({ method, path }) => {
    const matches = (fixed.get(path) ?? []).map((route) => ({ route, params: {} }));
    // No more segments than tell that there are too many: a path is as long as its client likes.
    const given = path.split("/", mostSegments + 1);
    if (matches.length === 0) {
      for (const { route, wanted } of patterns) {
        const params = matchPattern(wanted, given);
        if (params) matches.push({ route, params });
      }
    }
    const found =
      matches.find(({ route }) => takes(route, method)) ??
      below(path)
        .filter((route) => takes(route, method))
        .map((route) => ({ route, params: {} }))[0];
    if (found) return { type: "found", ...found };
    const [first] = matches;
    if (!first) {
      const near = patterns.find(({ wanted }) => isOfShape(wanted, given));
      return { type: "none", api: near?.route.api ?? null };
    }
    const allowed = [...matches.map(({ route }) => route), ...below(path)].flatMap(methodsOf);
    return { type: "method", api: first.route.api, allow: [...new Set(allowed)].join(", ") };
  };
}

function takes(route: Route, method: string): boolean {
  return route.method === method || (method === "HEAD" && methodsOf(route).includes("HEAD"));
}

/** No HEAD where a credential is needed: the GET may be a stream, or slide a token's lifetime. */
function methodsOf({ method, api }: Route): string[] {
  return method === "GET" && api === "open" ? ["GET", "HEAD"] : [method];
}

function matchPattern(wanted: readonly string[], given: readonly string[]): Record<string, string> | null {
  if (!isOfShape(wanted, given)) return null;
  const params: Record<string, string> = {};
  for (const [at, name] of wanted.entries()) {
    if (!name.startsWith(":")) continue;
    const value = decoded(given[at] ?? "", WITH_SLASHES.has(name));
    if (value === null) return null;
    params[name.slice(1)] = value;
  }
  return params;
}

/** True where the path is the pattern's but for what stands in the place of a parameter. */
function isOfShape(wanted: readonly string[], given: readonly string[]): boolean {
  return (
    given.length === wanted.length && wanted.every((name, at) => name.startsWith(":") || name === given[at])
  );
}

/** What callers name as they like, slashes included; and ranges of addresses. */
const WITH_SLASHES: ReadonlySet<string> = new Set([":threadId", ":userId", ":address"]);

/** null for what cannot be an id: an empty text, a broken escape, an escaped control character or, in our own ids, slash. */
function decoded(segment: string, maySlash: boolean): string | null {
  try {
    const text = decodeURIComponent(segment);
    const isId = text !== "" && !/\p{Cc}/u.test(text) && (maySlash || !text.includes("/"));
    return isId ? text : null;
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}
