import { setTimeout as pause } from "node:timers/promises";
import type { Message } from "../../../src/domain/threads/message.ts";
import type { Store } from "../../../src/store.ts";
import { ask } from "../../faults/history/client.ts";
import type { Heard } from "../../faults/history/client.ts";
import { TRANSPORT, WEB } from "../../faults/fault-channels.ts";

/** What operators see of a thread, whichever channel has it. */
export interface OperatorReads {
  /** As the store's, but without the ids of runs. */
  history: Store["history"];
  state(uid: string): Promise<string>;
  /** The items as they are answered. */
  items(uid: string): Promise<Item[]>;
}

export interface Item {
  id: string;
  role: "user" | "assistant";
  content: string;
  createdAt: number;
  error?: { message: string };
  feedback?: object;
  /** The next version's. */
  mark?: string;
}

const PAGE = 100;
const REST_MS = 100;
const MOST_TRIES = 600;

export function readAsOperator(key: string, url: () => string): OperatorReads {
  const headers = { authorization: `Bearer ${key}` };

  async function get(uid: string, path = ""): Promise<Record<string, unknown>> {
    let heard: Heard | null = null;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      for (const slug of [WEB, TRANSPORT]) {
        const at = `/v1/operator/channels/${slug}/threads/${encodeURIComponent(uid)}${path}`;
        heard = await ask(url(), at, { method: "GET", headers });
        if (heard.status === 200) return heard.value;
      }
      await pause(REST_MS);
    }
    throw new Error(`Cannot read thread ${uid}: ${heard?.status} ${heard?.text}`);
  }

  async function page(uid: string, limit: number, before: string | null): Promise<Item[]> {
    const query = `limit=${Math.min(limit, PAGE)}${before === null ? "" : `&before=${before}`}`;
    return (await get(uid, `/messages?${query}`))["items"] as Item[];
  }

  async function items(uid: string, limit = Infinity, before: string | null = null): Promise<Item[]> {
    const found: Item[] = [];
    while (found.length < limit) {
      const older = await page(uid, limit - found.length, found[0]?.id ?? before);
      if (older.length === 0) break;
      found.unshift(...older);
    }
    return found;
  }

  return {
    items: (uid) => items(uid),
    history: async (uid, { limit, before }) => (await items(uid, limit, before)).map(messageOf),
    state: async (uid) => String((await get(uid))["state"]),
  };
}

function messageOf({ id, role, content, createdAt, error }: Item): Message {
  const outcome = role === "assistant" ? { outcome: error ? ("failed" as const) : ("done" as const) } : {};
  return { id, role, content, createdAtMs: createdAt, runId: "", ...outcome };
}
