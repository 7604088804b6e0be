import { askServerApi, askWidgetApi, makeVisitors } from "./askings.ts";
import { load } from "./load.ts";

const USERS = 64;
/**
 * Over each API. On Node 24 the service's process spends 0.58 ms of CPU on a message in the first 8,000 messages, 0.43 after
 * 16,000 and 0.38 from 32,000 on, which a core answers in some 20 s.
 */
const EACH_MS = 15_000;
/** Messages that are prepared for each visitor and second: more than a core answers. */
const MESSAGES_A_SECOND = 64;

/**
 * Talks to a service over both APIs, so that the code to be measured has been compiled. The model must answer in burst.
 *
 * V8 compiles in other threads of the same process, the longer the more code there is: a comparison of two versions that
 * begins too early compares how they warm up.
 */
export async function warmUp(port: number): Promise<void> {
  const plan = { users: USERS, warmMs: 0, spreadMs: 0, watched: [] };
  await load(askServerApi(port), { ...plan, windowMs: EACH_MS });
  const visitors = await makeVisitors(port, USERS, Math.ceil((EACH_MS / 1_000) * MESSAGES_A_SECOND));
  await load(askWidgetApi(port, visitors), { ...plan, windowMs: EACH_MS });
  await load(askWidgetApi(port, visitors, true), { ...plan, windowMs: 500 });
}
