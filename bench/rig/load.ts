import { openConnection } from "./connection.ts";
import type { Connection, Exchange, Request } from "./connection.ts";
import { newNonce, replyTo, textWith } from "./reply.ts";
import { cpuMsOf } from "./usage.ts";

/** The server to ask, and the requests to it: each user sends one message after another. */
export interface Asking {
  port: number;
  /** The request for this user's nth message. */
  request(user: number, nth: number, text: string): Request;
  /** The reply's text in a whole body. */
  textOf(body: Buffer): string;
}

export interface Measured {
  messages: number;
  perSecond: number;
  /** CPU of the watched processes for each message. */
  cpuMs: number;
  /** First text of the reply, from the request on, sorted as they came. */
  firstMs: number[];
  totalMs: number[];
}

export interface LoadPlan {
  users: number;
  warmMs: number;
  windowMs: number;
  /** Users begin within this time, evenly: a spaced reply's users must not stay in step. */
  spreadMs: number;
  /** The processes whose CPU is counted. */
  watched: readonly number[];
}

/**
 * Users in a closed loop: each sends a message, reads the whole reply, compares it, and sends the next. Replies that end
 * within the window count. Throws on the first wrong, short or refused reply.
 */
export async function load(asking: Asking, plan: LoadPlan): Promise<Measured> {
  const { users, warmMs, windowMs, spreadMs, watched } = plan;
  const beganAt = performance.now();
  const from = beganAt + warmMs;
  const to = from + windowMs;
  const firstMs: number[] = [];
  const totalMs: number[] = [];
  const connections: Connection[] = [];

  async function talk(user: number): Promise<void> {
    await pause((spreadMs * user) / users);
    const connection = openConnection(asking.port);
    connections.push(connection);
    for (let nth = 0; performance.now() < to; nth += 1) {
      const nonce = newNonce();
      const exchange = await connection.ask(asking.request(user, nth, textWith(nonce)));
      mustBeWhole(asking, exchange, nonce);
      const now = performance.now();
      if (now < from || now >= to) continue;
      firstMs.push(exchange.firstMs);
      totalMs.push(exchange.totalMs);
    }
  }

  const talking = Promise.all(Array.from({ length: users }, (_, user) => talk(user)));
  // The first failure ends the measurement.
  await Promise.race([talking, pause(from - performance.now())]);
  const cpuBefore = cpuMsOf(watched);
  const windowFrom = performance.now();
  await Promise.race([talking, pause(to - performance.now())]);
  const cpuUsed = cpuMsOf(watched) - cpuBefore;
  const seconds = (performance.now() - windowFrom) / 1000;
  const messages = totalMs.length;
  await talking;
  for (const connection of connections) connection.close();
  return { messages, perSecond: messages / seconds, cpuMs: cpuUsed / messages, firstMs, totalMs };
}

export function mustBeWhole(asking: Asking, { status, body }: Exchange, nonce: string): void {
  const text = status === 200 ? asking.textOf(body) : "";
  if (text === replyTo(nonce)) return;
  throw new Error(
    `Cannot use the measurement: status ${status}, and the reply reads ${body.toString().slice(0, 300)}`,
  );
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
