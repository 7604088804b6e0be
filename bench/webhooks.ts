import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { readFileSync, writeFileSync } from "node:fs";
import { startRedis } from "../test/support/stores/redis-server.ts";
import { askServerApi, TRANSPORT_KEY } from "./rig/askings.ts";
import { openConnection } from "./rig/connection.ts";
import { LOAD_CORE, pin, SERVER_CORE } from "./rig/cores.ts";
import { load, pause } from "./rig/load.ts";
import { startModel } from "./rig/model.ts";
import { median, quantile, shown, withSpread } from "./rig/numbers.ts";
import { readOptions } from "./rig/options.ts";
import { newNonce, textWith } from "./rig/reply.ts";
import { print, tell } from "./rig/section.ts";
import { environment, SERVICE, startServer, temporaryFolder } from "./rig/server.ts";
import { cpuMsOf, memoryMbOf } from "./rig/usage.ts";

/**
 * What do webhooks cost? A thousand events a second to ten receivers, of which one hangs and one fails: the delay for the
 * others, the events that wait, and the memory. And what a message costs with a webhook, and with none.
 * `-- webhooks --seconds=60 --repeats=5` measures for longer.
 */
const { listener = "uws", seconds: SECONDS = 15, repeats: REPEATS = 3 } = readOptions(process.argv.slice(2));
const RECEIVERS = 10;
const DELIVERIES_PER_SECOND = 1_000;
/** Both messages, and the run's end. */
const EVENTS_OF_A_MESSAGE = 3;
const BETWEEN_MS = (1_000 * EVENTS_OF_A_MESSAGE * RECEIVERS) / DELIVERIES_PER_SECOND;
const TALKERS = 64;
const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

type Behaviour = "takes" | "fails" | "hangs";

interface Receiver {
  url: string;
  /** From the event to its arrival. */
  delaysMs: number[];
  /** The number of requests to it. */
  asked(): number;
  close(): void;
}

async function startReceiver(behaviour: Behaviour): Promise<Receiver> {
  const delaysMs: number[] = [];
  let asked = 0;
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      asked++;
      const { timestamp }: { timestamp: string } = JSON.parse(Buffer.concat(parts).toString());
      delaysMs.push(Date.now() - Date.parse(timestamp));
      if (behaviour !== "hangs") response.writeHead(behaviour === "takes" ? 204 : 503).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A cast: it listens on a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    delaysMs,
    asked: () => asked,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Starts the service and its Redis, with a channel whose webhooks have these addresses. */
async function startTelling(urls: readonly string[]) {
  const folder = temporaryFolder();
  const redis = await startRedis();
  pin(redis.pid, SERVER_CORE);
  const env = environment({
    listener,
    redisUrl: redis.url,
    dataDir: folder.path,
    modelUrl: model.baseUrl,
  });
  const file = env["CHANNELS_FILE"] ?? "";
  const { channels }: { channels: object[] } = JSON.parse(readFileSync(file, "utf8"));
  const webhooks = urls.map((url) => ({ url, secret: SECRET }));
  writeFileSync(file, JSON.stringify({ channels: channels.map((channel) => ({ ...channel, webhooks })) }));
  const server = await startServer(SERVICE, { ...env, WEBHOOKS_PRIVATE: "on" });
  return {
    ...server,
    pids: [server.pid, redis.pid],
    async level(name: string): Promise<number> {
      const headers = { authorization: `Bearer ${TRANSPORT_KEY}` };
      const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`, { headers })).text();
      return Number(new RegExp(`^chat_agent_${name}\\{[^}]*\\} (.*)$`, "m").exec(text)?.[1]);
    },
    async stop() {
      await server.stop();
      await redis.stop();
      folder.remove();
    },
  };
}

/** Sends messages at a steady rate, whatever their outcome. */
async function talkSteadily(port: number): Promise<number> {
  const asking = askServerApi(port);
  const connections = Array.from({ length: TALKERS }, () => openConnection(port));
  const pending: Promise<unknown>[] = [];
  const beganAt = performance.now();
  let said = 0;
  for (; performance.now() - beganAt < SECONDS * 1_000; said++) {
    const talker = said % TALKERS;
    // One message after another on a connection: this waits for a talker that is behind.
    const before = pending[talker] ?? Promise.resolve();
    await before;
    const request = asking.request(talker, Math.floor(said / TALKERS), textWith(newNonce()));
    pending[talker] = connections[talker]?.ask(request) ?? before;
    await pause(beganAt + (said + 1) * BETWEEN_MS - performance.now());
  }
  await Promise.all(pending);
  for (const connection of connections) connection.close();
  return said;
}

async function tenReceivers(bad: { fails: number; hangs: number }) {
  const behaviours = Array.from({ length: RECEIVERS }, (_, nth): Behaviour => {
    if (nth < bad.hangs) return "hangs";
    return nth < bad.hangs + bad.fails ? "fails" : "takes";
  });
  const receivers = await Promise.all(behaviours.map(startReceiver));
  const service = await startTelling(receivers.map(({ url }) => url));
  try {
    const beforeMb = memoryMbOf([service.pid]);
    const cpuBefore = cpuMsOf([service.pid]);
    const said = await talkSteadily(service.port);
    const cpuMs = cpuMsOf([service.pid]) - cpuBefore;
    const good = receivers.filter((_, nth) => behaviours[nth] === "takes");
    const expected = said * EVENTS_OF_A_MESSAGE;
    for (let waited = 0; waited < 60_000 && good.some((one) => one.asked() < expected); waited += 100)
      await pause(100);
    return {
      perSecond: (said * EVENTS_OF_A_MESSAGE * RECEIVERS) / SECONDS,
      taken: Math.min(...good.map((one) => one.asked())) / expected,
      delaysMs: good.flatMap(({ delaysMs }) => delaysMs),
      waiting: await service.level("webhooks_waiting"),
      oldest: await service.level("webhooks_oldest_seconds"),
      asked: receivers.filter((_, nth) => behaviours[nth] !== "takes").map((one) => one.asked()),
      beforeMb,
      afterMb: memoryMbOf([service.pid]),
      cpu: cpuMs / (SECONDS * 1_000),
    };
  } finally {
    await service.stop();
    for (const receiver of receivers) receiver.close();
  }
}

/** CPU of service and Redis for a message, ms. */
async function costOfMessage(urls: readonly string[]): Promise<number> {
  const service = await startTelling(urls);
  try {
    const plan = { users: 16, warmMs: 3_000, windowMs: 6_000, spreadMs: 500, watched: service.pids };
    return (await load(askServerApi(service.port), plan)).cpuMs;
  } finally {
    await service.stop();
  }
}

pin(process.pid, LOAD_CORE);
const model = await startModel();
try {
  await model.pace({ everyMs: 0 });
  const rows: string[][] = [];
  for (const [name, bad] of [
    ["all ten take it", { fails: 0, hangs: 0 }],
    ["one hangs, one answers 503", { fails: 1, hangs: 1 }],
  ] as const) {
    tell(`ten receivers: ${name}`);
    const ten = await tenReceivers(bad);
    rows.push([
      name,
      shown(ten.perSecond),
      `${shown(ten.taken * 100)} %`,
      shown(quantile(ten.delaysMs, 0.5)),
      shown(quantile(ten.delaysMs, 0.99)),
      shown(ten.waiting),
      shown(ten.oldest),
      ten.asked.map(shown).join(", ") || "–",
      `${shown(ten.beforeMb)} → ${shown(ten.afterMb)}`,
      `${shown(ten.cpu * 100)} %`,
    ]);
  }
  const receiver = await startReceiver("takes");
  const [none, one]: [number[], number[]] = [[], []];
  // In turn, so that the machine's other work affects both.
  for (let nth = 0; nth < REPEATS; nth++) {
    tell(`a message with a webhook, and with none: ${nth + 1} of ${REPEATS}`);
    none.push(await costOfMessage([]));
    one.push(await costOfMessage([receiver.url]));
  }
  receiver.close();
  print({
    title: "Webhooks",
    tables: [
      {
        caption: `A thousand deliveries a second for ${SECONDS} s: 33 messages a second, of which each tells three events to ten receivers. How late: from what happened to its arrival at a receiver that takes it, ms.`,
        head: [
          "receivers",
          "deliveries a second",
          "had by each good one",
          "late, p50",
          "p99",
          "waiting at the end",
          "oldest, s",
          "tries of each bad one",
          "MB of the service",
          "its CPU",
        ],
        rows,
      },
      {
        caption: "CPU of the service and Redis for a message, ms: a webhook is told three events of it.",
        head: ["webhooks", "CPU ms", "more"],
        rows: [
          ["none", withSpread(none), "–"],
          ["one", withSpread(one), `${shown((median(one) / median(none) - 1) * 100)} %`],
        ],
      },
    ],
    targets: [],
  });
} finally {
  model.stop();
}
