import type { HttpAnswer } from "../listener.ts";
import type { Route } from "./route.ts";

/** What the greeting names, as far as it is nobody's secret. */
export interface FrontPageLinks {
  /** Of the demo page; null where there is none. */
  demoUrl: string | null;
  hasInspector: boolean;
}

/** GET /: the first address that a start prints, in a browser. Says what this is, and where to go on. */
export function frontPageRoute(links: () => FrontPageLinks): Route {
  return {
    method: "GET",
    path: "/",
    api: "open",
    documentation: "hidden",
    handle: () => Promise.resolve(pageAnswer(links())),
  };
}

function pageAnswer({ demoUrl, hasInspector }: FrontPageLinks): HttpAnswer {
  const items = [
    demoUrl === null ? null : item(demoUrl, "Demo page", "a shop with the widget"),
    item("/swagger", "API reference", "every endpoint, to be tried"),
    item("/health", "Health", "whether it serves, and with which model"),
    hasInspector
      ? item("/machines", "Inspector", "asks for its key; the start printed a link with it")
      : null,
  ].filter((line) => line !== null);
  return {
    status: 200,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy":
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-cache",
    },
    body: `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Chat Agent Service</title>
  </head>
  <body>
    <h1>Chat Agent Service</h1>
    <p>A conversational agent as a service. Backends, bots and pages talk to it; for people it has these:</p>
    <ul>
${items.join("\n")}
    </ul>
  </body>
</html>
`,
  };
}

function item(href: string, name: string, is: string): string {
  return `      <li><a href="${href}">${name}</a>: ${is}</li>`;
}
