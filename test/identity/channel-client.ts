import { readVisitorToken } from "../../src/domain/people/visitor-token.ts";
import { ask, objectOf } from "../scenarios/page.ts";
import type { Answer } from "../scenarios/page.ts";
import { ORIGIN, secretKeyOf, TRANSPORT } from "../scenarios/houses.ts";
import type { House } from "../scenarios/houses.ts";

/** One web channel of a house, as its pages and its backends speak to it; each request goes to the next instance. */
export interface ChannelClient {
  slug: string;
  visit(): Promise<Answer>;
  openThread(token: string): Promise<Answer>;
  register(token: string, threadId: string): Promise<Answer>;
  say(token: string, threadId: string, text: string): Promise<Answer>;
  answer(token: string, threadId: string, callId: string): Promise<Answer>;
  history(token: string, threadId: string): Promise<Answer>;
  identify(token: string, externalUserId: unknown, key?: string): Promise<Answer>;
  /** On the server API. */
  send(userId: string, threadId: string, text: string, displayName?: string): Promise<Answer>;
  access(externalUserId: string): Promise<Answer>;
  /** A visitor's token that was just made, and its user's id, which no page is told. */
  newVisitor(): Promise<{ token: string; userId: string }>;
  newThread(token: string): Promise<string>;
}

/** The one page tool; the scripted model calls it where a text begins with "call". */
export const TOOL = "cart";

export function clientOf(house: House, slug: string): ChannelClient {
  let turn = 0;
  const post = (path: string, headers: Record<string, string>, body?: unknown) =>
    ask(nextUrl(), path, { headers, body });
  const nextUrl = () => house.urls[turn++ % house.urls.length] ?? "";
  const page = (token: string) => ({ origin: ORIGIN, "x-visitor-token": token });

  const client: ChannelClient = {
    slug,
    visit: () => post("/v1/widget/visitors", { origin: ORIGIN, "x-publishable-key": `pk_${slug}` }),
    openThread: (token) => post("/v1/widget/threads", page(token)),
    register: (token, threadId) =>
      post("/v1/widget/tools", page(token), { threadId, webmcpTools: [{ name: TOOL }] }),
    say: (token, threadId, text) => post("/v1/widget/messages", page(token), { threadId, text }),
    answer: (token, threadId, callId) =>
      post("/v1/widget/tool-results", page(token), { threadId, callId, tool: TOOL, result: "Filled" }),
    history: (token, threadId) =>
      ask(nextUrl(), `/v1/widget/threads/${threadId}/messages?limit=100`, {
        method: "GET",
        headers: page(token),
      }),
    identify: (visitorToken, externalUserId, key = secretKeyOf(slug)) =>
      post(
        `/v1/channels/${slug}/identify`,
        { authorization: `Bearer ${key}` },
        { visitorToken, externalUserId },
      ),
    send: (userId, threadId, text, displayName) =>
      post("/v1/messages", TRANSPORT, { channel: slug, userId, threadId, text, displayName }),
    access: (externalUserId) => post("/v1/access", TRANSPORT, { channel: slug, externalUserId }),

    async newVisitor() {
      const { visitorToken: token } = objectOf<{ visitorToken: string }>(await client.visit());
      const tokenHash = readVisitorToken(token)?.tokenHash ?? "";
      const { visitor } = await house.store.readIdentity(slug, tokenHash, "nobody");
      return { token, userId: visitor?.user.userId ?? "" };
    },
    async newThread(token) {
      return objectOf<{ threadId: string }>(await client.openThread(token)).threadId;
    },
  };
  return client;
}
