import type { IncomingMessage, ServerResponse } from "node:http";
import type { MessengerField } from "../../src/domain/channels/messenger.ts";

/** What a scripted platform does with the next posts or edits, instead of taking them. */
export type Trouble =
  /** It wants less: nothing is taken. */
  | { type: "slow-down"; seconds: number }
  /** It takes the post, and its answer is lost. */
  | { type: "lost-answer" }
  /** It answers with this status, and takes nothing. */
  | { type: "status"; status: number };

export interface SaidThere {
  chat: string;
  user: string;
  text: string;
  /** The message's id at the platform; the same again is a repeat. */
  nth: number;
  /** In a group, without a mention of the bot unless it is said. */
  group?: boolean;
  mention?: boolean;
  image?: Buffer;
  /** Where the platform is one of those whose files the tests can give. */
  document?: { name: string; bytes: Buffer };
}

/** A message as it stands in a chat of the platform. */
export interface Shown {
  id: string;
  text: string;
  edits: number;
  /** The parse mode or format it was sent in. */
  form: string;
}

/** A platform that speaks its published API on loopback: what users say goes to the webhook, what the bot posts stays in its chats. */
export interface ScriptedPlatform {
  messenger: MessengerField;
  /** As the platform sends it, signed; resolves to the status of the answer. */
  say(webhookUrl: string, said: SaidThere): Promise<number>;
  /** The request that `say` sends, to be changed by a test. */
  request(said: SaidThere): { headers: Record<string, string>; body: string };
  shown(chat: string): Shown[];
  /** How often it showed that the bot types. */
  typed(): number;
  trouble(...next: Trouble[]): void;
  /** Requests that were refused because of the script's own rules: a wrong token, an unknown method. */
  faults: string[];
  /** Somebody removes a message of the bot there. */
  remove(chat: string, id: string): void;
}

/** The chats of a scripted platform. */
export class Chats {
  readonly faults: string[] = [];
  readonly #shown = new Map<string, Shown[]>();
  #troubles: Trouble[] = [];
  #typed = 0;
  #last = 1_000;

  /** The next id: of users' messages too, so that no two are the same. */
  nextId(): number {
    return ++this.#last;
  }

  shown(chat: string): Shown[] {
    return this.#shown.get(chat) ?? [];
  }

  post(chat: string, message: Shown): void {
    this.#shown.set(chat, [...this.shown(chat), message]);
  }

  /** False: there is no such message. */
  edit(chat: string, id: string, text: string): "edited" | "same" | "gone" {
    const found = this.shown(chat).find((one) => one.id === id);
    if (!found) return "gone";
    if (found.text === text) return "same";
    found.text = text;
    found.edits++;
    return "edited";
  }

  remove(chat: string, id: string): void {
    this.#shown.set(
      chat,
      this.shown(chat).filter((one) => one.id !== id),
    );
  }

  type(): void {
    this.#typed++;
  }

  typed(): number {
    return this.#typed;
  }

  trouble(...next: Trouble[]): void {
    this.#troubles.push(...next);
  }

  nextTrouble(): Trouble | null {
    return this.#troubles.shift() ?? null;
  }
}

/** What every scripted platform does alike. */
export function platformOver(
  chats: Chats,
  request: ScriptedPlatform["request"],
): Omit<ScriptedPlatform, "messenger"> {
  return {
    say: (webhookUrl, said) => postTo(webhookUrl, request(said)),
    request,
    shown: (chat) => chats.shown(chat),
    typed: () => chats.typed(),
    trouble: (...next) => chats.trouble(...next),
    faults: chats.faults,
    remove: (chat, id) => chats.remove(chat, id),
  };
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

export function answerJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

export async function postTo(
  url: string,
  { headers, body }: { headers: Record<string, string>; body: string },
): Promise<number> {
  const response = await fetch(url, { method: "POST", headers, body });
  await response.text();
  return response.status;
}
