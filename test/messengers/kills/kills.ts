/**
 * `npm run messenger-kills`: 1,000 messages a minute from a scripted Telegram to three instances on one Redis, one of which
 * is killed every ten seconds, for five minutes. `SECONDS` and `INSTANCES` make it another length, and another number.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRedis } from "../../support/stores/redis-server.ts";
import { playKills } from "./play-kills.ts";

const dataDir = mkdtempSync(join(tmpdir(), "chat-agent-kills-"));
const redis = await startRedis();
const played = await playKills({
  instances: Number(process.env["INSTANCES"] ?? 3),
  seconds: Number(process.env["SECONDS"] ?? 300),
  perMinute: 1_000,
  killEverySeconds: 10,
  chats: 100,
  dataDir,
  redisUrl: redis.url,
  tell: (line) => console.log(line),
});
await redis.stop();
rmSync(dataDir, { recursive: true, force: true });
console.log(JSON.stringify(played));
if (played.lost + played.outOfOrder > 0 || played.twice > played.kills) process.exitCode = 1;
