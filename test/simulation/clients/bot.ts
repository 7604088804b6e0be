import { threadUid } from "../../../src/domain/thread-uid.ts";
import type { World } from "../world.ts";
import type { Client } from "./client.ts";
import { cancelAsBot, sayAsBot } from "./requests.ts";

/** A chat bot that passes messages of its users on over the server API; several may have one conversation. */
export async function runBot({ plan, faultsAreOver }: World, client: Client): Promise<void> {
  const { random, name } = client;
  let said = 0;

  while (!faultsAreOver()) {
    await client.rest(...plan.clients.thinkMs);
    const userId = random.pick(["eve", "sam"]);
    const conversation = { userId, threadId: "talk", uid: threadUid("cli", userId, "talk") };
    const text = `${name} says ${++said}`;
    const talking = random.chance(plan.clients.withId)
      ? client.sendUntilAnswered(() => sayAsBot(conversation, { text, id: text }))
      : client.send(sayAsBot(conversation, { text, id: null }));
    const cancelling = random.chance(plan.clients.cancel) ? cancelLater(conversation) : null;
    await Promise.all([talking, cancelling]);
  }

  async function cancelLater(conversation: Parameters<typeof cancelAsBot>[0]): Promise<void> {
    await client.rest(0, 1_500);
    await client.send(cancelAsBot(conversation));
  }
}
