// For src/threads/feeds/, src/http/feeds/
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { ask, transportHeaders } from "./history/client.ts";
import { startFleet } from "./history/fleet.ts";
import { mustHave } from "./history/instances.ts";
import { killVictims } from "./victims/victims.ts";

const THREAD = "t1";
const OWNER = "userId=ada";
/** After so many a reader leaves, and comes back to another instance. */
const ITEMS_AT_ONCE = 5;
const WITHIN = { timeout: 90_000, interval: 100 };

afterAll(() => killVictims());

interface FeedLine {
  type: string;
  item?: { id: string };
}

/** Reads a feed over and over, of one instance after the other, with the last id that it knows. */
function readOverAndOver(urls: readonly string[], first: number) {
  const ids: string[] = [];
  const resets: FeedLine[] = [];
  const ending = new AbortController();
  let connections = 0;

  async function readOnce(url: string): Promise<void> {
    const path = `/v1/threads/${THREAD}/events?${OWNER}&after=${ids.at(-1) ?? ""}`;
    const response = await fetch(`${url}${path}`, { headers: transportHeaders, signal: ending.signal });
    if (response.status !== 200 || !response.body) return;
    connections++;
    let unread = "";
    const known = ids.length;
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
      const lines = (unread + text).split("\n");
      unread = lines.pop() ?? "";
      for (const line of lines.map((each) => JSON.parse(each) as FeedLine)) {
        if (line.item) ids.push(line.item.id);
        if (line.type === "reset") resets.push(line);
      }
      // Leaving cuts the connection, wherever in a line it is.
      if (ids.length - known >= ITEMS_AT_ONCE) return;
    }
  }

  const read = async () => {
    for (let nth = first; !ending.signal.aborted; nth++) {
      await readOnce(mustHave(urls[nth % urls.length])).catch(() => {});
      await pause(20);
    }
  };
  const ended = read();
  return {
    ids,
    resets,
    connections: () => connections,
    async stop() {
      ending.abort();
      await ended;
    },
  };
}

test(
  "whichever instance is killed, each reader of a feed is told every message once, in order",
  { timeout: 240_000 },
  async () => {
    const fleet = await startFleet({ instances: 3 });
    fleet.model.pace(30);
    // The first one speaks and dies; what comes after it is spoken by the second; the third is idle.
    const [speaker, heir, idle] = fleet.victims.map(mustHave);
    const say = (url: string, text: string) =>
      ask(url, "/v1/messages", {
        headers: transportHeaders,
        body: { threadId: THREAD, userId: "ada", text, clientMessageId: text },
      });
    await say(speaker!.url, "first");
    const urls = [speaker!.url, heir!.url, idle!.url];
    const readers = [0, 1, 2].map((first) => readOverAndOver(urls, first));
    for (let nth = 0; nth < 10; nth++) await say(speaker!.url, `from the speaker ${nth}`);
    const last = say(speaker!.url, "while it dies").catch(() => {});
    await pause(50);
    await speaker!.kill9();
    await last;
    for (let nth = 0; nth < 10; nth++) await say(heir!.url, `from the heir ${nth}`);

    const history = async () => {
      const heard = await fetch(`${idle!.url}/v1/threads/${THREAD}/messages?${OWNER}&limit=100`, {
        headers: transportHeaders,
      });
      const { items } = (await heard.json()) as { items: { id: string }[] };
      return items.map(({ id }) => id);
    };
    await expect.poll(async () => (await history()).length % 2, WITHIN).toBe(0);
    const whole = await history();
    expect(whole.length).toBeGreaterThanOrEqual(42);
    for (const reader of readers) {
      await expect.poll(() => reader.ids, WITHIN).toEqual(whole);
      expect(reader.resets).toEqual([]);
      expect(reader.connections()).toBeGreaterThan(1);
      await reader.stop();
    }
    await fleet.close();
  },
);
