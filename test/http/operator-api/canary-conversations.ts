import { pageCall, serverCall } from "../../threads/scripted-agent.ts";
import { ORIGIN, other, shop, TRANSPORT_KEY } from "../service.ts";
import type { OperatedService } from "./operators-service.ts";

/** Two channels in which people have talked, been handed over and waited. Every text of theirs is a word of its own. */
export interface CanaryConversations {
  /** What nobody but admin and agent reads, by what it is; of `shop`. */
  texts: Record<string, string>;
  /** In every text, name and id of `other`. */
  otherWord: string;
  /** Of the threads and users of `other`. */
  otherIds: string[];
  /** What stands for a `:name` of a path, or for a field of a query. */
  values: Record<string, string[]>;
}

const ORIGINS: Record<string, string> = { shop: ORIGIN, other: "https://other.example" };
const OTHER_WORD = "canaryothr";

const TEXT_KINDS = [
  "displayName",
  "attribute",
  "question",
  "answer",
  "page",
  "customerContext",
  "tool",
  "toolArgument",
  "toolResult",
  "clientMessageId",
  "comment",
  "context",
  "transportText",
  "fault",
  "reason",
  "summary",
  "personText",
  "note",
  "waitingText",
  "rename",
] as const;

/** Letters alone: JSON, base64url and a URL carry it as it is. */
function textsOf(word: string): Record<(typeof TEXT_KINDS)[number], string> {
  const pairs = TEXT_KINDS.map((kind) => [kind, `${word}${kind.toLowerCase()}`]);
  return Object.fromEntries(pairs) as Record<(typeof TEXT_KINDS)[number], string>;
}

export async function talkInBoth(service: OperatedService): Promise<CanaryConversations> {
  const handoff = { enabled: true, waitSeconds: 600 };
  const hook = (name: string) => [
    { url: `https://${name}.example/hook`, secret: `whsec_${"QUFB".repeat(8)}` },
  ];
  await service.store.putChannel({ ...shop, handoff, webhooks: hook("shop") });
  const agent = { instructions: `${OTHER_WORD} instructions` };
  await service.store.putChannel({ ...other, handoff, agent, webhooks: hook(OTHER_WORD) });
  await service.renew();
  const texts = textsOf("canaryshop");
  const ofShop = await talk(service, "shop", { texts, id: "shop" });
  const ofOther = await talk(service, "other", { texts: textsOf(OTHER_WORD), id: OTHER_WORD });
  const ids = (...kinds: (keyof typeof ofShop)[]) => [
    ...new Set(kinds.flatMap((kind) => [...ofShop[kind], ...ofOther[kind]])),
  ];
  return {
    texts,
    otherWord: OTHER_WORD,
    otherIds: [...ofOther.uids, ...ofOther.userIds],
    values: {
      slug: ["shop", "other"],
      id: ids("uids"),
      threadId: ids("threadIds"),
      fileId: ["no-file"],
      userId: ids("userIds", "callers"),
      name: ["shop-agent", "agent"],
      address: ["192.0.2.8"],
      channel: ["shop", "other"],
      thread: ids("uids"),
      operator: ["shop-agent", "agent", "admin"],
      after: ["", "0", "1"],
      before: ["3"],
      since: ["0"],
      until: [String(Number.MAX_SAFE_INTEGER)],
      q: [...Object.values(texts), ofShop.callers[0] ?? ""],
    },
  };
}

/** A visitor with a finished run, a pending call and a waiting thread; an account whose run failed. */
async function talk(
  service: OperatedService,
  slug: "shop" | "other",
  { texts, id }: { texts: ReturnType<typeof textsOf>; id: string },
) {
  const { agent, store, as, ask } = service;
  const origin = ORIGINS[slug] ?? "";
  const headers = { origin };
  const token = await service.newToken({ headers: { ...headers, "x-publishable-key": `pk_${slug}` } });
  const visitor = { headers: { ...headers, "x-visitor-token": token } };
  const thread = () => service.newThread(token, visitor);
  const post = (path: string, body: unknown) => service.post(`/v1/widget/${path}`, body, visitor);
  const say = (threadId: string, text: string, more: object = {}) =>
    post("messages", { threadId, text, ...more });
  const serverHeaders = { authorization: `Bearer ${TRANSPORT_KEY}`, "content-type": "application/json" };
  const server = (path: string, body: unknown) =>
    ask({ method: "POST", path: `/v1${path}`, headers: serverHeaders, body: JSON.stringify(body) });

  const finished = await thread();
  const tools = [{ name: texts.tool, description: texts.tool, inputSchema: { type: "object" } }];
  await post("tools", { threadId: finished, tools });
  const first = await say(finished, texts.question, {
    page: `/${texts.page}`,
    customerContext: { seat: texts.customerContext },
    clientMessageId: texts.clientMessageId,
  });
  const turn = await agent.turn();
  turn.call({ ...serverCall("c1"), arguments: { query: texts.toolArgument }, progress: texts.toolArgument });
  (await agent.toolCall()).answer(texts.toolResult);
  const last = await agent.turn();
  last.write(texts.answer);
  last.finish();
  await first.text();
  await post(`threads/${finished}/feedback`, { messageId: "2", rating: "down", comment: texts.comment });

  const pending = await thread();
  const called = await say(pending, texts.question);
  (await agent.turn()).call({ ...pageCall("c2"), arguments: { query: texts.toolArgument } });
  await called.text();

  const returned = await thread();
  const operated = `/channels/${slug}/threads/${returned}`;
  const begun = await say(returned, texts.question);
  (await agent.turn()).handOff(texts.reason, texts.summary);
  await begun.text();
  await as("admin", "POST", `${operated}/take`, { epoch: 1 });
  await as("admin", "POST", `${operated}/messages`, { text: texts.personText, epoch: 2 });
  await as("admin", "POST", `${operated}/return`, { epoch: 2, note: texts.note });

  const asking = await thread();
  await post(`threads/${asking}/handoff`, { reason: texts.reason });
  await (await say(asking, texts.waitingText)).text();

  // With a hand-off whose reason and summary stay.
  const waiting = await thread();
  const handed = await say(waiting, texts.question);
  (await agent.turn()).handOff(texts.reason, texts.summary);
  await handed.text();

  const caller = `caller-${id}`;
  const failed = await server("/messages", {
    threadId: `order-${id}`,
    userId: caller,
    channel: slug,
    text: texts.transportText,
    displayName: texts.displayName,
    attributes: { plan: texts.attribute },
    context: { seat: texts.context },
  });
  (await agent.turn()).fail(texts.fault);
  await failed.text();
  const user = await store.findUser(slug, caller);
  const anonymous = (await store.usersPage(slug, { limit: 10, after: null, order: "newest first" })).items
    .map((one) => one.user)
    .find(({ externalId }) => externalId === null);
  await as("admin", "PATCH", `/channels/${slug}/users/${anonymous?.userId}`, { displayName: texts.rename });

  const userIds = [user?.userId ?? "", anonymous?.userId ?? ""];
  const owned = await Promise.all(userIds.map((userId) => store.threads(slug, userId)));
  return {
    userIds,
    callers: [caller],
    uids: owned.flat().map(({ uid }) => uid),
    threadIds: owned.flat().map(({ threadId }) => threadId),
  };
}
