import { useEffect, useState } from "preact/hooks";

/** A place in the console: the segments and the query of the address's fragment. */
export interface Route {
  path: string[];
  query: Readonly<Record<string, string>>;
}

/** `#/channels/shop/users?q=ada`; null in the query: without it. */
export function linkTo(
  path: readonly string[],
  query: Record<string, string | null | undefined> = {},
): string {
  const given = Object.entries(query).filter(
    ([, value]) => value !== null && value !== undefined && value !== "",
  );
  const text = new URLSearchParams(given.map(([name, value]) => [name, value ?? ""])).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text === "" ? "" : `?${text}`}`;
}

function routeOf(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  return {
    path: path
      .split("/")
      .filter((segment) => segment !== "")
      .map(decoded),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** `replace`: going back skips the previous place, as with each letter of a search. */
export function go(link: string, { replace = false } = {}): void {
  if (!replace) {
    location.hash = link;
    return;
  }
  history.replaceState(null, "", link);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location.hash));
  useEffect(() => {
    const look = () => setRoute(routeOf(location.hash));
    addEventListener("hashchange", look);
    // It may have changed since the first rendering.
    look();
    return () => removeEventListener("hashchange", look);
  }, []);
  return route;
}
