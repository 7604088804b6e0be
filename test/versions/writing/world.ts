import { setTimeout as pause } from "node:timers/promises";
import { call, hold, lastUserText, say, startModelServer, wait } from "../../support/servers/model-server.ts";
import type {
  Act,
  ModelServer,
  ModelServerRequest,
  ScriptedTurn,
} from "../../support/servers/model-server.ts";
import type { McpHttpServer } from "../../agent/mcp/mcp-http-server.ts";
import { identify, mintVisitor, openPage, sendMessage } from "../fleet/api.ts";
import type { Backend, Page, ServerMessage } from "../fleet/api.ts";
import { textOf } from "../fleet/client.ts";
import type { ReadStream } from "../fleet/client.ts";
import type { ThreadFact, TokenFact } from "../golden/golden.ts";

export { call, hold, say, wait };

/** What is said in every conversation once more. */
export const NEXT = "And now?";
export const ORIGIN = "https://shop.example";
export const CHANNEL_KEYS = {
  shop: { publishableKey: "pk_golden_shop", secretKey: "sk_golden_shop" },
  members: { publishableKey: "pk_golden_members", secretKey: "sk_golden_members" },
  counter: { publishableKey: "pk_golden_counter", secretKey: "sk_golden_counter" },
};
export type WebSlug = keyof typeof CHANNEL_KEYS;

/** A turn of the model, or how it is made of the request. */
type Turn = ScriptedTurn | ((request: ModelServerRequest) => ScriptedTurn);

/** A visitor of a web channel. */
export interface Visitor extends Page {
  name: string;
  slug: WebSlug;
  token: string;
}

/** A thread as it is known by talking in it. */
export interface NotedThread extends Omit<ThreadFact, "uid"> {
  /** Its name in the command line's list, where its speaker calls it otherwise. */
  listedAs?: string;
}

/** An old service with what it talks to, and what is noted of it on the way. */
export interface World {
  /** The process that runs now. */
  backend: Backend;
  model: ModelServer;
  tools: McpHttpServer;
  tokens: TokenFact[];
  threads: NotedThread[];
  /** Keys of operators, by name. */
  operators: Record<string, string>;
  /** Runs a command of the old command line on the same store. */
  cli: (...args: string[]) => Promise<string>;
  /** What the model answers to a text: turn by turn. Any other text is echoed. */
  teach: (text: string, ...turns: Turn[]) => void;
}

/** The model of the old service: it says what it was taught. */
export async function startTaughtModel(): Promise<{ model: ModelServer; teach: World["teach"] }> {
  const lessons = new Map<string, Turn[]>();
  const model = await startModelServer((request) => {
    const { messages } = request.body;
    const said = messages.findLastIndex(({ role }) => role === "user");
    const turns = messages.slice(said + 1).filter(({ role }) => role === "assistant").length;
    const turn = lessons.get(lastUserText(request))?.[turns] ?? `You said: ${lastUserText(request)}`;
    return typeof turn === "function" ? turn(request) : turn;
  });
  return { model, teach: (text, ...turns) => void lessons.set(text, turns) };
}

/** Notes a thread, at rest where nothing else is said of it. */
export function note(
  world: World,
  {
    name,
    slug,
    threadId,
    speaker,
    state = "idle",
    ...more
  }: Omit<NotedThread, "state"> & Partial<NotedThread>,
): void {
  world.threads.push({ name, slug, threadId, speaker, state, ...more });
}

export async function visit(
  world: World,
  name: string,
  slug: WebSlug = "shop",
  fact: Partial<TokenFact> = {},
): Promise<Visitor> {
  const { url } = world.backend;
  const token = await mintVisitor(url, ORIGIN, CHANNEL_KEYS[slug].publishableKey);
  world.tokens.push({ name, slug, token, account: null, state: "valid", ...fact });
  return { name, slug, token, ...openPage(url, { origin: ORIGIN, token }) };
}

/** The same visitor at the process that runs now. */
export function revisit(world: World, { name, slug, token }: Visitor): Visitor {
  return { name, slug, token, ...openPage(world.backend.url, { origin: ORIGIN, token }) };
}

/** Binds a visitor to an account, and notes that it is. */
export async function bind(world: World, visitor: Visitor, account: string, merges: boolean): Promise<void> {
  const { slug, token } = visitor;
  const { secretKey } = CHANNEL_KEYS[slug];
  const asked = { slug, secretKey, visitorToken: token, externalUserId: account };
  const answer = await identify(world.backend.url, asked);
  const { merged } = (await answer.json()) as { merged: boolean };
  if (answer.status !== 200 || merged !== merges)
    throw new Error(`Cannot bind ${visitor.name} to ${account}`);
  for (const fact of world.tokens) if (fact.token === token) fact.account = account;
}

/** Sends a message and reads its stream to the end, which must be of that type. */
export async function talk(world: World, message: ServerMessage, end = "done"): Promise<void> {
  await endsIn(end, await sendMessage(world.backend, message));
}

/** Sends a message whose run comes to rest in the middle: resolves when the stream has said that text. */
export async function begin(world: World, message: ServerMessage, text: string): Promise<void> {
  await comesTo(text, await sendMessage(world.backend, message));
}

export async function comesTo(text: string, stream: ReadStream): Promise<void> {
  await stream.until((lines) => textOf(lines).endsWith(text));
}

/** Reads a stream to its end, and answers the call id of a tool call. */
export async function endsIn(type: string, stream: ReadStream): Promise<string> {
  const last = (await stream.end()).at(-1);
  if (last?.type === type) return last.type === "tool_call" ? last.callId : "";
  throw new Error(
    `Cannot go on: a stream of status ${stream.status} ended in ${JSON.stringify(last)}, not in ${type}`,
  );
}

/** Resolves when it holds: what is waited for here cannot be heard through the service. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let looks = 0; looks < 1_000; looks += 1) {
    if (await holds()) return;
    await pause(20);
  }
  throw new Error(`Cannot go on: ${what} did not happen`);
}

/** A text so long that it is kept in parts, and short enough to be shown: it repeats itself. */
export function longText(): Act[] {
  const piece = "The tide comes in, and the tide goes out. ".repeat(98);
  // The part is kept meanwhile, so that it ends where the text does.
  return [...Array.from({ length: 16 }, () => say(piece)), wait(1_000)];
}

/** The name under which a page's tool is offered to the model, by its description. */
export function offeredName(request: ModelServerRequest, description: string): string {
  for (const tool of request.body.tools ?? []) {
    if (tool.type === "function" && tool.function.description?.includes(description))
      return tool.function.name;
  }
  throw new Error(`Cannot call the tool "${description}": it is not offered`);
}
