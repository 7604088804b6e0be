import type { Page } from "playwright-core";
import { SOON, test } from "../../widget/browser.ts";
import { openExampleShop } from "../example-shop.ts";
import { takeOver } from "../taken-over.ts";

/** All of it with AI_SDK_TESTS=full; else up to the person. */
test("the README's page with AG-UI's client talks, uses a tool and shows a person; is reloaded, stopped, refused and cut off", async ({
  expect,
  visit,
}) => {
  const { far, network, site, browser, service } = await openExampleShop("ag-ui/README.md", "js");

  const { page, troubles } = await visit(browser, site);
  const shown = (at: Page = page) => at.locator("article:not(.user)").allTextContents();
  const sendTo = async (text: string) => {
    await page.getByLabel("Message").fill(text);
    await page.getByRole("button", { name: "Send" }).click();
  };
  const shows = async (text: string[], at: Page = page) => {
    await expect.poll(() => shown(at), SOON).toEqual(text);
  };
  const isReady = () => page.getByRole("button", { name: "Stop" }).waitFor({ state: "hidden" });

  await sendTo("Hello");
  await shows(["You said: Hello"]);
  await isReady();
  await sendTo("I want a mug");
  const answer = "The tool says: mug is in the cart, with 0 others";
  await shows(["You said: Hello", "add to cart (done)", answer]);
  await isReady();

  // A person of the site takes over: what they write is shown as it comes.
  const threadId = await page.evaluate<string>(`JSON.parse(localStorage.getItem("chat")).threadId`);
  const person = await takeOver(service, threadId);
  await sendTo("A person, please");
  await isReady();
  await person.write("I am here.");
  await shows(["You said: Hello", "add to cart (done)", answer, "agent: I am here."]);
  await person.giveBack();
  expect(troubles).toEqual([]);
  if (process.env["AI_SDK_TESTS"] !== "full") return;

  // Another tab, and this one loaded anew, in the middle of a reply. Of a reply that is over the history has no activity.
  const held = far.held();
  await sendTo("wait");
  await held;
  await shows(["You said: Hello", "add to cart (done)", answer, "agent: I am here.", "One two "]);
  const tab = await page.context().newPage();
  await tab.goto(site);
  await page.reload();
  const two = ["You said: Hello", answer, "agent: I am here."];
  await shows([...two, "One two "]);
  await shows([...two, "One two "], tab);
  far.release();
  const three = [...two, "One two three."];
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
  const four = [...three, "One two ", "You said: Again"];
  await shows(four);
  await isReady();

  // Refused in each way, and said when it may be.
  const again = page.getByRole("button", { name: "again" });
  for (const status of [429, 401, 403]) {
    await page.route("**/ag-ui", (route) =>
      route.fulfill({ status, headers: { "access-control-allow-origin": site } }),
    );
    await (status === 429 ? sendTo("Still there?") : again.click());
    await isReady();
    await again.waitFor();
    await page.unroute("**/ag-ui");
  }
  await again.click();
  const five = [...four, "You said: Still there?"];
  await shows(five);
  await isReady();

  // Cut off: an error, and the whole reply once when it is asked for again.
  await sendTo("wait, I am in a tunnel");
  await shows([...five, "One two "]);
  network.cut("reset");
  await again.click();
  await shows([...five, "One two "]);
  far.release();
  await shows([...five, "One two three."]);
  await isReady();
  // The client says itself what it throws.
  const others = troubles.filter((trouble) => !/^Agent execution failed|network error/.test(trouble));
  expect(others).toEqual([]);
});
