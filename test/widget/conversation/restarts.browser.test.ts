// For src/widget/run/
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { ExpectStatic } from "vitest";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { freePort } from "../../support/servers/free-port.ts";
import { hold, say, startModelServer } from "../../support/servers/model-server.ts";
import type { ModelServer, Script } from "../../support/servers/model-server.ts";
import { startServiceProcess } from "../../support/servers/service-process.ts";
import type { ServiceProcess } from "../../support/servers/service-process.ts";
import { launchBrowser, SOON, test } from "../browser.ts";
import type { OpenVisit, Visit } from "../browser.ts";
import { startPageServer } from "../page/page-server.ts";

interface Shop {
  at: Visit;
  model: ModelServer;
  service: ServiceProcess;
  /** On the same port and store. */
  restart: () => Promise<ServiceProcess>;
}

/** A page whose service is a process of its own, and may be killed. */
async function openShop(visit: OpenVisit, script: Script): Promise<Shop> {
  const port = await freePort();
  const [model, site, browser] = await Promise.all([
    startModelServer(script),
    startPageServer(`http://127.0.0.1:${port}`),
    launchBrowser({ webMcp: false }),
  ]);
  onTestFinished(async () => {
    await browser.close();
    await Promise.all([model.close(), site.close()]);
  });
  const folder = temporaryFolder();
  const channelsFile = join(folder, "channels.json");
  const shop = { slug: "shop", kind: "web", publishableKey: "pk_test", secretKey: "sk_shop" };
  writeFileSync(channelsFile, JSON.stringify({ channels: [{ ...shop, allowedOrigins: [site.url] }] }));
  const start = () =>
    startServiceProcess({
      PORT: String(port),
      DATA_DIR: folder,
      CHANNELS_FILE: channelsFile,
      HARNESS_API_KEY: "tk_test",
      OPENAI_BASE_URL: model.baseUrl,
    });
  const service = await start();
  return { at: await visit(browser, `${site.url}/`), model, service, restart: start };
}

/** On this page, and in the history as the next page shows it. */
async function expectSaidOnce(expect: ExpectStatic, at: Visit, said: string, reply: string): Promise<void> {
  const isShown = async () => {
    await at.log.getByText(reply, { exact: true }).waitFor();
    await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
    expect(await at.log.locator(".user .user-text").allTextContents()).toEqual([said]);
    expect(await at.log.locator(".assistant .text").count()).toBe(1);
  };
  await isShown();
  await at.page.reload();
  await isShown();
}

test("a service killed in the middle of a reply, and started again: the reply is shown once", async ({
  expect,
  visit,
}) => {
  const { at, model, service, restart } = await openShop(visit, (_request, nth) =>
    nth === 0 ? [say("Half of "), hold()] : "Half of it is not enough.",
  );
  const asked: string[] = [];
  at.page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    if (/\/(messages|stream)$/.test(pathname)) asked.push(`${request.method()} ${pathname}${search}`);
  });
  await at.say("Tell me all");
  await at.log.getByText("Half of").waitFor();
  // The page waits for nothing while there is no service.
  await at.page.clock.install();
  await at.page.clock.pauseAt(Date.now() + 60_000);
  service.kill("SIGKILL");
  await service.exit;
  await restart();
  await at.page.clock.resume();
  await expectSaidOnce(expect, at, "Tell me all", "Half of it is not enough.");
  expect(model.requests).toHaveLength(2);
  // The browser may read the run's name, and the reply is asked for by it.
  expect(asked.filter((one) => one.startsWith("POST"))).toEqual(["POST /v1/widget/messages"]);
  const streams = asked.filter((one) => one.includes("/stream"));
  expect(streams.length).toBeGreaterThan(0);
  for (const one of streams) expect(one).toMatch(/\/stream\?run=[\w-]+$/);
});

test("a message that the service took and was killed before the page heard of it: it is said once", async ({
  expect,
  visit,
}) => {
  const { at, model, service, restart } = await openShop(visit, ["Only once."]);
  await at.agent.locator(".launcher").click();
  await at.composer.waitFor();
  await at.page.clock.install();
  await at.page.clock.pauseAt(Date.now() + 60_000);
  let isTaken = false;
  await at.page.route("**/v1/widget/messages", async (route) => {
    if (isTaken || route.request().method() !== "POST") return route.continue();
    isTaken = true;
    const { origin } = new URL(at.page.url());
    const headers = { ...(await route.request().allHeaders()), origin };
    const answer = await fetch(route.request().url(), {
      method: "POST",
      headers,
      body: route.request().postData(),
    });
    await answer.text();
    service.kill("SIGKILL");
    await service.exit;
    return route.abort();
  });
  await at.tell("void agent.send('Order one')");
  await service.exit;
  expect(isTaken).toBe(true);
  await restart();
  await at.page.clock.resume();
  await expectSaidOnce(expect, at, "Order one", "Only once.");
  expect(model.requests).toHaveLength(1);
});
