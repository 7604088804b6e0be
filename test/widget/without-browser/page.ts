import { onTestFinished, vi } from "vitest";
import type { Line } from "../../../machines/line.ts";
import { Conversation } from "../../../src/widget/run/conversation.ts";
import { callTool, settle } from "../../../src/widget/run/tab/page-calls.ts";
import type { ConversationHost } from "../../../src/widget/run/conversation-host.ts";
import { postCatalog } from "../../../src/widget/tools/post-catalog.ts";
import { openStorage } from "../../../src/widget/service/json-storage.ts";
import type { JsonStorage } from "../../../src/widget/service/json-storage.ts";
import { Refused, Unreachable } from "../../../src/widget/service/widget-api.ts";
import type { ApiRequest, WidgetApi } from "../../../src/widget/service/widget-api.ts";
import { languageOf } from "../../../src/widget/strings/language.ts";
import { translations } from "../../../src/widget/strings/languages.ts";
import type { Tool } from "../../../src/widget/tools/tool.ts";

/** What a page is to a conversation, for tests of what needs no browser. */
export interface Site {
  api: WidgetApi;
  asked: ApiRequest[];
  /** Paths of what was asked, with its method where it is a GET. */
  paths(): string[];
  /** Answers that are refused instead, by path; 0: no answer. */
  refusals: Map<string, number[]>;
  /** The history of each thread, by id. */
  history: Map<string, unknown[]>;
  /** The next streams of the service; after them each says nothing, and is done. */
  streams: Line[][];
  shared: JsonStorage;
}

export function openSite(): Site {
  vi.stubGlobal("navigator", { onLine: true });
  vi.stubGlobal("document", { visibilityState: "visible", addEventListener: () => {} });
  vi.stubGlobal("window", { addEventListener: () => {} });
  vi.stubGlobal("location", { pathname: "/", search: "" });
  const asked: ApiRequest[] = [];
  const refusals = new Map<string, number[]>();
  const history = new Map<string, unknown[]>();
  let made = 0;
  const site: Site = {
    asked,
    refusals,
    history,
    streams: [],
    shared: openStorage("memory", "shared:"),
    paths: () => asked.map(({ method, path }) => (method === "GET" ? `GET ${path}` : path)),
    api(request) {
      asked.push(request);
      const status = refusals.get(request.path)?.shift();
      if (status === 0) return Promise.reject(new Unreachable(null));
      if (status !== undefined) return Promise.reject(new Refused(status, 1));
      return Promise.resolve(answer(request));
    },
  };
  function answer({ path }: ApiRequest): Response {
    made += 1;
    if (path === "/visitors") return Response.json({ visitorToken: `v${made}`, expiresAt: 1 });
    if (path === "/threads") return Response.json({ threadId: `t${made}` });
    const read = /^\/threads\/(.+)\/messages/.exec(path)?.[1];
    if (read !== undefined) return Response.json({ items: history.get(read) ?? [] });
    if (path.endsWith("/cancel") || path === "/tools") return new Response(null, { status: 204 });
    const lines = site.streams.shift() ?? [{ type: "done", elapsedMs: 1 }];
    return new Response(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  }
  return site;
}

export function tabStorage(): JsonStorage {
  return openStorage("memory", "tab:");
}

/**
 * An element of the page; `events` are what it emitted. Nobody sees it after the test, so that nothing is retried when the
 * page's globals are gone.
 */
export function element(tools: Tool[] = []): { host: ConversationHost; events: [string, unknown][] } {
  const events: [string, unknown][] = [];
  let isSeen = true;
  onTestFinished(() => void (isSeen = false));
  return {
    events,
    host: {
      strings: () => languageOf([], {}, translations).strings,
      tools: () => Promise.resolve(tools),
      toolPart: () => Promise.resolve({ callTool, settle, postCatalog }),
      titleOf: () => undefined,
      locale: () => "de-CH",
      toolsSettled: () => Promise.resolve(),
      confirmTools: () => "consequential",
      toolTimeoutMs: () => 1_000,
      customerContext: () => null,
      page: () => "/",
      isSeen: () => isSeen,
      isInView: () => true,
      alerts: () => false,
      redraw: () => {},
      emit: (name, detail) => (events.push([name, detail]), true),
    },
  };
}

/** A conversation of a page of its own. */
export function openConversation(): { conversation: Conversation; site: Site } {
  const site = openSite();
  const conversation = new Conversation({
    api: site.api,
    publishableKey: "pk_test",
    sharedStorage: site.shared,
    tabStorage: tabStorage(),
    lockPrefix: "",
    host: element().host,
  });
  return { conversation, site };
}
