// For src/widget/build.mjs, src/widget/module.ts, src/widget/classic.ts, src/widget/panel-chunk.ts
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { VERSION } from "../../src/version.ts";
import { loadWidgetScript, pinnedScript, widgetScriptAnswer } from "../../src/http/widget-script.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const released = `${root}src/widget/released`;
const files = await loadWidgetScript();

function get(name: string, headers: Record<string, string> = {}) {
  return widgetScriptAnswer(files, { path: `/widget/v1/${name}`, headers: new Map(Object.entries(headers)) });
}

describe("the widget's script", () => {
  test("is at most 30 KB gzipped", () => {
    expect(gzipSync(get("chat-agent.js")?.body ?? "", { level: 9 }).length).toBeLessThanOrEqual(30 * 1024);
  });

  test("is served to every origin, gzipped where that is accepted, with a validator", () => {
    const plain = get("chat-agent.js");
    expect(plain?.headers).toMatchObject({
      "access-control-allow-origin": "*",
      "cross-origin-resource-policy": "cross-origin",
      "content-type": "text/javascript; charset=utf-8",
    });
    const gzipped = get("chat-agent.js", { "accept-encoding": "gzip" });
    expect(gzipped?.headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(gzipped?.body ?? "")).toEqual(plain?.body);
    expect(get("chat-agent.js", { "if-none-match": String(plain?.headers["etag"]) })?.status).toBe(304);
    expect(get("chat-agent.js", { "if-none-match": '"another"' })?.status).toBe(200);
  });

  test("has immutable copies under names with their content's hash", () => {
    const immutable = [...files.keys()].filter((name) => /\.[0-9a-f]{16}\.m?js$/.test(name));
    expect(immutable.length).toBeGreaterThanOrEqual(2);
    for (const name of immutable) expect(get(name)?.headers["cache-control"]).toContain("immutable");
    expect(get("chat-agent.js")?.headers["cache-control"]).toBe("public, max-age=300");
    expect(get("manifest.json")).toBeNull();
    expect(get("../chat-agent.js")).toBeNull();
  });

  test("is answered under the names of released versions, for pages that pin them", () => {
    for (const name of readdirSync(released)) {
      const plain = get(name.replace(/\.gz$/, ""));
      expect(plain?.headers["cache-control"]).toContain("immutable");
      const hash = createHash("sha256")
        .update(plain?.body ?? "")
        .digest("hex");
      expect(name).toContain(`.${hash.slice(0, 16)}.`);
    }
    // A version without `-dev` is released with its own: `npm run released` after the last change of the element.
    const own = [...files.keys()].filter((name) => /\.[0-9a-f]{16}\.m?js$/.test(name));
    if (!VERSION.includes("-")) for (const name of own) expect(readdirSync(released)).toContain(`${name}.gz`);
    // A script and its second file, for each released version; from 0.2.0 on a third one.
    const versions = readFileSync(`${root}CHANGELOG.md`, "utf8").match(/^## \d+\.\d+\.\d+$/gm) ?? [];
    expect(versions.length).toBeGreaterThan(0);
    expect(readdirSync(released)).toHaveLength(3 * versions.length - 1);
  });

  test("is pinned under its hash, with what covers it", () => {
    const pinned = pinnedScript(files);
    const body = get(pinned?.name ?? "")?.body;
    expect(body).toEqual(get("chat-agent.js")?.body);
    expect(pinned?.integrity).toBe(
      `sha384-${createHash("sha384")
        .update(body ?? "")
        .digest("base64")}`,
    );
    // What it loads is covered by it: the hash of the second file is in it, not that of another version's.
    const panels = [...files].filter(([name]) => name.startsWith("chat-agent-panel."));
    const hashes = panels.map(([, { bytes }]) => createHash("sha384").update(bytes).digest("base64"));
    expect(hashes.filter((hash) => String(body).includes(hash))).toHaveLength(1);
  });

  test("can be imported where there is no browser", async () => {
    const code = Buffer.from(get("chat-agent.mjs")?.body ?? "").toString("base64");
    const module = (await import(`data:text/javascript;base64,${code}`)) as Record<string, unknown>;
    expect(typeof module["ChatAgent"]).toBe("function");
  });
});
