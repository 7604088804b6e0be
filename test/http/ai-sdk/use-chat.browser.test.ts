import type { Page } from "playwright-core";
import { SOON, test } from "../../widget/browser.ts";
import { openExampleShop } from "../example-shop.ts";

test("the README's page with useChat talks, uses a tool, is reloaded, stopped, refused and cut off", async ({
  expect,
  visit,
}) => {
  const { far, network, site, browser } = await openExampleShop("ai-sdk/README.md", "jsx");

  const { page, troubles } = await visit(browser, site);
  const replies = (at: Page = page) => at.locator("article.assistant").allTextContents();
  const sendTo = async (text: string) => {
    await page.getByLabel("Message").fill(text);
    await page.getByRole("button", { name: "Send" }).click();
  };
  const shows = async (text: string[], at: Page = page) => {
    await expect.poll(() => replies(at), SOON).toEqual(text);
  };
  const isReady = () => page.getByRole("button", { name: "Send" }).waitFor();

  await sendTo("Hello");
  await shows(["You said: Hello"]);
  await isReady();
  await sendTo("I want a mug");
  const cart = "add to cart (done)The tool says: mug is in the cart, with 0 others";
  await shows(["You said: Hello", cart]);
  await isReady();

  // Another tab, and this one loaded anew, in the middle of a reply.
  const held = far.held();
  await sendTo("wait");
  await held;
  await shows(["You said: Hello", cart, "One two "]);
  const tab = await page.context().newPage();
  await tab.goto(site);
  await page.reload();
  await shows(["You said: Hello", cart, "One two "]);
  await shows(["You said: Hello", cart, "One two "], tab);
  far.release();
  const three = ["You said: Hello", cart, "One two three."];
  await shows(three);
  await shows(three, tab);
  await tab.close();
  await isReady();

  // Stopped: what was said stays, and the next message is answered.
  await sendTo("wait for the stop");
  await shows([...three, "One two "]);
  await page.getByRole("button", { name: "Stop" }).click();
  await isReady();
  far.release();
  await sendTo("Again");
  await shows([...three, "One two ", "You said: Again"]);
  await isReady();

  // Refused in each way, and said when it may be.
  for (const status of [429, 401, 403]) {
    await page.route("**/ai-sdk/chat", (route) =>
      route.fulfill({ status, headers: { "access-control-allow-origin": site } }),
    );
    await (status === 429 ? sendTo("Still there?") : page.getByRole("button", { name: "again" }).click());
    await page.getByRole("button", { name: "again" }).waitFor();
    await page.unroute("**/ai-sdk/chat");
  }
  await page.getByRole("button", { name: "again" }).click();
  const five = [...three, "One two ", "You said: Again", "You said: Still there?"];
  await shows(five);
  await isReady();

  // Cut off: an error, and the whole reply once when it is asked for again.
  await sendTo("wait, I am in a tunnel");
  await shows([...five, "One two "]);
  network.cut("reset");
  await page.getByRole("button", { name: "again" }).click();
  await shows([...five, "One two "]);
  far.release();
  await shows([...five, "One two three."]);
  expect(troubles).toEqual([]);
});
