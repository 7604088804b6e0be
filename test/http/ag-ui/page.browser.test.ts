// For src/http/ag-ui/
import { test } from "../../widget/browser.ts";
import { openExampleShop } from "../example-shop.ts";
import { chatWithButtons, talkTo } from "../front-ends/talk-to-page.ts";

/** All of it with AI_SDK_TESTS=full; else up to the person. */
test("the README's page with AG-UI's client talks, uses a tool and shows a person; is reloaded, stopped, refused and cut off", async ({
  expect,
  visit,
}) => {
  const shop = await openExampleShop("ag-ui/README.md", "js");
  const { page, troubles } = await visit(shop.browser, shop.site);
  const isReady = () => page.getByRole("button", { name: "Stop" }).waitFor({ state: "hidden" });
  const chat = chatWithButtons(page, { replies: "article:not(.user)", again: "again", runs: "**/ag-ui" });
  const talk = talkTo(page, { ...chat, isReady }, { shop, expect });

  await talk.sendTo("Hello");
  await talk.shows(["You said: Hello"]);
  await talk.sendTo("I want a mug");
  const answer = "The tool says: mug is in the cart, with 0 others";
  await talk.shows(["You said: Hello", "add to cart (done)", answer]);

  // A person of the site takes over: what they write is shown as it comes.
  const person = await talk.takeOver();
  await talk.sendTo("A person, please");
  await isReady();
  await person.write("I am here.");
  const withStep = ["You said: Hello", "add to cart (done)", answer, "agent: I am here."];
  await talk.shows(withStep);
  await person.giveBack();
  expect(troubles).toEqual([]);
  if (process.env["AI_SDK_TESTS"] !== "full") return;

  // Of a reply that is over the history has no activity.
  await page.reload();
  const known = ["You said: Hello", answer, "agent: I am here."];
  await talk.shows(known);
  await talk.isCutOff(await talk.isRefused(await talk.isStopped(await talk.isLoadedAnew(known))));
  await isReady();
  // The client says itself what it throws.
  const others = troubles.filter((trouble) => !/^Agent execution failed|network error/.test(trouble));
  expect(others).toEqual([]);
});
