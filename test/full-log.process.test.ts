// For src/log.ts
import { expect, test } from "vitest";
import { temporaryFolder } from "./support/stores/data-dir.ts";
import { freePort } from "./support/servers/free-port.ts";
import { sendMessage, TEST_KEY } from "./support/servers/service.ts";
import { COMMAND, spawnCommand } from "./support/servers/service-process.ts";
import { until } from "./support/until.ts";

test("F2: a service whose output is on a full disk starts, serves, and stops", async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = { PORT: String(port), DEMO: "off", DATA_DIR: temporaryFolder(), HARNESS_API_KEY: TEST_KEY };
  const runner = ["bash", "-c", 'exec "$@" >/dev/full 2>/dev/full', "bash", process.execPath, COMMAND];
  const service = spawnCommand(["serve"], env, { runner });
  let code: number | null | undefined;
  void service.exit.then((ended) => (code = ended));
  const answers = () =>
    fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until("it serves, or has ended", async () => code !== undefined || (await answers()));
  expect(code).toBeUndefined();
  const { lines } = await sendMessage(url, { threadId: "t1", userId: "me", text: "Hello" });
  expect(lines.at(-1)).toMatchObject({ type: "done" });
  service.kill("SIGTERM");
  expect(await service.exit).toBe(0);
});
