import { setTimeout as pause } from "node:timers/promises";
import type { ToolCallLine } from "../../../machines/line.ts";
import { ask, createThread, createVisitor, terminalOf, visitorHeaders } from "../../faults/history/client.ts";
import type { Heard } from "../../faults/history/client.ts";
import type { WrittenFleet } from "../../faults/history/workload.ts";

/** Pages whose every message calls one of their tools: the result goes to any instance, which need not be the one that asked. */
export interface CallingPages {
  /** Resolves when the last messages are over: how many calls were answered, and how many answers were not taken. */
  stop(): Promise<{ answered: number; refused: number; unreached: number }>;
  faults(): Promise<string[]>;
}

interface CallingPage {
  threadId: string;
  headers: Record<string, string>;
  /** Texts whose message was acknowledged, and those that were sent at all. */
  acknowledged: Set<string>;
  sent: Set<string>;
}

const REST_MS = 100;
/** A call that nobody answers in all this time is one that was lost. */
const TRIES = 600;

export async function callPageTools(fleet: WrittenFleet, count: number): Promise<CallingPages> {
  let stopped = false;
  let answered = 0;
  let refused = 0;
  let unreached = 0;
  const wrong: string[] = [];
  const anyUrl = () => fleet.victims[Math.floor(Math.random() * fleet.victims.length)]?.url ?? "";
  const pages = await Promise.all(Array.from({ length: count }, open));
  const calling = Promise.all(pages.map(call));

  async function open(): Promise<CallingPage> {
    const url = anyUrl();
    const token = String((await createVisitor(url)).value["visitorToken"]);
    const threadId = String((await createThread(url, token)).value["threadId"]);
    const headers = visitorHeaders(token);
    const body = { threadId, webmcpTools: [{ name: "cart", description: "The cart" }] };
    await ask(url, "/v1/widget/tools", { headers, body });
    return { threadId, headers, acknowledged: new Set(), sent: new Set() };
  }

  async function call(page: CallingPage): Promise<void> {
    const { threadId, headers } = page;
    for (let nth = 1; !stopped; nth++) {
      const text = `Buy ${nth} #calls cart`;
      page.sent.add(text);
      const said = await ask(anyUrl(), "/v1/widget/messages", { headers, body: { threadId, text } });
      if (said.status === 200) page.acknowledged.add(text);
      await toTheEnd(page, said, text);
    }
  }

  /** Answers whatever call is pending until the run is over, by re-attaching where a stream did not tell. */
  async function toTheEnd(page: CallingPage, said: Heard, text: string): Promise<void> {
    const { threadId, headers } = page;
    let heard = said;
    for (let tries = 0; tries < TRIES; tries++) {
      const end = terminalOf(heard);
      if (end?.type === "tool_call") heard = await answer(page, end);
      else if (end && !(end.type === "error" && end.code === "interrupted")) return;
      else {
        await pause(REST_MS);
        const path = `/v1/widget/threads/${threadId}/stream`;
        heard = await ask(anyUrl(), path, { method: "GET", headers });
        if (heard.status === 204) return;
      }
    }
    wrong.push(`no end: ${text}`);
  }

  async function answer({ threadId, headers }: CallingPage, { callId, tool }: ToolCallLine): Promise<Heard> {
    const body = { threadId, callId, tool, result: "ok" };
    const heard = await ask(anyUrl(), "/v1/widget/tool-results", { headers, body });
    if (heard.status === 200) answered += 1;
    // 409: an answer before this one was taken, and its own answer lost.
    else if (heard.status === null) unreached += 1;
    else if (heard.status === 503) refused += 1;
    else if (heard.status !== 409) wrong.push(`a result was answered ${heard.status}`);
    return heard.status === 200 ? heard : { ...heard, lines: [] };
  }

  return {
    async stop() {
      stopped = true;
      await calling;
      return { answered, refused, unreached };
    },

    async faults() {
      await fleet.settled(pages.map(({ threadId }) => threadId));
      for (const { threadId, acknowledged, sent } of pages) {
        const items = await fleet.store.history(threadId, { limit: 100_000, before: null });
        const texts = items.filter(({ role }) => role === "user").map(({ content }) => content);
        for (const text of new Set(texts)) {
          if (!sent.has(text)) wrong.push(`nobody wrote: ${text}`);
          if (texts.indexOf(text) !== texts.lastIndexOf(text)) wrong.push(`doubled: ${text}`);
        }
        for (const text of acknowledged) if (!texts.includes(text)) wrong.push(`lost: ${text}`);
      }
      return wrong;
    },
  };
}
