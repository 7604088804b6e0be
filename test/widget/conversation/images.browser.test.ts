// For src/widget/images/, src/widget/view/composer/attach-button.tsx, src/widget/view/message/message-images.tsx
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import { describe } from "vitest";
import { imageSize } from "../../../src/demo/model/image-size.ts";
import { SOON, test } from "../browser.ts";
import type { OpenVisit, Visit } from "../browser.ts";
import { paint, turned } from "../page/pictures.ts";
import type { Picture } from "../page/pictures.ts";
import { openStage } from "../stage.ts";

const stage = openStage();

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A visitor with the panel open, where the channel takes images. */
async function openPanel(visit: OpenVisit, query = "key=pk_images&pictures=1", options = {}): Promise<Visit> {
  const at = await visit(stage.browser, `${stage.site.url}/?${query}`, options);
  await at.agent.locator(".launcher").click();
  await addButton(at).waitFor();
  return at;
}

function addButton({ agent }: Visit) {
  return agent.getByRole("button", { name: "Add images" });
}

const drafts = ({ agent }: Visit) => agent.locator(".draft img");

async function choose({ agent }: Visit, ...pictures: Picture[]): Promise<void> {
  await agent.locator("input[type=file]").setInputFiles(pictures);
}

interface Sent {
  url: string;
  name?: string;
  type: string;
  width: number;
  height: number;
}

/** The images of a message, as the service is asked to take them, each time that it was. */
function sent(text: string): Sent[][] {
  const asked = stage.service.asked.filter((one) => one.path === "/messages" && one.body["text"] === text);
  return asked.map(({ body }) => {
    const attachments = (body["attachments"] ?? []) as { url: string; name?: string }[];
    return attachments.map(({ url, ...named }) => {
      const [, type = "", base64 = ""] = /^data:([a-z/]+);base64,(.*)$/s.exec(url) ?? [];
      const size = imageSize(type, Buffer.from(base64, "base64")) ?? { width: 0, height: 0 };
      return { url, ...named, type, ...size };
    });
  });
}

/** Gives files to the panel as the browser does when they are pasted or dropped. */
async function give(at: Visit, how: "paste" | "drop", pictures: Picture[], text = ""): Promise<void> {
  const files = pictures.map(({ name, mimeType, buffer }) => [name, mimeType, buffer.toString("base64")]);
  await at.page.evaluate(`(() => {
    const transfer = new DataTransfer();
    for (const [name, type, base64] of ${JSON.stringify(files)})
      transfer.items.add(new File([Uint8Array.from(atob(base64), (one) => one.charCodeAt(0))], name, { type }));
    if (${JSON.stringify(text)} !== "") transfer.setData("text/plain", ${JSON.stringify(text)});
    const target = document.querySelector("chat-agent").shadowRoot.querySelector("textarea");
    const init = { bubbles: true, composed: true, cancelable: true };
    const events = ${JSON.stringify(how)} === "paste"
      ? [new ClipboardEvent("paste", { ...init, clipboardData: transfer })]
      : ["dragenter", "dragover", "drop"].map((name) => new DragEvent(name, { ...init, dataTransfer: transfer }));
    for (const event of events) target.dispatchEvent(event);
  })()`);
}

async function violations({ page }: Visit): Promise<string[]> {
  await page.evaluate(axeSource);
  const results: AxeResults = await page.evaluate("axe.run('chat-agent')");
  return results.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

describe.concurrent("images in <chat-agent>", () => {
  test("a picture of 4,000 px arrives at 1,568, and is there after a reload", async ({ expect, visit }) => {
    const at = await openPanel(visit);
    await choose(at, await paint(at.page, "sea.png", { width: 4_000, height: 3_000 }));
    await expect.poll(() => drafts(at).count(), SOON).toBe(1);
    expect(await drafts(at).getAttribute("alt")).toBe("sea.png");
    await at.say("What is this?");
    await at.log.getByText("You said: What is this?").waitFor();
    expect(sent("What is this?")).toMatchObject([
      [{ name: "sea.png", type: "image/jpeg", width: 1_568, height: 1_176 }],
    ]);
    expect(await drafts(at).count()).toBe(0);
    const shown = at.log.getByRole("button", { name: "sea.png" });
    const { width = 0, height = 0 } = (await shown.boundingBox()) ?? {};
    await at.page.reload();
    await shown.waitFor();
    // Where the page is scrolled differently, the same size comes as another fraction.
    const same = { width: expect.closeTo(width, 2) as number, height: expect.closeTo(height, 2) as number };
    expect(await shown.boundingBox()).toMatchObject(same);
    const isDrawn = () =>
      shown.locator("img").evaluate((image: { naturalWidth: number }) => image.naturalWidth);
    await expect.poll(isDrawn, SOON).toBe(1_568);
    expect(at.troubles).toEqual([]);
  });

  test("what is small stays as it is; transparency stays; a camera's picture stands upright", async ({
    expect,
    visit,
  }) => {
    const at = await openPanel(visit, "key=pk_roomy&pictures=1");
    const small = await paint(at.page, "small.png", { width: 60, height: 40 });
    const clear = await paint(at.page, "clear.png", { width: 2_000, height: 1_000, clear: 0.5 });
    const camera = await paint(at.page, "camera.jpg", { width: 90, height: 30, type: "image/jpeg" });
    const moves = Buffer.from("R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs=", "base64");
    const gif = { name: "moves.gif", mimeType: "image/gif", buffer: moves };
    await choose(at, small, clear, turned(camera, 6), gif);
    await expect.poll(() => drafts(at).count(), SOON).toBe(4);
    expect(await addButton(at).isDisabled()).toBe(true);
    await at.say("Four of them");
    await at.log.getByText("You said: Four of them").waitFor();
    const [images = []] = sent("Four of them");
    expect(images).toMatchObject([
      { name: "small.png", type: "image/png", width: 60, height: 40 },
      { name: "clear.png", type: "image/png", width: 1_568, height: 784 },
      { name: "camera.jpg", type: "image/jpeg", width: 30, height: 90 },
      { name: "moves.gif", type: "image/gif", width: 1, height: 1 },
    ]);
    expect(images[0]?.url).toContain(small.buffer.toString("base64"));
    expect(images[3]?.url).toContain(moves.toString("base64"));
    // Where a picture was taken stays in its file.
    expect(Buffer.from(images[2]?.url.split(",")[1] ?? "", "base64").includes("Exif")).toBe(false);
    expect(at.troubles).toEqual([]);
  });

  test("pictures that nothing makes small are within the body's limit all the same", async ({
    expect,
    visit,
  }) => {
    const at = await openPanel(visit);
    const noise = await paint(at.page, "noise.png", { width: 700, height: 700, noise: true });
    await choose(at, noise, await paint(at.page, "plain.png", { width: 1_600, height: 900 }));
    await expect.poll(() => drafts(at).count(), SOON).toBe(2);
    await at.say("Both");
    await at.log.getByText("You said: Both").waitFor();
    const [images = []] = sent("Both");
    expect(JSON.stringify(images).length).toBeLessThan(131_072 - 12_000);
    expect(images[0]?.width).toBeLessThan(700);
    // It needs little, and has what it needs.
    expect(images[1]?.width).toBe(1_568);
  });

  test("paste and drop add images; a text with a picture beside it is pasted as a text", async ({
    expect,
    visit,
  }) => {
    const at = await openPanel(visit);
    const picture = await paint(at.page, "image.png", { width: 80, height: 80 });
    await give(at, "paste", [picture]);
    await expect.poll(() => drafts(at).count(), SOON).toBe(1);
    await give(at, "drop", [{ ...picture, name: "dropped.png" }]);
    await expect.poll(() => drafts(at).count(), SOON).toBe(2);
    expect(await at.agent.locator(".panel.over").count()).toBe(0);
    await give(at, "paste", [picture], "A text");
    await give(at, "drop", [{ ...picture, name: "last.png" }]);
    await expect.poll(() => drafts(at).last().getAttribute("alt"), SOON).toBe("last.png");
    expect(await drafts(at).count()).toBe(3);
  });

  test("says what it does not take: too many, no image, what only has the name of one", async ({
    expect,
    visit,
  }) => {
    const at = await openPanel(visit);
    const picture = await paint(at.page, "a.png", { width: 40, height: 40 });
    const banner = at.agent.locator(".banner");
    await choose(at, { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("notes") });
    await banner.getByText("Only PNG, JPEG, WebP and GIF images can be sent.").waitFor();
    await choose(at, picture, picture);
    await expect.poll(() => drafts(at).count(), SOON).toBe(2);
    expect(await banner.count()).toBe(0);
    const fake = { name: "fake.png", mimeType: "image/png", buffer: Buffer.from("no image") };
    await choose(at, fake);
    await banner.getByText("Only PNG, JPEG, WebP and GIF images can be sent.").waitFor();
    // One that cannot be read does not take the others with it.
    await choose(at, fake, picture);
    await expect.poll(() => drafts(at).count(), SOON).toBe(3);
    await banner.getByText("Only PNG, JPEG, WebP and GIF images can be sent.").waitFor();
    await choose(at, picture, picture);
    await banner.getByText("At most 4 images at once.").waitFor();
    await expect.poll(() => drafts(at).count(), SOON).toBe(4);
  });

  test("by keyboard alone: chosen, removed, sent, shown in full", async ({ expect, visit }) => {
    const at = await openPanel(visit);
    const picture = await paint(at.page, "red.png", { width: 40, height: 40 });
    const focused = () =>
      at.tell<string>(
        "agent.shadowRoot.activeElement?.ariaLabel ?? agent.shadowRoot.activeElement?.localName",
      );
    await at.composer.focus();
    await at.page.keyboard.press("Shift+Tab");
    expect(await focused()).toBe("Add images");
    // The driver may miss a picker that opens soon after it was asked to watch for one.
    await at.tell(
      "agent.shadowRoot.querySelector('[type=file]').addEventListener('click', (event) => (event.preventDefault(), (window.isPicking = true)))",
    );
    await at.page.keyboard.press("Enter");
    await expect.poll(() => at.tell("window.isPicking"), SOON).toBe(true);
    await choose(at, picture, { ...picture, name: "blue.png" });
    await expect.poll(() => drafts(at).count(), SOON).toBe(2);
    expect(await focused()).toBe("Write a message");
    expect(await violations(at)).toEqual([]);
    await at.page.keyboard.press("Enter");
    await at.agent.getByText("Write a few words about it to send it.").waitFor();
    for (const name of ["Add images", "Remove blue.png", "Remove red.png"]) {
      await at.page.keyboard.press("Shift+Tab");
      expect(await focused()).toBe(name);
    }
    await at.page.keyboard.press("Enter");
    await expect.poll(() => drafts(at).count(), SOON).toBe(1);
    expect(await focused()).toBe("Write a message");
    await at.page.keyboard.type("By keys");
    await at.page.keyboard.press("Enter");
    await at.log.getByText("You said: By keys").waitFor();
    expect(sent("By keys")).toMatchObject([[{ name: "blue.png" }]]);
    expect(await violations(at)).toEqual([]);

    await at.log.getByRole("button", { name: "blue.png" }).focus();
    await at.page.keyboard.press("Enter");
    const viewer = at.agent.getByRole("dialog", { name: "blue.png" });
    await viewer.waitFor();
    expect(await violations(at)).toEqual([]);
    await at.page.keyboard.press("Escape");
    await viewer.waitFor({ state: "detached" });
    expect(await at.tell("agent.open")).toBe(true);
    expect(await at.tell("agent.shadowRoot.activeElement.className")).toBe("picture");
    expect(at.troubles).toEqual([]);
  });

  test("a message that was not sent is sent again with its images, also after a reload", async ({
    expect,
    visit,
  }) => {
    const at = await openPanel(visit);
    const text = "Refused at first";
    stage.service.refusals.set(`/messages ${text}`, [{ status: 403 }]);
    await choose(at, await paint(at.page, "again.png", { width: 50, height: 50 }));
    await expect.poll(() => drafts(at).count(), SOON).toBe(1);
    await at.say(text);
    await at.log.locator(".problem").waitFor();
    await at.page.reload();
    await at.log.getByRole("button", { name: "again.png" }).waitFor();
    await at.log.getByRole("button", { name: "Try again" }).click();
    await at.log.getByText(`You said: ${text}`).waitFor();
    const [first, second] = sent(text);
    expect(first).toHaveLength(1);
    expect(second).toEqual(first);
    expect(stage.service.said(text)).toHaveLength(1);
  });

  test("what the service finds too large is back in the composer, with its text", async ({
    expect,
    visit,
  }) => {
    const at = await openPanel(visit);
    stage.service.refusals.set("/messages Too much", [{ status: 413 }]);
    await choose(at, await paint(at.page, "back.png", { width: 50, height: 50 }));
    await expect.poll(() => drafts(at).count(), SOON).toBe(1);
    await at.say("Too much");
    await at.agent.getByText("This message with its images cannot be sent.").waitFor();
    expect(await at.composer.inputValue()).toBe("Too much");
    expect(await drafts(at).count()).toBe(1);
    // It can have others beside it.
    await choose(at, await paint(at.page, "other.png", { width: 60, height: 60 }));
    await expect.poll(() => drafts(at).count(), SOON).toBe(2);
  });

  test("without img-src in the page's policy images are sent, and their names are shown", async ({
    expect,
    visit,
  }) => {
    const at = await openPanel(visit, "key=pk_images");
    await choose(at, await paint(at.page, "unseen.png", { width: 2_000, height: 100 }));
    await expect.poll(() => drafts(at).count(), SOON).toBe(1);
    await at.say("Do you see it?");
    await at.log.getByText("You said: Do you see it?").waitFor();
    expect(sent("Do you see it?")).toMatchObject([[{ name: "unseen.png", width: 1_568 }]]);
    await at.log.getByRole("button", { name: "unseen.png" }).waitFor();
    expect(at.troubles.every((trouble) => trouble.includes("img-src"))).toBe(true);
  });

  test("four pictures fit a phone of 390 px", async ({ expect, visit }) => {
    const at = await openPanel(visit, "key=pk_images&pictures=1", { viewport: { width: 390, height: 800 } });
    const picture = await paint(at.page, "a.png", { width: 400, height: 300 });
    await choose(at, picture, picture, picture, picture);
    await expect.poll(() => drafts(at).count(), SOON).toBe(4);
    await at.say("All four");
    await at.log.getByText("You said: All four").waitFor();
    for (const shown of await at.log.locator(".picture").all()) {
      const { x = 0, width = 0 } = (await shown.boundingBox()) ?? {};
      expect(width).toBeGreaterThan(80);
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x + width).toBeLessThanOrEqual(390);
    }
    expect(await at.tell("document.documentElement.scrollWidth")).toBe(390);
  });

  test("where the channel takes no images there is no button, and nothing else has changed", async ({
    expect,
    visit,
  }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    const told = at.page.waitForResponse("**/widget/v1/channel?key=pk_test");
    await at.agent.locator(".launcher").click();
    expect(await (await told).json()).toEqual({ maxBodyBytes: 131_072 });
    await at.say("Words alone");
    await at.log.getByText("You said: Words alone").waitFor();
    expect(await addButton(at).count()).toBe(0);
    await give(at, "drop", [await paint(at.page, "a.png", { width: 40, height: 40 })]);
    expect(await drafts(at).count()).toBe(0);
    const asked = stage.service.asked.find(({ body }) => body["text"] === "Words alone");
    expect(asked?.body).not.toHaveProperty("attachments");
  });
});
