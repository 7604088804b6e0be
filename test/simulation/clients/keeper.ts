import type { World } from "../world.ts";
import type { Client } from "./client.ts";
import { deleteAsOperator, deleteUser } from "./requests.ts";
import type { OperatedThread } from "./requests.ts";

/** What an admin finds in the console. */
export interface Kept {
  threads: () => readonly OperatedThread[];
  userOf: (externalId: string) => string | undefined;
}

/** An admin who deletes threads, and now and then a user, whatever goes on in them. */
export async function runKeeper(
  { plan, faultsAreOver }: World,
  client: Client,
  { kept, accounts }: { kept: Kept; accounts: readonly [string, ...string[]] },
): Promise<void> {
  const { random } = client;
  const { restMs, users } = plan.deletions;
  while (!faultsAreOver()) {
    await client.rest(...restMs);
    const externalId = random.chance(users) ? random.pick(accounts) : null;
    const userId = externalId === null ? undefined : kept.userOf(externalId);
    const thread = random.pickAny(kept.threads());
    if (externalId !== null && userId !== undefined)
      await client.sendUntilAnswered(() => deleteUser(externalId, userId));
    else if (thread) await client.sendUntilAnswered(() => deleteAsOperator(thread));
  }
}
