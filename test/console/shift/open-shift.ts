import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOMY_LIMITS } from "../../support/servers/service.ts";
import { openServiceProcess } from "../../support/servers/service-process.ts";
import { startModelServer } from "../../support/servers/model-server.ts";
import { launchBrowser } from "../../widget/browser.ts";
import { playShift, prepareShift } from "./play.ts";
import type { Played, Shift } from "./play.ts";

/** Plays a shift with a service, a model and a browser of its own. */
export async function openShift(shift: Omit<Shift, "url" | "browser">): Promise<Played> {
  const dataDir = mkdtempSync(join(tmpdir(), "chat-agent-shift-"));
  await prepareShift(shift);
  const model = await startModelServer();
  const service = await openServiceProcess({
    DATA_DIR: dataDir,
    REDIS_URL: shift.redisUrl,
    HARNESS_API_KEY: "tk_shift",
    OPENAI_BASE_URL: model.baseUrl,
    // All visitors come from one address here.
    ...ROOMY_LIMITS,
  });
  const browser = await launchBrowser({ webMcp: false });
  try {
    return await playShift({ ...shift, url: service.url, browser });
  } finally {
    await browser.close();
    await service.close();
    await model.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
