// For src/deploy/
import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { pathOfCommand } from "../support/programs.ts";

const unit = fileURLToPath(new URL("../../src/deploy/chat-agent.service", import.meta.url));
const missing = pathOfCommand("systemd-analyze") === null;
const why = missing ? ": apt-get install -y systemd" : "";

test.skipIf(missing)(`systemd finds nothing wrong with the unit${why}`, () => {
  const folder = temporaryFolder();
  cpSync(unit, join(folder, "chat-agent.service"));
  // Units that it only waits for are not of this machine.
  for (const other of ["network-online.target", "redis-server.service"]) {
    const kind = other.endsWith("target") ? "" : "[Service]\nExecStart=/bin/true\n";
    writeFileSync(join(folder, other), `[Unit]\nDescription=${other}\n${kind}`);
  }
  const verify = () =>
    spawnSync(
      "systemd-analyze",
      ["verify", "--man=no", "--recursive-errors=no", join(folder, "chat-agent.service")],
      {
        encoding: "utf8",
        env: { ...process.env, SYSTEMD_UNIT_PATH: `${folder}:` },
      },
    );
  const { stderr, status } = verify();
  expect([stderr.split("\n").filter((line) => line.includes("chat-agent.service")), status]).toEqual([[], 0]);

  // It does find what is wrong.
  const text = readFileSync(unit, "utf8");
  writeFileSync(
    join(folder, "chat-agent.service"),
    text.replace("Restart=on-failure", "Restart=now-and-then"),
  );
  expect(verify().stderr).toContain("now-and-then");
});
