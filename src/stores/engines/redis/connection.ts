import { createClient, RESP_TYPES } from "redis";
import type { RedisClientOptions } from "redis";

/** Redis replies: flat texts and numbers, and lists of them. */
export type Reply = string | number | null | Reply[];

/** One connection to one server. */
export type Connection = ReturnType<typeof connectionWith>;

/** The settings of a Redis URL, and how its connection behaves. */
export type ConnectionOptions = ReturnType<typeof connectionOptions>;

/** Commands in flight on a connection; one more is refused at once, as an outage. */
const MAX_UNDER_WAY = 100_000;

/**
 * A connection that is silent for this many deadlines is closed; pings are frequent enough to keep an idle one open.
 */
const SILENCE = 1.5;
const PING = 1;

/** The longest wait between two attempts to reconnect: the store is back within a second of the server's return. */
export const RECONNECT_MS = 400;

/** A hash is returned as a flat list, as in RESP2. */
export const FLAT = { typeMapping: { [RESP_TYPES.MAP]: Array } } as const;

/** The connection options of a Redis URL. Secrets stay out of `socket`, and never get into a message. */
export function connectionOptions(url: string, deadlineMs: number) {
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
      connectTimeout: deadlineMs,
      socketTimeout: deadlineMs * SILENCE,
      // Jitter, so that the processes of a service do not reconnect at the same moment.
      reconnectStrategy: (retries: number) =>
        Math.min(25 * 2 ** Math.min(retries, 5), RECONNECT_MS) * (0.5 + Math.random() / 2),
    },
    pingInterval: deadlineMs * PING,
    // The default makes an AbortSignal for each command; we use one deadline for all.
    commandOptions: { timeout: 0 },
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_UNDER_WAY,
    maintNotifications: "disabled" as const,
  } satisfies RedisClientOptions;
}

function parseUrl(text: string): URL {
  // Not the parser's own error: its message has the whole text, including the password.
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !["redis:", "rediss:"].includes(url.protocol)) {
    throw new Error("Cannot read a Redis URL: it must look like redis://user:password@host:6379");
  }
  return url;
}

let first: ReturnType<typeof firstClient> | null = null;

/** A client that is not connected yet; it shares the class of `firstClient`. */
export function connectionWith(options: ConnectionOptions) {
  return (first ??= firstClient()).duplicate(options);
}

/**
 * Never connected. For each new set of options the package generates a class with all commands, which takes 20 ms;
 * duplicates share it.
 */
function firstClient() {
  return createClient({ RESP: 3, maintNotifications: "disabled" });
}
