import type { Listener } from "../../src/listener.ts";
import { chooseListen } from "../../src/listeners/choose.ts";
import { messageOf } from "../../src/errors.ts";
import { CannotMeasure } from "./cannot-measure.ts";
import type { Options } from "./options.ts";
import { tell } from "./section.ts";

/**
 * The listener to measure with: the requested one, or uWebSockets.js if it loads; if not, stderr says so. Results on node:http
 * are never written, because README.md has those of uWebSockets.js.
 */
export async function listenerFor({
  listener,
  write,
}: Pick<Options, "listener" | "write">): Promise<Listener["kind"]> {
  const { kind, note } = await chosen(listener ?? null);
  if (note !== null) tell(`On node:http: ${note}`);
  if (write && kind === "node")
    throw new CannotMeasure("Cannot write what node:http comes to: README.md tells of uWebSockets.js");
  return kind;
}

async function chosen(wanted: Listener["kind"] | null) {
  try {
    return await chooseListen(wanted);
  } catch (error) {
    throw new CannotMeasure(messageOf(error));
  }
}
