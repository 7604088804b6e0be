import type { HttpAnswer } from "../listener.ts";
import type { Route } from "./route.ts";

/** The links of the greeting, without secrets. */
export interface FrontPageLinks {
  /** The demo page; null if there is none. */
  demoUrl: string | null;
  hasConsole: boolean;
  /** The element's script, for a page that pins its version; null if it was not built. */
  script: { name: string; integrity: string } | null;
}

/** GET /: what a browser shows under the first address that a start prints: what this is, and where to read on. */
export function frontPageRoute(links: () => FrontPageLinks): Route {
  return {
    method: "GET",
    path: "/",
    api: "open",
    documentation: "hidden",
    handle: ({ request }) => Promise.resolve(pageAnswer(links(), request.headers.get("host") ?? "")),
  };
}

function pageAnswer({ demoUrl, hasConsole, script }: FrontPageLinks, host: string): HttpAnswer {
  const items = [
    demoUrl === null ? null : item(demoUrl, "Demo page", "a shop with the widget"),
    hasConsole ? item("/console", "Console", "for operators; asks for a key") : null,
    item("/swagger", "API reference", "every endpoint, to be tried"),
    item("/health", "Health", "whether it serves, and with which model"),
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
${script === null ? "" : tagFor(script, host)}
  </body>
</html>
`,
  };
}

/** The lines that a site pastes into its pages. The address is the one under which this page was requested. */
function tagFor({ name, integrity }: NonNullable<FrontPageLinks["script"]>, host: string): string {
  const isPlain = /^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i.test(host);
  const isHere = /^(localhost|127\.|\[::1\])/.test(host);
  const address = isPlain ? `${isHere ? "http" : "https"}://${host}` : "https://ADDRESS-OF-THIS-SERVICE";
  return `    <p>In a page, with the key of its channel:</p>
    <pre>&lt;script src="${address}/widget/v1/${name}" integrity="${integrity}" crossorigin="anonymous" defer&gt;&lt;/script&gt;
&lt;chat-agent publishable-key="pk_…"&gt;&lt;/chat-agent&gt;</pre>
    <p>This names one version, and goes on working after an upgrade. <code>/widget/v1/chat-agent.js</code>, without
    <code>integrity</code>, follows the service.</p>`;
}

function item(href: string, name: string, is: string): string {
  return `      <li><a href="${href}">${name}</a>: ${is}</li>`;
}
