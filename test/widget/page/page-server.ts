import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const packaged = (name: string) => createRequire(import.meta.url).resolve(name);
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const SCRIPTS = new Map([
  ["/page.js", () => readFile(here("../pages/page.js"))],
  ["/polyfill.js", () => readFile(packaged("@mcp-b/webmcp-polyfill/iife"))],
  [
    "/turbo.js",
    () => readFile(join(dirname(packaged("@hotwired/turbo/package.json")), "dist/turbo.es2017-umd.js")),
  ],
  ["/react.js", () => bundled(here("../pages/react.js"))],
  ["/hydrated.js", () => bundled(here("../pages/hydrated.js"))],
]);

const NONCE = "bm90aGluZw";

/** As a site of the framework is developed: it then mounts twice, and says what it objects to. */
async function bundled(file: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    define: { "process.env.NODE_ENV": '"development"' },
  });
  return outputFiles[0]?.contents ?? new Uint8Array();
}

/** A customer's site, on an origin of its own, under the strictest page policy that there is. */
export async function startPageServer(serviceUrl: string): Promise<{ url: string; close(): Promise<void> }> {
  const noncePolicy = `default-src 'none'; script-src 'nonce-${NONCE}'; connect-src 'self' ${serviceUrl}`;
  const strictPolicy = `default-src 'none'; script-src 'nonce-${NONCE}' 'strict-dynamic'; connect-src ${serviceUrl}; style-src 'nonce-${NONCE}'; img-src data:; require-trusted-types-for 'script'; trusted-types 'none'`;
  const policy = `default-src 'none'; script-src 'self' ${serviceUrl}; connect-src 'self' ${serviceUrl}; form-action 'self'; require-trusted-types-for 'script'; trusted-types 'none'`;
  const server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? "/", "http://page");
      if (url.pathname === "/nowhere") return response.writeHead(204).end();
      if (url.pathname === "/file")
        return response.writeHead(200, { "content-type": "text/plain" }).end("a file");
      const script = SCRIPTS.get(url.pathname);
      if (script !== undefined) {
        return response
          .writeHead(200, { "content-type": "text/javascript", "access-control-allow-origin": "*" })
          .end(await script());
      }
      const framed = url.searchParams.get("framed");
      response.writeHead(200, {
        "content-type": "text/html; charset=utf-8",
        // Turbo makes pages of strings, and a page of frames shows another site.
        ...(url.searchParams.get("in") === "turbo" || framed !== null
          ? {}
          : {
              "content-security-policy": url.searchParams.has("nonce")
                ? url.searchParams.get("nonce") === "strict"
                  ? strictPolicy
                  : noncePolicy
                : url.searchParams.has("pictures")
                  ? `${policy}; img-src data:`
                  : policy,
            }),
      });
      return response.end(
        framed === null
          ? html(url, serviceUrl, await rootOf(url))
          : `<iframe src="${framed}" sandbox="allow-scripts" width="800" height="700">`,
      );
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new Error("Cannot start the page server: no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** What a framework begins with: its root, with what a server rendered; null: the page's own element. */
async function rootOf({ searchParams }: URL): Promise<string | null> {
  const framework = searchParams.get("in");
  if (framework === "react") return `<div id="root"></div>`;
  if (framework !== "hydrated") return null;
  const { markup } = (await import(here("../pages/hydrated-markup.js"))) as { markup: () => string };
  return `<div id="root">${markup()}</div>`;
}

/**
 * `?pictures=1` lets the page's policy show images of data: URLs; `?nonce=1` lets it know scripts by a nonce alone, `?nonce=strict` with trusted types; `?tools=polyfill` loads MCP-B's; `?early=1` lets the page set properties before the element is known; `?in=turbo`,
 * `?in=react` and `?in=hydrated` make it a page of these frameworks; `?framed=` shows another page in a frame without storage.
 */
function html(url: URL, serviceUrl: string, root: string | null): string {
  const { searchParams } = url;
  const lang = searchParams.get("lang") ?? "en";
  const attributes = searchParams.get("attributes") ?? "";
  const key = searchParams.get("key") ?? "pk_test";
  const framework = searchParams.get("in");
  const agent =
    root ?? `<chat-agent ${key === "" ? "" : `publishable-key="${key}"`} ${attributes}></chat-agent>`;
  const scripts = [
    `<script src="${serviceUrl}/widget/v1/chat-agent.js" nonce="${NONCE}" defer></script>`,
    `<script src="/page.js" type="module" nonce="${NONCE}"></script>`,
  ];
  if (searchParams.has("early")) scripts.reverse();
  if (framework !== null) scripts.push(`<script src="/${framework}.js" defer></script>`);
  if (searchParams.get("tools") === "polyfill") scripts.unshift(`<script src="/polyfill.js"></script>`);
  return `<!doctype html><html lang="${lang}"><head><meta charset="utf-8"><title>Page ${url.pathname}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
${scripts.join("")}</head>
<body><main><h1>A page</h1><p>With something to read, and a <a href="/next">link</a>.</p>
<form action="/next" toolname="autosubmit_form" tooldescription="Searches" toolautosubmit><label>Query <input name="query"></label><button>Go</button></form>
<form action="/next" toolname="visitor_form" tooldescription="Asks"><label>Wish <input name="wish"></label><button>Send it</button></form>
<dialog><p>A dialog of the page</p></dialog>
${agent}${searchParams.has("two") ? agent.replace("pk_test", "pk_other") : ""}</main></body></html>`;
}
