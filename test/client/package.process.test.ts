import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/data-dir.ts";
import { unpackPackage } from "../support/installed-package.ts";
import { startTestService, TEST_KEY } from "../support/service.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");

/** What does compile, and what must not. */
const USE = `
import { createClient } from "chat-agent-service/client";
import type { Line } from "chat-agent-service/client";
const client = createClient({ baseUrl: "http://127.0.0.1", key: "k" });
export async function last(): Promise<Line> {
  for await (const line of client.send({ threadId: "t", userId: "u", text: "x" })) if (line.type === "delta") line.text.trim();
  // @ts-expect-error -- a message has a text
  client.send({ threadId: "t", userId: "u" });
  return client.send({ threadId: "t", userId: "u", text: "x" }).final;
}
`;

test("the package, installed elsewhere, gives the client and its types, and the README's example runs", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "node_modules"));
  renameSync(unpackPackage(folder), join(folder, "node_modules/chat-agent-service"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "use.ts"), USE);
  for (const moduleResolution of ["node16", "bundler"]) {
    const module = moduleResolution === "node16" ? "node16" : "esnext";
    const options = ["--strict", "--target", "es2022", "--lib", "es2023,dom", "--types", ""];
    const args = [
      "--noEmit",
      "--module",
      module,
      "--moduleResolution",
      moduleResolution,
      ...options,
      "use.ts",
    ];
    expect(execFileSync(process.execPath, [tsc, ...args], { cwd: folder }).toString()).toBe("");
  }

  const example =
    /^```js\n(.*?)^```/ms.exec(readFileSync(join(root, "src/client/README.md"), "utf8"))?.[1] ?? "";
  writeFileSync(join(folder, "example.js"), example);
  const service = await startTestService();
  const env = { BASE: service.url, KEY: TEST_KEY };
  const { stdout } = await promisify(execFile)(process.execPath, ["example.js"], { cwd: folder, env });
  expect(stdout).toContain("type: 'done'");
});

test("the client is small, and needs nothing: no package, nothing of Node", async () => {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["src/client/create-client.ts"],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "browser",
  });
  expect(Object.keys(metafile.inputs).filter((path) => !path.startsWith("src/client/"))).toEqual([]);
  expect(gzipSync(outputFiles[0]?.contents ?? "").length).toBeLessThan(6_144);
});
