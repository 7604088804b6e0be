// For src/widget/, src/http/widget-script.ts
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { startServiceProcess } from "../../support/servers/service-process.ts";
import { openHttpServer } from "../../support/servers/http-server.ts";
import { launchBrowser, SOON, test } from "../browser.ts";

/** A site that serves one text as every page, and nothing else. */
function startSite(html: () => string): Promise<string> {
  return openHttpServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(html());
  });
}

test("a bare page with the two pasted lines talks to the service; another origin does not", async ({
  expect,
  visit,
}) => {
  let serviceUrl = "";
  const pasted = () => `<script src="${serviceUrl}/widget/v1/chat-agent.js" defer></script>
<chat-agent publishable-key="pk_shop"></chat-agent>`;
  const [site, stranger] = await Promise.all([startSite(pasted), startSite(pasted)]);
  const folder = temporaryFolder();
  const channelsFile = join(folder, "channels.json");
  const shop = { slug: "shop", kind: "web", publishableKey: "pk_shop", secretKey: "sk_shop" };
  writeFileSync(channelsFile, JSON.stringify({ channels: [{ ...shop, allowedOrigins: [site] }] }));
  const [service, browser] = await Promise.all([
    startServiceProcess({ DATA_DIR: folder, CHANNELS_FILE: channelsFile, HARNESS_API_KEY: "tk_test" }),
    launchBrowser({ webMcp: false }),
  ]);
  onTestFinished(() => browser.close());
  serviceUrl = service.url;

  const at = await visit(browser, site);
  await at.say("Hello from a bare page");
  await expect.poll(() => at.log.locator(".assistant .text").count(), SOON).toBe(1);
  await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
  await at.page.reload();
  await at.log.getByText("Hello from a bare page").first().waitFor();
  expect(at.troubles).toEqual([]);

  const refused = await visit(browser, stranger);
  await expect(refused.tell("agent.getVisitorToken()")).rejects.toThrow("Cannot reach the chat service");
});
