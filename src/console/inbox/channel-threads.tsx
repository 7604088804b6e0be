import { useEffect, useState } from "preact/hooks";
import { Empty } from "../parts/empty.tsx";
import { SelectField, TextField } from "../parts/fields.tsx";
import type { ThreadState } from "../service/views.ts";
import { mayOf, useConsole } from "../shell/console-context.ts";
import { go, linkTo } from "../shell/route.ts";
import { Titled } from "../shell/titled.tsx";
import { rememberChannel } from "../users/last-channel.ts";
import { stateName } from "./states.tsx";
import { ThreadList } from "./thread-list.tsx";

const STATES: readonly (readonly ["" | ThreadState, string])[] = [
  ["", "every state"],
  ...(["running", "awaiting", "waiting_for_person", "with_person", "idle"] as const).map(
    (state) => [state, stateName(state)] as const,
  ),
];

/** All conversations of a channel, back to the first. */
export function ChannelThreads({ slug, query }: { slug: string; query: Readonly<Record<string, string>> }) {
  const { me, channels } = useConsole();
  const state = STATES.find(([value]) => value === query["state"])?.[0] ?? "";
  const userId = query["userId"] ?? "";
  const q = query["q"] ?? "";
  const [user, setUser] = useState(userId);
  const [words, setWords] = useState(q);
  const may = mayOf(me);
  useEffect(() => rememberChannel(slug), [slug]);
  const show = (change: { channel?: string; state?: string; userId?: string; q?: string }) =>
    go(
      linkTo(["channels", change.channel ?? slug, "threads"], { state, userId, q, ...change, channel: null }),
    );
  return (
    <Titled
      title="Conversations"
      fills
      above={
        <>
          <a href={linkTo(["inbox"])}>Inbox</a> / <a href={linkTo(["channels", slug])}>{slug}</a>
        </>
      }
    >
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          show({ userId: user.trim(), q: words.trim() });
        }}
      >
        <SelectField
          label="Channel"
          value={slug}
          choices={(channels ?? [{ slug }]).map((one) => [one.slug, one.slug] as const)}
          onChoose={(channel) => show({ channel })}
        />
        <SelectField
          label="State"
          value={state}
          choices={STATES}
          onChoose={(value) => show({ state: value })}
        />
        {may.readTexts && (
          <TextField
            label="Words that were said"
            type="search"
            value={words}
            onInput={setWords}
            placeholder="refund mug"
          />
        )}
        <TextField label="User ID" value={user} onInput={setUser} placeholder="anybody" />
        <button type="submit" class="button">
          Show
        </button>
      </form>
      <ThreadList
        slug={slug}
        query={{ state, userId, q }}
        label={`Conversations of ${slug}`}
        empty={
          <Empty
            title={state === "" && userId === "" && q === "" ? "No messages yet." : "No conversation fits."}
          >
            {state !== "" || userId !== "" || q !== "" ? (
              <a href={linkTo(["channels", slug, "threads"])}>Show all</a>
            ) : (
              <p>Conversations appear here from their first message.</p>
            )}
          </Empty>
        }
      />
    </Titled>
  );
}
