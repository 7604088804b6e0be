// For src/widget/service/json-storage.ts
import { SOON, test } from "../browser.ts";
import { openStage } from "../stage.ts";

const stage = openStage();

test("in a frame that may use neither storage nor locks, a conversation lasts as long as the page", async ({
  expect,
  visit,
}) => {
  const framed = encodeURIComponent(`${stage.site.url}/`);
  // Another site than 127.0.0.1, and as trustworthy: in a frame of an insecure page there would be no locks at all.
  const outer = stage.site.url.replace("127.0.0.1", "localhost");
  const { page, troubles } = await visit(stage.browser, `${outer}/?framed=${framed}`);
  const frame = page.frameLocator("iframe");
  const agent = frame.locator("chat-agent");
  const inFrame = page.frames()[1];
  const refused = (use: string) =>
    inFrame?.evaluate(
      `(async () => { try { await ${use}; return "works" } catch (error) { return error.name } })()`,
    );
  expect(await refused("localStorage")).toBe("SecurityError");
  expect(await refused("navigator.locks.request('a', () => {})")).toBe("SecurityError");
  await agent.locator(".launcher").click();
  for (const text of ["one", "two"]) {
    await agent.locator("textarea").fill(text);
    await agent.locator("textarea").press("Enter");
    await agent.locator("[role=log]").getByText(`You said: ${text}`).waitFor();
  }
  await expect.poll(() => agent.locator(".message").count(), SOON).toBe(4);
  const threads = stage.service.asked.filter(({ path }) => path === "/threads");
  expect(threads).toHaveLength(1);
  expect(troubles).toEqual([]);
});
