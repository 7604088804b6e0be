// For src/widget/images/, src/widget/run/draft-attachments.ts
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { imagesOf } from "../../../src/widget/images/message-image.ts";
import { isOutgoingMessage, newMessage } from "../../../src/widget/run/messages/outgoing-message.ts";
import { readChannel } from "../../../src/widget/service/read-channel.ts";
import { openConversation } from "./page.ts";

const PNG = "data:image/png;base64,iVBORw0KGgo=";

beforeEach(() => {
  vi.spyOn(console, "warn").mockImplementation(() => {});
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test("of a message from outside only images are shown, each itself or at an https address", () => {
  const mallet = [
    { url: "javascript:alert(1)" },
    { url: "http://a.example/b.png" },
    { url: "data:text/html," },
  ];
  const good = [{ url: PNG, name: "a.png" }, { url: "https://cdn.example/shoe.jpg" }];
  expect(imagesOf([...mallet, good[0], null, { name: "b" }, { url: PNG, name: 7 }, good[1]])).toEqual(good);
  expect(imagesOf(mallet)).toBeUndefined();
  expect(imagesOf(undefined)).toBeUndefined();
});

test("a message without images is kept and sent as before; one with them is read again", () => {
  const plain = newMessage("Hello", null);
  expect(Object.keys(plain)).toEqual(["clientMessageId", "text", "context"]);
  const shown = newMessage("Look", null, { images: [{ url: PNG }] });
  expect([plain, shown].every((message) => isOutgoingMessage(JSON.parse(JSON.stringify(message))))).toBe(
    true,
  );
  expect(isOutgoingMessage({ ...shown, images: [{ url: "javascript:1" }] })).toBe(false);
});

test("a message whose run failed is said again with its images", async () => {
  const { conversation, site } = openConversation();
  site.streams.push([{ type: "error", message: "Broken" }]);
  await conversation.send("Look", null, { images: [{ url: PNG, name: "a.png" }] });
  await conversation.retry();
  const sent = site.asked.filter(({ path }) => path === "/messages").map(({ body }) => body);
  expect(sent).toMatchObject([
    { text: "Look", attachments: [{ url: PNG, name: "a.png" }] },
    { text: "Look", attachments: [{ url: PNG, name: "a.png" }] },
  ]);
});

test("a repeat after no answer has the same images under the same id", async () => {
  const { conversation, site } = openConversation();
  site.refusals.set("/messages", [0]);
  vi.useFakeTimers();
  let isSent = false;
  void conversation.send("Look", null, { images: [{ url: PNG }] }).then(() => (isSent = true));
  while (!isSent) await vi.advanceTimersByTimeAsync(1_000);
  const [first, second] = site.asked.filter(({ path }) => path === "/messages");
  expect(first?.body).toMatchObject({ attachments: [{ url: PNG }] });
  expect(second?.body).toEqual(first?.body);
});

test.each([
  [{ maxBodyBytes: 131_072 }, null],
  [{ maxBodyBytes: 131_072, images: true }, 114_688],
  [{ maxBodyBytes: 20_000, images: true }, 10_000],
])("where the channel says %o, images have room for %o characters", async (told, room) => {
  const fetched = vi.fn(() => Promise.resolve(Response.json(told)));
  vi.stubGlobal("fetch", fetched);
  expect(await readChannel("https://chat.example", "pk_shop")).toEqual({
    imageRoom: room,
    fileBytes: null,
    handoff: false,
    peopleAgainAtMs: null,
    tellsUnread: false,
    speaksAtOnce: false,
    isOriginRefused: false,
  });
  expect(fetched).toHaveBeenCalledWith(
    "https://chat.example/widget/v1/channel?key=pk_shop",
    expect.anything(),
  );
});

test("what the channel allows is asked once, and again where that failed", async () => {
  const { conversation } = openConversation();
  const read = vi.fn(() =>
    Promise.resolve({
      imageRoom: 1_000,
      fileBytes: null,
      handoff: true,
      peopleAgainAtMs: null,
      tellsUnread: false,
      speaksAtOnce: false,
      isOriginRefused: false,
    }),
  );
  read.mockRejectedValueOnce(new Error("Offline"));
  for (let n = 0; n < 3; n += 1) {
    conversation.learn(read);
    conversation.learn();
    // One turn of the event loop: the answer is there.
    await new Promise(setImmediate);
  }
  expect(read).toHaveBeenCalledTimes(2);
  expect(conversation.view.state).toMatchObject({ imageRoom: 1_000, handoff: true });
});
