import { useState } from "preact/hooks";
import { PagedList } from "../lists/paged-list.tsx";
import { usePaged } from "../lists/paged.ts";
import { Empty } from "../parts/empty.tsx";
import { TextField } from "../parts/fields.tsx";
import { Time } from "../parts/times.tsx";
import type { AuditView } from "../service/views.ts";
import { useConsole } from "../shell/console-context.ts";
import { go, linkTo } from "../shell/route.ts";
import { Titled } from "../shell/titled.tsx";
import { wordsOf } from "./audit-words.ts";

/** Who did what, newest first. */
export function Audit({ query }: { query: Readonly<Record<string, string>> }) {
  const { api } = useConsole();
  const { operator = "", thread = "", from = "" } = query;
  const paged = usePaged<AuditView>(
    (cursor, signal) =>
      api.list("/audit", { limit: 100, cursor, operator, thread, since: sinceOf(from) }, signal),
    [operator, thread, from],
  );
  const isFiltered = operator !== "" || thread !== "" || from !== "";
  return (
    <Titled title="Audit" fills>
      <Filters key={`${operator} ${thread} ${from}`} operator={operator} thread={thread} from={from} />
      <PagedList
        paged={paged}
        keyOf={(_, index) => String(index)}
        label="Audit, newest first"
        empty={
          <Empty title={isFiltered ? "No entry fits." : "Nothing was done yet."}>
            {isFiltered ? (
              <a href={linkTo(["audit"])}>Show everything</a>
            ) : (
              <p>Every change, and every reading of a conversation, for 365 days.</p>
            )}
          </Empty>
        }
      >
        {(entry, tabIndex) => <Entry entry={entry} tabIndex={tabIndex} />}
      </PagedList>
    </Titled>
  );
}

/** The reader's own day, from its beginning. */
function sinceOf(day: string): number | null {
  const at = new Date(`${day}T00:00:00`).getTime();
  return Number.isNaN(at) ? null : at;
}

function Filters(before: { operator: string; thread: string; from: string }) {
  const [operator, setOperator] = useState(before.operator);
  const [thread, setThread] = useState(before.thread);
  const [from, setFrom] = useState(before.from);
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        go(linkTo(["audit"], { operator: operator.trim(), thread: thread.trim(), from }));
      }}
    >
      <TextField label="Operator" value={operator} onInput={setOperator} placeholder="anybody" />
      <TextField label="Conversation ID" value={thread} onInput={setThread} placeholder="any" />
      <TextField label="Since" type="date" value={from} onInput={setFrom} />
      <button type="submit" class="button main">
        Show
      </button>
    </form>
  );
}

function Entry({ entry, tabIndex }: { entry: AuditView; tabIndex: 0 | -1 }) {
  const { at, operator, action, target, detail = {} } = entry;
  const { channel, ...more } = detail;
  const rest = Object.entries(more).map(([name, value]) => `${name}: ${textOf(value)}`);
  const where = typeof channel === "string" ? [`in ${channel}`] : [];
  const link = linkOf(entry);
  const body = (
    <>
      <span class="first">
        {operator}{" "}
        <span class="quiet" title={action}>
          {wordsOf(action)}
        </span>
      </span>
      <span class="second">
        <span class="mono">{target}</span> {[...where, ...rest].join(", ")}
      </span>
      <span class="at">
        <Time at={at} />
      </span>
    </>
  );
  return link === null ? (
    <div class="row plain" tabIndex={tabIndex}>
      {body}
    </div>
  ) : (
    <a class="row" href={link} tabIndex={tabIndex}>
      {body}
    </a>
  );
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(", ") : typeof value === "string" ? value : JSON.stringify(value);
}

/** What it was done to, where that has a room. */
function linkOf({ action, target, detail }: AuditView): string | null {
  const channel = detail?.["channel"];
  if (action.startsWith("operators.")) return linkTo(["operators"]);
  if (action.startsWith("ips.")) return linkTo(["addresses"]);
  if (action.startsWith("channels.")) return linkTo(["channels", target]);
  if (typeof channel !== "string") return null;
  if (action.startsWith("users.")) return linkTo(["channels", channel, "users", target]);
  if (action === "threads.search") return linkTo(["channels", channel, "threads"]);
  if (/^(?:threads?|desk|handoff)\./.test(action)) return linkTo(["channels", channel, "threads", target]);
  return null;
}
