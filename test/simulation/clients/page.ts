import type { PageTool } from "../../../src/domain/channels/page-tool.ts";
import type { RetentionPlan } from "../plan.ts";
import type { World } from "../world.ts";
import { createApprover } from "./approver.ts";
import type { Client } from "./client.ts";
import { endOf } from "./client.ts";
import type { Exchange } from "./exchange.ts";
import type { SentRequest } from "./requests.ts";
import {
  answerAgain,
  answerCall,
  approveOnPage,
  askOnPage,
  cancelOnPage,
  createThread,
  deleteOnPage,
  followThread,
  identify,
  mint,
  readHistory,
  sayOnPage,
  setCatalog,
  stopWaitingOnPage,
} from "./requests.ts";

/** A visitor's token and threads; several pages may have them. */
export interface Visitor {
  token: string | null;
  threads: string[];
}

const MOST_THREADS = 2;
const MOST_REATTACHES = 100;
const TOOLS = ["cart", "search", "scroll"] as const;
export const ACCOUNTS = ["ada", "bob"] as const;

type Say = () => Promise<Exchange | null>;

/** A page with the widget: it talks, performs its tools, re-attaches, cancels, and reads what was said. */
export async function runPage(
  { plan, faultsAreOver, randomOf }: World,
  client: Client,
  visitor: Visitor,
): Promise<void> {
  const { random, name } = client;
  const wants = plan.clients;
  // Choices of their own: a page for which there are no people does what it did.
  const ofPeople = randomOf(`people of ${name}`);
  const ofDeletions = randomOf(`deletions of ${name}`);
  const { retention, talk: talking } = plan;
  const ofTalk = randomOf(`talk of ${name}`);
  const approver = createApprover(client, { talk: talking, random: ofTalk });
  const ofRetention = randomOf(`absences of ${name}`);
  let said = 0;

  while (!faultsAreOver()) {
    await client.rest(...wants.thinkMs);
    if (retention && ofRetention.chance(retention.away)) await beAway(retention);
    if (retention && faultsAreOver()) return;
    const token = visitor.token ?? (await arrive());
    const uid = token === null ? null : ((await pickThread(token)) ?? null);
    // Another page of the visitor may have begun anew: what there is now is of another token.
    if (token !== null && uid !== null && visitor.token === token) await act(token, uid);
  }

  /** Comes back just when what it left is due, a little earlier or later. */
  async function beAway({ threadsMs, anonymousMs, tokenMs }: RetentionPlan): Promise<void> {
    const times = [threadsMs, anonymousMs === null ? null : tokenMs].filter((ms) => ms !== null);
    await client.pause((ofRetention.pickAny(times) ?? 0) * ofRetention.between(0.9, 1.2));
  }

  async function arrive(): Promise<string | null> {
    const exchange = await client.sendUntilAnswered(mint);
    if (exchange?.status !== 201) return null;
    const { visitorToken } = JSON.parse(exchange.body) as { visitorToken: string };
    return (visitor.token ??= visitorToken);
  }

  async function pickThread(token: string): Promise<string | undefined> {
    const { threads } = visitor;
    if (threads.length === 0 || (threads.length < MOST_THREADS && random.chance(0.05))) {
      const exchange = await client.sendUntilAnswered(() => createThread(token));
      if (exchange?.status === 401) noteDeleted(token, "", exchange);
      // Another page of the visitor may have begun anew.
      if (exchange?.status === 201 && visitor.token === token) {
        visitor.threads.push((JSON.parse(exchange.body) as { threadId: string }).threadId);
      }
    }
    return random.pickAny(visitor.threads);
  }

  async function act(token: string, uid: string): Promise<void> {
    if (random.chance(wants.catalog)) await client.send(setCatalog(token, uid, newCatalog()));
    if (random.chance(wants.identify)) await client.send(identify(token, random.pick(ACCOUNTS)));
    if (random.chance(wants.history)) await client.send(readHistory(token, uid, random.whole(1, 100)));
    const talk = talkIn(token, uid);
    const reading = random.chance(wants.follow) ? later(() => followThread(token, uid, null)) : null;
    const cancelling = random.chance(wants.cancel) ? later(() => cancelOnPage(token, uid)) : null;
    await Promise.all([talk, reading, cancelling, askPerson(token, uid), deleteThread(token, uid)]);
    if (ofTalk.chance(talking.again)) await wantAnother(token, uid);
  }

  /** The id of some item of this role, of those that are shown. */
  async function someItem(token: string, uid: string, role: string): Promise<string | undefined> {
    const { status, body, isCut } = await client.send(readHistory(token, uid, 100));
    if (status !== 200 || isCut) return undefined;
    const { items } = JSON.parse(body) as { items: { id: string; role: string }[] };
    return ofTalk.pickAny(items.filter((item) => item.role === role))?.id;
  }

  /** Another reply to a message; of a person's words, or of what nobody has asked for, there is none. */
  async function wantAnother(token: string, uid: string): Promise<void> {
    const messageId = await someItem(token, uid, "assistant");
    if (messageId === undefined) return;
    const id = `${name} again ${++said}`;
    const ask = () => client.sendUntilAnswered(() => read(token, answerAgain(token, { uid, messageId, id })));
    await converse(token, uid, ask, ask);
  }

  /** A stream, of which the visitor approves the calls. */
  function read(token: string, request: SentRequest): SentRequest {
    const { about } = request;
    if (!("uid" in about)) return request;
    return {
      ...request,
      onLine: approver((decision) => approveOnPage(token, { uid: about.uid, ...decision })),
    };
  }

  async function askPerson(token: string, uid: string): Promise<void> {
    if (!ofPeople.chance(plan.people.asks)) return;
    await client.pause(ofPeople.between(0, 1_500));
    await client.send(askOnPage(token, uid));
    if (!ofPeople.chance(plan.people.stopsWaiting)) return;
    await client.pause(ofPeople.between(0, 4_000));
    await client.send(stopWaitingOnPage(token, uid));
  }

  async function deleteThread(token: string, uid: string): Promise<void> {
    if (!ofDeletions.chance(plan.deletions.visitors)) return;
    await client.pause(ofDeletions.between(0, 3_000));
    const exchange = await client.sendUntilAnswered(() => deleteOnPage(token, uid));
    if (exchange?.status === 204) leave(uid);
  }

  function leave(uid: string): void {
    visitor.threads = visitor.threads.filter((one) => one !== uid);
  }

  /** It is deleted, or its user is. */
  function noteDeleted(token: string, uid: string, { status }: Exchange): void {
    if (status === 404) leave(uid);
    if (status !== 401 || visitor.token !== token) return;
    visitor.token = null;
    visitor.threads = [];
  }

  /** A message with an id is said until it is answered, now and then twice at once. One without is said once. */
  async function talkIn(token: string, uid: string): Promise<void> {
    const text = `${name} says ${++said}`;
    const replaces = ofTalk.chance(talking.replaces) ? await someItem(token, uid, "user") : undefined;
    const say = (id: string | null) => read(token, sayOnPage(token, { uid, text, id, replaces }));
    if (!random.chance(wants.withId)) return converse(token, uid, () => client.send(say(null)), null);
    const again = () => client.sendUntilAnswered(() => say(text));
    const twin = random.chance(wants.saysTwice) ? client.send(say(text)) : null;
    await converse(token, uid, again, again);
    await twin;
  }

  async function later(make: () => ReturnType<typeof followThread>): Promise<void> {
    await client.rest(0, 1_500);
    await client.send(make());
  }

  function newCatalog(): PageTool[] {
    if (random.chance(0.15)) return [];
    const description = `catalog ${name}.${++said}`;
    return TOOLS.slice(0, random.whole(1, TOOLS.length)).map((tool) => ({ name: tool, description }));
  }

  /**
   * Reads a reply to its end, through interruptions and calls of this page's tools. `again` repeats the message; without
   * it the page re-attaches, most often to the run that it has lost.
   */
  async function converse(token: string, uid: string, say: Say, again: Say | null): Promise<void> {
    const reattach = (runId: string | null) =>
      client.sendUntilAnswered(() =>
        read(token, followThread(token, uid, random.chance(0.7) ? runId : null)),
      );
    let exchange = await say();
    if (exchange) noteDeleted(token, uid, exchange);
    for (let reattaches = 0; exchange?.status === 200 && reattaches < MOST_REATTACHES;) {
      const end = endOf(exchange);
      if (end.type === "unfinished") {
        reattaches++;
        await client.rest(50, 800);
        exchange = await (again && random.chance(0.7) ? again() : reattach(exchange.runId));
      } else if (end.line.type === "tool_call") {
        exchange = await perform(token, uid, end.line);
      } else return;
    }
  }

  async function perform(
    token: string,
    uid: string,
    { callId, tool }: { callId: string; tool: string },
  ): Promise<Exchange | null> {
    if (random.chance(wants.neverAnswers)) return null;
    await client.rest(0, 1_000);
    const answer = { uid, callId, tool, text: `${name} did ${callId}`, isWrong: false };
    if (random.chance(wants.wrongAnswer)) {
      const wrong = random.chance(0.5) ? { callId: "call-0" } : { tool: "nothing" };
      await client.send(answerCall(token, { ...answer, ...wrong, text: "wrong", isWrong: true }));
    }
    const again = random.chance(wants.answersTwice)
      ? client.send(answerCall(token, { ...answer, text: `${name} did ${callId} again` }))
      : null;
    const first = await client.sendUntilAnswered(() => read(token, answerCall(token, answer)));
    await again;
    return first;
  }
}
