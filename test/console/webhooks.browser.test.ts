// For src/console/channels/webhooks.tsx, src/console/channels/deliveries.tsx
import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { addOperators } from "../http/operator-api/operators-service.ts";
import { sampleChannel } from "../stores/samples.ts";
import { emptyFolder } from "../support/stores/data-dir.ts";
import { sendMessage, startTestService } from "../support/servers/service.ts";
import { SECRET, startReceiver } from "../webhooks/receiver.ts";
import { launchBrowser, test } from "../widget/browser.ts";
import { accessibilityTroubles, enter } from "./operating.ts";

let browser: Browser;
beforeAll(async () => void (browser = await launchBrowser({ webMcp: false })));
afterAll(() => browser.close());

test("an admin sees why an endpoint is off, tests it, and sends again what failed; caps are told", async ({
  visit,
  expect,
  onTestFinished,
}) => {
  const receiver = await startReceiver(() => 410);
  const store = await openEmbeddedStore({ dataDir: emptyFolder(), clock: systemClock });
  onTestFinished(() => store.close());
  const cli = {
    ...sampleChannel({ slug: "cli", agent: { maxTokensPerDay: 9_000 } }),
    kind: "transport" as const,
    publishableKey: null,
    secretKeyHash: null,
    allowedOrigins: [],
    webhooks: [{ url: receiver.url, secret: SECRET }],
  };
  const env = { WEBHOOKS_PRIVATE: "on", MAX_TOKENS_PER_DAY: "100000", ADDRESS_MAX_TOKENS_PER_DAY: "700" };
  const service = await startTestService({ store, channels: [cli], env });
  await addOperators(store);
  await service.directory.renew();
  await sendMessage(service.url, { threadId: "t", userId: "kim", text: "Hello" });

  const { page, troubles } = await visit(browser, `${service.url}/console#key=op_admin`);
  const caps = page.getByRole("region", { name: "Spending caps" });
  await caps.getByText(/^\d+ of 100,000 tokens$/).waitFor();
  await caps.getByText("700 tokens at most").waitFor();
  await caps.getByRole("link", { name: "cli" }).press("Enter");
  await caps.getByText(/^\d+ of 9,000 tokens$/).waitFor();
  expect(
    Number(await page.getByRole("meter", { name: "Tokens today: cli" }).getAttribute("value")),
  ).toBeGreaterThan(0);

  await page.getByRole("link", { name: "Webhooks" }).press("Enter");
  const endpoint = page.getByRole("region", { name: receiver.url });
  await endpoint.getByText("It answered 410 Gone").waitFor();
  await endpoint.getByText("off", { exact: true }).waitFor();
  await endpoint.getByText("3 events").waitFor();
  expect(await page.content()).not.toContain("whsec_");
  expect(await accessibilityTroubles(page)).toEqual([]);
  await endpoint.getByRole("button", { name: "Send a test" }).press("Enter");
  await endpoint.getByText("It did not take the test: it answered 410.").waitFor();

  // Events go on failing: what is on again sends them by itself, and one that took them has nothing to send again.
  receiver.answer(({ type }) => (type === "webhook.test" ? 204 : 503));
  await endpoint.getByRole("button", { name: "Send a test" }).press("Enter");
  await endpoint.getByText(/^It took the test: 204/).waitFor();
  await endpoint.getByText("off", { exact: true }).waitFor({ state: "detached" });
  await endpoint.getByRole("button", { name: "Send again what failed" }).press("Enter");
  await page.getByText(/^\d sent again$/).waitFor();
  await endpoint.getByText("it answered 503", { exact: true }).first().waitFor();
  await endpoint.getByText("failing", { exact: true }).waitFor();

  // Who may not act is offered no button.
  const { page: other } = await visit(browser, `${service.url}/console#key=op_auditor`);
  await other.getByRole("heading", { name: "Overview" }).waitFor();
  await enter(other, "#/channels/cli/webhooks");
  await other.getByRole("region", { name: receiver.url }).waitFor();
  expect(await other.getByRole("button", { name: "Send a test" }).count()).toBe(0);
  expect(troubles).toEqual([]);
});
