import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseCases } from "../../src/replay/case-file.ts";
import { runCommand } from "../support/terminal.ts";
import { CONVERSATIONS } from "./demo-shop.ts";
import { hold, openShop } from "./record.ts";

/**
 * Records the demo conversations anew, as the present demo model answers, with their checks:
 * `npx tsx test/replay/write-demo.ts`.
 */
const dataDir = mkdtempSync(join(tmpdir(), "chat-agent-record-"));
const file = join(dataDir, "cases.ndjson");
const shop = await openShop(dataDir);
for (const conversation of CONVERSATIONS) {
  const uid = await hold(shop, conversation);
  const { code, err } = await runCommand({ DATA_DIR: dataDir, MCP_PRIVATE: "on" }, [
    "replay",
    "shop",
    uid,
    "--save",
    file,
  ]);
  if (code !== 0) throw new Error(err);
}
await shop.close();
const cases = parseCases(readFileSync(file, "utf8")).map((recorded, nth) => {
  const { name, checks } = CONVERSATIONS[nth] ?? { name: recorded.name, checks: {} };
  return JSON.stringify({ ...recorded, name, checks });
});
writeFileSync(join(import.meta.dirname, "demo-conversations.ndjson"), `${cases.join("\n")}\n`);
rmSync(dataDir, { recursive: true, force: true });
