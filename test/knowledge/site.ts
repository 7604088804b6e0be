import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { onTestFinished } from "vitest";

export type SiteAnswer = (request: IncomingMessage, response: ServerResponse) => void;

export const html =
  (body: string, title = "T"): SiteAnswer =>
  (_request, response) => {
    response
      .setHeader("content-type", "text/html")
      .end(`<html><head><title>${title}</title></head><body>${body}</body></html>`);
  };

export const status =
  (code: number): SiteAnswer =>
  (_request, response) =>
    void response.writeHead(code).end();

export const text =
  (body: string, type = "text/plain"): SiteAnswer =>
  (_request, response) => {
    response.setHeader("content-type", type).end(body);
  };

/** A site on loopback, until the test ends. Its pages may change while it is read. */
export async function openSite(pages: Record<string, SiteAnswer>) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    (pages[path] ?? status(404))(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { origin: `http://127.0.0.1:${address.port}`, asked, pages };
}
