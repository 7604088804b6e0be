import type { Shelf } from "../service/storage.ts";
import { refusedStatus } from "../service/transport.ts";
import type { Service } from "../service/transport.ts";
import type { Place } from "../service/visitor.ts";
import { catalogOf } from "./catalog.ts";
import type { Tool } from "./tool.ts";

/** Where the catalog comes from, and where it goes. */
export interface CatalogPost {
  service: Service;
  shelf: Shelf;
  host: {
    tools(): Promise<Tool[]>;
    emit(name: "error", detail: { message: string; status?: number; code?: string }): boolean;
  };
}

interface PostedCatalog {
  threadId: string;
  print: string;
}

/**
 * Registers the page's tools for the thread, when they differ from what was registered last: each post counts against
 * the visitor's messages a minute. A no never stands in the way of a message; the agent then works with the tools it has.
 */
export async function postCatalog({ service, shelf, host }: CatalogPost, at: Place): Promise<void> {
  const { catalog, dropped } = catalogOf(await host.tools());
  const print = printOf(JSON.stringify(catalog));
  const posted = shelf.read("catalog") as PostedCatalog | null;
  const isKnown = posted?.threadId === at.threadId ? posted.print === print : catalog.length === 0;
  if (isKnown) return;

  if (dropped.length > 0) {
    const message = `The tool catalog is too long; left out: ${dropped.join(", ")}`;
    console.warn(`chat-agent: ${message}`);
    host.emit("error", { code: "catalog_trimmed", message });
  }
  try {
    await service({ path: "/tools", token: at.token, body: { threadId: at.threadId, webmcpTools: catalog } });
    shelf.write("catalog", { threadId: at.threadId, print } satisfies PostedCatalog);
  } catch (error) {
    const status = refusedStatus(error);
    if ([0, 401, 403, 404].includes(status)) throw error;
    host.emit("error", { status, message: "The service did not take the page's tools" });
  }
}

/** FNV-1a: tells catalogs apart, on pages without crypto.subtle too. */
function printOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return `${text.length}.${(hash >>> 0).toString(36)}`;
}
