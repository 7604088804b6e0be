import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { loadWidgetScript, widgetScriptAnswer } from "../../src/http/widget-script.ts";

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
    expect(immutable).toHaveLength(2);
    for (const name of immutable) expect(get(name)?.headers["cache-control"]).toContain("immutable");
    expect(get("chat-agent.js")?.headers["cache-control"]).toBe("public, max-age=300");
    expect(get("manifest.json")).toBeNull();
    expect(get("../chat-agent.js")).toBeNull();
  });

  test("can be imported where there is no browser", async () => {
    const code = Buffer.from(get("chat-agent.mjs")?.body ?? "").toString("base64");
    const module = (await import(`data:text/javascript;base64,${code}`)) as Record<string, unknown>;
    expect(typeof module["ChatAgent"]).toBe("function");
  });
});
