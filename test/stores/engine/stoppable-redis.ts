import { ErrorReply } from "redis";
import { library } from "../../../src/stores/engines/redis/library.ts";
import { redisEngine } from "../../../src/stores/engines/redis/engine.ts";
import { linkToServer } from "../../../src/stores/engines/redis/single.ts";
import { redisClient } from "../../support/stores/redis-client.ts";
import { guarded, stopOrder } from "../redis/guarded-library.ts";
import type { StoppableEngine } from "./stoppable.ts";

/** The engine on a Redis of the test's own, whose library is under guard. `plant`: makes a mistake in the library's text. */
export async function stoppableRedis(
  url: string,
  plant: (text: string) => string = (text) => text,
): Promise<StoppableEngine & { clear: () => Promise<void>; close: () => Promise<void> }> {
  const client = await redisClient(url).connect();
  await client.sendCommand(["FUNCTION", "FLUSH"]);
  await client.sendCommand(["FUNCTION", "LOAD", guarded(plant(library))]);
  const link = await linkToServer(url, { log: { warn() {} }, deadlineMs: 20_000 });
  const engine = redisEngine(link, { durability: "local", deadlineMs: 20_000, reconnected: new Set() });
  const order = async (nth: number) => {
    await client.sendCommand(stopOrder(library, nth));
  };
  return {
    engine,
    stopBefore: (nth) => order(nth + 1),
    goOn: () => order(0),
    isStop: (error) => error instanceof ErrorReply && error.message.includes("STOPPED"),
    async clear() {
      await client.sendCommand(["FLUSHDB"]);
    },
    async close() {
      client.destroy();
      await engine.close();
    },
  };
}
