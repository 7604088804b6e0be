import { argumentsOf } from "../golden/golden.ts";
import type { Shown, ThreadFact, TokenFact } from "../golden/golden.ts";
import type { NotedThread, World } from "./world.ts";

/** What the old command line shows of everything. */
export async function showEverything(cli: World["cli"]): Promise<Shown[]> {
  const shown: Shown[] = [];
  const show = async <T>(...command: Shown["command"]): Promise<T> => {
    const printed: unknown = JSON.parse(await cli(...argumentsOf(command)));
    shown.push({ command, printed });
    return printed as T;
  };

  await show("ips", "list");
  for (const { slug } of await show<{ slug: string }[]>("channels", "list")) {
    for (const { userId } of await show<{ userId: string }[]>("users", "list", slug)) {
      for (const { id } of await show<{ id: string }[]>("threads", "list", slug, userId)) {
        await show("threads", "show", slug, id);
      }
    }
  }
  return shown;
}

/** The thread with its id; throws where the old service does not show it in the state that was noted. */
export function identified(
  thread: NotedThread,
  { shown, tokens }: { shown: Shown[]; tokens: TokenFact[] },
): ThreadFact {
  const { name, slug, threadId, listedAs = threadId, speaker, state, ...more } = thread;
  const printed = (...command: string[]) =>
    shown.find((one) => one.command.join() === command.join())?.printed ?? [];
  const token = "token" in speaker ? tokens.find((fact) => fact.name === speaker.token) : undefined;
  const account = "userId" in speaker ? speaker.userId : (token?.account ?? null);

  const users = printed("users", "list", slug) as { userId: string; externalUserId: string | null }[];
  const found = users
    .filter(({ externalUserId }) => externalUserId === account)
    .flatMap(({ userId }) => printed("threads", "list", slug, userId) as ShownThread[])
    .filter((entry) => entry.threadId === listedAs);
  const [entry] = found;
  if (entry === undefined || found.length > 1) throw new Error(`Cannot find the thread "${name}"`);
  if (entry.state !== state) throw new Error(`The thread "${name}" is ${entry.state}, not ${state}`);
  return { name, slug, threadId, uid: entry.id, speaker, state, ...more };
}

interface ShownThread {
  id: string;
  threadId: string;
  state: string;
}
