// For src/knowledge/search/index-thread.ts, src/worker/start-worker.ts, src/worker/source-worker.mjs
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { root } from "../support/house/answers.ts";

const PROGRAM = `
  void (async () => {
    const { createIndexThread } = await import(process.argv.at(-1));
    const thread = createIndexThread();
    const add = [{ id: "1", url: "/mugs", title: "", heading: "", text: "Mugs may be returned." }];
    await thread.ask({ type: "change", slug: "bot", remove: [], add });
    const found = await thread.ask({ type: "search", slug: "bot", question: "mugs", most: 3 });
    console.log(found.map(({ url }) => url).join());
  })();
`;

test("a question is answered though nothing else keeps the process, which ends without close", async () => {
  const module = join(root, "src/knowledge/search/index-thread.ts");
  const args = ["--import", "tsx", "--eval", PROGRAM, module];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, timeout: 30_000 });
  expect(stdout).toBe("/mugs\n");
});
