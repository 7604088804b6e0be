// For src/console/conversation/, src/widget/run/
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { startTcpProxy } from "../faults/victims/tcp-proxy.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { hold, say, startModelServer } from "../support/servers/model-server.ts";
import type { ModelServer } from "../support/servers/model-server.ts";
import { pathOf } from "../support/programs.ts";
import { startRedis } from "../support/stores/redis-server.ts";
import { spawnCommand, startServiceProcess } from "../support/servers/service-process.ts";
import { SOON, launchBrowser, test } from "../widget/browser.ts";
import type { OpenVisit, Visit } from "../widget/browser.ts";
import { startPageServer } from "../widget/page/page-server.ts";

const NAME = "Ann";

interface SideBySide {
  visitor: Visit;
  operator: Page;
  /** Errors of the operator's page. */
  troubles: string[];
  model: ModelServer;
  /** SIGKILL; from then on the visitor's page reaches the operator's instance. */
  killVisitorsInstance: () => Promise<void>;
}

/** A visitor's page and the console, each on an instance of its own; both instances on one Redis. */
async function openSideBySide(visit: OpenVisit): Promise<SideBySide> {
  const [redis, browser, model, network] = await Promise.all([
    startRedis(),
    launchBrowser({ webMcp: false }),
    startModelServer([[say("Your parcel "), hold(), say("is on the moon.")]]),
    startTcpProxy(0),
  ]);
  const site = await startPageServer(`http://127.0.0.1:${network.port}`);
  onTestFinished(async () => {
    await browser.close();
    await Promise.all([model.close(), site.close(), network.close()]);
    await redis.stop();
  });
  const folder = temporaryFolder();
  const channelsFile = join(folder, "channels.json");
  const keys = { publishableKey: "pk_test", secretKey: "sk_shop" };
  const shop = { slug: "shop", kind: "web", ...keys, allowedOrigins: [site.url], handoff: { enabled: true } };
  writeFileSync(channelsFile, JSON.stringify({ channels: [shop] }));
  const env = {
    REDIS_URL: redis.url,
    DATA_DIR: folder,
    CHANNELS_FILE: channelsFile,
    HARNESS_API_KEY: "tk_test",
    OPENAI_BASE_URL: model.baseUrl,
  };
  const key = await addOperator(env);
  const [first, second] = await Promise.all([startServiceProcess(env), startServiceProcess(env)]);
  network.lead(Number(new URL(first.url).port));
  const visitor = await visit(browser, `${site.url}/`);
  const { page: operator, troubles } = await visit(browser, `${second.url}/console#key=${key}`);
  return {
    visitor,
    operator,
    troubles,
    model,
    async killVisitorsInstance() {
      network.lead(Number(new URL(second.url).port));
      first.kill("SIGKILL");
      await first.exit;
    },
  };
}

async function addOperator(env: NodeJS.ProcessEnv): Promise<string> {
  const adding = spawnCommand(["operators", "add", NAME, "--role", "agent"], env);
  await adding.exit;
  const key = /op_[\w-]+/.exec(adding.output.stdout.join("\n"))?.[0];
  if (key === undefined) throw new Error(`Cannot add an operator: ${adding.output.stderr}`);
  return key;
}

/** What was said, in its order, as each page shows it. */
const shownToVisitor = ({ log }: Visit) => shownIn(log.locator(".message").locator(".user-text, .text"));
const shownToOperator = (page: Page) => shownIn(page.getByRole("log").locator("article .text"));

async function shownIn(messages: Locator): Promise<string[]> {
  return (await messages.allTextContents()).map((text) => text.trim());
}

// Without a Redis server there is one instance, and nothing to go on with.
test.skipIf(pathOf("redis") === null)(
  "a visitor asks for a person and talks to them while the visitor's instance is killed: all is said once, and nothing by the model until the thread is given back",
  { timeout: 300_000 },
  async ({ expect, visit }) => {
    const { visitor, operator, troubles, model, killVisitorsInstance } = await openSideBySide(visit);
    const bar = visitor.agent.locator(".person [role=status]");
    const barSays = (text: string) => bar.getByText(text, { exact: true }).waitFor();
    const answer = async (text: string) => {
      await operator.getByLabel("Your answer").fill(text);
      await operator.getByLabel("Your answer").press("Enter");
    };
    const seenByVisitor = (text: string) => visitor.log.getByText(text, { exact: true }).waitFor();
    const seenByOperator = (text: string) =>
      operator.getByRole("log").getByText(text, { exact: true }).waitFor();

    // Asked for in the middle of a reply, of which no more is said.
    await visitor.say("Where is my parcel?");
    await seenByVisitor("Your parcel");
    await visitor.agent.getByRole("button", { name: "Talk to a person" }).click();
    await barSays("Waiting for a person…");
    await visitor.say("Is anybody there?");

    await operator.getByRole("link", { name: "Inbox" }).first().click();
    await operator.getByRole("heading", { name: /Waiting for a person/ }).waitFor();
    await operator
      .getByRole("main")
      .getByRole("link", { name: /in shop/ })
      .click();
    await operator.getByRole("button", { name: "Take over" }).click();
    await barSays("Ann answers you here.");
    model.release();
    await seenByOperator("Is anybody there?");
    await answer("Here I am");
    await seenByVisitor("Here I am");
    await visitor.say("Good to see you");
    await seenByOperator("Good to see you");

    // Whether the instance that dies has taken the message or not: it is said once.
    await Promise.all([visitor.say("Are you still there?"), killVisitorsInstance()]);
    await seenByOperator("Are you still there?");
    await answer("Still here");
    await seenByVisitor("Still here");
    await visitor.say("All is well");
    await seenByOperator("All is well");
    expect(model.requests).toHaveLength(1);

    await operator.getByRole("button", { name: "Give back" }).click();
    await operator.getByLabel("A note for the assistant").fill("The parcel is on its way");
    await operator.getByRole("dialog").getByRole("button", { name: "Give back" }).click();
    await barSays("The assistant answers again.");
    await visitor.say("And now?");
    await seenByVisitor("You said: And now?");
    await seenByOperator("You said: And now?");
    await expect.poll(() => visitor.tell("agent.state"), SOON).toBe("idle");

    const said = [
      "Where is my parcel?",
      "Your parcel",
      "Is anybody there?",
      "Here I am",
      "Good to see you",
      "Are you still there?",
      "Still here",
      "All is well",
      "And now?",
      "You said: And now?",
    ];
    expect(await shownToVisitor(visitor)).toEqual(said);
    expect(await shownToOperator(operator)).toEqual(said);
    const names = visitor.log.locator(".assistant .author [dir]");
    expect(await names.allTextContents()).toEqual(["Assistant", NAME, NAME, "Assistant"]);
    await visitor.page.reload();
    await seenByVisitor("You said: And now?");
    expect(await shownToVisitor(visitor)).toEqual(said);

    // The model was asked twice, and knows the second time what was said without it.
    expect(model.requests).toHaveLength(2);
    const told = JSON.stringify(model.requests[1]?.body.messages);
    for (const text of [...said.slice(0, -1), "The parcel is on its way"]) expect(told).toContain(text);
    expect([...visitor.troubles, ...troubles]).toEqual([]);
  },
);
