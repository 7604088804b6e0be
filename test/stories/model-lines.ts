import { call, hold, say, status } from "../support/servers/model-server.ts";
import type { Act } from "../support/servers/model-server.ts";

/** A turn of the model in a story: `says "…"`, `calls TOOL {…}`, `fails 500`, `waits`; several are joined by `, then`. */
export function turnOf(line: string): Act[] {
  return line.split(", then ").map(actOf);
}

function actOf(words: string): Act {
  const said = /^says "(.*)"$/.exec(words)?.[1];
  if (said !== undefined) return say(said);
  const called = /^calls (\S+) (\{.*\})$/.exec(words);
  if (called) return call(called[1] ?? "", called[2] ?? "");
  const failed = /^fails (\d+)$/.exec(words)?.[1];
  if (failed !== undefined) return status(Number(failed));
  if (words === "waits") return hold();
  throw new Error(`Cannot read what the model does: ${words}`);
}
