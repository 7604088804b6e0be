import { useEffect, useState } from "preact/hooks";
import { PagedList } from "../lists/paged-list.tsx";
import { usePaged } from "../lists/paged.ts";
import { Empty } from "../parts/empty.tsx";
import { SelectField, TextField } from "../parts/fields.tsx";
import { pathOf } from "../service/api.ts";
import type { UserView } from "../service/views.ts";
import { mayOf, useConsole } from "../shell/console-context.ts";
import { go, linkTo } from "../shell/route.ts";
import { Titled } from "../shell/titled.tsx";
import { rememberChannel } from "./last-channel.ts";
import { UserFlags, nameOf } from "./names.tsx";

const SHOWN = [
  ["", "Everybody"],
  ["blocked", "Blocked"],
  ["anonymous", "Anonymous"],
  ["known", "With an id of the site"],
] as const;
type Shown = (typeof SHOWN)[number][0];

/** A search is asked for when its writer pauses for so long. */
const PAUSE_MS = 250;

/** The users of a channel, newest first. */
export function Users({ slug, query }: { slug: string; query: Readonly<Record<string, string>> }) {
  const { api, channels, me } = useConsole();
  const text = query["q"] ?? "";
  const shown = SHOWN.find(([value]) => value === query["show"])?.[0] ?? "";
  useEffect(() => rememberChannel(slug), [slug]);
  const paged = usePaged<UserView>(
    (cursor, signal) =>
      api.list(
        pathOf("channels", slug, "users"),
        { limit: 100, cursor, q: text, ...filterOf(shown) },
        signal,
      ),
    [slug, text, shown],
  );
  const show = (change: { channel?: string; q?: string; show?: Shown }, replace = false) =>
    go(
      linkTo(["channels", change.channel ?? slug, "users"], {
        q: text,
        show: shown,
        ...change,
        channel: null,
      }),
      {
        replace,
      },
    );
  return (
    <Titled title="Users" fills>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <SelectField
          label="Channel"
          value={slug}
          choices={(channels ?? [{ slug }]).map((one) => [one.slug, one.slug] as const)}
          onChoose={(channel) => show({ channel })}
        />
        <Search
          key={slug}
          text={text}
          label={mayOf(me).readTexts ? "Part of an id or a name" : "Part of an id"}
          onSearch={(q) => show({ q }, true)}
        />
        <SelectField label="Show" value={shown} choices={SHOWN} onChoose={(value) => show({ show: value })} />
      </form>
      <PagedList
        paged={paged}
        keyOf={({ userId }) => userId}
        label={`Users of ${slug}`}
        empty={
          <NobodyHere isFiltered={text !== "" || shown !== ""} onAll={() => show({ q: "", show: "" })} />
        }
      >
        {(user, tabIndex) => (
          <a class="row" href={linkTo(["channels", slug, "users", user.userId])} tabIndex={tabIndex}>
            <span class="first">{nameOf(user)}</span>
            <span class="second mono">
              {user.displayName ? (user.externalUserId ?? user.userId) : user.userId}
            </span>
            <UserFlags user={user} />
          </a>
        )}
      </PagedList>
    </Titled>
  );
}

function filterOf(shown: Shown): { blocked?: string; anonymous?: string } {
  switch (shown) {
    case "":
      return {};
    case "blocked":
      return { blocked: "true" };
    case "anonymous":
      return { anonymous: "true" };
    case "known":
      return { anonymous: "false" };
  }
}

function Search({
  text,
  label,
  onSearch,
}: {
  text: string;
  label: string;
  onSearch: (text: string) => void;
}) {
  const [written, setWritten] = useState(text);
  useEffect(() => setWritten(text), [text]);
  useEffect(() => {
    if (written === text) return;
    const timer = setTimeout(() => onSearch(written), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [written]);
  return <TextField label={label} type="search" value={written} onInput={setWritten} />;
}

function NobodyHere({ isFiltered, onAll }: { isFiltered: boolean; onAll: () => void }) {
  if (isFiltered) {
    return (
      <Empty title="No match.">
        <button type="button" class="button" onClick={onAll}>
          Show everybody
        </button>
      </Empty>
    );
  }
  return (
    <Empty title="No visitors yet.">
      <p>Users appear here from their first message.</p>
    </Empty>
  );
}
