import { hashKey } from "../../src/keys.ts";
import { Secret } from "../../src/secret.ts";
import { ORIGIN, secretKeyOf, TRANSPORT, webChannel } from "../scenarios/houses.ts";
import type { House } from "../scenarios/houses.ts";
import { ask, objectOf } from "../scenarios/page.ts";
import type { Answer } from "../scenarios/page.ts";
import { turnOf } from "./model-lines.ts";
import type { Step } from "./story.ts";
import { toldOf } from "./tell.ts";

/** A visitor of a page, as far as the page knows itself. */
interface Visitor {
  channel: string;
  token: string;
  threadId: string | null;
  /** What the page said last. */
  said: { text: string; clientMessageId: string } | null;
  pending: { callId: string; tool: string } | null;
}

type Does = (...words: string[]) => Promise<Answer | null>;

const OPERATOR = "Olga";
const WORD = "(\\S+)";
const TEXT = '"(.*)"';

/** Plays the steps of one story against a service; a visitor's requests go to its instances in turn. */
export class Teller {
  readonly #house: House;
  readonly #visitors = new Map<string, Visitor>();
  readonly #userIds = new Map<string, string>();
  #asked = 0;
  #onStatus = () => {};

  constructor(house: House) {
    this.#house = house;
  }

  /** What the step was answered. Throws where it cannot be read, or the model was not asked as often as it says. */
  async play({ does, meanwhile }: Step): Promise<string[]> {
    const { model } = this.#house;
    const turns = meanwhile.filter((line) => line.startsWith("model ")).map((line) => line.slice(6));
    const others = meanwhile.filter((line) => line.startsWith("meanwhile ")).map((line) => line.slice(10));
    const before = model.requests.length;
    model.enqueue(...turns.map(turnOf));
    const answers = [this.#do(does)];
    if (others.length > 0) {
      await model.held();
      for (const other of others) {
        const isStored = new Promise<void>((resolve) => (this.#onStatus = resolve));
        answers.push(this.#do(other));
        await isStored;
      }
      model.release();
    }
    const told = (await Promise.all(answers)).flatMap((answer) => toldOf(answer ?? NOTHING));
    const asked = model.requests.length - before;
    if (turns.length > asked) told.push(`the model was asked ${asked} times`);
    return told;
  }

  async #do(words: string): Promise<Answer | null> {
    for (const [pattern, does] of this.#known) {
      const match = new RegExp(`^${pattern}$`).exec(words);
      if (match) return does(...match.slice(1).map((word) => word ?? "")).catch(answerOf);
    }
    throw new Error(`Cannot read the step: ${words}`);
  }

  readonly #known: [pattern: string, does: Does][] = [
    [`channel ${WORD}(?: (\\{.*\\}))?`, (slug = "", fields = "") => this.#channel(slug, fields)],
    [`${WORD} visits ${WORD}`, (name = "", slug = "") => this.#visit(name, slug)],
    [`${WORD} offers (.*)`, (name = "", tools = "") => this.#offer(name, tools.split(", "))],
    [`${WORD} says ${TEXT}`, (name = "", text = "") => this.#say(name, text, null)],
    [`${WORD} repeats the message`, (name = "") => this.#repeat(name)],
    [`${WORD}'s page answers ${TEXT}`, (name = "", text = "") => this.#answer(name, text, false)],
    [`${WORD}'s page fails with ${TEXT}`, (name = "", text = "") => this.#answer(name, text, true)],
    [`${WORD} reads the conversation`, (name = "") => this.#get(name, "messages")],
    [`${WORD} reads the stream again`, (name = "") => this.#get(name, "stream")],
    [`${WORD} reads ${WORD}'s conversation`, (name = "", other = "") => this.#readOther(name, other)],
    [`${WORD} lists conversations`, (name = "") => this.#list(name)],
    [`${WORD} begins another conversation`, (name = "") => this.#leave(name)],
    [`${WORD} stops the reply`, (name = "") => this.#inThread(name, "cancel")],
    [`${WORD} asks for a person`, (name = "") => this.#inThread(name, "handoff")],
    [`${WORD} waits no longer`, (name = "") => this.#inThread(name, "handoff/cancel")],
    [`${WORD} deletes the conversation`, (name = "") => this.#inThread(name, "delete")],
    [`${WORD} signs in as ${WORD}`, (name = "", account = "") => this.#signIn(name, account)],
    [`operator takes ${WORD}'s conversation`, (name = "") => this.#operate(name, "take", {})],
    [`operator tells ${WORD} ${TEXT}`, (name = "", text = "") => this.#operate(name, "messages", { text })],
    [`operator gives ${WORD}'s conversation back`, (name = "") => this.#operate(name, "return", {})],
    [`operator blocks ${WORD}`, (account = "") => this.#flag(account, { blocked: true })],
    [`operator unblocks ${WORD}`, (account = "") => this.#flag(account, { blocked: false })],
    [`operator lists ${WORD}`, (account = "") => this.#flag(account, { whitelisted: true })],
    [
      `bot: ${WORD} in ${WORD} says ${TEXT}`,
      (user = "", threadId = "", text = "") => this.#bot(user, threadId, text),
    ],
    [`bot reads ${WORD} of ${WORD}`, (threadId = "", user = "") => this.#botReads(threadId, user)],
    ["the service is started again", () => this.#house.restart().then(() => null)],
  ];

  async #channel(slug: string, fields: string): Promise<null> {
    await this.#house.putChannel(webChannel(slug, fields === "" ? {} : (JSON.parse(fields) as object)));
    const keyHash = hashKey(new Secret(`op_${OPERATOR}`));
    await this.#house.store.addOperator({ name: OPERATOR, role: "agent", channels: null, keyHash });
    return null;
  }

  async #visit(name: string, channel: string): Promise<Answer> {
    const answer = await this.#widget("/visitors", { "x-publishable-key": `pk_${channel}` }, {});
    if (answer.status !== 201) return answer;
    const { visitorToken: token } = objectOf<{ visitorToken: string }>(answer);
    this.#visitors.set(name, { channel, token, threadId: null, said: null, pending: null });
    return NOTHING;
  }

  async #offer(name: string, tools: string[]): Promise<Answer> {
    const webmcpTools = tools.map((tool) => ({ name: tool, description: `The page's ${tool}` }));
    return this.#asVisitor(name, "/tools", { threadId: await this.#threadOf(name), webmcpTools });
  }

  async #say(name: string, text: string, id: string | null): Promise<Answer> {
    const visitor = this.#visitor(name);
    const threadId = await this.#threadOf(name);
    visitor.said = { text, clientMessageId: id ?? `m${(this.#asked += 1)}` };
    return this.#listen(name, await this.#asVisitor(name, "/messages", { threadId, ...visitor.said }));
  }

  async #repeat(name: string): Promise<Answer> {
    const { said } = this.#visitor(name);
    if (said === null) throw new Error(`${name} has said nothing`);
    return this.#say(name, said.text, said.clientMessageId);
  }

  async #answer(name: string, text: string, isError: boolean): Promise<Answer> {
    const { threadId, pending } = this.#visitor(name);
    if (pending === null) throw new Error(`No page tool of ${name} is called`);
    const result = { content: [{ type: "text", text }] };
    return this.#listen(
      name,
      await this.#asVisitor(name, "/tool-results", { threadId, ...pending, result, isError }),
    );
  }

  #listen(name: string, answer: Answer): Answer {
    const last = answer.lines.at(-1);
    if (last?.type === "tool_call") this.#visitor(name).pending = { callId: last.callId, tool: last.tool };
    return answer;
  }

  async #get(name: string, what: string): Promise<Answer> {
    return this.#asVisitor(name, `/threads/${await this.#threadOf(name)}/${what}`);
  }

  async #readOther(name: string, other: string): Promise<Answer> {
    return this.#asVisitor(name, `/threads/${await this.#threadOf(other)}/messages`);
  }

  #list(name: string): Promise<Answer> {
    return this.#asVisitor(name, "/threads");
  }

  async #leave(name: string): Promise<null> {
    this.#visitor(name).threadId = null;
    await this.#threadOf(name);
    return null;
  }

  async #inThread(name: string, what: string): Promise<Answer> {
    return this.#asVisitor(name, `/threads/${await this.#threadOf(name)}/${what}`, "");
  }

  async #signIn(name: string, account: string): Promise<Answer> {
    const { channel, token } = this.#visitor(name);
    const answer = await ask(this.#instance(), `/v1/channels/${channel}/identify`, {
      headers: { authorization: `Bearer ${secretKeyOf(channel)}` },
      body: { visitorToken: token, externalUserId: account },
    });
    if (answer.status === 200) this.#userIds.set(account, objectOf<{ userId: string }>(answer).userId);
    return answer;
  }

  async #operate(name: string, what: string, fields: object): Promise<Answer> {
    const { channel } = this.#visitor(name);
    const path = `/v1/operator/channels/${channel}/threads/${await this.#threadOf(name)}`;
    const headers = { authorization: `Bearer op_${OPERATOR}` };
    const shown = await ask(this.#instance(), path, { method: "GET", headers });
    if (shown.status !== 200) return shown;
    const { epoch } = objectOf<{ epoch: number }>(shown);
    return ask(this.#instance(), `${path}/${what}`, { headers, body: { epoch, ...fields } });
  }

  async #flag(account: string, flags: { blocked?: boolean; whitelisted?: boolean }): Promise<null> {
    const [{ channel } = { channel: "" }] = this.#visitors.values();
    const userId = this.#userIds.get(account);
    if (userId === undefined) throw new Error(`Nobody signed in as ${account}`);
    await this.#house.store.flagUser(channel, userId, flags);
    return null;
  }

  #bot(userId: string, threadId: string, text: string): Promise<Answer> {
    const body = { channel: "bot", userId, threadId, text };
    return ask(this.#instance(), "/v1/messages", { headers: TRANSPORT, body });
  }

  #botReads(threadId: string, userId: string): Promise<Answer> {
    const path = `/v1/threads/${threadId}/messages?channel=bot&userId=${userId}`;
    return ask(this.#instance(), path, { method: "GET", headers: TRANSPORT });
  }

  #visitor(name: string): Visitor {
    const visitor = this.#visitors.get(name);
    if (visitor === undefined) throw new Error(`${name} is no visitor`);
    return visitor;
  }

  async #threadOf(name: string): Promise<string> {
    const visitor = this.#visitor(name);
    if (visitor.threadId !== null) return visitor.threadId;
    const answer = await this.#asVisitor(name, "/threads", "");
    if (answer.status !== 201) throw new Refused(answer);
    const { threadId } = objectOf<{ threadId: string }>(answer);
    visitor.threadId = threadId;
    return threadId;
  }

  #asVisitor(name: string, path: string, body?: unknown): Promise<Answer> {
    return this.#widget(path, { "x-visitor-token": this.#visitor(name).token }, body);
  }

  #widget(path: string, headers: Record<string, string>, body?: unknown): Promise<Answer> {
    const sent = body === undefined ? { method: "GET" as const } : body === "" ? {} : { body };
    return ask(this.#instance(), `/v1/widget${path}`, {
      headers: { origin: ORIGIN, ...headers },
      ...sent,
      onStatus: () => this.#onStatus(),
    });
  }

  #instance(): string {
    const { urls } = this.#house;
    return urls[(this.#asked += 1) % urls.length] ?? "";
  }
}

/** An answer of which there is nothing to tell. */
const NOTHING: Answer = { status: 204, headers: new Headers(), text: "", lines: [] };

/** No thread could be made. */
class Refused extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(`refused with ${answer.status}`);
    this.answer = answer;
  }
}

function answerOf(error: unknown): Answer {
  if (error instanceof Refused) return error.answer;
  throw error;
}
