// For src/threads/recover/take-up.ts
import { afterEach, expect, test } from "vitest";
import { StoreUnavailable } from "../../../src/store.ts";
import type { Store, ThreadCommit } from "../../../src/store.ts";
import { prepareFolder } from "../../support/stores/store-kinds.ts";
import { createInstance, readerOf, says, textOfLines } from "../instance.ts";

const leftovers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const leave of leftovers.splice(0).reverse()) await leave();
});

/** A store whose first so many claims of a lost thread get no answer; `isDone`: they were done nevertheless. */
function unanswering(inner: Store, count: number, isDone: boolean): { store: Store; claims: ThreadCommit[] } {
  const claims: ThreadCommit[] = [];
  const store: Store = {
    ...inner,
    async commit(commit) {
      if (commit.takesFrom === null) return inner.commit(commit);
      claims.push(commit);
      if (claims.length > count) return inner.commit(commit);
      if (isDone) await inner.commit(commit);
      throw new StoreUnavailable("commit");
    },
  };
  return { store, claims };
}

test.each([{ isDone: true }, { isDone: false }])(
  "P9: a claim of a lost thread that gets no answer is sent again as it is, and counts as one try: $isDone",
  async ({ isDone }) => {
    const ground = await prepareFolder();
    leftovers.push(() => ground.remove());
    const first = createInstance(await ground.open());
    await first.threads.start();
    await first.threads.say(says("t1", "Hello"));
    await first.agent.turn();
    await first.threads.drain(0);
    await first.store.close();

    const { store, claims } = unanswering(await ground.open(), 3, isDone);
    leftovers.push(() => store.close());
    const next = createInstance(store);
    leftovers.push(() => next.threads.drain(0));
    await next.threads.start();
    // One more try would be the last one: after four tries the run would have ended.
    const turn = await next.agent.turn();
    turn.write("Here I am");
    turn.finish();
    const reply = readerOf((await next.threads.follow("t1"))!);
    expect(textOfLines(await reply.all)).toBe("Here I am");
    expect(claims.length).toBe(4);
    expect(new Set(claims.map(({ opId }) => opId)).size).toBe(1);
  },
);
