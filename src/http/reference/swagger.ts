import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { openApiDocument } from "./openapi.ts";
import { fileRoute } from "../route.ts";
import type { Route } from "../route.ts";

/** GET /swagger: the interactive reference. Swagger UI, served by us: no script or style comes from another origin. */
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Chat Agent Service: API reference</title>
    <link rel="stylesheet" href="/swagger/swagger-ui.css">
    <link rel="icon" type="image/png" href="/swagger/favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/swagger/swagger-ui-bundle.js"></script>
    <script src="/swagger/start.js"></script>
  </body>
</html>
`;

/** Swagger UI would parse a stream of lines as one JSON text: it is shown as plain text. */
const START = `const streamsAsText = ({ React }) => ({
  wrapComponents: {
    responseBody: (ResponseBody) => (props) => {
      const isStream = props.contentType?.startsWith("application/x-ndjson");
      return React.createElement(ResponseBody, { ...props, ...(isStream && { contentType: "text/plain" }) });
    },
  },
});
SwaggerUIBundle({
  url: "/swagger/openapi.json",
  dom_id: "#swagger-ui",
  validatorUrl: null,
  plugins: [streamsAsText],
});
`;

/** Swagger UI sets style attributes and shows data: images; everything else comes from here. */
const HEADERS = {
  "content-security-policy":
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

const JAVASCRIPT = "text/javascript; charset=utf-8";

/** The files of the package that the page uses. */
const ASSETS = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": JAVASCRIPT,
  "favicon-32x32.png": "image/png",
} as const;

/** `routes`: what the document describes. */
export function swaggerRoutes(routes: readonly Route[]): Route[] {
  return [
    fileRoute("/swagger", async () => file("text/html; charset=utf-8", PAGE)),
    fileRoute("/swagger/start.js", async () => file(JAVASCRIPT, START)),
    fileRoute("/swagger/openapi.json", async () => ({
      status: 200,
      headers: {
        "content-type": "application/json; charset=utf-8",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
      },
      body: Buffer.from(JSON.stringify(openApiDocument(routes))),
    })),
    ...Object.entries(ASSETS).map(([name, type]) =>
      fileRoute(`/swagger/${name}`, async () => file(type, await readAsset(name))),
    ),
  ];
}

function file(type: string, body: string | Uint8Array) {
  return { status: 200, headers: { ...HEADERS, "content-type": type }, body };
}

function readAsset(name: string): Promise<Buffer> {
  const { resolve } = createRequire(import.meta.url);
  return readFile(join(dirname(resolve("swagger-ui-dist/package.json")), name));
}
