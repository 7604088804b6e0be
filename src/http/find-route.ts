import type { HttpRequest } from "../listener.ts";
import type { Route, RouteApi } from "./route.ts";

export type RouteMatch =
  | { type: "found"; route: Route; params: Record<string, string> }
  /** The path is known, but not with this method; `allow` lists its methods. */
  | { type: "method"; api: RouteApi; allow: string }
  /** `api`: the API of the path, if only a segment is invalid as an id; null for an unknown path. */
  | { type: "none"; api: RouteApi | null };

export type FindRoute = (request: Pick<HttpRequest, "method" | "path">) => RouteMatch;

/**
 * Finds the route of a request. Paths are compared as received, without normalisation, so each has one spelling. Methods are
 * upper case, as in HTTP. A HEAD finds the GET of an open route; the listener leaves the body out.
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
    // Splits off only enough segments to see that there are too many: a path can be very long.
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

/** No HEAD for routes with a credential: the GET may be a stream, or extend a token's lifetime. */
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

/** True if the path fits the pattern, except for the values of its parameters. */
function isOfShape(wanted: readonly string[], given: readonly string[]): boolean {
  return (
    given.length === wanted.length && wanted.every((name, at) => name.startsWith(":") || name === given[at])
  );
}

/** Parameters that may contain a slash: names that callers choose freely, and ranges of addresses. */
const WITH_SLASHES: ReadonlySet<string> = new Set([":threadId", ":userId", ":address"]);

/** null if it cannot be an id: empty, a broken escape, an escaped control character, or an escaped slash in our own ids. */
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
