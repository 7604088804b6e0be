import { openConnection } from "./connection.ts";
import { mustBeWhole } from "./load.ts";
import type { Asking } from "./load.ts";
import { newNonce, textWith } from "./reply.ts";
import { cpuMsOf } from "./usage.ts";

export interface Slow {
  firstMs: number[];
  totalMs: number[];
  /** CPU of the watched processes for each message. */
  cpuMs: number;
}

/** All users send one message each at the same moment, and read its reply to the end. */
export async function askAllAtOnce(asking: Asking, users: number, watched: readonly number[]): Promise<Slow> {
  const cpuBefore = cpuMsOf(watched);
  const connections = Array.from({ length: users }, () => openConnection(asking.port));
  const exchanges = await Promise.all(
    connections.map(async (connection, user) => {
      const nonce = newNonce();
      const exchange = await connection.ask(asking.request(user, 0, textWith(nonce)));
      mustBeWhole(asking, exchange, nonce);
      return exchange;
    }),
  );
  const cpuMs = (cpuMsOf(watched) - cpuBefore) / users;
  for (const connection of connections) connection.close();
  return {
    firstMs: exchanges.map(({ firstMs }) => firstMs),
    totalMs: exchanges.map(({ totalMs }) => totalMs),
    cpuMs,
  };
}
