// For src/http/ai-sdk/
import { test } from "../../widget/browser.ts";
import { openExampleShop } from "../example-shop.ts";
import { chatWithButtons, talkTo } from "../front-ends/talk-to-page.ts";

test("the README's page with useChat talks, uses a tool, is reloaded, stopped, refused and cut off", async ({
  expect,
  visit,
}) => {
  const shop = await openExampleShop("ai-sdk/README.md", "jsx");
  const { page, troubles } = await visit(shop.browser, shop.site);
  const chat = { replies: "article.assistant", again: "again", runs: "**/ai-sdk/chat" };
  const talk = talkTo(page, chatWithButtons(page, chat), { shop, expect });

  await talk.sendTo("Hello");
  await talk.shows(["You said: Hello"]);
  await talk.sendTo("I want a mug");
  const known = ["You said: Hello", "add to cart (done)The tool says: mug is in the cart, with 0 others"];
  await talk.shows(known);
  await talk.isCutOff(await talk.isRefused(await talk.isStopped(await talk.isLoadedAnew(known))));
  expect(troubles).toEqual([]);
});
