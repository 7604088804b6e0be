import { expect } from "vitest";
import { objectOf, terminalOf } from "../scenarios/page.ts";
import { webChannel } from "../scenarios/houses.ts";
import type { House } from "../scenarios/houses.ts";
import { clientOf } from "./channel-client.ts";
import type { Command } from "./commands.ts";
import { accountOf, call, emptyTown, identify, mayTalk, say, talkOf, visit } from "./reference.ts";
import type { Person, Said, Talk, Ticket, Town } from "./reference.ts";

/** Tokens that the reference does not know, and no channel of a run either. */
export interface StrangeTokens {
  unknown: string;
  expired: string;
  foreign: string;
}

/** A channel of the service and its reference, side by side: each command is done on both, and their answers compared. */
export async function startBoth(house: House, slug: string, strange: StrangeTokens) {
  const { store, model } = house;
  const client = clientOf(house, slug);
  const town: Town = emptyTown();
  const left = await store.users(slug);
  /** Of pending calls, by the text that led to them. */
  const callIds = new Map<string, string>();
  let texts = 0;
  let modelCalls = model.requests.length;

  const ticketOf = (who: number): Ticket | undefined => town.tickets[who % town.tickets.length];
  const talkAt = (person: Person, which: number): Talk | undefined =>
    person.talks[which % person.talks.length];
  const statusFor = (person: Person, status: number) => (mayTalk(town, person) ? status : 403);

  /** Says it on both sides where it may be said: the status, and the reply's end. */
  async function speak(
    person: Person,
    said: { text: string; talk: () => Talk; state: Said["state"] },
    request: (text: string) => ReturnType<typeof client.say>,
  ) {
    const got = await request(said.text);
    expect(got.status).toBe(statusFor(person, 200));
    if (got.status !== 200) return expect(got.text).toBe("");
    modelCalls += 1;
    say(said.talk(), said.text, said.state);
    const end = terminalOf(got);
    expect(end.type).toBe(said.state === "awaiting" ? "tool_call" : "done");
    if (end.type === "tool_call") callIds.set(said.text, end.callId);
  }

  async function perform(asked: Command): Promise<void> {
    await request(asked);
    // P13: who was refused has cost no model call.
    expect(model.requests).toHaveLength(modelCalls);
  }

  async function request(asked: Command): Promise<unknown> {
    switch (asked.type) {
      case "visit": {
        if (!town.enabled) return expect((await client.visit()).status).toBe(403);
        const { token, userId } = await client.newVisitor();
        return visit(town, token, userId);
      }
      case "open thread": {
        const ticket = ticketOf(asked.who);
        if (ticket === undefined) return;
        const got = await client.openThread(ticket.token);
        expect(got.status).toBe(statusFor(ticket.person, 201));
        if (got.status !== 201) return;
        const { threadId } = objectOf<{ threadId: string }>(got);
        talkOf(ticket.person, threadId);
        return expect((await client.register(ticket.token, threadId)).status).toBe(204);
      }
      case "say": {
        const ticket = ticketOf(asked.who);
        const talk = ticket && talkAt(ticket.person, asked.which);
        if (ticket === undefined || talk === undefined) return;
        // Threads that began on the server API have no catalog.
        const calls = asked.calls && !talk.name.startsWith("chat-");
        const text = `${calls ? "call" : "say"} ${texts++}`;
        const said = { text, talk: () => talk, state: calls ? "awaiting" : "done" } as const;
        return speak(ticket.person, said, () => client.say(ticket.token, talk.name, text));
      }
      case "look into another's thread": {
        const [ticket, owner] = [ticketOf(asked.who), ticketOf(asked.whose)];
        const talk = owner && talkAt(owner.person, 0);
        if (ticket === undefined || talk === undefined || ticket.person === owner?.person) return;
        // A caller's own names repeat among users: it would be a message in their own thread.
        if (ticket.person.talks.some(({ name }) => name === talk.name)) return;
        const statuses = [
          (await client.history(ticket.token, talk.name)).status,
          (await client.say(ticket.token, talk.name, "Hello?")).status,
        ];
        return expect(statuses).toEqual([statusFor(ticket.person, 404), statusFor(ticket.person, 404)]);
      }
      case "answer": {
        const ticket = ticketOf(asked.who);
        const talk = ticket && talkAt(ticket.person, asked.which);
        if (ticket === undefined || talk === undefined) return;
        const pending = talk.said.find(({ state }) => state === "awaiting");
        const callId = asked.isRight && pending ? callIds.get(pending.text) : "another";
        const got = await client.answer(ticket.token, talk.name, callId ?? "");
        const isAnswer = asked.isRight && pending !== undefined;
        expect(got.status).toBe(statusFor(ticket.person, isAnswer ? 200 : 409));
        if (got.status !== 200 || pending === undefined) return;
        modelCalls += 1;
        pending.state = "done";
        return expect(terminalOf(got).type).toBe("done");
      }
      case "identify": {
        const ticket = ticketOf(asked.who);
        const token = asked.token === "own" ? ticket?.token : strange[asked.token];
        if (token === undefined) return;
        const got = await client.identify(token, asked.account);
        const { status, ...body } = identify(town, token, asked.account);
        expect(got.status).toBe(status);
        return status === 200 && expect(objectOf(got)).toEqual(body);
      }
      case "identify with a wrong key": {
        const ticket = ticketOf(asked.who);
        if (ticket === undefined) return;
        const got = await client.identify(ticket.token, asked.account, "sk_wrong");
        return expect([got.status, got.text]).toEqual([401, "Unauthorized"]);
      }
      case "send": {
        const userId = accountOf(town, asked.account)?.userId;
        const name = `chat-${asked.which % 2}`;
        const text = `send ${texts++}`;
        // The user is created, or named anew, whether it may talk or not; a thread, only for who may.
        const person = call(town, asked.account, userId ?? "", asked.displayName ?? null);
        const known = talkAt(person, asked.which);
        // The account's threads are reached by their names here too, wherever they began.
        const talk = asked.which > 2 && known ? known : null;
        const threadId = talk?.name ?? name;
        const said = { text, talk: () => talkOf(person, threadId), state: "done" } as const;
        await speak(person, said, () => client.send(asked.account, threadId, text, asked.displayName));
        person.userId = (await store.findUser(slug, asked.account))?.userId ?? "";
        return expect(person.userId).toBe(userId ?? person.userId);
      }
      case "ask for access": {
        const known = accountOf(town, asked.account)?.userId;
        const got = await client.access(asked.account);
        const { allowed, userId } = objectOf<{ allowed: boolean; userId: string }>(got);
        const person = call(town, asked.account, userId, null);
        return expect({ status: got.status, allowed, userId }).toEqual({
          status: 200,
          allowed: mayTalk(town, person),
          userId: known ?? userId,
        });
      }
      case "flag": {
        const person = town.people[asked.who % town.people.length];
        if (person === undefined) return;
        Object.assign(person, asked.flags);
        return expect(await store.flagUser(slug, person.userId, asked.flags)).toMatchObject(asked.flags);
      }
      case "set the channel": {
        town.enabled = asked.enabled;
        town.whitelistOnly = asked.whitelistOnly;
        const accessMode = asked.whitelistOnly ? "whitelist" : "open";
        return house.putChannel(webChannel(slug, { enabled: asked.enabled, accessMode }));
      }
    }
  }

  /** Nothing lost, nothing doubled: users, flags, threads and messages, and what each token may read of them. */
  async function compare(): Promise<void> {
    const gone = new Set(left.map(({ userId }) => userId));
    const users = (await store.users(slug)).filter(({ userId }) => !gone.has(userId));
    const plain = town.people.map(({ talks: _, ...user }) => user);
    const byId = (a: { userId: string }, b: { userId: string }) => (a.userId < b.userId ? -1 : 1);
    expect(users.sort(byId)).toEqual(plain.sort(byId));

    for (const { userId, talks } of town.people) {
      const entries = await store.threads(slug, userId);
      expect(entries.map(({ threadId }) => threadId).sort()).toEqual(talks.map(({ name }) => name).sort());
      for (const talk of talks) {
        const uid = entries.find(({ threadId }) => threadId === talk.name)?.uid ?? "";
        const kept = await store.history(uid, { limit: 100, before: null });
        expect(kept.map(({ role, content }) => [role, content])).toEqual(historyOf(talk));
      }
    }
    for (const { token, person } of town.tickets) {
      for (const { name, said } of person.talks) {
        const got = await client.history(token, name);
        expect(got.status).toBe(statusFor(person, 200));
        if (got.status !== 200) continue;
        const { items } = objectOf<{ items: { role: string; content: string }[] }>(got);
        expect(items.map(({ role, content }) => [role, content])).toEqual(historyOf({ name, said }));
      }
    }
  }

  return { perform, compare };
}

/** Messages with their roles; a reply in progress is none yet, and one that was left alone had said nothing. */
function historyOf({ said }: Talk): [string, string][] {
  return said.flatMap(({ text, state }): [string, string][] => {
    const user: [string, string] = ["user", text];
    if (state === "awaiting") return [user];
    return [user, ["assistant", state === "done" ? `You said: ${text}` : ""]];
  });
}
