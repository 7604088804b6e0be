import { useState } from "preact/hooks";
import { pathOf } from "../service/api.ts";
import type { Api } from "../service/api.ts";
import { Problem, messageOf } from "../service/problem.ts";
import type { ThreadView, UserView } from "../service/views.ts";
import { Dialog } from "../parts/dialog.tsx";
import { TextField } from "../parts/fields.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { mayOf, useConsole } from "./console-context.ts";
import { go, linkTo } from "./route.ts";

interface Found {
  /** What it is, or the words that were found. */
  what: string;
  channel: string;
  link: string;
}

/** So many conversations of each channel are shown. */
const MOST_SHOWN = 5;

/**
 * Finds a user or a conversation by its full id, or conversations by words that were said, in every channel that the operator
 * may see.
 */
export function Find({ onClose }: { onClose: () => void }) {
  const { api, me, channels, reloadChannels } = useConsole();
  const [text, setText] = useState("");
  const [found, setFound] = useState<Found[] | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const open = ({ link }: Found) => {
    onClose();
    go(link);
  };
  const find = async () => {
    const id = text.trim();
    if (id === "") return;
    setTrouble(null);
    try {
      // A quick operator may search before the channels are loaded.
      const everywhere = channels ?? (await reloadChannels());
      const all = (await Promise.all(everywhere.map(({ slug }) => findIn(api, slug, id)))).flat();
      const [only] = all;
      if (all.length === 1 && only) return open(only);
      if (all.length > 0 || !mayOf(me).readTexts) return setFound(all);
      setFound((await Promise.all(everywhere.map(({ slug }) => findWords(api, slug, id)))).flat());
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  return (
    <Dialog title="Find" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void find();
        }}
      >
        <TextField
          label="ID of a user or a conversation"
          value={text}
          onInput={setText}
          hint="The full ID, your own or the service's. Or words that were said in one message. Search for parts of a name under Users."
          autoFocus
        />
        <Trouble text={trouble} />
        <div role="status">
          {found?.length === 0 && <p class="words">Nothing has this ID, and no message these words.</p>}
          {found && found.length > 0 && (
            <ul class="found">
              {found.map((one) => (
                <li key={one.link}>
                  <a href={one.link} onClick={onClose}>
                    {one.what} in {one.channel}
                  </a>
                </li>
              ))}
            </ul>
          )}
        </div>
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Close
          </button>
          <button type="submit" class="button main">
            Find
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Nothing where what is said is encrypted, and cannot be searched. */
async function findWords(api: Api, slug: string, q: string): Promise<Found[]> {
  const path = pathOf("channels", slug, "threads");
  try {
    const { items, next } = await api.list<ThreadView>(path, { q, limit: MOST_SHOWN });
    const shown = items.map(({ id, found, title }) => ({
      what: found ?? title ?? "Conversation",
      channel: slug,
      link: linkTo(["channels", slug, "threads", id]),
    }));
    const more = {
      what: "More conversations",
      channel: slug,
      link: linkTo(["channels", slug, "threads"], { q }),
    };
    return next === null ? shown : [...shown, more];
  } catch (error) {
    if (error instanceof Problem && [403, 404, 422].includes(error.status)) return [];
    throw error;
  }
}

async function findIn(api: Api, slug: string, id: string): Promise<Found[]> {
  const [user, thread] = await Promise.all([
    orNull(api.get<UserView>(pathOf("channels", slug, "users", id))),
    orNull(api.get<ThreadView>(pathOf("channels", slug, "threads", id))),
  ]);
  return [
    ...(user
      ? [{ what: "User", channel: slug, link: linkTo(["channels", slug, "users", user.userId]) }]
      : []),
    ...(thread
      ? [{ what: "Conversation", channel: slug, link: linkTo(["channels", slug, "threads", id]) }]
      : []),
  ];
}

/** null if it does not exist, or the operator may not see it. */
async function orNull<Value>(asked: Promise<Value>): Promise<Value | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Problem && [403, 404].includes(error.status)) return null;
    throw error;
  }
}
