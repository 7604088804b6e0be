import { ORIGIN } from "../../scenarios/houses.ts";
import type { House } from "../../scenarios/houses.ts";
import { ask, objectOf } from "../../scenarios/page.ts";
import { call, hold, lastUserText, say } from "../../support/servers/model-server.ts";
import type { ModelServerRequest, ScriptedTurn } from "../../support/servers/model-server.ts";

/** What is said with this word waits in the middle of its reply. */
export const HOLDS = "wait";

/** The model of a shop: for a mug it uses two page tools, one after the other. */
export function shopModel(request: ModelServerRequest): ScriptedTurn {
  const said = lastUserText(request);
  const { messages } = request.body;
  const used = messages.slice(messages.findLastIndex(({ role }) => role === "user"));
  const results = used.filter(({ role }) => role === "tool").map(({ content }) => JSON.stringify(content));
  if (said.includes("mug") && results.length < 2) {
    return [
      say(`Part ${results.length + 1}. `),
      call(results.length === 0 ? "search" : "add", { what: "mug" }),
    ];
  }
  if (said.includes("mug") && said.includes(HOLDS)) return [say("Nearly. "), hold(), say("It is there.")];
  if (said.includes("mug")) return [say(`Got ${results.join(" and ")}.`)];
  if (said.includes(HOLDS)) return [say("One "), say("two "), hold(), say("three")];
  return `You said: ${said}`;
}

/** A new visitor of the channel `shop`, and a thread. */
export async function enterShop(house: House) {
  const [url = ""] = house.urls;
  /** Of another instance than the one that is talked to, where there is one. */
  const elsewhere = house.urls.at(-1) ?? url;
  const post = (path: string, headers: Record<string, string>, body?: unknown) =>
    ask(url, `/v1/widget${path}`, { headers: { origin: ORIGIN, ...headers }, body });
  const visitor = await post("/visitors", { "x-publishable-key": "pk_shop" });
  const { visitorToken: token } = objectOf<{ visitorToken: string }>(visitor);
  const mine = { "x-visitor-token": token };
  const { threadId } = objectOf<{ threadId: string }>(await post("/threads", mine));
  return {
    url,
    elsewhere,
    token,
    threadId,
    /** With the visitor's token. */
    post: (path: string, body: unknown) => post(path, mine, body),
    /** With it, at the other instance. */
    askElsewhere: (path: string, method: "GET" | "POST") =>
      ask(elsewhere, path, { method, headers: { origin: ORIGIN, ...mine } }),
  };
}
