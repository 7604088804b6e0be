import { startRedis } from "../../test/support/stores/redis-server.ts";
import { createCliChannel, createDemoChannel } from "../../src/installation/default-channels.ts";
import { systemClock } from "../../src/clock.ts";
import { readConfig } from "../../src/config.ts";
import { createLog } from "../../src/log.ts";
import { openModel } from "../../src/installation/open-model.ts";
import { Secret } from "../../src/secret.ts";
import { startService } from "../../src/service.ts";
import { openRedisStore } from "../../src/stores/redis.ts";
import { askWidgetApi, makeVisitors, ORIGIN, PUBLISHABLE_KEY, SECRET_KEY } from "./askings.ts";
import { openConnection } from "./connection.ts";
import { startModel } from "./model.ts";
import { newNonce, textWith } from "./reply.ts";

/** Commands that each instance sends at intervals by itself; they do not belong to a message. */
const HOUSEKEEPING = new Set(["beat", "GET", "HGETALL", "ZRANGEBYSCORE", "SMEMBERS", "INCR"]);
const MESSAGES = 20;

interface Trip {
  name: string;
  from: number;
  to: number;
}

/**
 * How often a widget message waits for Redis: overlapping round trips are one wait. Runs the whole service in this process,
 * one message at a time; the highest count is the result, without the first message, which registers the process.
 */
export async function countRoundTrips(): Promise<{ waits: number; calls: string }> {
  const trips: Trip[] = [];
  const redis = await startRedis();
  const upstream = await startModel();
  const config = readConfig({
    PORT: "0",
    OPENAI_BASE_URL: upstream.baseUrl,
    WIDGET_MESSAGES_PER_MINUTE: "1000",
    WIDGET_IP_MESSAGES_PER_MINUTE: "1000",
  });
  const store = await openRedisStore({
    urls: [redis.url],
    durability: "local",
    clock: systemClock,
    log: { warn() {} },
    onCommand(name, ms) {
      const to = performance.now();
      if (!HOUSEKEEPING.has(name)) trips.push({ name, from: to - ms, to });
    },
  });
  await createCliChannel(store);
  await createDemoChannel(store, {
    keys: { publishableKey: PUBLISHABLE_KEY, secretKey: new Secret(SECRET_KEY) },
    origins: [ORIGIN],
  });
  const model = await openModel(config);
  const log = createLog({ level: "silent", secrets: [], destination: { write() {} } });
  const harnessApiKey = new Secret("bench-transport-key");
  const service = await startService({ config, harnessApiKey, store, model, clock: systemClock, log });

  const port = Number(new URL(service.url).port);
  const asking = askWidgetApi(port, await makeVisitors(port, 1, MESSAGES));
  const connection = openConnection(port);
  let most: string[] = [];
  for (let nth = 0; nth < MESSAGES; nth++) {
    trips.length = 0;
    const { status } = await connection.ask(asking.request(0, nth, textWith(newNonce())));
    if (status !== 200) throw new Error(`Cannot count round trips: status ${status}`);
    const waits = waitsOf(trips);
    if (nth > 0 && waits.length > most.length) most = waits;
  }

  connection.close();
  await service.stop(0);
  await model.close();
  await store.close();
  upstream.stop();
  await redis.stop();
  return { waits: most.length, calls: most.join(", then ") };
}

/** For each wait, the names of its round trips. */
function waitsOf(trips: readonly Trip[]): string[] {
  const waits: { names: string[]; to: number }[] = [];
  for (const { name, from, to } of [...trips].sort((a, b) => a.from - b.from)) {
    const last = waits.at(-1);
    if (last && from < last.to) {
      last.names.push(name);
      last.to = Math.max(last.to, to);
    } else {
      waits.push({ names: [name], to });
    }
  }
  return waits.map(({ names }) => names.join(" beside "));
}
