import type { MachineView } from "../../operators/accounts/sight.ts";
import { Fact } from "../parts/fact.tsx";
import { numberText } from "../parts/numbers.ts";
import { Time } from "../parts/times.tsx";
import type { ChangesView, ThreadView, UserView } from "../service/views.ts";
import { linkTo } from "../shell/route.ts";
import { Attributes } from "../users/attributes.tsx";
import { UserFlags, nameOf } from "../users/names.tsx";

/** The facts of a conversation beside its messages. */
export function Facts({
  slug,
  id,
  thread,
  machine,
  user,
  changes,
}: {
  slug: string;
  id: string;
  thread: ThreadView | null;
  machine: MachineView | null;
  user: UserView | null;
  changes: ChangesView;
}) {
  const visitor = machine?.visitor ?? null;
  const context = Object.entries(visitor?.context ?? {});
  return (
    <dl class="facts">
      {user && (
        <Fact name="User">
          <a href={linkTo(["channels", slug, "users", user.userId])}>{nameOf(user)}</a>{" "}
          <UserFlags user={user} />
        </Fact>
      )}
      <Attributes attributes={user?.attributes} />
      <Fact name="Page" mono>
        {visitor?.page}
      </Fact>
      <Fact name="Language">{visitor?.locale}</Fact>
      {context.map(([name, value]) => (
        <Fact key={name} name={`${name}, by the page`}>
          {String(value)}
        </Fact>
      ))}
      <Fact name="E-mail address, left by the visitor">{changes.address}</Fact>
      {changes.ratings.map(({ at, score, comment, by }) => (
        <Fact key={at} name={by === undefined ? "Rating" : `Rating of ${by}`}>
          {score} of 5{comment !== undefined && `: ${comment}`}
        </Fact>
      ))}
      <Fact name="Reason">{thread?.handoff?.reason}</Fact>
      <Fact name="Id" mono>
        {id}
      </Fact>
      {thread && (
        <>
          <Fact name="External ID" mono>
            {thread.threadId === id ? null : thread.threadId}
          </Fact>
          <Fact name="Started">
            <Time at={thread.createdAt} style="long" />
          </Fact>
          <Fact name="Last activity">
            <Time at={thread.updatedAt} style="long" />
          </Fact>
        </>
      )}
      <Fact name="Messages">{numberText(machine?.messages ?? thread?.messages ?? 0)}</Fact>
    </dl>
  );
}
