// For src/widget/run/
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { loadWidgetScript, widgetRoute } from "../../../src/http/widget-script.ts";
import { hashKey } from "../../../src/keys.ts";
import { Secret } from "../../../src/secret.ts";
import { lastUserText, say, startModelServer, wait } from "../../support/servers/model-server.ts";
import { ROOMY_LIMITS, startTestService } from "../../support/servers/service.ts";
import { launchBrowser, SOON, test, visitOf } from "../browser.ts";
import type { Visit } from "../browser.ts";
import { startPageServer } from "../page/page-server.ts";

/**
 * One conversation on three pages: two tabs of a browser, and a phone, each talking and each losing its connection, its
 * page or its view of it, over and over. Whatever happens on the way, they end with the same messages, each once.
 *
 * What happens is of chance, and so is when: the suite leaves it out. SOAK_SECONDS=300 plays it for so long, SOAK_SEED
 * chooses what happens.
 */
const SOAK_SECONDS = process.env["SOAK_SECONDS"];
const SECONDS = Number(SOAK_SECONDS ?? 8);
const SEED = Number(process.env["SOAK_SEED"] ?? 7);

/** The same numbers for the same seed, from 0 to 1 (mulberry32). */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Network {
  url: string;
  /** Where it leads. */
  lead(url: string): void;
  /** Ends all connections; new ones are refused while it is down. */
  setDown(isDown: boolean): void;
}

/** A network between a browser and the service, which can be cut. */
async function openNetwork(): Promise<Network> {
  const open = new Set<Socket>();
  let isCut = false;
  let target = 0;
  const server = createServer((near) => {
    if (isCut) return void near.resetAndDestroy();
    const far = connect(target, "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.on("error", () => {});
      one.on("close", () => (open.delete(one), other.destroy()));
      one.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const network: Network = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lead: (url) => void (target = Number(new URL(url).port)),
    setDown(isDown) {
      isCut = isDown;
      if (isDown) for (const socket of open) socket.resetAndDestroy();
    },
  };
  onTestFinished(async () => {
    network.setDown(true);
    server.close();
    await once(server, "close");
  });
  return network;
}

/** One of the pages, and what happens to it. */
interface Device {
  visit: Visit;
  page: Page;
  network: Network;
  /** While it is loading, nobody can talk there; and it is not left while somebody does. */
  isLoading: boolean;
  talking: Promise<unknown>;
}

const isThere = (page: Page) => page.evaluate("customElements.whenDefined('chat-agent').then(() => true)");

/** Who said what, as the page shows it. */
async function shownBy({ visit }: Device): Promise<string[]> {
  const shown = "[...agent.shadowRoot.querySelectorAll('.message')]";
  const who = "node.classList.contains('user') ? 'visitor' : 'assistant'";
  const what = "node.querySelector('.user-text, .text')?.textContent ?? ''";
  return visit.tell<string[]>(`${shown}.map((node) => (${who}) + ': ' + (${what}))`);
}

/** With all that was said before. */
async function allShownBy(device: Device): Promise<string[]> {
  await device.visit.tell("agent.shadowRoot.querySelector('.earlier')?.click()");
  return shownBy(device);
}

const ACTS = {
  async reload(device) {
    device.isLoading = true;
    await device.talking;
    await device.page.reload();
    await isThere(device.page);
    device.isLoading = false;
  },
  async leave(device) {
    device.isLoading = true;
    await device.talking;
    const { origin } = new URL(device.page.url());
    await device.page.goto(`${origin}/next`);
    await isThere(device.page);
    await device.page.goBack();
    await isThere(device.page);
    device.isLoading = false;
  },
  async cut({ network }, ms) {
    network.setDown(true);
    await pause(ms);
    network.setDown(false);
  },
  async offline({ page }, ms) {
    await page.context().setOffline(true);
    await pause(ms);
    await page.context().setOffline(false);
  },
  async close({ visit }, ms) {
    await visit.tell("agent.hide()");
    await pause(ms);
    await visit.tell("agent.show()");
  },
} satisfies Record<string, (device: Device, ms: number) => Promise<void>>;

test.skipIf(SOAK_SECONDS === undefined)(
  `two tabs and a phone, reloads and cuts by chance (SOAK_SECONDS=${SECONDS} SOAK_SEED=${SEED}): the same messages in the same order, each once`,
  { timeout: (SECONDS + 240) * 1_000 },
  async ({ expect }) => {
    const random = numbersFrom(SEED);
    const oneOf = <Value>(values: readonly Value[]): Value => {
      const value = values[Math.floor(random() * values.length)];
      if (value === undefined) throw new Error("Nothing to choose from");
      return value;
    };
    const [desk, mobile] = [await openNetwork(), await openNetwork()];
    const [deskSite, mobileSite] = [await startPageServer(desk.url), await startPageServer(mobile.url)];
    const model = await startModelServer((request) => {
      const said = say(`: ${lastUserText(request)}`);
      return [say("You"), wait(120), say(" said"), wait(120), said];
    });
    const script = await loadWidgetScript();
    const service = await startTestService({
      env: { ...ROOMY_LIMITS, OPENAI_BASE_URL: model.baseUrl },
      extraRoutes: [widgetRoute(script)],
      channels: [
        {
          slug: "shop",
          kind: "web",
          publishableKey: "pk_test",
          secretKeyHash: hashKey(new Secret("sk_shop")),
          allowedOrigins: [deskSite.url, mobileSite.url],
          enabled: true,
          accessMode: "open",
          agent: {},
        },
      ],
    });
    for (const network of [desk, mobile]) network.lead(service.url);
    const browser = await launchBrowser({ webMcp: false });
    onTestFinished(async () => {
      await browser.close();
      await Promise.all([model.close(), deskSite.close(), mobileSite.close()]);
    });

    const deskContext = await browser.newContext({ locale: "en-GB" });
    const phoneContext = await browser.newContext({
      locale: "en-GB",
      viewport: { width: 390, height: 844 },
    });
    async function open(context: typeof deskContext, url: string, network: Network): Promise<Device> {
      const page = await context.newPage();
      const visit = visitOf(page);
      await page.goto(`${url}/`);
      await isThere(page);
      await visit.tell("agent.show()");
      return { visit, page, network, isLoading: false, talking: Promise.resolve() };
    }
    const first = await open(deskContext, deskSite.url, desk);
    await first.visit.say("hello");
    await first.visit.log.getByText("You said: hello").waitFor();
    const visitor = await first.visit.tell<string>(
      "JSON.stringify(Object.entries(localStorage).find(([key]) => key.endsWith(':visitor'))[1])",
    );
    await phoneContext.addInitScript(
      `localStorage.setItem("chat-agent:pk_test@${mobile.url}:visitor", ${visitor})`,
    );
    const second = await open(deskContext, deskSite.url, desk);
    const phone = await open(phoneContext, mobileSite.url, mobile);
    const devices = [first, second, phone];

    const endsAtMs = Date.now() + SECONDS * 1_000;
    const counts: Record<string, number> = {};
    const said = ["hello"];

    /** What happens to pages that share a network happens one after the other. */
    async function disturb(some: readonly Device[]): Promise<void> {
      while (Date.now() < endsAtMs) {
        await pause(200 + 800 * random());
        const act = oneOf(["reload", "reload", "cut", "cut", "leave", "offline", "close"] as const);
        counts[act] = (counts[act] ?? 0) + 1;
        await ACTS[act](oneOf(some), 100 + 1_400 * random());
      }
    }
    /** The element takes a message while nothing else is under way; from then on it is said. */
    async function talk(): Promise<void> {
      while (Date.now() < endsAtMs) {
        await pause(100 + 400 * random());
        const device = oneOf(devices);
        const { visit, isLoading } = device;
        const text = `message ${said.length}`;
        const isTaken = () =>
          visit.tell<boolean>(
            `agent.state === "idle" && agent.open && (void agent.send("${text}").catch(() => {}), true)`,
          );
        if (isLoading) continue;
        const taken = isTaken();
        device.talking = taken;
        if (await taken) said.push(text);
      }
    }
    await Promise.all([disturb([first, second]), disturb([phone]), talk()]);

    const expected = said.flatMap((text) => [`visitor: ${text}`, `assistant: You said: ${text}`]);
    for (const device of devices) {
      await expect.poll(() => device.visit.tell("agent.state"), SOON).toBe("idle");
      // Which message came first, where two were sent at once, the service decides.
      await expect.poll(async () => (await allShownBy(device)).toSorted(), SOON).toEqual(expected.toSorted());
    }
    const [one, ...others] = await Promise.all(devices.map(shownBy));
    for (const other of others) expect(other).toEqual(one);
    console.info(`${said.length} messages`, counts);
  },
);
