import { useEffect, useMemo, useState } from "preact/hooks";
import { createApi } from "../service/api.ts";
import { Problem, messageOf } from "../service/problem.ts";
import type { ChannelView, Me } from "../service/views.ts";
import { Trouble } from "../parts/trouble.tsx";
import { NO_EVENTS, followThreads } from "../service/thread-events.ts";
import type { ThreadEvents } from "../service/thread-events.ts";
import { ConsoleContext, mayOf } from "./console-context.ts";
import type { Console as Context } from "./console-context.ts";
import { Frame } from "./frame.tsx";
import { Room } from "./room.tsx";
import { useToast } from "./toast.tsx";

/** The console of one operator, who is loaded first. */
export function Console({
  keyText,
  onSignOut,
}: {
  keyText: string;
  onSignOut: (reason: string | null) => void;
}) {
  const api = useMemo(
    () => createApi(keyText, () => onSignOut("This key is not valid. It may have been rotated or removed.")),
    [keyText],
  );
  const [me, setMe] = useState<Me | null>(null);
  const [channels, setChannels] = useState<readonly ChannelView[] | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const { tell, toast } = useToast();

  const begin = async () => {
    setTrouble(null);
    try {
      setMe(await api.get<Me>("/me"));
      await reloadChannels();
    } catch (error) {
      if (error instanceof Problem && error.status === 404)
        setTrouble("The operator API is switched off here (CONSOLE=off).");
      else setTrouble(messageOf(error));
    }
  };
  const reloadChannels = async () => {
    const all: ChannelView[] = [];
    for (let cursor: string | null = null; ;) {
      const page: { items: ChannelView[]; next: string | null } = await api.list("/channels", {
        limit: 100,
        cursor,
      });
      all.push(...page.items);
      cursor = page.next;
      if (cursor === null) break;
    }
    setChannels(all);
    return all;
  };
  useEffect(() => void begin(), [api]);

  const [events, setEvents] = useState<ThreadEvents>(NO_EVENTS);
  useEffect(() => {
    if (me === null || !mayOf(me).readTexts) return;
    const following = new AbortController();
    setEvents(followThreads(api, following.signal));
    return () => following.abort();
  }, [api, me]);

  if (me === null) {
    return (
      <main class="sign-in">
        <h1>Console</h1>
        <Trouble text={trouble} onRetry={() => void begin()} />
        {trouble === null && <p role="status">Signing in</p>}
      </main>
    );
  }
  const context: Context = { api, me, events, channels, reloadChannels, tell };
  return (
    <ConsoleContext.Provider value={context}>
      <Frame me={me} onSignOut={() => onSignOut(null)}>
        <Trouble text={trouble} onRetry={() => void begin()} />
        <Room />
      </Frame>
      {toast}
    </ConsoleContext.Provider>
  );
}
