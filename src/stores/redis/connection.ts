import { createClient, RESP_TYPES } from "redis";
import type { RedisClientOptions } from "redis";
import { STORE_DEADLINE_MS, StoreUnavailable } from "../../store.ts";

/** What Redis answers: flat texts and numbers, and lists of them. */
export type Reply = string | number | null | Reply[];

/** One connection to one server. */
export type Connection = ReturnType<typeof connectionTo>;

/** Commands that may be under way on a connection; one more is refused at once, as an outage. */
const MAX_UNDER_WAY = 100_000;

/** A connection without a word for this long is closed; a ping goes out often enough that an idle one is not. */
const SILENCE_MS = 3_000;
const PING_MS = 2_000;

/** Reconnects quickly at first, and at least this often, so that the store is back within a second of the server's return. */
const RECONNECT_MS = 400;

/** A hash comes as a flat list, as in RESP2. */
export const FLAT = { typeMapping: { [RESP_TYPES.MAP]: Array } } as const;

/** How long WAIT waits for a replica: ends before the call's own deadline. */
const COPY_MS = STORE_DEADLINE_MS * 0.75;

const UNCONFIRMED =
  "no replica has confirmed it, as DURABILITY=replica asks: connect one replica to each Redis primary, or unset DURABILITY";

/** Everything of a Redis URL but its secrets is in the socket; secrets never come into a message. */
export function connectionOptions(url: string) {
  const { protocol, hostname, port, username, password, pathname } = parseUrl(url);
  return {
    RESP: 3 as const,
    ...(username === "" ? {} : { username: decodeURIComponent(username) }),
    ...(password === "" ? {} : { password: decodeURIComponent(password) }),
    ...(pathname.length > 1 ? { database: Number(pathname.slice(1)) } : {}),
    socket: {
      host: hostname.replace(/^\[|\]$/g, ""),
      port: port === "" ? 6379 : Number(port),
      ...(protocol === "rediss:" ? { tls: true as const } : {}),
      connectTimeout: STORE_DEADLINE_MS,
      socketTimeout: SILENCE_MS,
      // Jitter: the processes of a service do not come back in step.
      reconnectStrategy: (retries: number) =>
        Math.min(25 * 2 ** Math.min(retries, 5), RECONNECT_MS) * (0.5 + Math.random() / 2),
    },
    pingInterval: PING_MS,
    // The default makes an AbortSignal for each command; the deadline is our own, and one for all.
    commandOptions: { timeout: 0 },
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_UNDER_WAY,
    maintNotifications: "disabled" as const,
  } satisfies RedisClientOptions;
}

function parseUrl(text: string): URL {
  // Not the parser's own error: it carries the whole text, password included.
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !["redis:", "rediss:"].includes(url.protocol)) {
    throw new Error("Cannot read a Redis URL: it must look like redis://user:password@host:6379");
  }
  return url;
}

/** A client that is not connected yet. */
export function connectionTo(url: string) {
  return createClient(connectionOptions(url));
}

const copying = new WeakMap<object, Promise<void>>();
const lastAnswers = new WeakMap<object, number>();

/** Sends a command; with `copied`, the answer counts only when a replica has everything that was written until now. */
export async function exchange(connection: Connection, args: string[], copied: boolean): Promise<Reply> {
  const answer = connection.sendCommand<Reply>(args, FLAT);
  const copy = copied ? copiedSoon(connection) : null;
  // Both may fail: each has its handler from the start.
  copy?.catch(() => {});
  const reply = await answer;
  lastAnswers.set(connection, performance.now());
  await copy;
  return reply;
}

/** One WAIT for all that is sent in this tick: it answers for every write before it on its connection. */
function copiedSoon(connection: Connection): Promise<void> {
  const planned = copying.get(connection);
  if (planned) return planned;
  const copy = Promise.resolve().then(async () => {
    copying.delete(connection);
    const copies = await connection.sendCommand<number>(["WAIT", "1", String(COPY_MS)]);
    if (copies < 1) throw new StoreUnavailable("acknowledge a change", { fact: UNCONFIRMED });
  });
  copying.set(connection, copy);
  return copy;
}

/** Nothing has come over this connection since then (`performance.now()`). */
export function isSilentSince(connection: Connection, thenMs: number): boolean {
  return (lastAnswers.get(connection) ?? 0) < thenMs;
}
