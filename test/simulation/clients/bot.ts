import { threadUid } from "../../../src/domain/threads/thread-uid.ts";
import type { World } from "../world.ts";
import type { Client } from "./client.ts";
import { createApprover } from "./approver.ts";
import { approveAsBot, askAsBot, cancelAsBot, instructAsBot, sayAsBot } from "./requests.ts";

const USERS = ["eve", "sam"] as const;

function conversationOf(userId: string) {
  return { userId, threadId: "talk", uid: threadUid("cli", userId, "talk") };
}

/** The threads that bots talk in. */
export const BOT_THREADS = USERS.map((userId) => ({ slug: "cli", uid: conversationOf(userId).uid }));

/** A chat bot that passes messages of its users on over the server API; several may have one conversation. */
export async function runBot({ plan, faultsAreOver, randomOf }: World, client: Client): Promise<void> {
  const { random, name } = client;
  const ofPeople = randomOf(`people of ${name}`);
  const ofTalk = randomOf(`talk of ${name}`);
  const approver = createApprover(client, { talk: plan.talk, random: ofTalk });
  let said = 0;

  while (!faultsAreOver()) {
    await client.rest(...plan.clients.thinkMs);
    const conversation = conversationOf(random.pick(USERS));
    const text = `${name} says ${++said}`;
    const onLine = approver((decision) => approveAsBot(conversation, decision));
    const say = (id: string | null) => ({ ...sayAsBot(conversation, { text, id }), onLine });
    const talking = random.chance(plan.clients.withId)
      ? client.sendUntilAnswered(() => say(text))
      : client.send(say(null));
    const cancelling = random.chance(plan.clients.cancel) ? cancelLater(conversation) : null;
    const asking = ofPeople.chance(plan.people.asks) ? client.send(askAsBot(conversation)) : null;
    await Promise.all([talking, cancelling, asking]);
    if (ofTalk.chance(plan.talk.instructs)) await instruct(conversation);
  }

  async function instruct(conversation: Parameters<typeof instructAsBot>[0]): Promise<void> {
    const id = `${name} wants ${++said}`;
    const ask = () => instructAsBot(conversation, { instruction: id, id });
    const twin = ofTalk.chance(0.3) ? client.send(ask()) : null;
    await client.sendUntilAnswered(ask);
    await twin;
  }

  async function cancelLater(conversation: Parameters<typeof cancelAsBot>[0]): Promise<void> {
    await client.rest(0, 1_500);
    await client.send(cancelAsBot(conversation));
  }
}
