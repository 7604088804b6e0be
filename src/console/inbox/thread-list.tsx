import type { ComponentChildren } from "preact";
import { PagedList } from "../lists/paged-list.tsx";
import { usePaged } from "../lists/paged.ts";
import { pathOf } from "../service/api.ts";
import type { Query } from "../service/api.ts";
import type { ThreadView } from "../service/views.ts";
import { useConsole } from "../shell/console-context.ts";
import { ThreadRow } from "./thread-row.tsx";

/** Conversations of a channel, the latest activity first. */
export function ThreadList({
  slug,
  query,
  label,
  empty,
}: {
  slug: string;
  query: Query;
  label: string;
  empty: ComponentChildren;
}) {
  const { api } = useConsole();
  const paged = usePaged<ThreadView>(
    (cursor, signal) =>
      api.list(pathOf("channels", slug, "threads"), { limit: 100, cursor, ...query }, signal),
    [slug, query],
  );
  return (
    <PagedList paged={paged} keyOf={({ id }) => id} label={label} empty={empty}>
      {(thread, tabIndex) => (
        <ThreadRow
          thread={{ ...thread, channel: slug }}
          tabIndex={tabIndex}
          withUser={query["userId"] === ""}
        />
      )}
    </PagedList>
  );
}
