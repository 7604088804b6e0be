// For package.json, src/client/
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, test } from "vitest";
import type { Reply } from "../../src/client/client.d.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** What a bundler makes of it for a browser. */
async function bundled(contents: string, globalName?: string) {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: root },
    absWorkingDir: root,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    platform: "browser",
    ...(globalName === undefined ? { format: "esm" } : { format: "iife", globalName }),
  });
  return { text: outputFiles[0]?.text ?? "", inputs: Object.keys(metafile.inputs) };
}

test("the client is small, and needs nothing: no package, nothing of Node", async () => {
  const { text, inputs } = await bundled('export * from "./src/client/create-client.ts";');
  expect(inputs.filter((path) => !path.startsWith("src/client/"))).toEqual(["<stdin>"]);
  expect(gzipSync(text).length).toBeLessThan(6_144);
  expect((await bundled('import { createClient } from "./src/client/create-client.ts";')).text).toBe("");
});

test("in a browser's bundle it needs what browsers have, and no more", async () => {
  const { text } = await bundled('export * from "./src/client/create-client.ts";', "chat");
  const asked: unknown[] = [];
  const answer = (url: string, { method }: RequestInit) => {
    asked.push([method, url]);
    return Promise.resolve(new Response('{"type":"delta","text":"Hi"}\n{"type":"done","elapsedMs":1}\n'));
  };
  const browser = { crypto, TextDecoder, URLSearchParams, setTimeout, clearTimeout, fetch: answer };
  const send =
    'chat.createClient({ baseUrl: "https://chat.example", key: "k" }).send({ threadId: "t", userId: "u", text: "?" })';
  const reply: unknown = runInNewContext(`${text}\n${send}`, browser);
  // A cast: what another context gives has no type here.
  const said = reply as Reply;
  expect(await said.final).toEqual({ type: "done", elapsedMs: 1 });
  expect(said.text).toBe("Hi");
  expect(asked).toEqual([["POST", "https://chat.example/v1/messages"]]);
});
