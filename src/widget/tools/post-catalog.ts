import { fieldsOf } from "../service/fields.ts";
import type { JsonStorage } from "../service/json-storage.ts";
import type { ThreadAccess } from "../service/visitor-session.ts";
import { droppedToolsOf, refusedStatus } from "../service/widget-api.ts";
import type { WidgetApi } from "../service/widget-api.ts";
import { catalogOf } from "./catalog.ts";
import type { Tool } from "./tool.ts";

export interface CatalogDependencies {
  api: WidgetApi;
  sharedStorage: JsonStorage;
  host: {
    tools(): Promise<Tool[]>;
    emit(name: "error", detail: { message: string; status?: number; code?: string }): boolean;
  };
}

/**
 * Posts the page's tools if they differ from the last post: each post counts against the visitor's messages per minute.
 * A refusal does not stop a message; the agent then works with the tools that it has.
 */
export async function postCatalog(
  { api, sharedStorage, host }: CatalogDependencies,
  { visitorToken, threadId }: ThreadAccess,
): Promise<void> {
  const { catalog, dropped } = catalogOf(await host.tools());
  const print = printOf(JSON.stringify(catalog));
  const posted = fieldsOf(sharedStorage.read("catalog"));
  const isKnown = posted["threadId"] === threadId ? posted["print"] === print : catalog.length === 0;
  if (isKnown) return;

  const warnOf = (message: string) => {
    console.warn(`chat-agent: ${message}`);
    host.emit("error", { code: "catalog_trimmed", message });
  };
  if (dropped.length > 0) warnOf(`The tool catalog is too long; left out: ${dropped.join(", ")}`);
  try {
    const answer = await api({ path: "/tools", visitorToken, body: { threadId, webmcpTools: catalog } });
    const refused = droppedToolsOf(answer);
    if (refused !== null) warnOf(`The agent cannot be offered these tools: ${refused}`);
    sharedStorage.write("catalog", { threadId, print });
  } catch (error) {
    const status = refusedStatus(error);
    // The message would fail too: no answer, unknown token, blocked, no such thread.
    if ([0, 401, 403, 404].includes(status)) throw error;
    host.emit("error", { status, message: "The service did not take the page's tools" });
  }
}

/** FNV-1a: tells catalogs apart, also on insecure pages, which have no crypto.subtle. */
function printOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return `${text.length}.${(hash >>> 0).toString(36)}`;
}
