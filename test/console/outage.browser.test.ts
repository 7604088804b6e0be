// For src/console/service/, src/console/parts/trouble.tsx
import { sendMessage } from "../support/servers/service.ts";
import { SOON, test } from "../widget/browser.ts";
import { enter, openOperated, untilLive } from "./operating.ts";

const operated = openOperated();

const AWAY = "The service cannot be reached.";

test("what could not be loaded is there by itself when the service is back, a conversation too", async ({
  visit,
  expect,
}) => {
  const { browser, url, keys } = operated;
  const said = { threadId: "ticket-1", userId: "account-7", text: "Anybody here?" };
  expect((await sendMessage(url, said, keys.harnessApiKey)).status).toBe(200);
  const { page } = await visit(browser, `${url}/console#key=${keys.localOperator}`);
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  const listed = await fetch(`${url}/v1/operator/channels/cli/threads`, {
    headers: { authorization: `Bearer ${keys.localOperator}` },
  });
  const { items } = (await listed.json()) as { items: { id: string }[] };
  const api = `${url}/v1/operator/**`;
  for (const [place, back] of [
    ["#/channels/cli/users", () => page.getByRole("link", { name: /account-7/ }).waitFor()],
    ["#/channels/cli", () => page.getByLabel("Instructions").waitFor()],
    [
      `#/channels/cli/threads/${items[0]?.id}`,
      () => page.getByRole("log").getByText(said.text).first().waitFor(),
    ],
  ] as const) {
    await page.route(api, (route) => route.abort());
    await enter(page, place);
    await page.getByText(AWAY).first().waitFor();
    await page.unroute(api);
    // A browser tells that it is online again; without that the console asks every few seconds.
    await page.evaluate("void dispatchEvent(new Event('online'))");
    await back();
    await expect.poll(() => page.getByText(AWAY).count(), SOON).toBe(0);
  }
  await untilLive(page);
});
