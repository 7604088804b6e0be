import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startModelServer } from "../../support/servers/model-server.ts";
import { openServiceProcess } from "../../support/servers/service-process.ts";
import type { ServiceProcess } from "../../support/servers/service-process.ts";
import { startTelegram } from "../platforms/telegram.ts";

export interface KillsPlayed {
  said: number;
  /** Messages without a reply. */
  lost: number;
  /** Replies that came more than once. */
  twice: number;
  /** Replies behind one of a later message of their chat. */
  outOfOrder: number;
  kills: number;
  /** From the first request that brought the message to its reply, in ms. */
  p50: number;
  p99: number;
}

export interface Kills {
  instances: number;
  seconds: number;
  perMinute: number;
  killEverySeconds: number;
  chats: number;
  dataDir: string;
  /** None: the embedded store, which one instance has. */
  redisUrl?: string;
  /** Gets a line for each kill. */
  tell?: (line: string) => void;
}

const SLUG = "tg";
const AGAIN_MS = 200;
/** For all that waits, after the last kill. */
const END_MS = 60_000;

/**
 * A scripted Telegram sends so many messages a minute to instances of which one is killed (SIGKILL) every so often, and
 * started again. As the real one, it sends a message until it is answered 200, and the next of a chat after that.
 */
export async function playKills({ tell = () => {}, ...kills }: Kills): Promise<KillsPlayed> {
  const servers: Server[] = [];
  const telegram = await startTelegram((answer) => opened(answer, servers));
  const model = await startModelServer((request) => textOf(request.body.messages.at(-1)?.content));
  const file = join(kills.dataDir, "channels.json");
  const channel = { slug: SLUG, kind: "transport", messenger: telegram.messenger };
  writeFileSync(file, JSON.stringify({ channels: [channel] }));
  const env: NodeJS.ProcessEnv = {
    CHANNELS_FILE: file,
    DATA_DIR: kills.dataDir,
    HARNESS_API_KEY: "key-of-this-test-which-is-long",
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_API_KEY: "sk-scripted",
    ...(kills.redisUrl === undefined ? {} : { REDIS_URL: kills.redisUrl }),
  };
  const running: (ServiceProcess | null)[] = [];
  const saidAt = new Map<string, number>();
  const answeredAt = new Map<string, number>();
  let killed = 0;
  try {
    for (let nth = 0; nth < kills.instances; nth++) running.push(await openServiceProcess(env));
    const endsAt = Date.now() + kills.seconds * 1_000;
    const chats = Array.from({ length: kills.chats }, (_, nth) => String(1_000 + nth));
    await Promise.all([...chats.map(talk), killing(), watching()]);
    const lastAt = Date.now() + END_MS;
    while (answered() < saidAt.size && Date.now() < lastAt) await pause(100);
    // What would come twice may come now.
    await pause(3_000);
    return { ...judged(chats), kills: killed };

    async function talk(chat: string, place: number): Promise<void> {
      const everyMs = (60_000 * kills.chats) / kills.perMinute;
      let nth = 0;
      await pause((everyMs * place) / kills.chats);
      while (Date.now() < endsAt) {
        const beganAt = Date.now();
        const text = `message ${chat} ${String(++nth).padStart(5, "0")}`;
        saidAt.set(text, beganAt);
        await untilTaken({ chat, user: chat, text, nth: Number(chat) * 100_000 + nth });
        await pause(Math.max(0, beganAt + everyMs - Date.now()));
      }
    }

    async function watching(): Promise<void> {
      while (Date.now() < endsAt) {
        answered();
        await pause(50);
      }
    }

    async function untilTaken(said: Parameters<typeof telegram.say>[1]): Promise<void> {
      for (;;) {
        const one = running[Math.floor(Math.random() * running.length)];
        const status = one ? await telegram.say(`${one.url}/v1/messengers/${SLUG}`, said).catch(() => 0) : 0;
        if (status === 200) return;
        await pause(AGAIN_MS);
      }
    }

    async function killing(): Promise<void> {
      const starting: Promise<void>[] = [];
      for (let place = 0; Date.now() + kills.killEverySeconds * 1_000 < endsAt; place++) {
        await pause(kills.killEverySeconds * 1_000);
        const at = place % running.length;
        const one = running[at];
        if (!one) continue;
        running[at] = null;
        one.kill("SIGKILL");
        killed++;
        tell(`kill ${killed}: ${saidAt.size} said, ${answered()} answered`);
        starting.push(startAgain(one, at));
      }
      await Promise.all(starting);
    }

    async function startAgain(one: ServiceProcess, at: number): Promise<void> {
      await one.exit;
      running[at] = await openServiceProcess(env);
    }

    function answered(): number {
      for (const chat of chats)
        for (const { text } of telegram.shown(chat))
          if (saidAt.has(text) && !answeredAt.has(text)) answeredAt.set(text, Date.now());
      return answeredAt.size;
    }

    function judged(all: readonly string[]): Omit<KillsPlayed, "kills"> {
      const shown = all.flatMap((chat) => telegram.shown(chat).map(({ text }) => text));
      const outOfOrder = all.reduce((sum, chat) => sum + misplaced(telegram.shown(chat)), 0);
      const lost = [...saidAt.keys()].filter((text) => !shown.includes(text));
      const waits = [...answeredAt].map(([text, at]) => at - (saidAt.get(text) ?? at)).sort((a, b) => a - b);
      const at = (part: number) => waits[Math.floor(waits.length * part)] ?? 0;
      const twice = shown.length - new Set(shown).size;
      return { said: saidAt.size, lost: lost.length, twice, outOfOrder, p50: at(0.5), p99: at(0.99) };
    }
  } finally {
    await Promise.all(running.map(async (one) => one?.close()));
    await model.close();
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  }
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content);
}

/** Replies that stand behind the first appearance of a later one. */
function misplaced(shown: readonly { text: string }[]): number {
  let last = "";
  let count = 0;
  const seen = new Set<string>();
  for (const { text } of shown) {
    if (seen.has(text)) continue;
    seen.add(text);
    if (text < last) count++;
    else last = text;
  }
  return count;
}

async function opened(answer: RequestListener, servers: Server[]): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A cast: a server that listens on a port has such an address.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
