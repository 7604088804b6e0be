import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { messageOf } from "../../src/errors.ts";
import { openFile } from "../../src/stores/engines/lmdb/file.ts";
import { openWhileNobodyWrites } from "../../src/stores/engines/lmdb/opening.ts";
import { temporaryFolder } from "../support/data-dir.ts";

/** Opens what is no file: a step is written down. */
async function openIn(folder: string, step = "opened", steps: string[] = []) {
  const opened = await openWhileNobodyWrites(folder, () => steps.push(step));
  onTestFinished(opened.leave);
  return opened;
}

function namesIn(folder: string): string[] {
  return readdirSync(join(folder, "processes"));
}

/** As often as a message between two sockets takes turns of the event loop, and far more often. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await setImmediate();
}

/** A folder whose sockets' paths are too long beside it. */
function deepFolder(): string {
  const folder = join(temporaryFolder(), "a".repeat(120));
  mkdirSync(folder);
  return folder;
}

test.each([
  ["beside the file", temporaryFolder],
  ["elsewhere, where its path is too long", deepFolder],
])(
  "who opens waits for a change that has begun, and no other begins before it has opened, by a socket %s",
  async (_, folderOf) => {
    const folder = folderOf();
    const steps: string[] = [];
    const first = await openIn(folder);
    let end = () => {};
    const begun = first.write(async () => {
      steps.push("begun");
      await new Promise<void>((resolve) => (end = resolve));
      steps.push("ended");
    });
    const opening = openIn(folder, "opened", steps);
    await turns();
    const next = first.write(async () => void steps.push("next"));
    await turns();
    expect(steps).toEqual(["begun"]);
    end();
    await Promise.all([begun, opening, next]);
    expect(steps).toEqual(["begun", "ended", "opened", "next"]);
  },
);

test("several that open at once wait for each other, and not for ever", async () => {
  const folder = temporaryFolder();
  const steps: string[] = [];
  const opening = Array.from({ length: 5 }, async () => {
    const opened = await openIn(folder, "opened", steps);
    await opened.write(async () => void steps.push("written"));
  });
  await Promise.all(opening);
  expect(steps.toSorted()).toEqual([...Array(5).fill("opened"), ...Array(5).fill("written")]);
});

test("who has closed the file, or is gone, is not waited for, and leaves nothing behind", async () => {
  const folder = temporaryFolder();
  const closed = await openWhileNobodyWrites(folder, () => {});
  expect(namesIn(folder)).toHaveLength(1);
  await closed.leave();
  expect(namesIn(folder)).toEqual([]);
  // What is left of a killed process: nobody listens there.
  writeFileSync(join(folder, "processes", "1-killed"), "");
  await openIn(folder);
  expect(namesIn(folder)).toHaveLength(1);
  expect(existsSync(join(folder, "processes", "1-killed"))).toBe(false);
});

test("who does not answer is named, and nothing is opened beside it", async () => {
  const folder = temporaryFolder();
  const hung = createServer(() => {});
  onTestFinished(() => void hung.close());
  const other = await openIn(folder);
  hung.listen(join(folder, "processes", "4711-abc"));
  await once(hung, "listening");
  const steps: string[] = [];
  // The other one answers from this very process, which a busy machine may keep from it for that long: then it is named.
  await expect
    .poll(() => openWhileNobodyWrites(folder, () => steps.push("opened"), 50).catch(messageOf))
    .toBe("Cannot open the store: process 4711, which has it open, does not answer");
  expect(steps).toEqual([]);
  expect(namesIn(folder)).toHaveLength(2);
  // Nobody holds it back any more.
  expect(await other.write(async () => "written")).toBe("written");
});

test("where opening fails, the others go on", async () => {
  const folder = temporaryFolder();
  const first = await openIn(folder);
  const failing = () => {
    throw new Error("no such file");
  };
  await expect(openWhileNobodyWrites(folder, failing)).rejects.toThrow("no such file");
  expect(await first.write(async () => "written")).toBe("written");
  expect(namesIn(folder)).toHaveLength(1);
});

test("the file is not closed while another process opens it", async () => {
  const folder = temporaryFolder();
  const file = await openFile(folder);
  const other = connect(join(folder, "processes", namesIn(folder)[0] ?? ""));
  await once(other, "data");
  const steps: string[] = [];
  const closing = file.close().then(() => steps.push("closed"));
  await turns();
  expect(steps).toEqual([]);
  other.destroy();
  await closing;
  expect(namesIn(folder)).toEqual([]);
});
