import type { Browser, Page } from "playwright-core";
import { systemClock } from "../../../src/clock.ts";
import { threadHost } from "../../../src/charts/charts.ts";
import { hashKey } from "../../../src/keys.ts";
import { Secret } from "../../../src/secret.ts";
import { openRedisStore } from "../../../src/stores/redis.ts";
import type { Store } from "../../../src/store.ts";
import { sampleChannel, sampleCommit, sampleMessage } from "../../stores/samples.ts";
import { readFeed } from "./read-feed.ts";

/** How a shift is played, and on which service. */
export interface Shift {
  url: string;
  redisUrl: string;
  browser: Browser;
  seconds: number;
  /** A visitor comes this often, in ms. */
  everyMs: number;
  /** Which of the channel's queues visitors ask for: `billing` is that of both operators, who then race for it. */
  queues: readonly string[];
  /** Conversations that a third operator has: rows of everybody's inbox. */
  rows: number;
  tell: (line: string) => void;
}

export interface Played {
  /** Conversations that asked for a person, and those that were answered and closed. */
  asked: number;
  closed: number;
  /** Answers that never came to the visitor, or came more than once. */
  lost: number;
  twice: number;
  /** Until a conversation that waits was in the inbox of who looks on, in ms: half of them, and the longest. */
  shownMsP50: number;
  shownMsMax: number;
  /** Longest task of a page, in ms, from when its rows were there; and how many took longer than 50 ms. */
  longestTaskMs: number;
  longTasks: number;
  rows: number;
}

const ORIGIN = "https://shop.example";
const QUEUES = ["returns", "billing", "sales"];
const OPERATORS = [
  { name: "kim", queues: ["returns", "billing"] },
  { name: "ann", queues: ["sales", "billing"] },
] as const;
/** What is on the page can be pressed within this time, or it has gone. */
const IN_REACH_MS = 3_000;
/** How long something may take on a busy machine before it counts as lost. */
const PATIENCE_MS = 60_000;

/** Writes the channel, the operators, and the conversations of a third one. */
export async function prepareShift({ redisUrl, rows }: Pick<Shift, "redisUrl" | "rows">): Promise<void> {
  const store = await openRedisStore({
    urls: [redisUrl],
    durability: "local",
    clock: systemClock,
    log: { warn() {} },
  });
  await store.putChannel(
    sampleChannel({
      slug: "shop",
      publishableKey: "pk_shift",
      allowedOrigins: [ORIGIN],
      agent: {},
      handoff: { enabled: true, queues: QUEUES },
    }),
  );
  for (const { name, queues } of [...OPERATORS, { name: "watch", queues: undefined }])
    await store.addOperator({
      name,
      role: "agent",
      channels: null,
      keyHash: hashKey(new Secret(`op_${name}`)),
      ...(queues ? { queues: [...queues] } : {}),
    });
  const AT_ONCE = 50;
  for (let from = 0; from < rows; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, rows - from) }, (_, at) => from + at);
    await Promise.all(some.map((nth) => addTaken(store, nth)));
  }
  await store.close();
}

/** A conversation that the operator `third` has. */
async function addTaken(store: Store, nth: number): Promise<void> {
  const [uid, atMs] = [`row-${nth}`, Date.now()];
  const event = {
    type: "person.took" as const,
    name: "third",
    takeId: uid,
    epoch: 0,
    atMs,
  };
  await store.admitUser({
    slug: "shop",
    externalId: `customer-${nth}`,
    displayName: `Customer ${nth}`,
    newUserId: `user-${nth}`,
    creates: true,
    thread: { name: uid, newUid: uid },
    atMs,
  });
  const { next } = threadHost.decide(threadHost.initial(), event);
  await store.commit(
    sampleCommit({
      uid,
      slug: "shop",
      opId: `row-${nth}`,
      fence: `${store.processId}:a`,
      rev: 0,
      readOp: null,
      claims: true,
      holds: false,
      state: "with_person",
      snapshot: threadHost.freeze(next),
      run: null,
      messages: [sampleMessage(1, { content: `Row ${nth}`, createdAtMs: atMs })],
      atMs,
    }),
  );
}

export async function playShift(shift: Shift): Promise<Played> {
  const { browser, seconds, everyMs, rows, tell } = shift;
  const watcher = await openConsole(shift, browser, "watch", rows);
  const desks = await Promise.all(OPERATORS.map(({ name }) => openConsole(shift, browser, name, rows)));
  tell(`three consoles show ${rows} rows`);
  const endsAt = performance.now() + seconds * 1_000;
  const isOver = () => performance.now() >= endsAt;
  let open = 0;
  const visits: Promise<Visit>[] = [];
  const hasWork = () => !isOver() || open > 0;
  const working = Promise.all(desks.map((desk) => work(desk, hasWork)));
  // Told below, when the visitors are gone.
  working.catch(() => {});
  for (let nth = 1; !isOver(); nth += 1) {
    open += 1;
    visits.push(visit(shift, watcher, nth).finally(() => (open -= 1)));
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  const played = await Promise.all(visits);
  await working;
  const pages = [watcher, ...desks];
  const tasks = (await Promise.all(pages.map(longTasksOf))).flat();
  await Promise.all(pages.map((page) => page.context().close()));
  const shown = played.map(({ shownMs }) => shownMs).sort((a, b) => a - b);
  return {
    asked: played.length,
    closed: played.filter(({ isClosed }) => isClosed).length,
    lost: played.filter(({ answers }) => answers === 0).length,
    twice: played.filter(({ answers }) => answers > 1).length,
    shownMsP50: Math.round(shown[Math.floor(shown.length / 2)] ?? 0),
    shownMsMax: Math.round(shown.at(-1) ?? 0),
    longestTaskMs: Math.round(Math.max(0, ...tasks)),
    longTasks: tasks.length,
    rows,
  };
}

/** An operator's console in the inbox, with all rows. */
async function openConsole({ url }: Shift, browser: Browser, name: string, rows: number): Promise<Page> {
  const context = await browser.newContext({ locale: "en-GB", viewport: { width: 1_400, height: 900 } });
  const page = await context.newPage();
  await page.goto(`${url}/console#key=op_${name}`);
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor({ timeout: PATIENCE_MS });
  await page.evaluate('location.hash = "#/inbox"');
  if (rows > 0) {
    const heading = page.getByRole("heading", { name: `With a colleague ${rows.toLocaleString("en-GB")}` });
    await heading.waitFor({ timeout: 5 * PATIENCE_MS });
  }
  await page.evaluate(COLLECT_LONG_TASKS);
  return page;
}

function longTasksOf(page: Page): Promise<number[]> {
  return page.evaluate("longTasks");
}

interface Visit {
  shownMs: number;
  /** How often the operator's answer came. */
  answers: number;
  isClosed: boolean;
}

/** A visitor asks, waits for a person's answer, thanks, and stays until the person has closed the conversation. */
async function visit({ url, queues }: Shift, watcher: Page, nth: number): Promise<Visit> {
  const post = async (path: string, body: object, headers: Record<string, string>) => {
    const answer = await fetch(`${url}/v1/widget${path}`, {
      method: "POST",
      headers: { origin: ORIGIN, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path} is answered ${answer.status}`);
    return answer;
  };
  const made = await post("/visitors", {}, { "x-publishable-key": "pk_shift" });
  const { visitorToken } = (await made.json()) as { visitorToken: string };
  const token = { "x-visitor-token": visitorToken };
  const { threadId } = (await (await post("/threads", {}, token)).json()) as { threadId: string };
  await (await post("/messages", { threadId, text: `Question ${nth}.` }, token)).text();
  const seen = watcher.evaluate<number>(shownAt(`Question ${nth}.`));
  const feed = readFeed(`${url}/v1/widget/threads/${threadId}/events?after=`, { origin: ORIGIN, ...token });
  const askedAt = Date.now();
  await post(`/threads/${threadId}/handoff`, { queue: queues[nth % queues.length] }, token);
  const isAnswer = (line: FeedItem) => line.item?.content === `Answer to question ${nth}.`;
  await feed.until((lines) => lines.some(isAnswer), PATIENCE_MS);
  await (await post("/messages", { threadId, text: `Thanks for ${nth}.` }, token)).text();
  const isClosed = await feed.until((lines) => lines.at(-1)?.state === "idle", PATIENCE_MS);
  feed.leave();
  const history = await fetch(`${url}/v1/widget/threads/${threadId}/messages?limit=50`, {
    headers: { origin: ORIGIN, ...token },
  });
  const { items } = (await history.json()) as { items: { content: string }[] };
  const stored = items.filter(({ content }) => content === `Answer to question ${nth}.`).length;
  const told = feed.lines.filter(isAnswer).length;
  // Both must have it once.
  return { shownMs: (await seen) - askedAt, answers: told === stored ? told : 0, isClosed };
}

interface FeedItem {
  state?: string;
  item?: { content: string };
}

/** Run in the page: when a row of this text says that somebody waits, by the machine's clock. */
const shownAt = (text: string) => `new Promise((resolve) => {
  const look = () => {
    const rows = [...document.querySelectorAll(".row")].map((row) => row.textContent);
    if (!rows.some((row) => row.includes(${JSON.stringify(text)}) && row.includes("waits for a person"))) return;
    watching.disconnect();
    resolve(Date.now());
  };
  const watching = new MutationObserver(look);
  watching.observe(document.body, { childList: true, subtree: true, characterData: true });
  look();
})`;

/** Run in the page: collects how long its tasks of more than 50 ms took. */
const COLLECT_LONG_TASKS = `(() => {
  globalThis.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longTasks.push(duration);
  }).observe({ type: "longtask" });
})()`;

/** Takes what waits in the operator's queues, answers it, waits for the visitor's thanks, closes it; until the end. */
async function work(page: Page, hasWork: () => boolean): Promise<void> {
  const rows = page.locator(".row").filter({ hasText: "waits for a person" });
  while (hasWork()) {
    const [text] = await rows.allTextContents();
    const nth = /Question (\d+)\./.exec(text ?? "")?.[1];
    if (nth === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      continue;
    }
    // A colleague may be quicker: the row goes away, or the page asks, or says whose it is.
    const row = rows.filter({ hasText: `Question ${nth}.` });
    if (!(await isDone(row.click({ timeout: IN_REACH_MS })))) continue;
    const answer = page.getByLabel("Your answer");
    const parts = page.getByRole("navigation", { name: "Parts of the conversation" });
    const state = page.locator("main .flag.state").first();
    await parts.waitFor({ timeout: PATIENCE_MS });
    await state.waitFor({ timeout: PATIENCE_MS });
    if ((await state.textContent()) === "waits for a person") {
      const takes = page.getByRole("button", { name: "Take over" });
      const other = page.getByRole("dialog").or(page.getByText(/has the conversation (by now|any more)/));
      if (await isDone(takes.click({ timeout: IN_REACH_MS })))
        await answer.or(other).first().waitFor({ timeout: PATIENCE_MS });
    }
    if (await answer.isVisible()) {
      await answer.fill(`Answer to question ${nth}.`);
      await answer.press("Enter");
      await page.getByText(`Thanks for ${nth}.`).first().waitFor({ timeout: PATIENCE_MS });
      await page.getByRole("button", { name: "Close" }).click();
      await page.getByText("has closed it").waitFor({ timeout: PATIENCE_MS });
    }
    // A question that is still open goes with its conversation.
    await page.evaluate('location.hash = "#/inbox"');
    await page.getByRole("heading", { name: "Inbox", level: 1 }).waitFor({ timeout: PATIENCE_MS });
  }
}

async function isDone(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch {
    return false;
  }
}
