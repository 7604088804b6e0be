import type { Random } from "../random.ts";
import type { World } from "../world.ts";
import type { Client } from "./client.ts";
import type { Exchange } from "./exchange.ts";
import { giveBack, take, writeAsPerson } from "./requests.ts";
import type { OperatedThread } from "./requests.ts";

/** What operators know: the threads there are, and the epoch of each as their console shows it. */
export interface Desk {
  threads: () => readonly OperatedThread[];
  epochOf: (uid: string) => number;
}

const MOST_WORDS = 3;

/** An operator who takes threads over, now and then one that somebody else takes at that moment, and gives most of them back. */
export async function runOperator(
  { plan, faultsAreOver }: World,
  client: Client,
  { desk, name }: { desk: Desk; name: string },
): Promise<void> {
  const { random } = client;
  const wants = plan.people;
  let said = 0;

  while (!faultsAreOver()) {
    await client.rest(...wants.restMs);
    const thread = random.pickAny(desk.threads());
    if (thread) await serve(thread);
  }

  async function serve(thread: OperatedThread): Promise<void> {
    const epoch = seenEpoch(thread, random);
    const twin = random.chance(wants.atOnce) ? client.send(take(thread, name, epoch)) : null;
    const taken = await client.send(take(thread, name, epoch));
    const other = await twin;
    const own = epochIn(taken) ?? (other && epochIn(other));
    if (own !== null) await answer(thread, own);
  }

  async function answer(thread: OperatedThread, own: number): Promise<void> {
    const words = random.whole(0, MOST_WORDS);
    for (let nth = 0; nth < words; nth++) {
      const text = `${name} writes ${++said}`;
      const epoch = random.chance(wants.isLate) ? own - 1 : own;
      const write = () => writeAsPerson(thread, { name, epoch, text });
      const again = random.chance(wants.atOnce) ? client.send(write()) : null;
      const written = await client.sendUntilAnswered(write);
      await again;
      await client.rest(...wants.restMs);
      // Somebody else has the thread.
      if (written?.status === 409 && epoch === own) return;
    }
    if (random.chance(0.1)) return;
    const how = random.pick(["return", "close"] as const);
    await client.sendUntilAnswered(() => giveBack(thread, { name, epoch: own, how }));
  }

  function seenEpoch({ uid }: OperatedThread, choices: Random): number {
    const epoch = desk.epochOf(uid);
    return epoch > 0 && choices.chance(wants.isLate) ? epoch - 1 : epoch;
  }
}

function epochIn({ status, body }: Exchange): number | null {
  return status === 200 && body !== "" ? (JSON.parse(body) as { epoch: number }).epoch : null;
}
